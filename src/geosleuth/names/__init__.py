"""Names of places, compared by rule: the same country, region or city in any language and spelling.

`PlaceNames` is what level-wise scoring asks; `RuleNames` answers from tables that ship with the package. An atlas with
more names, or a judge that reads, can stand in its place.
"""

from typing import Protocol

from . import cities, country_names
from .cities import same_city, same_region
from .country_names import (
    country_code,
    country_name,
    get_continent,
    require_country_code,
    same_country,
    whole_country,
    with_article,
)
from .folding import fold

__all__ = [
    "PlaceNames",
    "RuleNames",
    "country_code",
    "country_name",
    "fold",
    "get_continent",
    "require_country_code",
    "same_city",
    "same_country",
    "same_region",
    "whole_country",
    "with_article",
]


class PlaceNames(Protocol):
    """Comparison of names: decides whether two names mean the same place.

    Every answer is the same when the two names change places, and nothing raises on odd text: names come from what
    models wrote.
    """

    def same_country(self, a: str, b: str) -> bool:
        """Return whether two names mean the same country."""
        ...

    def same_region(self, a: str, b: str, country: str | None = None) -> bool:
        """Return whether two names mean the same region, inside the country if given."""
        ...

    def same_city(self, a: str, b: str, country: str | None = None) -> bool:
        """Return whether two names mean the same city, inside the country if given."""
        ...


class RuleNames:
    """`PlaceNames` by rule: CLDR country names, GeoNames cities, a short list of regions, generic words dropped.

    Making one costs nothing; the tables are read at the first question and shared.
    """

    def same_country(self, a: str, b: str) -> bool:
        """Return whether two names mean the same country, by ISO 3166-1 code."""
        return country_names.same_country(a, b)

    def same_region(self, a: str, b: str, country: str | None = None) -> bool:
        """Return whether two names mean the same region; see `geosleuth.names.cities`."""
        return cities.same_region(a, b, country)

    def same_city(self, a: str, b: str, country: str | None = None) -> bool:
        """Return whether two names mean the same city; see `geosleuth.names.cities`."""
        return cities.same_city(a, b, country)
