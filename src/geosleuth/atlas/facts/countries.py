"""Facts about each country, the evidence that a clue gives about countries, and the climate of a point."""

import gzip
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from geosleuth.geo import LatLon
from geosleuth.names import country_code
from geosleuth.support.errors import BadInput, DataFault

if TYPE_CHECKING:
    from .grids import WorldGrid

DrivingSide = Literal["left", "right"]
SpeedUnit = Literal["km/h", "mph"]
_QUOTED_CHARS = 60
# Köppen classes in the order of their numbers in the grid, which begin at 1; the number after the last is sea.
CODES = (
    "Af", "Am", "As", "Aw", "BSh", "BSk", "BWh", "BWk", "Cfa", "Cfb", "Cfc", "Csa", "Csb", "Csc", "Cwa", "Cwb",
    "Cwc", "Dfa", "Dfb", "Dfc", "Dfd", "Dsa", "Dsb", "Dsc", "Dsd", "Dwa", "Dwb", "Dwc", "Dwd", "EF", "ET",
)  # fmt: skip
_GROUPS = {"A": "tropical", "B": "dry", "C": "temperate", "D": "continental", "E": "polar"}
_RAIN = {"f": "no dry season", "m": "monsoon", "s": "dry summer", "w": "dry winter"}
_HEAT = {"a": "hot summer", "b": "warm summer", "c": "cold summer", "d": "very cold winter"}
_DRY = {"S": "steppe", "W": "desert"}
_DRY_HEAT = {"h": "hot", "k": "cold"}
_WHOLE = {
    "Af": "tropical, rainforest",
    "Am": "tropical, monsoon",
    "As": "tropical savanna, dry summer",
    "Aw": "tropical savanna, dry winter",
    "EF": "polar, ice cap",
    "ET": "polar, tundra",
}


def read_bytes(name: str) -> bytes:
    """Return the bytes of a file that ships with the package.

    Raises:
        DataFault: it is missing.
    """
    source = files("geosleuth.atlas.facts") / "data" / name
    try:
        return source.read_bytes()
    except OSError as error:
        raise DataFault(f"a table of the atlas can't be read: {source}") from error


def read_json(name: str) -> Any:
    """Return the content of a compressed JSON file that ships with the package.

    Raises:
        DataFault: it is missing or damaged.
    """
    import msgspec

    try:
        return msgspec.json.decode(gzip.decompress(read_bytes(name)))
    except (OSError, EOFError, msgspec.DecodeError, zlib.error) as error:
        raise DataFault(f"a table of the atlas is damaged: {name}") from error


@dataclass(frozen=True, slots=True)
class CountryLanguage:
    """A language of a country: ISO 639 code, names, ISO 15924 script, percent of people who use it, legal status.

    ``status`` is CLDR's: ``official``, ``de_facto_official``, ``official_regional``, or None.
    """

    code: str
    name: str
    own_name: str
    script: str
    percent: float | None
    status: str | None


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency: ISO 4217 code, English name, and its signs and abbreviations on price tags."""

    code: str
    name: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Postcode:
    """The format of postcodes: a regular expression for the whole code, and examples."""

    pattern: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plate:
    """The plate of an ordinary private car, in words."""

    pattern: str
    colours: str


@dataclass(frozen=True, slots=True)
class CountryFacts:
    """A country, or a territory with a code of its own; unknown facts are None or empty.

    ``road_km`` is the World Factbook's figure of 2015, ``population``, ``area_km2`` and ``gdp_usd`` (the gross domestic
    product in dollars) those of 2025. ``neighbours``
    share a land border. ``date_format`` is CLDR's short pattern (``dd/MM/y``).
    """

    code: str
    iso3: str
    numeric: int
    name: str
    capital: str | None
    continent: str
    tlds: tuple[str, ...]
    calling_codes: tuple[str, ...]
    postcode: Postcode | None
    languages: tuple[CountryLanguage, ...]
    currencies: tuple[Currency, ...]
    neighbours: tuple[str, ...]
    driving_side: DrivingSide
    speed_unit: SpeedUnit
    distance_unit: Literal["km", "mi"]
    height_unit: Literal["m", "ft"]
    area_km2: float | None
    population: int
    road_km: float | None
    gdp_usd: float | None
    plate: Plate | None
    date_format: str | None
    emergency_numbers: tuple[str, ...]
    aircraft_prefixes: tuple[str, ...]

    @property
    def scripts(self) -> tuple[str, ...]:
        """ISO 15924 codes of the scripts in use, the most used first."""
        return tuple(script_shares(self))

    @property
    def names(self) -> Mapping[str, str]:
        """The country's name by language (``{"fr": "Allemagne", ...}``)."""
        return country_names(self.code)


def country_facts(code_or_name: str) -> CountryFacts:
    """Return the facts of a country, by ISO code or by its name in any language.

    Raises:
        BadInput: there is no such country, or the name is ambiguous.
    """
    found = all_countries().get(code_or_name) or all_countries().get(country_code(code_or_name) or "")
    if found is None:
        shown = " ".join(code_or_name[: _QUOTED_CHARS + 1].split())
        shown = shown[:_QUOTED_CHARS] + "…" if len(shown) > _QUOTED_CHARS else shown
        raise BadInput(f"no country is called {shown!r}; give a name in any language or an ISO code such as FR")
    return found


@cache
def all_countries() -> Mapping[str, CountryFacts]:
    """Return every country by its ISO 3166-1 alpha-2 code, with XK for Kosovo."""
    table = country_tables()
    try:
        currencies = {code: _currency(code, row) for code, row in table["currencies"].items()}
        return {
            code: _build_country(code, row, currencies, table["languages"]) for code, row in table["countries"].items()
        }
    except (KeyError, TypeError, ValueError) as error:
        raise DataFault("a table of the atlas is damaged: countries.json.gz") from error


@cache
def country_tables() -> dict[str, Any]:
    """Return the table of countries as JSON values, for look-ups from a clue to countries."""
    table: dict[str, Any] = read_json("countries.json.gz")
    return table


def country_names(code: str) -> Mapping[str, str]:
    """Return a country's name by language; empty for an unknown code."""
    return _load_country_names().get(code, {})


@cache
def _load_country_names() -> dict[str, dict[str, str]]:
    names: dict[str, dict[str, str]] = read_json("names.json.gz")
    return names


def script_shares(country: CountryFacts) -> dict[str, float]:
    """Return the percentage of a country's people who use each script, the most used first.

    People use several languages, so the percentages may add up to more than 100. Languages whose share is unknown count
    as 1 percent.
    """
    percent: dict[str, float] = {}
    for language in country.languages:
        share = language.percent if language.percent is not None else 1.0
        percent[language.script] = percent.get(language.script, 0.0) + share
    return dict(sorted(percent.items(), key=lambda item: (-item[1], item[0])))


def _currency(code: str, row: dict[str, Any]) -> Currency:
    return Currency(code, row["name"], tuple(row["symbols"]))


def _build_country(
    code: str, row: dict[str, Any], currencies: dict[str, Currency], languages: dict[str, list[str]]
) -> CountryFacts:
    postcode = row["postcode"]
    return CountryFacts(
        code=code,
        iso3=row["iso3"],
        numeric=row["numeric"],
        name=row["name"],
        capital=row["capital"],
        continent=row["continent"],
        tlds=tuple(row["tlds"]),
        calling_codes=tuple(row["calling_codes"]),
        postcode=Postcode(postcode["pattern"], tuple(postcode["examples"])) if postcode else None,
        languages=tuple(
            CountryLanguage(language, languages[language][0], languages[language][1], script, percent, status)
            for language, script, percent, status in row["languages"]
        ),
        currencies=tuple(currencies[currency] for currency in row["currencies"]),
        neighbours=tuple(row["neighbours"]),
        driving_side=row["driving_side"],
        speed_unit=row["speed_unit"],
        distance_unit=row["distance_unit"],
        height_unit=row["height_unit"],
        area_km2=row["area_km2"],
        population=row["population"],
        road_km=row["road_km"],
        gdp_usd=row["gdp_usd"],
        plate=Plate(*row["plate"]) if row["plate"] else None,
        date_format=row["date_format"],
        emergency_numbers=tuple(row["emergency"]),
        aircraft_prefixes=tuple(row["aircraft_prefix"]),
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """The countries that a clue points to.

    Attributes:
        kind: the kind of clue.
        clue: the clue as it was understood.
        shares: weight by ISO 3166-1 alpha-2 code, the likeliest first; they add up to 1, or are empty if the clue says
            nothing.
        note: an explanation, for people.
        basis: what the weights are based on.
        caution: why the clue may mislead; None if no reason is known.
        regions: the first-level region by country, if the clue shows it.
    """

    kind: str
    clue: str
    shares: Mapping[str, float] = field(hash=False)
    note: str
    basis: str = "equal shares"
    caution: str | None = None
    regions: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def countries(self) -> tuple[str, ...]:
        """ISO codes, the likeliest first."""
        return tuple(self.shares)

    def __bool__(self) -> bool:
        return bool(self.shares)


def equal_shares(codes: Iterable[str]) -> dict[str, float]:
    """Return the same share for each country."""
    unique = sorted(set(codes))
    return {code: 1 / len(unique) for code in unique}


def compute_shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Return shares in proportion to weights, the largest first; countries without weight are left out."""
    total = sum(weight for weight in weights.values() if weight > 0)
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return {code: weight / total for code, weight in ranked if weight > 0}


@dataclass(frozen=True, slots=True)
class KoppenClass:
    """A Köppen climate class: its letters (``Cfb``) and their meaning."""

    code: str
    description: str


def find_climate(point: LatLon) -> KoppenClass | None:
    """Return the climate class of a point, in cells of 100 arc seconds (3 km at the equator); None at sea."""
    grid = _climate_grid()
    row, column = grid.find_cell(point)
    number = int(grid.row(row)[column])
    return _classes()[number - 1] if 1 <= number <= len(CODES) else None


def describe_climate(code: str) -> str:
    """Return a climate class in words: "dry, hot desert" for ``BWh``."""
    if code in _WHOLE:
        return _WHOLE[code]
    group, second, third = code[0], code[1], code[2]
    if group == "B":
        return f"{_GROUPS[group]}, {_DRY_HEAT[third]} {_DRY[second]}"
    return f"{_GROUPS[group]}, {_RAIN[second]}, {_HEAT[third]}"


@cache
def _classes() -> tuple[KoppenClass, ...]:
    return tuple(KoppenClass(code, describe_climate(code)) for code in CODES)


@cache
def _climate_grid() -> "WorldGrid":
    import numpy as np

    from .grids import WorldGrid

    return WorldGrid("climate.bin", 6480, np.bitwise_xor, axis=0)
