"""The climate of a point: its class after Köppen and Geiger."""

import struct
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache

from geosleuth.errors import DataFault
from geosleuth.geo import LatLon

from .countries import read_bytes

ROWS, COLUMNS, BAND_ROWS = 6480, 12960, 12
CELLS_PER_DEGREE = 36
BANDS = ROWS // BAND_ROWS
CACHED_BANDS = 128
"""Bands kept unpacked, 155 kB each."""

CODES = (
    "Af", "Am", "As", "Aw", "BSh", "BSk", "BWh", "BWk", "Cfa", "Cfb", "Cfc", "Csa", "Csb", "Csc", "Cwa", "Cwb",
    "Cwc", "Dfa", "Dfb", "Dfc", "Dfd", "Dsa", "Dsb", "Dsc", "Dsd", "Dwa", "Dwb", "Dwc", "Dwd", "EF", "ET",
)  # fmt: skip
"""Classes in the order of their numbers in the grid, which begin at 1; the next number is sea."""

_GROUPS = {"A": "tropical", "B": "dry", "C": "temperate", "D": "continental", "E": "polar"}
_RAIN = {"f": "no dry season", "m": "monsoon", "s": "dry summer", "w": "dry winter"}
_HEAT = {"a": "hot summer", "b": "warm summer", "c": "cold summer", "d": "very cold winter"}
_DRY = {"S": "steppe", "W": "desert"}
_DRY_HEAT = {"h": "hot", "k": "cold"}
_WHOLE = {
    "Af": "tropical, rainforest",
    "Am": "tropical, monsoon",
    "As": "tropical savanna, dry summer",
    "Aw": "tropical savanna, dry winter",
    "EF": "polar, ice cap",
    "ET": "polar, tundra",
}


@dataclass(frozen=True, slots=True)
class KoppenClass:
    """A climate class: its letters (``Cfb``) and what they mean in words."""

    code: str
    description: str


def climate_at(point: LatLon) -> KoppenClass | None:
    """The climate class of a point on land, in cells of 100 arc seconds (3 km at the equator); None at sea."""
    row = min(ROWS - 1, int((90 - point.lat) * CELLS_PER_DEGREE))
    column = int((point.lon + 180) * CELLS_PER_DEGREE) % COLUMNS
    number = _band(row // BAND_ROWS)[row % BAND_ROWS * COLUMNS + column]
    return _classes()[number - 1] if 1 <= number <= len(CODES) else None


def describe_climate(code: str) -> str:
    """The letters of a class in words: ``BWh`` is ``dry, hot desert``."""
    if code in _WHOLE:
        return _WHOLE[code]
    group, second, third = code[0], code[1], code[2]
    if group == "B":
        return f"{_GROUPS[group]}, {_DRY_HEAT[third]} {_DRY[second]}"
    return f"{_GROUPS[group]}, {_RAIN[second]}, {_HEAT[third]}"


@cache
def _classes() -> tuple[KoppenClass, ...]:
    return tuple(KoppenClass(code, describe_climate(code)) for code in CODES)


@cache
def _file() -> tuple[bytes, tuple[int, ...]]:
    data = read_bytes("climate.bin")
    head = struct.calcsize(f"<{BANDS}I")
    if len(data) < head:
        raise DataFault("a table of the atlas is damaged: climate.bin")
    starts = [head]
    for length in struct.unpack(f"<{BANDS}I", data[:head]):
        starts.append(starts[-1] + length)
    return data, tuple(starts)


@lru_cache(maxsize=CACHED_BANDS)
def _band(number: int) -> bytes:
    """One band of rows, one byte a cell."""
    data, starts = _file()
    try:
        coded = zlib.decompress(data[starts[number] : starts[number + 1]])
    except zlib.error as error:
        raise DataFault("a table of the atlas is damaged: climate.bin") from error
    if len(coded) != BAND_ROWS * COLUMNS:
        raise DataFault("a table of the atlas is damaged: climate.bin")
    above = coded[:COLUMNS]
    rows = [above]
    for start in range(COLUMNS, len(coded), COLUMNS):
        row = int.from_bytes(coded[start : start + COLUMNS]) ^ int.from_bytes(above)
        above = row.to_bytes(COLUMNS)
        rows.append(above)
    return b"".join(rows)
