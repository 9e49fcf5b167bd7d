"""How much of the world a map may show, by the granularity that a page is held to."""

from dataclasses import dataclass
from typing import Final

from geosleuth.answer import GRANULARITIES, Granularity
from geosleuth.errors import BadInput

from .frame import MAX_ZOOM


@dataclass(frozen=True, slots=True)
class Detail:
    """What tiles hold: ``ground`` is water, parks and land use of added regions, ``spots`` are shops and such."""

    max_zoom: int
    least_people: int = 0
    region_borders: bool = True
    ground: bool = True
    streets: bool = True
    spots: bool = True


_DETAILS: Final[dict[Granularity, Detail]] = {
    "country": Detail(4, 1_000_000, region_borders=False, ground=False, streets=False, spots=False),
    "region": Detail(6, 100_000, ground=False, streets=False, spots=False),
    "city": Detail(10, streets=False, spots=False),
    "street": Detail(MAX_ZOOM, spots=False),
    "exact": Detail(MAX_ZOOM),
}


def detail_of(finest: str) -> Detail:
    """What a granularity admits.

    Raises:
        BadInput: there is no such granularity.
    """
    for name, detail in _DETAILS.items():
        if name == finest:
            return detail
    raise BadInput(f"{finest[:40]!r} is no granularity; use one of {', '.join(GRANULARITIES)}")
