"""Nature of a picture by its pixels: a photograph, or a screenshot, a document or a drawing.

Cameras leave noise on every surface and few edges that lie exactly along the axes; screens and drawing programs leave
areas of one colour, and scanners one tone of paper with ink on it. A small linear model weighs such measures. It was
fitted by ``benchmarks/photographs.py``, which says how often it is right.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Resampling

from geosleuth.support.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

    from .opening import OpenedPhoto

Nature = Literal["photo", "screenshot", "document", "drawing"]
NATURES: tuple[Nature, ...] = get_args(Nature)

# Minimum probability at which a picture is reported not to be a photograph.
MIN_REPORTED_PROBABILITY = 0.65

_SIDE_PX, _LARGE_PX, _TILE_PX, _TILES = 256, 1000, 48, 5
_Grid = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class NatureVerdict:
    """Likeliest nature of a picture, and the probability that it is no photograph."""

    nature: Nature
    unlike_photo: float


def get_nature(opened: "OpenedPhoto") -> Nature:
    """Return what an opened picture is. A file that names the camera that took it is a photo, with any content."""
    claims = opened.claims
    return "photo" if claims.camera_make and claims.camera_model else judge(opened.photo.image).nature


class NotAPhoto(BadInput):
    """A picture of a folder that is left out; ``nature`` is what it looks like."""

    def __init__(self, name: object, nature: str) -> None:
        """Name the picture."""
        super().__init__(f"{name}: {looks_like(nature)}: left out; name the file itself to locate it all the same")
        self.nature = nature


def looks_like(nature: str) -> str:
    """Return the words for a picture that is no photograph."""
    return f"looks like a {nature}, not a photograph"


def add_nature_verdict(opened: "OpenedPhoto") -> "OpenedPhoto":
    """Return an opened picture whose claims say whether it is no photograph; one that was judged before as it is."""
    if opened.is_judged:
        return opened
    nature = get_nature(opened)
    claims = replace(opened.claims, not_a_photo=None if nature == "photo" else nature)
    return replace(opened, claims=claims, is_judged=True)


def leave_out_others(opened: "OpenedPhoto", name: object) -> "OpenedPhoto":
    """Return a photograph, judged, and let no other picture pass: what lies in a folder was not chosen one by one.

    Raises:
        NotAPhoto: it is no photograph.
    """
    opened = add_nature_verdict(opened)
    if (nature := opened.claims.not_a_photo) is not None:
        raise NotAPhoto(name, nature)
    return opened


def judge(image: "Image") -> NatureVerdict:
    """Return what a picture is by its pixels; "photo" unless it is quite sure of something else."""
    model = _model()
    scores = (np.append((measures(image) - model["mean"]) / model["scale"], 1.0) @ model["weights"]).astype(np.float64)
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    unlike = float(1.0 - shares[0])
    nature = NATURES[1 + int(np.argmax(shares[1:]))] if unlike > MIN_REPORTED_PROBABILITY else "photo"
    return NatureVerdict(nature, unlike)


@cache
def _model() -> dict[str, Any]:
    stored = json.loads(files("geosleuth.photo").joinpath("data/nature.json").read_text(encoding="utf-8"))
    return {name: np.asarray(stored[name]) for name in ("mean", "scale", "weights")}


def measures(image: "Image") -> _Grid:
    """Return what the model weighs, a row of numbers for an RGB picture of any size."""
    if min(image.size) < _TILE_PX:
        image = image.resize((max(_TILE_PX, image.width), max(_TILE_PX, image.height)))
    tiles = _tiles(image)
    times = max(image.size) // _LARGE_PX
    if times > 1:  # every pixel of a large picture would take too long
        image = image.resize((image.width // times, image.height // times), Resampling.NEAREST)
    times = max(1, min(round(max(image.size) / _SIDE_PX), min(image.size) // 2))
    small = np.asarray(image.reduce(times), dtype=np.float32)
    return np.array([*_fine(tiles), *_coarse(small)], dtype=np.float32)


def _tiles(image: "Image") -> NDArray[np.int16]:
    """Return small squares of the picture in its own pixels, spread over it: the whole would take too long."""
    width, height = image.size
    lefts = {round(at * (width - _TILE_PX) / (_TILES - 1)) for at in range(_TILES)}
    tops = {round(at * (height - _TILE_PX) / (_TILES - 1)) for at in range(_TILES)}
    boxes = [(left, top, left + _TILE_PX, top + _TILE_PX) for left in sorted(lefts) for top in sorted(tops)]
    return np.stack([np.asarray(image.crop(box), dtype=np.int16) for box in boxes])


def _fine(tiles: NDArray[np.int16]) -> list[float]:
    """Return measures of neighbouring pixels: noise, flat areas, steps."""
    across = np.abs(np.diff(tiles, axis=2)).max(axis=3).ravel()
    down = np.abs(np.diff(tiles, axis=1)).max(axis=3).ravel()
    steps = np.concatenate([across, down])
    moving = max(float((steps > 3).mean()), 1e-3)
    spreads = _spreads(tiles.mean(axis=3, dtype=np.float32))
    calm = np.sort(spreads)[: max(1, len(spreads) // 2)]
    return [
        float((steps == 0).mean()),
        float((steps <= 2).mean()),
        float((steps > 48).mean()),
        float((steps > 48).mean()) / moving,
        float((steps > 120).mean()),
        float((spreads < 0.3).mean()),
        float((spreads < 1.0).mean()),
        float((spreads < 3.0).mean()),
        float(np.log1p(np.median(spreads))),
        float(np.log1p(calm.mean())),
        float((np.ptp(tiles, axis=(1, 2, 3)) < 8).mean()),
    ]


def _spreads(gray: _Grid, side: int = 8) -> _Grid:
    """Return the standard deviation in each little square."""
    count, high, wide = gray.shape
    blocks = gray.reshape(count, high // side, side, wide // side, side)
    spread: _Grid = blocks.std(axis=(2, 4)).ravel()
    return spread


def _coarse(small: _Grid) -> list[float]:
    """Return measures of the whole: how few colours it has, paper and ink, edges along the axes."""
    gray = small.mean(axis=2)
    chroma = small.max(axis=2) - small.min(axis=2)
    bins = (small.astype(np.int32) >> 4) @ np.array([256, 16, 1])
    counts = np.sort(np.bincount(bins.ravel(), minlength=1))[::-1] / bins.size
    down, across = np.gradient(gray)
    strength = np.hypot(across, down)
    edges = strength > 20
    angle = np.abs(np.arctan2(down[edges], across[edges]))
    off_axis = np.minimum.reduce([angle, np.abs(angle - np.pi / 2), np.abs(angle - np.pi)])
    on_axis = float((off_axis < 0.06).mean()) if edges.any() else 0.0
    paper = np.percentile(gray, 90)
    light = np.abs(gray - paper) < 16
    dark = np.abs(gray - np.percentile(gray, 10)) < 16
    return [
        float(counts[0]),
        float(counts[:2].sum()),
        float(counts[:6].sum()),
        float(np.log1p(np.searchsorted(np.cumsum(counts), 0.95))),
        float((chroma < 12).mean()),
        float((chroma > 90).mean()),
        float(chroma.std() / 64),
        float(paper / 255),
        float(light.mean()),
        float(dark.mean()),
        float((~light & ~dark).mean()),
        float(light.mean() * (chroma < 40).mean()),
        on_axis,
        float(edges.mean()),
        float((strength < 1.5).mean()),
        float(np.log1p(strength.mean())),
        _measure_row_differences(gray),
        _measure_row_differences(gray.T),
    ]


def _measure_row_differences(gray: _Grid) -> float:
    """Return how much rows differ from their neighbours as wholes: lines of text and bars of a page do."""
    means = gray.mean(axis=1)
    return float(np.abs(np.diff(means)).mean() / (gray.std() + 4.0))
