"""Which places may be trained on: whole squares of land are held out, whatever the world's seed."""

from hashlib import sha256
from math import floor
from typing import Final

from geosleuth.geo import LatLon

from .model import Split

HELD_OUT_SHARE: Final = 0.25
"""Of the squares of one degree, not of towns: in any one country the share may differ."""


def cell_of(point: LatLon) -> str:
    """The square of one degree that a point lies in, named by its south-western corner: "N48E011"."""
    south, west = floor(point.lat), floor(point.lon)
    return f"{'NS'[south < 0]}{abs(south):02}{'EW'[west < 0]}{abs(west):03}"


def split_of_cell(cell: str) -> Split:
    """The split of a square, fixed once and for all by its name."""
    drawn = int.from_bytes(sha256(f"split {cell}".encode()).digest()[:8], "big") / 2**64
    return "held-out" if drawn < HELD_OUT_SHARE else "train"
