"""Where mainland China is: there, maps are shifted and other services know best."""

import json
import re
from functools import cache
from importlib.resources import files

from geosleuth.geo import Box, LatLon

_AROUND = Box(17.0, 73.0, 54.0, 136.0)
_HAN = re.compile("[㐀-鿿豈-﫿\U00020000-\U0003134f]")
_NOT_CHINESE = re.compile("[぀-ヿㇰ-ㇿ가-힣]")
_CHINA = re.compile(r"\b(?:china|chine|cina|prc)\b|中国|中國|中华", re.IGNORECASE)

Ring = tuple[tuple[float, float], ...]


def in_mainland_china(point: LatLon) -> bool:
    """Whether a point lies in mainland China or its coastal waters, by an outline that is good to about 10 km.

    Hong Kong and Macau, which are drawn finely, and Taiwan are not part of it.
    """
    if not _AROUND.contains(point):
        return False
    outer, *holes = _outline()
    return _encloses(outer, point) and not any(_encloses(hole, point) for hole in holes)


def sounds_chinese(text: str) -> bool:
    """Whether a text is likely to name a place in China: it says so, or is written in Chinese characters alone."""
    return bool(_CHINA.search(text)) or bool(_HAN.search(text) and not _NOT_CHINESE.search(text))


@cache
def _outline() -> tuple[Ring, ...]:
    table = files("geosleuth.atlas.online").joinpath("data/mainland_china.json")
    rings = json.loads(table.read_text(encoding="utf-8"))
    return tuple(tuple((lat, lon) for lat, lon in ring) for ring in rings)


def _encloses(ring: Ring, point: LatLon) -> bool:
    """Whether a line from the point to the east crosses the ring an odd number of times."""
    odd = False
    before_lat, before_lon = ring[-1]
    for lat, lon in ring:
        if (lat > point.lat) != (before_lat > point.lat):
            crossing_lon = lon + (point.lat - lat) / (before_lat - lat) * (before_lon - lon)
            odd ^= point.lon < crossing_lon
        before_lat, before_lon = lat, lon
    return odd
