"""Points for sets that name towns and give no coordinates: the centre of the largest town of that name.

From GeoNames' cities of 15,000 people and more. Good for thresholds of 25 km and up, and for nothing finer.
"""

from functools import cache

from geosleuth.geo import LatLon
from geosleuth.names import country_code, fold
from geosleuth.names.folding import fold_once
from geosleuth.names.geonames import City, cities_by_country, us_states

_MOST_WORDS = 4


def town_centre(city: str, country: str) -> LatLon | None:
    """The centre of the largest town of that name, in any language, in a country; None where there is none."""
    code = country_code(country)
    towns = () if code is None else _towns(code).get(fold(city), ())
    return LatLon(towns[0].lat, towns[0].lon) if towns else None


def us_address(address: str) -> tuple[str, str, LatLon] | None:
    """City, state and the city's centre of an address that ends so: ``341 Southwest 10th Avenue Portland OR``."""
    # The atlas takes half a second to import, and this is the one set that asks for it.
    from geosleuth.atlas.borders import Borders

    words = address.replace(",", " ").split()
    while words and words[-1].replace("-", "").isdigit():
        words.pop()
    state = us_states().get(words[-1].upper()) if words else None
    if state is None:
        return None
    for count in range(min(_MOST_WORDS, len(words) - 1), 0, -1):
        name = " ".join(words[-1 - count : -1])
        for town in _towns("US").get(fold(name), ()):
            point = LatLon(town.lat, town.lon)
            region = Borders.load().at(point)
            if region is not None and fold(region.name) == fold(state):
                return name, state, point
    return None


@cache
def _towns(code: str) -> dict[str, tuple[City, ...]]:
    """The towns of a country by folded name, largest first."""
    by_name: dict[str, list[City]] = {}
    for city in cities_by_country().get(code, ()):
        for name in {fold_once(name) for name in city.names}:
            by_name.setdefault(name, []).append(city)
    return {name: tuple(sorted(cities, key=lambda city: -city.population)) for name, cities in by_name.items()}
