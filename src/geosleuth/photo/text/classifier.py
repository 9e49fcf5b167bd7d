"""Tell text from texture, and one script from another, before any script's model reads a strip.

A small network looks at grey strips of 32 pixels height. It was trained on words of every script drawn over real
photos, against the boxes that the detector raises where there is no text (``scripts/train_text_classifier.py``).
"""

from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from geosleuth.geo import FloatArray
from geosleuth.photo.runtime import open_packaged_session

from .strips import Pixels, Quad, cut_strip

# Classes of a strip; "han" covers Chinese characters and kana, "latin" also digits.
CLASSES: Final = (
    "texture", "latin", "han", "cyrillic", "arabic", "greek", "thai", "hangul", "hebrew", "devanagari", "armenian",
    "georgian", "bengali", "tamil", "ethiopic", "telugu", "kannada", "malayalam", "gujarati", "gurmukhi", "sinhala",
    "myanmar",
)  # fmt: skip

TEXTURE: Final = 0
TALL, WIDE = 32, 192
_MARGIN = 0.08
_MAX_WINDOWS = 3
_WEIGHTS = Path(__file__).parent / "data" / "scripts.onnx"
_LOADING, _RUNNING = Lock(), Lock()


def cut_classifier_strip(pixels: Pixels, quad: Quad) -> Pixels:
    """Return the beginning of the line in a box as the grey strip that the network looks at."""
    return _windows(cut_strip(pixels, quad, tall=TALL, margin=_MARGIN))[0]


def classify(strips: list[Pixels]) -> FloatArray:
    """Return the probability of each class (columns, see `CLASSES`) for colour strips of any size (rows)."""
    if not strips:
        return np.zeros((0, len(CLASSES)))
    windows = [_windows(strip) for strip in strips]
    with _RUNNING:
        (scores,) = _session().run(None, {"strips": np.stack([item for several in windows for item in several])})
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    ends = np.cumsum([len(several) for several in windows])
    return np.stack([part.mean(axis=0) for part in np.split(shares.astype(np.float64), ends[:-1])])


def _windows(strip: Pixels) -> list[Pixels]:
    """Parts of a strip as wide as the network's input: the whole where it fits, else a few along it."""
    import cv2

    grey = cv2.cvtColor(strip, cv2.COLOR_RGB2GRAY) if strip.ndim == 3 else strip
    wide = max(8, round(grey.shape[1] * TALL / grey.shape[0]))
    if grey.shape[0] != TALL:
        grey = cv2.resize(grey, (wide, TALL), interpolation=cv2.INTER_AREA)
    if grey.shape[1] <= WIDE:
        return [np.pad(grey, ((0, 0), (0, WIDE - grey.shape[1])), mode="edge").astype(np.uint8)]
    count = min(_MAX_WINDOWS, -(-grey.shape[1] // WIDE))
    begins = np.linspace(0, grey.shape[1] - WIDE, count).astype(int)
    return [np.ascontiguousarray(grey[:, begin : begin + WIDE], dtype=np.uint8) for begin in begins]


def _session() -> Any:
    with _LOADING:
        return _load_classifier()


@cache
def _load_classifier() -> Any:
    return open_packaged_session(_WEIGHTS, threads=1)
