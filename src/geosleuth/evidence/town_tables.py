"""Packaged tables of towns with 15,000 people and more: their names, where they lie, how many people they have.

`scripts/build_town_tables.py` compiles them from GeoNames. The cache keeps them unpacked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from geosleuth.atlas.folders import load_packaged_arrays
from geosleuth.atlas.sorted_rows import SortedRows
from geosleuth.geo import FloatArray

# Minimum population of towns that are also known by their other names.
LARGE_TOWN = 100_000

TABLE = "towns.bin.gz"
E5 = 100_000


@dataclass(frozen=True)
class TownTables:
    """All towns, by name and by country."""

    made_of: str
    main: SortedRows
    """By folded main name: "DE 83000 US 19000", the people of the largest town of that name in each country."""
    others: SortedRows
    """The same by the other names of large towns, with case alone folded."""
    columns: tuple[npt.NDArray[Any], ...]
    """ISO codes, how many towns each country has, and latitudes, longitudes (in 1e-5 degrees) and people of all."""

    @cached_property
    def by_country(self) -> Mapping[str, tuple[FloatArray, FloatArray, FloatArray]]:
        """Latitudes and longitudes in degrees and people (at least one) of the towns of each country."""
        codes, counts, lats_e5, lons_e5, people = self.columns
        cuts = np.cumsum(counts)[:-1]
        parts = (np.split(column, cuts) for column in (lats_e5 / E5, lons_e5 / E5, np.maximum(people, 1.0)))
        return dict(zip(codes.tolist(), zip(*parts, strict=True), strict=True))


@cache
def town_tables() -> TownTables:
    """Return the tables.

    Raises:
        DataFault: the package is damaged.
    """
    made_of, main, others, *columns = load_packaged_arrays("geosleuth.evidence", TABLE)
    return TownTables(
        made_of.tobytes().decode(), SortedRows(main.tobytes()), SortedRows(others.tobytes()), tuple(columns)
    )
