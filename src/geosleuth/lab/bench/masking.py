"""Masks: runs in which a part of every photo is hidden, to see what answers depend on.

A black or grey rectangle is an object of its own: models describe it, text readers find edges in it, and a run with it
measures the rectangle. So a gap is filled smoothly from its rim: the colours just outside blend across it, without an
edge anywhere. Nothing from inside the gap is used, not even its mean colour: a blue panel or a yellow plate is a clue
too.

Boxes of the data set and of an earlier run are looked up by the driver, photo by photo; that costs one small file per
photo. Text is searched by the process that opens the photo, on whichever machine that is: it takes seconds, and the
photo is open there anyway.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import ceil, floor, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geosleuth.agent import Trajectory, read_trajectory
from geosleuth.agent.display import best_evidence, convert_box, first_views, text_seen
from geosleuth.lab.bench.run.engine import JobOf
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.run.journal import Job
from geosleuth.photo import Photo
from geosleuth.photo.panorama import boxes_in_panorama
from geosleuth.support.errors import BadInput
from geosleuth.tools import ImageInfo

from .sets import BoxKind, DataSet, DatasetBox, Item

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Colours = NDArray[np.float32]
    _Weights = NDArray[np.float32]
    _Rect = tuple[int, int, int, int]

Edges = tuple[float, float, float, float]

# Maximum share of the photo in a crop; a larger crop does not point at anything in the photo.
MAX_CROP_SHARE = 0.5

_INSIDE = 0.9

# Long side of the copy in which large lettering is found; small lettering is found in crops of the photo.
_WHOLE_PX = 1536
_PART_PX = 2048
_OVERLAP = 0.12
_MAX_PARTS = 4
# Margin as a share of a box's shorter side: boxes are drawn tightly, and compression smears letters over their edge.
MARGIN_SHARE = 0.1
MIN_WIDENED_PX = 4
# Placeholder for all text in a photo. Finding it takes seconds, so the process that opens the photo does it.
ALL_TEXT = DatasetBox("text", 0.0, 0.0, 0.0, 0.0)
_RIM = 0.05
_MIN_RIM_PX = 3
# A fill has no detail: beyond so many pixels it is computed on a coarser copy.
_MAX_PIXELS = 1_000_000
# Rounds of smoothing; a coarse level does most of the work at little cost.
_ROUNDS, _ROUNDS_IF_FINE, _FINE_PIXELS = 40, 4, 60_000
_GREY = 128.0
HOW_TO_GIVE = (
    'give the table a column "boxes" with entries such as '
    '[{"kind": "%s", "box": [0.1, 0.2, 0.5, 0.3]}]: left, top, right, bottom in shares of width and height'
)


def clue_boxes(trajectory: Trajectory) -> tuple[DatasetBox, ...]:
    """Return what a run zoomed into, and the lines of text in its evidence, in shares of the original photo.

    Of nested crops the innermost counts. A text counts if the answer's clues, its evidence or its explanation quote
    it; text that was read and led nowhere does not. Parts of maps and other pictures are not parts of the photo. A
    panorama's views are mapped back into the panorama.
    """
    firsts = first_views(trajectory.task.images)
    return tuple(dict.fromkeys(_in_original([*_cuts(trajectory, firsts), *_find_line_boxes(trajectory)], len(firsts))))


def _cuts(trajectory: Trajectory, firsts: Mapping[int, ImageInfo]) -> Iterator[tuple[int, Edges]]:
    found: list[tuple[int, Edges]] = []
    for image in (made for observation in trajectory.observations for made in observation.images):
        first = firsts.get(image.photo)
        edges = None if first is None else convert_box((0, 0, *image.size), image, first)
        if edges is not None and _compute_edges_area(edges) <= MAX_CROP_SHARE:
            found.append((image.photo, edges))
    distinct = list(dict.fromkeys(found))
    for photo, edges in distinct:
        if not any(other != edges and number == photo and _contains(edges, other) for number, other in distinct):
            yield photo, edges


def _contains(outer: Edges, inner: Edges) -> bool:
    """Return whether a crop lies in another; of two nearly equal crops, neither contains the other."""
    common = (
        max(outer[0], inner[0]), max(outer[1], inner[1]), min(outer[2], inner[2]), min(outer[3], inner[3])
    )  # fmt: skip
    if common[0] >= common[2] or common[1] >= common[3]:
        return False
    return _compute_edges_area(common) >= _INSIDE * _compute_edges_area(inner) and _compute_edges_area(
        inner
    ) < _INSIDE * _compute_edges_area(outer)


def _find_line_boxes(trajectory: Trajectory) -> Iterator[tuple[int, Edges]]:
    evidence = list(best_evidence(trajectory, None))
    if trajectory.answer is not None and trajectory.answer.explanation:
        evidence.append(trajectory.answer.explanation)
    for line in text_seen(trajectory, evidence):
        if line.number is not None:
            yield line.photo, line.box


def _in_original(parts: Iterable[tuple[int, Edges]], views: int) -> Iterator[DatasetBox]:
    for photo, edges in parts:
        # A run of a data set has one photo: if it has several, they are the views of a panorama.
        whole = [edges] if views == 1 else boxes_in_panorama(edges, (photo - 1) * 360.0 / views)
        yield from (DatasetBox("clue", *item) for item in whole)


def _compute_edges_area(edges: Edges) -> float:
    return (edges[2] - edges[0]) * (edges[3] - edges[1])


def text_boxes(photo: Photo) -> tuple[DatasetBox, ...]:
    """Return boxes of every line of text that our own reader finds.

    A line counts whether or not it was read: a model may read what the reader can't. Photos much larger than the first
    view of models are also searched in parts, since models zoom in. Takes a second for each part.
    """
    from geosleuth.photo.text.detector import find_boxes
    from geosleuth.photo.text.strips import with_slack

    pixels = np.asarray(photo.image.convert("RGB"), dtype=np.uint8)
    width, height = photo.size
    found: list[DatasetBox] = []
    for left, top, right, bottom in [(0, 0, width, height), *_split_photo(width, height)]:
        for box in find_boxes(with_slack(pixels[top:bottom, left:right]), _WHOLE_PX):
            x, y = box.quad[:, 0] + left, box.quad[:, 1] + top
            found.append(
                DatasetBox(
                    "text",
                    max(0.0, float(x.min()) / width),
                    max(0.0, float(y.min()) / height),
                    min(1.0, float(x.max()) / width),
                    min(1.0, float(y.max()) / height),
                )
            )
    return tuple(found)


def _split_photo(width: int, height: int) -> list[tuple[int, int, int, int]]:
    """Return overlapping parts of a large photo; none if the photo is hardly larger than a part."""
    if max(width, height) <= 1.25 * _PART_PX:
        return []
    return [
        (left, top, right, bottom) for (top, bottom), (left, right) in product(_stretches(height), _stretches(width))
    ]


def _stretches(length: int) -> list[tuple[int, int]]:
    count = min(_MAX_PARTS, ceil(length / _PART_PX))
    each = length / count
    more = each * _OVERLAP if count > 1 else 0.0
    return [(max(0, round(at * each - more)), min(length, round((at + 1) * each + more))) for at in range(count)]


def blank(photo: Photo, boxes: Iterable[DatasetBox]) -> Photo:
    """Return a photo with the boxes blanked; everything outside the slightly widened boxes is unchanged.

    Boxes are clipped at the edge, and `ALL_TEXT` stands for every box of text that is found. The original photo is not
    changed; without boxes it is returned.
    """
    from PIL import Image

    wanted = list(boxes)
    if ALL_TEXT in wanted:
        wanted += text_boxes(photo)
    rects = [rect for box in wanted if (rect := widen_box(box, photo.size)) is not None]
    if not rects:
        return photo
    pixels = np.array(photo.image.convert("RGB"), dtype=np.uint8)
    # Everything hidden counts as unknown, even in another gap: nothing leaks across.
    hidden, rim = np.zeros((2, *pixels.shape[:2]), dtype=np.bool_)
    for left, top, right, bottom in rects:
        hidden[top:bottom, left:right] = True
        rim[_add_rim((left, top, right, bottom))] = True
    rim &= ~hidden
    for rect in _merge_touching(rects):
        part = _add_rim(rect)
        _fill(pixels[part], hidden[part], rim[part])
    return Photo(Image.fromarray(pixels), photo.kind)


def widen_box(box: DatasetBox, size: tuple[int, int]) -> "_Rect | None":
    """Return the pixels that are blanked for a box: left, top, right, bottom; None if it is empty or lies outside."""
    width, height = size
    left, right = box.left * width, box.right * width
    top, bottom = box.top * height, box.bottom * height
    if not (left < right and top < bottom and left < width and top < height and right > 0 and bottom > 0):
        return None
    more = max(MIN_WIDENED_PX, MARGIN_SHARE * min(right - left, bottom - top))
    return (
        max(0, floor(left - more)),
        max(0, floor(top - more)),
        min(width, ceil(right + more)),
        min(height, ceil(bottom + more)),
    )


def _add_rim(rect: "_Rect") -> tuple[slice, slice]:
    left, top, right, bottom = rect
    rim = max(_MIN_RIM_PX, round(_RIM * min(right - left, bottom - top)))
    return slice(max(0, top - rim), bottom + rim), slice(max(0, left - rim), right + rim)


def _merge_touching(rects: "Iterable[_Rect]") -> "list[_Rect]":
    """Merge rectangles that touch, so that each gap is filled at once."""
    groups: list[_Rect] = []
    for rect in rects:
        grown, apart = rect, groups
        while True:
            touching = [item for item in apart if _touch(item, grown)]
            if not touching:
                break
            apart = [item for item in apart if item not in touching]
            lefts, tops, rights, bottoms = zip(grown, *touching, strict=True)
            grown = min(lefts), min(tops), max(rights), max(bottoms)
        groups = [*apart, grown]
    return groups


def _touch(rect: "_Rect", other: "_Rect") -> bool:
    return rect[0] <= other[2] and other[0] <= rect[2] and rect[1] <= other[3] and other[1] <= rect[3]


def _fill(pixels: "NDArray[np.uint8]", hidden: "NDArray[np.bool_]", rim: "NDArray[np.bool_]") -> None:
    """Fill the hidden pixels with colours blended from the rim, in place."""
    step = max(1, ceil(sqrt(hidden.size / _MAX_PIXELS)))
    known = rim[::step, ::step].astype(np.float32)
    smooth = _spread(pixels[::step, ::step].astype(np.float32), known)
    if smooth.shape[:2] != hidden.shape:
        smooth = _resize_colours(smooth, hidden.shape[1], hidden.shape[0])
    pixels[hidden] = np.clip(np.rint(smooth[hidden]), 0, 255).astype(np.uint8)


def _spread(colours: "_Colours", known: "_Weights") -> "_Colours":
    """Interpolate unknown pixels between known ones: first in a copy of half the size, then smoothed in place."""
    if known.min() >= 1:
        return colours
    if max(known.shape) == 1:
        return np.where(known[..., None] > 0, colours, np.float32(_GREY))
    halved, weights = _halve_size(colours, known)
    coarse = _resize_colours(_spread(halved, np.minimum(weights, np.float32(1.0))), known.shape[1], known.shape[0])
    free = known <= 0
    filled: _Colours = np.where(free[..., None], coarse, colours)
    for _ in range(_ROUNDS if free.size <= _FINE_PIXELS else _ROUNDS_IF_FINE):
        wider = np.pad(filled, ((1, 1), (1, 1), (0, 0)), mode="edge")
        means = wider[:-2, 1:-1] + wider[2:, 1:-1] + wider[1:-1, :-2] + wider[1:-1, 2:]
        filled[free] = means[free] / 4
    return filled


def _halve_size(colours: "_Colours", weights: "_Weights") -> "tuple[_Colours, _Weights]":
    """Return means over two by two pixels, weighted by known share, and the known share of each mean."""
    height, width = weights.shape
    even = ((0, height % 2), (0, width % 2))
    weights = np.pad(weights, even)
    weighted = np.pad(colours, (*even, (0, 0))) * weights[..., None]
    total = weights[::2, ::2] + weights[1::2, ::2] + weights[::2, 1::2] + weights[1::2, 1::2]
    summed = weighted[::2, ::2] + weighted[1::2, ::2] + weighted[::2, 1::2] + weighted[1::2, 1::2]
    return summed / np.maximum(total, np.float32(1e-6))[..., None], total


def _resize_colours(colours: "_Colours", width: int, height: int) -> "_Colours":
    import cv2

    return np.asarray(cv2.resize(colours, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def own_boxes(kind: BoxKind, item: Item) -> tuple[DatasetBox, ...]:
    """Return the boxes of one kind that the data set has for a photo."""
    return tuple(box for box in item.boxes if box.kind == kind)


def build_masking_jobs(kind: BoxKind, unmasked: Path | None = None, data: DataSet | None = None) -> JobOf:
    """Return a maker of the jobs of a masked run, for `run_set`.

    Args:
        kind: what is hidden.
        unmasked: for ``clue``, the run without a mask, whose trajectories show what was examined.
        data: the photos of the run; if given, it is checked that there are boxes for them.

    Raises:
        BadInput: there is nothing to hide, or no boxes are known; the message says what to do.
    """
    if kind == "clue" and unmasked is not None:
        return _clue_jobs(unmasked, data)
    if unmasked is not None:
        raise BadInput("--unmasked is the run whose clues are hidden; it goes with --mask clue")
    if data is not None and kind != "text" and not any(own_boxes(kind, item) for item in data):
        if kind == "clue":
            raise BadInput(
                "--mask clue hides what a run looked at; name that run, made without --mask: --unmasked RUN/"
            )
        raise BadInput(f"--mask {kind}: no photo of {data.card.name} has a box of that kind; {HOW_TO_GIVE % kind}")

    def build_job(item: Item, name: str, number: int, content: bytes) -> Job:
        hide = own_boxes(kind, item) or ((ALL_TEXT,) if kind == "text" else ())
        return Job(name, item.id, number, content, hide)

    return build_job


def _clue_jobs(unmasked: Path, data: DataSet | None) -> JobOf:
    """Return a maker of jobs that hide what an earlier run examined; of a team, what any member did."""
    folder = RunFolder.read(unmasked)
    if folder.manifest.mask is not None:
        raise BadInput(f"{unmasked}: has a mask itself; give --unmasked the run without one")
    answered = {attempt.id: attempt.number for attempt in folder.tries() if attempt.outcome == "answered"}
    missing = [item.id for item in data or () if item.id not in answered]
    if missing:
        raise BadInput(
            f"{unmasked}: has no answer for {len(missing):,} of the photos, such as {missing[0][:80]}; continue "
            "that run first, or leave those photos out of this one"
        )

    def build_clue_job(item: Item, name: str, number: int, content: bytes) -> Job:
        files = folder.list_files(folder.build_name(item.id), answered[item.id]) if item.id in answered else []
        seen = (clue_boxes(read_trajectory(file)) for file in files if file.suffix == ".jsonl")
        return Job(name, item.id, number, content, tuple(dict.fromkeys(box for boxes in seen for box in boxes)))

    return build_clue_job
