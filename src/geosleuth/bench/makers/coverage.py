"""How much two sets have in common: the shares of places that one has of the other's (smileGeo).

coverage = places of both / places of the first (training), consistency = places of both / places of the second (test).
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

from geosleuth.bench.sets.model import Item
from geosleuth.geo import CellGrid
from geosleuth.names import country_code, fold

By = Literal["city", "region", "country", "cell"]
"""What a place is: a name at some level with those above it, or a cell of the globe."""


def place_of(item: Item, by: By, grid: CellGrid) -> Hashable | None:
    """What tells the photo's place from others; None where the photo has no name at that level.

    Names are compared folded, countries by their codes: "Côte d'Ivoire" and "Ivory Coast" are one. Cities of one name
    in one country are one place, whatever region they are said to be in: sets name regions differently or not at all,
    and no split may put one city into two parts. Regions and cities that go by several names are not brought together.
    """
    truth = item.truth
    if by == "cell":
        return int(grid.cell_of(truth.point.lat, truth.point.lon))
    name = {"country": truth.country, "region": truth.region, "city": truth.city}[by]
    if name is None:
        return None
    return _country(truth.country) if by == "country" else (_country(truth.country), fold(name))


def _country(name: str | None) -> str:
    return (country_code(name) or fold(name)) if name else ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What two sets share. Shares are of 1, and NaN where a set has no place; photos without a place are counted."""

    by: By
    first_places: int
    second_places: int
    common: int
    first_photos: int
    second_photos: int
    second_photos_in_common: int
    first_unnamed: int
    second_unnamed: int

    @property
    def coverage(self) -> float:
        """Of the first set's places, the share that the second has."""
        return self.common / self.first_places if self.first_places else float("nan")

    @property
    def consistency(self) -> float:
        """Of the second set's places, the share that the first has."""
        return self.common / self.second_places if self.second_places else float("nan")


def coverage_of(first: Iterable[Item], second: Iterable[Item], *, by: By, cell_deg: float = 1.0) -> Coverage:
    """Compare the places of two sets: the first is what is trained on, the second what is tested on.

    Raises:
        ValueError: ``cell_deg`` does not divide 180.
    """
    grid = CellGrid(cell_deg)
    ours, theirs = (Counter(place_of(item, by, grid) for item in items) for items in (first, second))
    first_unnamed, second_unnamed = ours.pop(None, 0), theirs.pop(None, 0)
    common = ours.keys() & theirs.keys()
    return Coverage(
        by,
        len(ours),
        len(theirs),
        len(common),
        ours.total() + first_unnamed,
        theirs.total() + second_unnamed,
        sum(theirs[place] for place in common),
        first_unnamed,
        second_unnamed,
    )
