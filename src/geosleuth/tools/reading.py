"""The text in a picture. What it says is data, whatever it says."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any, TypedDict
from weakref import WeakKeyDictionary

from geosleuth.photo import Album, View
from geosleuth.photo.text import SCRIPTS, TextLine
from geosleuth.photo.text import read_text as read_lines

from .declare import tool
from .framing import BOX_RENAMES, BoxNumbers, cut_of, scale_words, view_of
from .looks import looks_at
from .model import Case, Output
from .results import Box
from .viewer import Viewer, counted
from .wording import numbered, one_line, quoted

_READINGS_KEPT = 64
_DOUBTFUL = 0.5  # as sure or less, a line is worth a closer look: tiny letters come out as single strange ones
_Bounds = tuple[float, float, float, float]
_Lines = tuple[TextLine, ...]


class _Line(TypedDict):
    text: str
    script: str
    confidence: float
    bbox_2d: Box
    bbox_px: Box
    engine: str


class _Reading(TypedDict):
    image: str
    scale: str
    lines: list[_Line]


def _lines_read(data: Mapping[str, Any]) -> str:
    rows = data.get("lines")
    texts = [str(row.get("text")) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return counted(texts, "line", "lines", "read")


@tool(
    "read_text",
    use="read the lettering in an image or in a part of it, in any script",
    result=_Reading,
    viewer=Viewer("reads the text in {image}", _lines_read, icon="text"),
    aliases=("ocr", "read_text_tool", "ocr_tool"),
    renames=BOX_RENAMES,
    figures={"scripts": len(SCRIPTS)},
)
async def read_text(case: Case, bbox_2d: BoxNumbers | None = None, image: str = "") -> Output:
    """Read the text in an image or in a part of it: signs, plates, posters, in any of {scripts} scripts.

    Gives each line with its script, how sure the reading is, and its box on the image. A box around a small sign
    reads more than the whole image does. Where writing is too small to be read, it says where to look closer.

    Args:
        bbox_2d: the part to read: left, top, right, bottom on the image named; the whole image if left out.
        image: handle of the image, such as image-1; the first photo if left out.
    """
    shown = await view_of(case, image)
    looked_at = shown if bbox_2d is None else await cut_of(case, shown.handle, bbox_2d)
    lines = await asyncio.to_thread(case.reader or _readings_of(case.album).of, looked_at)
    found = [_line_data(line, looked_at, shown, case) for line in lines if line.text]
    doubtful = [line for line in lines if not line.text or line.confidence <= _DOUBTFUL]
    looks = _looks(doubtful, looked_at, shown, case)
    data = {"image": shown.handle, "scale": case.box_scale, "lines": found, "look_closer": looks}
    closer = f"Too small to read from here, zoom in: {', '.join(map(str, looks))}.\n" if looks else ""
    part = shown.handle if bbox_2d is None else f"that part of {shown.handle}"
    if not found:
        text = f"{closer}No text could be read in {part}. A box around a sign is read larger: give bbox_2d."
        return Output(text, data, sources=("photo",))
    title = f"{closer}Text in {part}, quoted as it stands there; boxes are {scale_words(case, shown.handle)}:"
    return Output(numbered(title, map(_line_words, found)), data, sources=("photo",))


class _Readings:
    """What was read in the views of one album and its copies, so that a second look costs nothing."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[object, Future[_Lines]] = OrderedDict()

    def of(self, view: View) -> _Lines:
        """The lines of a view. Whoever asks for one that is being read waits for that reading."""
        key = (view.photo_handle, view.box_in_original, view.size)
        with self._lock:
            reading = self._kept.get(key)
            begun = reading is not None
            reading = self._kept.setdefault(key, reading or Future())
            self._kept.move_to_end(key)
            if len(self._kept) > _READINGS_KEPT:
                self._kept.popitem(last=False)
        if not begun:
            try:
                reading.set_result(tuple(read_lines(view.image, unread=True)))
            except BaseException as error:
                reading.set_exception(error)
                with self._lock:
                    self._kept.pop(key, None)
                raise
        return reading.result()


_readings: WeakKeyDictionary[Album, _Readings] = WeakKeyDictionary()
_readings_lock = Lock()


def _readings_of(album: Album) -> _Readings:
    with _readings_lock:
        return _readings.setdefault(album.first, _Readings())


def _looks(doubtful: Sequence[TextLine], looked_at: View, shown: View, case: Case) -> list[list[int]]:
    """The parts of the view named that show doubtful lines larger; none where all pixels of the photo are shown."""
    left, _, right, _ = looked_at.box_in_original
    if not doubtful or right - left <= looked_at.size[0]:
        return []
    looks = looks_at([_on_shown(line.bounds, looked_at, shown) for line in doubtful], shown.size)
    if case.box_scale == "thousandths":
        return looks
    return [[round(side * shown.size[at % 2] / 1000) for at, side in enumerate(look)] for look in looks]


def _line_data(line: TextLine, looked_at: View, shown: View, case: Case) -> dict[str, Any]:
    left, top, right, bottom = _on_shown(line.bounds, looked_at, shown)
    width, height = shown.size
    across, down = (1000 / width, 1000 / height) if case.box_scale == "thousandths" else (1.0, 1.0)
    return {
        "text": one_line(line.text),
        "script": line.script,
        "confidence": round(line.confidence, 3),
        "bbox_2d": [round(left * across), round(top * down), round(right * across), round(bottom * down)],
        "bbox_px": [round(left), round(top), round(right), round(bottom)],
        "engine": line.engine,
        **({"turn": line.turn} if line.turn else {}),
        **({"overlay": line.overlay} if line.overlay else {}),
    }


def _on_shown(bounds: _Bounds, looked_at: View, shown: View) -> _Bounds:
    """Bounds on a cut as bounds on the view that the cut was made of, by way of the original."""
    inner, outer = looked_at.box_in_original, shown.box_in_original
    place = []
    for number, side in enumerate(bounds):
        axis = number % 2
        original = inner[axis] + side * (inner[axis + 2] - inner[axis]) / looked_at.size[axis]
        place.append((original - outer[axis]) * shown.size[axis] / (outer[axis + 2] - outer[axis]))
    return place[0], place[1], place[2], place[3]


def _line_words(line: dict[str, Any]) -> str:
    overlay = line.get("overlay")
    on_a_thing = {"registration": ", an aircraft's registration", "product": ", a product's label"}
    not_scene = on_a_thing.get(overlay, f", {overlay} laid over the image") if overlay else ""
    where = f"at {line['bbox_2d']}{not_scene}"
    return f"{quoted(line['text'])} {line['script']}, confidence {line['confidence']:.2f}, {where}"
