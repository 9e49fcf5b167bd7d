"""A small method, small tools and a small case, for tests of what goes on around them."""

import asyncio
from typing import TYPE_CHECKING, Any, cast

from PIL import Image

from geosleuth.agent import Budget, Context, Method, Task
from geosleuth.answer import parse_lenient
from geosleuth.photo import Album, Photo
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.tools import Case, Output, Toolset, tool
from geosleuth.tools.image_tools import image_zoom_in_tool

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas


def small_method(**changes: Any) -> Method:
    """A method of few words; give any field to change it."""

    def system(task: Task, tools: tuple[str, ...]) -> str:
        return f"Find the place. Tools: {', '.join(tools) or 'none'}. Forced: {task.force_answer}."

    def prompt(task: Task, _tools: tuple[str, ...]) -> str:
        return f"Where is this? {task.hint or ''}".strip()

    settings: dict[str, Any] = {
        "name": "small",
        "summary": "for tests",
        "paper": None,
        "tools": (),
        "budget": Budget(turns=6),
        "wire": "native",
        "context": Context(),
        "system": system,
        "prompt": prompt,
        "read_answer": parse_lenient,
        "reminder": "That was no answer.",
    }
    return Method(**(settings | changes))


@tool("look_up", aliases=("lookup",), renames={"q": "query"})
async def look_up(case: Case, query: str, lat: float | None = None, lon: float | None = None) -> Output:  # noqa: ARG001
    """Look something up.

    Args:
        query: what.
        lat: where.
        lon: where.
    """
    return Output(f"Nothing but {query}.", {"query": query}, sources=("test",))


@tool("wait")
async def wait(case: Case, seconds: float) -> Output:  # noqa: ARG001
    """Wait.

    Args:
        seconds: how long.
    """
    await asyncio.sleep(seconds)
    return Output(f"Waited {seconds:g} s.")


@tool("fail")
async def fail(case: Case, how: str) -> Output:  # noqa: ARG001
    """Fail.

    Args:
        how: refused, service or bug.
    """
    if how == "service":
        raise ServiceFault("maps.example", "is busy", retryable=True)
    if how == "bug":
        raise KeyError("secret-token-in-a-message")
    raise BadInput("that can't be done")


@tool("draw_map")
async def draw_map(case: Case, lat: float, lon: float) -> Output:  # noqa: ARG001
    """Draw a map.

    Args:
        lat: degrees north.
        lon: degrees east.
    """
    picture = Photo(Image.new("RGB", (60, 40), (200, 220, 200)))
    return Output(f"A map around {lat}, {lon}.", {"lat": lat, "lon": lon}, (picture,), ("test",))


@tool("note_hypothesis")
async def note(  # the real one asks an atlas where the place is
    case: Case,  # noqa: ARG001
    place: str,
    confidence: float,
    evidence_for: list[str] | None = None,
    evidence_against: list[str] | None = None,
    lat: float | None = None,
    lon: float | None = None,
    radius_km: float | None = None,
) -> Output:
    """Note a hypothesis.

    Args:
        place: where.
        confidence: how sure.
        evidence_for: what speaks for it.
        evidence_against: what speaks against it.
        lat: degrees north.
        lon: degrees east.
        radius_km: how far it reaches.
    """
    hypothesis = {
        "place": place,
        "point": None if lat is None or lon is None else {"lat": lat, "lon": lon},
        "radius_km": radius_km,
        "confidence": confidence,
        "evidence_for": evidence_for or [],
        "evidence_against": evidence_against or [],
    }
    return Output(f"Noted {place}.", {"hypothesis": hypothesis})


ALL_TOOLS = Toolset([look_up, wait, fail, draw_map, note, image_zoom_in_tool])


def small_photo(colour: int = 90) -> Photo:
    """A photo of 320 x 240 pixels with a pattern, so that cuts differ."""
    image = Image.new("RGB", (320, 240))
    image.putdata([(x % 256, y % 256, colour) for y in range(240) for x in range(320)])
    return Photo(image)


def small_case(*photos: Photo) -> Case:
    """A case with one photo, or with those given; its atlas must not be asked."""
    album = Album()
    for photo in photos or (small_photo(),):
        album.add(photo)
    return Case(album, cast("Atlas", None))
