"""Tasks of the service's processes; each takes and returns plain JSON and bytes."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .frames import Frame
from .records import JPEG_QUALITY, request_from_dict

if TYPE_CHECKING:
    from geosleuth.photo import OpenedPhoto

Publish = Callable[..., None]
"""Takes any number of events (kind, data, time) for the readers of a run."""

_MIN_READ_PX = 8
_READ_PX = 1000
_MAX_ENLARGED = 4

# Module and function of each task, imported on first use; it takes plain JSON and returns JSON or bytes.
TASKS: Mapping[str, str] = {
    "open_photo": "worker_tasks:open_photo",
    "read_video": "video:analyze_clip",
    "check_words": "worker_tasks:check_words",
    "reject": "worker_tasks:reject",
    "locate": "runner:run_job",
    "result": "stored:build_result",
    "view": "stored:build_view",
    "file": "stored:export_run",
    "picture": "stored:render_picture",
    "check": "stored:check_claimed_place",
    "compare": "worker_tasks:compare",
    "read": "worker_tasks:read",
    "stand": "worker_tasks:stand",
    "shadows": "worker_tasks:shadows",
    "offer_map": "maps:describe_offer",
    "get_map": "maps:fetch_map",
    "try_model": "setup:try_setup_model",
    "show_photo": "worker_tasks:show_photo",
    "places": "places:find_places",
}

# Tasks that publish their progress.
_PROGRESS_TASKS = ("locate", "get_map")


@contextmanager
def keys_in_place(keys: Mapping[str, str]) -> Iterator[None]:
    """Put keys of services into this process's environment for one task."""
    before = {name: os.environ.get(name) for name in keys}
    os.environ.update(keys)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


async def open_photo(details: Mapping[str, Any]) -> dict[str, Any]:
    """Open an untrusted photo, and write the smaller pictures that pages show."""
    from geosleuth.photo import PhotoLimits
    from geosleuth.photo import open_photo as opened_photo
    from geosleuth.photo.nature import add_nature_verdict

    data = await asyncio.to_thread(Path(details["path"]).read_bytes)
    opened = add_nature_verdict(opened_photo(data, PhotoLimits(**details["limits"])))
    for most_px, path in details["pictures"]:
        _write_jpeg(opened.photo.image, most_px, Path(path))
    width, height = opened.photo.size
    claims = opened.claims
    return {
        "bytes": len(data),
        "width": width,
        "height": height,
        "format": claims.format,
        "kind": opened.photo.kind,
        "sha256": claims.sha256,
        "not_a_photo": claims.not_a_photo,
    }


def _write_jpeg(image: Any, most_px: int, path: Path) -> None:
    from geosleuth.support.files import write_bytes_atomically

    write_bytes_atomically(path, _jpeg(image, most_px))


def _jpeg(image: Any, most_px: int) -> bytes:
    from geosleuth.photo import View, encode

    scale = min(1.0, most_px / max(image.size))
    size = (max(1, round(image.size[0] * scale)), max(1, round(image.size[1] * scale)))
    small = image.resize(size, reducing_gap=3.0)
    return encode(View("", small, (0, 0, *image.size), ""), quality=JPEG_QUALITY)


async def show_photo(details: Mapping[str, Any]) -> bytes:
    """Return a photo of this machine's user as a small JPEG."""
    from geosleuth.photo import open_photo as opened_photo

    opened = await asyncio.to_thread(opened_photo, details["path"], name="the photo")
    return _jpeg(opened.photo.image, details["most_px"])


async def open_run_photos(details: Mapping[str, Any]) -> "list[OpenedPhoto]":
    """Open the photos of a run; messages name them by number, not by path.

    Raises:
        BadInput: one can't be opened, or they have too many pixels together.
    """
    from geosleuth.photo import open_photos
    from geosleuth.photo.nature import add_nature_verdict

    paths = [Path(item["path"]) for item in details["photos"]]
    names = [f"photo {item['number']}" for item in details["photos"]]
    return await asyncio.to_thread(lambda: [add_nature_verdict(photo) for photo in open_photos(paths, names=names)])


async def check_words(details: Mapping[str, Any]) -> dict[str, Any]:
    """Check a request, and the consent to send photos; nothing is sent."""
    from geosleuth.pipeline.plan import make_plan

    from .requests import check_consent, decode_rejected, locate_request

    request = request_from_dict(details["request"])
    asked = locate_request(request, offline=details["offline"], rejected=decode_rejected(details["rejected"]))
    plan = make_plan(asked, [Path(item["path"]) for item in details["photos"]])
    check_consent(plan, request.send_to)
    return {"model": plan.policy.name, "method": plan.method.name}


async def reject(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is ruled out so far, with what is rejected now."""
    from .requests import build_rejected, decode_rejected, encode_rejected

    now = build_rejected(
        details["clues"],
        details["candidates"],
        reject_clues=details["reject_clues"],
        reject_candidates=details["reject_candidates"],
        reject_texts=details["reject_texts"],
        readings=details["readings"],
    )
    return encode_rejected(decode_rejected(details["before"]) + now)


async def compare(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return what differs between two results."""
    from .finding_view import compare_view

    return dict(compare_view(details["left"], details["right"]))


async def read(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lines of text in a part of a photo; boxes are shares of the whole photo."""
    from geosleuth.photo.text.reader import read_picture
    from geosleuth.support.errors import BadInput

    (opened,) = await open_run_photos(details)
    image = opened.photo.image
    sides = [side * image.size[number % 2] for number, side in enumerate(details["box"])]
    left, top, right, bottom = (round(side) for side in sides)
    if min(right - left, bottom - top) < _MIN_READ_PX:
        raise BadInput(f"this part of the photo is smaller than {_MIN_READ_PX} pixels; draw a larger box")
    part = image.crop((left, top, right, bottom))
    # Small lettering is read better once it is large.
    factor = max(1, min(_MAX_ENLARGED, round(_READ_PX / max(part.size))))
    text = await asyncio.to_thread(read_picture, part.resize((part.width * factor, part.height * factor)))
    lines = []
    for line in text.lines:
        xs, ys = zip(*line.box, strict=True)
        box = (left + min(xs) / factor, top + min(ys) / factor, left + max(xs) / factor, top + max(ys) / factor)
        shares = [min(1.0, max(0.0, side / image.size[number % 2])) for number, side in enumerate(box)]
        if line.text and shares[0] < shares[2] and shares[1] < shares[3]:
            box_told = [round(share, 5) for share in shares]
            lines.append({"text": line.text, "box": box_told, "confidence": round(line.confidence, 3)})
    return {"lines": lines}


async def stand(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the camera of a photo stood."""
    from geosleuth.atlas import OfflineAtlas
    from geosleuth.photo import Album
    from geosleuth.tools import Case
    from geosleuth.tools.resection import Marked, StandRequest, photo_fov, stand_point

    (opened,) = await open_run_photos(details)
    fov, source = photo_fov(details["fov"], opened)
    marked = [Marked(f"{item['lat']:.7f},{item['lon']:.7f}", item["column"]) for item in details["marks"]]
    request = StandRequest(marked, fov, source, picture=False)
    found = await stand_point(Case(Album(), OfflineAtlas()), request)
    # The first line repeats the marks.
    return {"words": found.text.splitlines()[1:], "found": found.data}


async def shadows(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return where shadows can be, or how they fit a place."""
    from geosleuth.atlas import OfflineAtlas
    from geosleuth.geo import LatLon
    from geosleuth.photo import Album
    from geosleuth.tools import Case
    from geosleuth.tools.shadows import Shadow, ShadowQuestion, read_shadows

    asked = dict(details)
    place = asked.pop("place")
    question = ShadowQuestion(
        **asked | {"shadows": [Shadow(**item) for item in asked["shadows"]]},
        place=None if place is None else LatLon(place["lat"], place["lon"]),
        picture=False,
    )
    found = await read_shadows(Case(Album(), OfflineAtlas()), question)
    return {"words": found.text.splitlines(), "found": found.data}


async def execute(task: str, details: Mapping[str, Any], publish: Publish) -> Frame:
    """Execute a task by its name, with the keys that go with it in this process's environment; return what it made."""
    module, _, name = TASKS[task].partition(":")
    function = getattr(import_module(f"geosleuth.server.{module}"), name)
    given = (details, publish) if task in _PROGRESS_TASKS else (details,)
    with keys_in_place(details.get("keys", {})):
        made = await (function(*given) if iscoroutinefunction(function) else asyncio.to_thread(function, *given))
    if isinstance(made, bytes):
        return {}, made
    return made if isinstance(made, tuple) else (made, b"")
