"""Conversion of text networks' outputs into boxes and words.

RapidOCR has the same in Python. To import it takes longer than to read a small photo: it reads its list of all models,
and brings a client for HTTP along.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Map = npt.NDArray[np.float32]

# Minimum text score of a pixel that belongs to a line.
MIN_PIXEL_SCORE = 0.3

# Minimum average text score of a line.
MIN_SCORE = 0.5

MAX_LINES = 1000
_GROWTH = 1.6
_MIN_SIDE = 3
_BLANK = 0


def extract_boxes(found: Map, shape: tuple[int, ...]) -> list[tuple[Map, float]]:
    """Return the lines in a map of how much each part looks like text, as the detector gives it.

    The detector is trained on lines whose edges are cut away; each is grown again by as much.

    Args:
        found: the map, in the network's size.
        shape: height and width of the picture that the corners are wanted in.

    Returns:
        Four corners, clockwise from the upper left, and the mean of the map inside, for each line.
    """
    import cv2

    whole = found[0, 0]
    mask = cv2.dilate((whole > MIN_PIXEL_SCORE).astype(np.uint8), np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    limit = np.array([shape[1], shape[0]], np.float32)
    scale = limit / (whole.shape[1], whole.shape[0])
    boxes = []
    for contour in contours[:MAX_LINES]:
        corners, side = _tight_box(contour)
        if side < _MIN_SIDE or (score := _mean_inside(whole, corners)) < MIN_SCORE:
            continue
        corners, side = _tight_box(_grown(corners))
        if side < _MIN_SIDE + 2:
            continue
        quad = np.clip(_clockwise(np.clip(np.round(corners * scale), 0, limit)), 0, limit - 1).astype(np.float32)
        if min(np.linalg.norm(quad[0] - quad[1]), np.linalg.norm(quad[0] - quad[3])) >= _MIN_SIDE + 1:
            boxes.append((quad, score))
    return boxes


def _tight_box(points: npt.NDArray[Any]) -> tuple[Map, float]:
    """The smallest rectangle around points, and its shorter side."""
    import cv2

    box = cv2.minAreaRect(np.asarray(points))
    return np.asarray(cv2.boxPoints(box), np.float32), min(box[1])


def _grown(corners: Map) -> npt.NDArray[np.int32]:
    import pyclipper

    ahead = np.roll(corners, -1, axis=0).astype(np.float64)
    area = abs(float(np.sum(corners[:, 0] * ahead[:, 1] - corners[:, 1] * ahead[:, 0]))) / 2
    around = float(np.linalg.norm(ahead - corners, axis=1).sum())
    offset = pyclipper.PyclipperOffset()
    offset.AddPath(_clockwise(corners), pyclipper.JT_ROUND, pyclipper.ET_CLOSEDPOLYGON)
    return np.array(offset.Execute(area * _GROWTH / around), np.int32).reshape(-1, 1, 2)


def _mean_inside(whole: Map, corners: Map) -> float:
    import cv2

    limit = np.array([whole.shape[1] - 1, whole.shape[0] - 1])
    left, top = np.clip(np.floor(corners.min(axis=0)).astype(np.int32), 0, limit)
    right, bottom = np.clip(np.ceil(corners.max(axis=0)).astype(np.int32), 0, limit)
    mask = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    inside = _clockwise(corners) - np.array([left, top], np.float32)
    cv2.fillPoly(mask, [inside.astype(np.int32)], 1)
    return float(cv2.mean(whole[top : bottom + 1, left : right + 1], mask)[0])


def _clockwise(corners: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Four corners in order: of the two on the left the upper one first, then those on the right."""
    across = corners[np.argsort(corners[:, 0], kind="stable")]
    left, right = (pair[np.argsort(pair[:, 1], kind="stable")] for pair in (across[:2], across[2:]))
    return np.array([left[0], right[0], right[1], left[1]])


def decode_text(found: Map, characters: Sequence[str]) -> tuple[str, float]:
    """Return the text of one strip, as the reader gives it, and the mean confidence of its characters.

    At every step the reader gives the blank or a character; the same one twice in a row is one character.

    Args:
        found: how likely each character is at each step.
        characters: what the reader knows, the blank first.
    """
    likeliest, confidence = found[0].argmax(axis=1), found[0].max(axis=1)
    is_new = np.diff(likeliest, prepend=-1) != 0
    kept = is_new & (likeliest != _BLANK)
    if not kept.any():
        return "", 0.0
    sure = np.round(np.mean(np.round(confidence[kept].astype(np.float64), 5)), 5)
    return "".join(characters[at] for at in likeliest[kept]), float(sure)
