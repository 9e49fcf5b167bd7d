"""Find the country and first-level region of points by polygon, exact at borders; a land mask; outlines to draw."""

from .borders import NOWHERE, Borders, Detail
from .grid import BorderRegion

__all__ = [
    "NOWHERE",
    "BorderRegion",
    "Borders",
    "Detail",
]
