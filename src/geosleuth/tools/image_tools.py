"""Tools that look at a picture: `zoom`, `read_text` and `visual_prior`, and which part a call means."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict
from weakref import WeakKeyDictionary

from geosleuth.evidence.country_prior import country_prior
from geosleuth.evidence.visual import HOW_TO_LEARN, MAX_NAMED_COUNTRIES, Best, Distribution, visual_clue
from geosleuth.names import country_name
from geosleuth.photo import MIN_REDUCTION_FOR_CROPS, Album, Photo, View, scale_box, to_pixels
from geosleuth.photo.text import SCRIPTS, PictureText, ReadingOptions, TextLine, read_picture
from geosleuth.support.errors import BadInput

from .argument_types import Length
from .calls import Case, Output
from .declare import Box, PointData, tool
from .viewer import Viewer, count_names, describe_image, number_lines, one_line, percent, point_data, quote

if TYPE_CHECKING:
    from PIL.Image import Image

BoxNumbers = Annotated[list[float], Length(4)]

BOX_RENAMES = {
    "bbox": "bbox_2d",
    "box": "bbox_2d",
    "box_2d": "bbox_2d",
    "bounding_box": "bbox_2d",
    "region": "bbox_2d",
    "coordinates": "bbox_2d",
    "handle": "image",
    "image_handle": "image",
    "image_id": "image",
    "image_name": "image",
    "img": "image",
    "target_image": "image",
}
_LOOSE_HANDLE = re.compile(r"(?:(?:image|img|picture|photo)[\s_-]*)?#?(\d{1,6})", re.IGNORECASE)

# Maximum length of a narrow crop's longer side: most models see no more.
WIDE_SIDE_PX = 1568
_EDITED_PIXELS = 8_000_000
_GAP_PX = 12
_WIDE = 3.5
_GREY = (128, 128, 128)
_HALF_TURNS = (90.0, 180.0, 270.0)
_MAX_BRIGHTENED = 6.0
_FEW_PIXELS = 100 * 100
# Maximum number of parts that are suggested.
MAX_SUGGESTED_PARTS = 3
_CLOSE, _STEP, _ROOM = 360, 40, 1.3  # how wide a closer look is, where it may begin, and how much room is around a box
Bounds = Sequence[float]
"""Left, top, right, bottom in pixels."""
_READINGS_KEPT = 64
_GUESSED = 0.35  # a single strange letter is mostly no letter at all
_DOUBTFUL = 0.5  # as sure or less, a line is worth a closer look: tiny letters come out as single strange ones
_Bounds = tuple[float, float, float, float]
_THOROUGH = ReadingOptions(unread=True)
# Faster reading, for crops and for pictures whose crops are read next: a seventh less work, 3 % fewer lines.
_QUICK = ReadingOptions(unread=True, cuts=1, detail_px=1408)
_readings_lock = Lock()
NO_PRIOR = (
    f"there is no visual prior: learn one from your own geotagged photos with '{HOW_TO_LEARN}', "
    "or name one with --prior FILE"
)
_SHOWN = 8
_MIN_SHARE = 0.001


def resolve_handle(case: Case, image: str) -> str:
    """Return the handle that a call means: the first picture by default; "2" and "Image 2" are image-2.

    Raises:
        BadInput: there is no picture at all.
    """
    handles = case.album.handles
    if not handles:
        raise BadInput("there is no image to look at yet")
    if not image.strip():
        return handles[0]
    loose = _LOOSE_HANDLE.fullmatch(image.strip())
    return f"image-{int(loose[1])}" if loose else image.strip()


async def get_view(case: Case, image: str) -> View:
    """Return the picture that a call names.

    Raises:
        BadInput: no picture has this handle.
    """
    return await asyncio.to_thread(case.album.__getitem__, resolve_handle(case, image))


async def cut_view(case: Case, image: str, bbox_2d: list[float]) -> View:
    """Return a part of a picture, cut from the original pixels.

    Raises:
        BadInput: no picture has this handle, or the box can't be used.
    """
    return await asyncio.to_thread(case.album.preview, resolve_handle(case, image), bbox_2d, case.box_scale)


def scale_words(case: Case, handle: str) -> str:
    """Return the scale of a box's numbers, in words."""
    if case.box_scale != "pixels":
        return f"[left, top, right, bottom] in {case.box_scale} of the width and height of {handle}"
    return f"[left, top, right, bottom] in pixels of {handle}"


class _Cut(TypedDict):
    image: str
    box_px: Box
    box_in_original: Box
    size: Annotated[list[int], Length(2)]


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut that is more than a cut: turned, with more contrast, or beside another image."""

    image: str
    box: tuple[int, int, int, int]
    size: tuple[int, int]
    rotate: float = 0.0
    contrast: bool = False
    beside: str = ""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "Cut | None":
        """Read it from the data of a result; None where there is none in it."""
        try:
            left, top, right, bottom = map(int, data["box_in_original"])
            width, height = map(int, data["size"])
            edit = data["edit"]
            return cls(
                str(data["image"]),
                (left, top, right, bottom),
                (width, height),
                float(edit["rotate"]),
                bool(edit["contrast"]),
                str(edit["beside"]),
            )
        except (KeyError, TypeError, ValueError):
            return None

    @property
    def words(self) -> str:
        """Return what was done to the cut, in words that follow the cut's own."""
        told = [f"turned {self.rotate:g} degrees clockwise"] if self.rotate else []
        told += ["with more contrast"] if self.contrast else []
        told += [f"on the left or above, {self.beside} on the right or below"] if self.beside else []
        return f" It is {', '.join(told)}." if told else ""


def edit_photo(album: Album, cut: Cut) -> Photo:
    """Return the edited picture; zooming uses the pixels of the original as far as it has them.

    Raises:
        BadInput: the album has no such image.
    """
    width, height = cut.box[2] - cut.box[0], cut.box[3] - cut.box[1]
    size = max(cut.size, (width, height))
    scale = min(1.0, (_EDITED_PIXELS / (size[0] * size[1])) ** 0.5)
    picture = album.part(cut.image, cut.box, (max(1, int(size[0] * scale)), max(1, int(size[1] * scale))))
    if cut.rotate:
        picture = _rotate_picture(picture, cut.rotate)
    if cut.contrast:
        picture = _with_contrast(picture)
    if cut.beside:
        picture = _side_by_side(picture, album[cut.beside].image)
    return Photo(picture)


def _rotate_picture(picture: "Image", degrees: float) -> "Image":
    from PIL.Image import Resampling, Transpose

    if degrees in _HALF_TURNS:
        turns = {90.0: Transpose.ROTATE_270, 180.0: Transpose.ROTATE_180, 270.0: Transpose.ROTATE_90}
        return picture.transpose(turns[degrees])
    return picture.rotate(-degrees, Resampling.BICUBIC, expand=True, fillcolor=_GREY)


def _with_contrast(picture: "Image") -> "Image":
    """Light spread over the whole range, and each part against its own surroundings: what lies in shade comes out.

    Colours keep their hue and saturation, so that a yellow plate can still be told from a white one.
    """
    import numpy as np
    from PIL import Image, ImageFilter

    light = picture.convert("L")
    values = np.asarray(light, np.float32)
    reach = ImageFilter.BoxBlur(max(8, max(picture.size) // 30))
    mean = np.asarray(light.filter(reach), np.float32)
    off = np.abs(values - mean)
    spread = np.asarray(Image.fromarray(np.clip(off, 0, 255).astype(np.uint8)).filter(reach), np.float32)
    low, high = np.percentile(values, (1, 99))
    whole = (values - low) * (255 / max(1.0, high - low))
    # A part is set against its surroundings, but stays as light as they are: white must not turn grey.
    around = (mean - low) * (255 / max(1.0, high - low))
    local = 64 + around / 2 + (values - mean) * (45 / np.maximum(spread, 4))
    # By eye on faded and shaded signs: less leaves pale letters pale, more makes letters of the noise.
    shown = np.clip(0.7 * local + 0.3 * whole, 0, 255)
    # Nearly black has no colour to keep, only noise.
    factor = np.minimum(shown / np.maximum(values, 1), _MAX_BRIGHTENED)
    colours = np.asarray(picture.convert("RGB"), np.float32) * factor[..., None]
    colours += (shown - values * factor)[..., None]
    return Image.fromarray(np.clip(colours, 0, 255).astype(np.uint8))


def _side_by_side(left: "Image", right: "Image") -> "Image":
    """Join two pictures at the same height with a gap between them; wide pictures are stacked at the same width."""
    from PIL import Image
    from PIL.Image import Resampling

    across = left.size[0] / left.size[1] + right.size[0] / right.size[1] < _WIDE
    # Seen along the row or the column that they stand in: how long each is when it is one pixel broad.
    shares = [item.size[0] / item.size[1] if across else item.size[1] / item.size[0] for item in (left, right)]
    broad = max(1, int(min(max(item.size[across] for item in (left, right)), (WIDE_SIDE_PX - _GAP_PX) / sum(shares))))
    longs = [max(1, round(share * broad)) for share in shares]
    total = sum(longs) + _GAP_PX
    made = Image.new("RGB", (total, broad) if across else (broad, total), "white")
    for item, long, start in zip((left, right), longs, (0, longs[0] + _GAP_PX), strict=True):
        size = (long, broad) if across else (broad, long)
        made.paste(item.resize(size, Resampling.BICUBIC), (start, 0) if across else (0, start))
    return made


@tool(
    "image_zoom_in_tool",
    use="magnify a part of an image: lettering, signs, plates, anything small or far away",
    result=_Cut,
    viewer=Viewer(
        lambda given: f"magnifies {describe_image({**given, 'bbox_2d': True})}", lambda _: "magnified it", icon="zoom"
    ),
    aliases=("image_zoom_tool", "zoom", "zoom_in", "image_zoom", "image_zoom_in"),
    renames={**BOX_RENAMES, "rotation": "rotate", "angle": "rotate", "enhance": "contrast", "compare_with": "beside"},
    options=("rotate", "contrast", "beside"),
)
async def image_zoom_in_tool(
    case: Case, bbox_2d: BoxNumbers, image: str = "", *, rotate: float = 0.0, contrast: bool = False, beside: str = ""
) -> Output:
    """Magnify a part of an image, cut from the original pixels, as a new image: signs, plates, anything small.

    Args:
        bbox_2d: left, top, right, bottom of the part.
        image: handle of the image; the first photo if left out.
        rotate: degrees clockwise, to set upright what is tilted.
        contrast: bring out what lies in shade or haze.
        beside: handle of another image to show beside it.
    """
    shown = await get_view(case, image)
    preview = partial(case.album.preview, wide_side_px=WIDE_SIDE_PX)
    cut = await asyncio.to_thread(preview, shown.handle, bbox_2d, case.box_scale)
    box = [round(side) for side in to_pixels(bbox_2d, shown, case.box_scale)]
    left, top, right, bottom = cut.box_in_original
    other = (await get_view(case, beside)).handle if beside.strip() else ""
    edit = Cut(shown.handle, cut.box_in_original, cut.size, rotate % 360, contrast, other)
    made = await asyncio.to_thread(edit_photo, case.album, edit) if edit.words else None
    data: dict[str, Any] = {
        "image": shown.handle,
        "box_px": box,
        "box_in_original": list(cut.box_in_original),
        "size": list(cut.size),
    }
    if made is not None:
        data["edit"] = {"rotate": edit.rotate, "contrast": edit.contrast, "beside": edit.beside}
    text = (
        f"A cut of {shown.handle}, from {box[0]}, {box[1]} to {box[2]}, {box[3]} of its {shown.size[0]} x "
        f"{shown.size[1]} pixels: {right - left} x {bottom - top} pixels of the original"
        + (f".{edit.words}" if made else f", shown as {cut.size[0]} x {cut.size[1]}.")
        + (" A smaller part shows no more." if (right - left) * (bottom - top) < _FEW_PIXELS else "")
    )
    return Output(text, data, (made or cut,), ("photo",))


def around(box: Bounds, size: tuple[int, int]) -> list[int]:
    """A part of the picture about a third as wide, with a box in its middle; in thousandths.

    It begins at one of few places, so that a model that has to name it chooses among few, and if off by one still sees
    what is looked for, unless it is large.
    """
    sides = []
    for low, high in zip(thousandths(box[:2], size), thousandths(box[2:], size), strict=True):
        extent = min(1000, max(_CLOSE, 10 * ceil(_ROOM * (high - low) / 10)))
        start = _STEP * round((low + high - extent) / 2 / _STEP)
        start = max(0, min(start, 1000 - extent))
        sides.append((start, start + extent))
    (left, right), (top, bottom) = sides
    return [left, top, right, bottom]


def choose_looks(boxes: Sequence[Bounds], size: tuple[int, int]) -> list[list[int]]:
    """Return up to `LOOKS` parts of a picture that hold as many boxes as possible, the fullest first; in thousandths.

    There are at most `MAX_SUGGESTED_PARTS`.

    Args:
        boxes: what is to be seen from near.
        size: width and height of the picture.
    """
    left = [thousandths(box, size) for box in boxes]
    parts = [around(box, size) for box in boxes]
    looks: list[list[int]] = []
    while left and len(looks) < MAX_SUGGESTED_PARTS:
        fullest = max(parts, key=lambda part: sum(holds(part, box) for box in left))
        looks.append(fullest)
        left = [box for box in left if not holds(fullest, box)]
    return looks


def holds(part: Bounds, box: Bounds) -> bool:
    """Return whether a box lies in a part."""
    return part[0] <= box[0] and part[1] <= box[1] and box[2] <= part[2] and box[3] <= part[3]


def thousandths(box: Bounds, size: tuple[int, int]) -> list[int]:
    """A box in pixels as thousandths of a picture's width and height."""
    return [max(0, min(1000, round(1000 * side / size[at % 2]))) for at, side in enumerate(box)]


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
    look_closer: list[Box]
    writing: NotRequired[list[list[float]]]


def _lines_read(data: Mapping[str, Any]) -> str:
    rows = data.get("lines")
    texts = [str(row.get("text")) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return count_names(texts, "line", "lines", "read")


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
    """Read the lettering in an image, in {scripts} scripts. With a box around a sign it reads more than without.

    Args:
        bbox_2d: left, top, right, bottom of the part.
        image: handle of the image; the first photo if left out.
    """
    shown = await get_view(case, image)
    looked_at = shown if bbox_2d is None else await cut_view(case, shown.handle, bbox_2d)
    if case.reader is not None:
        text = PictureText(list(await asyncio.to_thread(case.reader, looked_at)))
    else:
        options = _QUICK if bbox_2d is not None or shown.reduction >= MIN_REDUCTION_FOR_CROPS else _THOROUGH
        text = await asyncio.to_thread(_get_readings(case.album).read, looked_at, options)
    lines, writing = text
    found = [_line_data(line, looked_at, shown, case) for line in lines if line.text]
    doubtful = [line for line in lines if not line.text or line.confidence <= _DOUBTFUL]
    looks = _looks(doubtful, looked_at, shown, case)
    data = {"image": shown.handle, "scale": case.box_scale, "lines": found, "look_closer": looks}
    if bbox_2d is None and writing and shown.reduction > 1:
        data["writing"] = [list(row) for row in writing]
    closer = f"Too small to read from here, zoom in: {', '.join(map(str, looks))}.\n" if looks else ""
    part = shown.handle if bbox_2d is None else f"that part of {shown.handle}"
    if not found:
        advice = " A box around a sign is read larger: give bbox_2d." if bbox_2d is None else ""
        return Output(f"{closer}No text could be read in {part}.{advice}", data, sources=("photo",))
    title = f"{closer}Text in {part}, quoted as it stands there; boxes are {scale_words(case, shown.handle)}:"
    return Output(number_lines(title, map(_line_words, found)), data, sources=("photo",))


class _Readings:
    """Text read in the views of an album and its copies, so that a second look costs nothing."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[object, Future[PictureText]] = OrderedDict()

    def read(self, view: View, options: ReadingOptions) -> PictureText:
        """Return the text of a view. Concurrent requests for the same view wait for the same reading."""
        key = (view.photo_handle, view.box_in_original, view.size, options)
        with self._lock:
            reading = self._kept.get(key)
            begun = reading is not None
            reading = self._kept.setdefault(key, reading or Future())
            self._kept.move_to_end(key)
            if len(self._kept) > _READINGS_KEPT:
                self._kept.popitem(last=False)
        if not begun:
            try:
                reading.set_result(read_picture(view.image, options))
            except BaseException as error:
                reading.set_exception(error)
                with self._lock:
                    self._kept.pop(key, None)
                raise
        return reading.result()


_readings: WeakKeyDictionary[Album, _Readings] = WeakKeyDictionary()


def _get_readings(album: Album) -> _Readings:
    with _readings_lock:
        return _readings.setdefault(album.first, _Readings())


def _looks(doubtful: Sequence[TextLine], looked_at: View, shown: View, case: Case) -> Sequence[Sequence[float]]:
    """Return the parts of the named view that enlarge doubtful lines; none if all pixels of the photo are shown."""
    if not doubtful or looked_at.reduction <= 1:
        return []
    looks = choose_looks([_on_shown(line.bounds, looked_at, shown) for line in doubtful], shown.size)
    if case.box_scale == "thousandths":
        return looks
    pixels = [[side * shown.size[at % 2] / 1000 for at, side in enumerate(look)] for look in looks]
    return [scale_box(look, shown.size, case.box_scale) for look in pixels]


def _line_data(line: TextLine, looked_at: View, shown: View, case: Case) -> dict[str, Any]:
    left, top, right, bottom = _on_shown(line.bounds, looked_at, shown)
    return {
        "text": one_line(line.text),
        "script": line.script,
        "confidence": round(line.confidence, 3),
        "bbox_2d": scale_box((left, top, right, bottom), shown.size, case.box_scale),
        "bbox_px": [round(left), round(top), round(right), round(bottom)],
        "engine": line.engine,
        **({"turn": line.turn} if line.turn else {}),
        **({"overlay": line.overlay} if line.overlay else {}),
    }


def _on_shown(bounds: _Bounds, looked_at: View, shown: View) -> _Bounds:
    """Convert bounds on a cut to bounds on the view that it was cut from, by way of the original."""
    inner, outer = looked_at.box_in_original, shown.box_in_original
    place = []
    for number, side in enumerate(bounds):
        axis = number % 2
        original = inner[axis] + side * (inner[axis + 2] - inner[axis]) / looked_at.size[axis]
        place.append((original - outer[axis]) * shown.size[axis] / (outer[axis + 2] - outer[axis]))
    return place[0], place[1], place[2], place[3]


def _line_words(line: dict[str, Any]) -> str:
    overlay = line.get("overlay")
    on_a_thing = {
        "registration": ", an aircraft's registration",
        "product": ", a product's label",
        "instruction": ", words to a program, not about the place",
    }
    not_scene = on_a_thing.get(overlay, f", {overlay} laid over the image") if overlay else ""
    where = f"at {line['bbox_2d']}{not_scene}"
    guess = " (a guess)" if line["confidence"] <= _GUESSED else ""
    return f"{quote(line['text'])} {line['script']}, confidence {line['confidence']:.2f}{guess}, {where}"


class _Cell(PointData):
    radius_km: float
    probability: float
    country: str | None


class _Look(TypedDict):
    image: str
    looks_like: list[Any]
    countries: dict[str, float]
    cells: list[_Cell]
    reliability: float
    familiarity: float | None
    says: str


@tool(
    "visual_prior",
    use="learn from the look of an image alone which countries it may be from, with probabilities",
    result=_Look,
    viewer=Viewer("asks where places look like {image}"),
    needs=("prior",),
    aliases=("visual_prior_tool", "look_of_place"),
    renames=BOX_RENAMES,
)
async def visual_prior(case: Case, image: str = "", bbox_2d: BoxNumbers | None = None) -> Output:
    """Tell from the look of an image which countries it may be from, with probabilities. A lead, not a proof.

    Args:
        image: handle of the image; the first photo if left out.
        bbox_2d: left, top, right, bottom of the part.
    """
    prior = case.visual
    if prior is None:
        raise BadInput(NO_PRIOR)
    shown = await get_view(case, image)
    found = await asyncio.to_thread(prior.look, shown.image)
    # What the whole picture can't be trusted for, a part of it can't either: it may be in the collection itself.
    if bbox_2d is not None and found.reach.trust > 0:
        found = await asyncio.to_thread(prior.look, (await cut_view(case, shown.handle, bbox_2d)).image)
    part = shown.handle if bbox_2d is None else f"that part of {shown.handle}"
    return _output(shown.handle, part, found)


def _output(handle: str, part: str, found: Distribution) -> Output:
    clue, trust = visual_clue(found), found.reach.trust
    data: dict[str, Any] = {
        "image": handle,
        "looks_like": list(found.seen)[:MAX_NAMED_COUNTRIES],
        "countries": {code: share for code, share in clue.countries.items() if share >= _MIN_SHARE},
        "cells": [
            {**point_data(spot.point), "radius_km": spot.radius_km, "probability": spot.weight, "country": spot.country}
            for spot in clue.spots
        ],
        "reliability": trust,
        "familiarity": found.reach.familiarity,
        "says": found.reach.says,
    }
    source = one_line(found.source)
    if trust <= 0:
        return Output(f"The look of {part} says nothing. {found.reach.says}", data, sources=(source,))
    flat = country_prior()
    shares = {code: trust * share + (1 - trust) * flat.get(code, 0.0) for code, share in clue.countries.items()}
    lines = [f"{country_name(code) or code} ({code}) {percent(share)}" for code, share in list(shares.items())[:_SHOWN]]
    title = f"By its look alone, {part} may be from these countries:"
    told = [number_lines(title, lines), clue.says, *_where(found.best()), found.reach.says]
    return Output("\n".join(told), data, sources=(source,))


def _where(best: Best | None) -> list[str]:
    if best is None:
        return []
    around = f"{best.point.lat:.1f}, {best.point.lon:.1f}"
    return [
        f"For photos mixed as in the collection it is most likely around {around}: "
        f"{percent(best.probability)} within {best.radius_km:.0f} km."
    ]
