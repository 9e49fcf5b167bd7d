"""Where text stands in a photo, whether or not it can be read."""

from itertools import product
from math import ceil

import numpy as np

from geosleuth.bench.sets import Box
from geosleuth.photo import Photo

_WHOLE_PX = 1536
"""The long side of the copy in which large lettering is found; in parts of a photo small lettering is."""

_PART_PX = 2048
_OVERLAP = 0.12
_MOST_PARTS = 4


def text_boxes(photo: Photo) -> tuple[Box, ...]:
    """Boxes of every line of text that our own reader finds.

    A line counts whether or not it was read: a model may read what the reader can't. Photos much larger than what
    models are shown first are also gone through in parts, since models zoom in. Takes a second for each part.
    """
    from geosleuth.photo.text.detector import find_boxes
    from geosleuth.photo.text.strips import with_slack

    pixels = np.asarray(photo.image.convert("RGB"), dtype=np.uint8)
    width, height = photo.size
    found: list[Box] = []
    for left, top, right, bottom in [(0, 0, width, height), *_parts(width, height)]:
        for one in find_boxes(with_slack(pixels[top:bottom, left:right]), _WHOLE_PX):
            x, y = one.quad[:, 0] + left, one.quad[:, 1] + top
            found.append(
                Box(
                    "text",
                    max(0.0, float(x.min()) / width),
                    max(0.0, float(y.min()) / height),
                    min(1.0, float(x.max()) / width),
                    min(1.0, float(y.max()) / height),
                )
            )
    return tuple(found)


def _parts(width: int, height: int) -> list[tuple[int, int, int, int]]:
    """Overlapping parts of a large photo; none of one that is hardly larger than a part."""
    if max(width, height) <= 1.25 * _PART_PX:
        return []
    return [
        (left, top, right, bottom) for (top, bottom), (left, right) in product(_stretches(height), _stretches(width))
    ]


def _stretches(length: int) -> list[tuple[int, int]]:
    count = min(_MOST_PARTS, ceil(length / _PART_PX))
    each = length / count
    more = each * _OVERLAP if count > 1 else 0.0
    return [(max(0, round(at * each - more)), min(length, round((at + 1) * each + more))) for at in range(count)]
