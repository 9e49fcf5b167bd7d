"""Which countries have a town of a name: a quick look-up that tells town names from other words."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from geosleuth.names import fold
from geosleuth.names.country_names import cities_by_country
from geosleuth.names.folding import fold_once

LARGE_TOWN = 100_000
"""Towns of this size are known by their other names, too."""

_LEAST_NAME_CHARS = 3


def town_people(name: str) -> Mapping[str, int]:
    """People of the largest town of this name in each country, by ISO code; empty where no town is called so.

    Knows towns from 15,000 people by their main name, and large ones by every name that GeoNames has.
    """
    main, others = _towns()
    return main.get(fold(name)) or others.get(" ".join(name.split()).casefold(), {})


@cache
def _towns() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]:
    main: dict[str, dict[str, int]] = defaultdict(dict)
    others: dict[str, dict[str, int]] = defaultdict(dict)
    for code, cities in cities_by_country().items():
        for city in cities:
            _keep(main[fold_once(city.names[0])], code, city.population)
            if city.population >= LARGE_TOWN:
                for name in filter(_is_written_so, city.names[1:]):
                    _keep(others[name.casefold()], code, city.population)
    return dict(main), dict(others)


def _is_written_so(name: str) -> bool:
    """GeoNames' machine transliterations begin with a small letter, its airport codes are three capitals."""
    least = _LEAST_NAME_CHARS if name.isascii() else _LEAST_NAME_CHARS - 1
    return len(name) >= least and not name[0].islower() and not (len(name) == 3 and name.isupper())


def _keep(people: dict[str, int], code: str, population: int) -> None:
    people[code] = max(people.get(code, 0), population)
