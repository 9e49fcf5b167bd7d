"""In what a model gives boxes, found by one question about a drawn picture, and remembered.

A served name says nothing: a policy that learned thousandths may be served as "policy". The picture shows one bright
square; the model is asked for its box, and not told in what. Pixels, thousandths and fractions of that picture have no
box in common, so the answer tells. It is remembered by address and model, without any key, also where it can't be
read; ``--boxes`` overrides it.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, get_args

from geosleuth.atlas.folders import cache_dir
from geosleuth.photo import Album, BoxScale, Photo, View, to_pixels
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.support.files import write_text_atomically

from .protocol import Conversation, Policy, Prompt

# The picture, and the square in its pixels: on the diagonal, so that an answer with x and y exchanged tells, too.
SIZE, SQUARE = (640, 480), (400, 300, 560, 420)
QUESTION = (
    "There is one bright square in this picture. Where is it? Reply with its box and nothing else: "
    '{"bbox_2d": [left, top, right, bottom]}'
)
_DARK, _BRIGHT = (20, 24, 40), (255, 235, 60)
_MIN_OVERLAP = 0.3
_NUMBER = r"(-?\d+(?:\.\d+)?|-?\.\d+)"
_BOX = re.compile(rf"{_NUMBER}[\s,;()\[\]]+{_NUMBER}[\s,;()\[\]]+{_NUMBER}[\s,;()\[\]]+{_NUMBER}")


async def probe_scale(
    policy: Policy, where: str, *, guess: BoxScale, say: Callable[[str], None] = lambda _line: None
) -> BoxScale:
    """Return in what a model gives boxes: as it was found out before, or as its answer to one question tells.

    Args:
        policy: the model.
        where: what it is remembered by: its address and name, without a key.
        guess: what its name says, where the answer can't be read.
        say: hears what was found.
    """
    file = cache_dir() / "box-scales" / f"{sha256(where.encode()).hexdigest()[:32]}.json"
    if (known := _load_probe_result(file, where)) is not None:
        return known.scale or guess
    view = _draw_probe()
    try:
        asked = Prompt(QUESTION, (view.handle,))
        said = await policy.step(Conversation("", (asked,), (), lambda _handle: view, may_call=False))
    except ServiceFault:
        return guess  # the run itself says what is wrong with the service
    found = detect_scale(said.text, view)
    if found is None:
        say(f"{policy.name} gave no box that can be read; it is asked for {guess}, by its name; --boxes says otherwise")
    # A reply that can't be read is kept, too: to ask again before every run would cost each time.
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(file, json.dumps({"model": where, "box_scale": found}) + "\n")
    if found is None:
        return guess
    say(f"{policy.name} gives boxes in {found}, as one question about a drawn picture told; this is remembered")
    return found


def detect_scale(text: str, view: View) -> BoxScale | None:
    """Return the scale in which a reply's box lies on the square; None where it does in none."""
    overlaps: dict[BoxScale, float] = {}
    for numbers in _BOX.findall(text):
        box = [float(number) for number in numbers]
        for scale in get_args(BoxScale):
            with suppress(BadInput):
                overlaps[scale] = max(overlaps.get(scale, 0.0), _overlap(to_pixels(box, view, scale)))
    best = max(overlaps, key=lambda scale: overlaps[scale], default=None)
    return best if best is not None and overlaps[best] >= _MIN_OVERLAP else None


def _overlap(box: tuple[float, float, float, float]) -> float:
    """Return the share of both boxes together that the box and the square have in common."""
    width = min(box[2], SQUARE[2]) - max(box[0], SQUARE[0])
    height = min(box[3], SQUARE[3]) - max(box[1], SQUARE[1])
    common = max(0.0, width) * max(0.0, height)
    areas = sum((item[2] - item[0]) * (item[3] - item[1]) for item in (box, SQUARE))
    return common / (areas - common)


def _draw_probe() -> View:
    from PIL import Image

    image = Image.new("RGB", SIZE, _DARK)
    image.paste(_BRIGHT, SQUARE)
    return Album().add(Photo(image))


class _Kept(NamedTuple):
    """Result of a probe: a scale, or None if the reply was unreadable."""

    scale: BoxScale | None


def _load_probe_result(file: Path, where: str) -> _Kept | None:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["model"] != where:
            return None
        scale = kept["box_scale"]
        return _Kept(scale) if scale is None or scale in get_args(BoxScale) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
