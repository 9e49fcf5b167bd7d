"""The truth about a photo, and the comparison of an answer's names with it by country, region and city.

A level is None if the truth does not give it, and False if the answer does not. A level counts only if nothing above it
is wrong:

- Another country makes everything below wrong: Paris in Texas is not Paris.
- Another region makes the city wrong: Springfield, Missouri, is not Springfield, Illinois. A region that the answer
  leaves out is itself wrong but does not affect the city.
- Without a country in the answer the country is wrong, and one name alone proves nothing (there is a Georgia in two
  countries): region and city count only if the truth has both and both match. A country as the last part of
  the precise place ("Paris, France") counts as given.

The precise place is read as an address, parts separated by commas, finest first; each part may name the city, with or
without a postcode, unless it is the region of another city ("Seattle, Washington"). If a city is a region of its own
(Beijing, Berlin) the answer's region may name it; if it is a country (Singapore), naming the country is enough.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from geosleuth.geo import LatLon
from geosleuth.names import PlaceNames, RuleNames, country_code, fold
from geosleuth.names.cities import is_far_city, is_listed_region
from geosleuth.names.folding import MAX_NAME_CHARS

# Default rules for comparing names.
RULES: PlaceNames = RuleNames()

_SEPARATOR = re.compile(r"[,;|\n，、；]| [-–—] ")
_MAX_PARTS = 8
# Folded answers of people and models that have no name to give.
NO_NAME_ANSWERS = frozenset(
    ("", "unknown", "none", "n a", "null", "nil", "unspecified", "undetermined", "unclear", "not sure", "uncertain",
     "not specified", "not given", "tbd", "未知", "不详", "不明", "无", "未确定")
)  # fmt: skip

_CITY_COUNTRIES = {"SG": "Singapore", "MC": "Monaco", "VA": "Vatican City", "HK": "Hong Kong", "MO": "Macau"}
# Cities that are also a first-level region of their country, so that naming the region names the city.
_CITY_REGIONS = {
    "AE": "Dubai", "AM": "Yerevan", "AT": "Vienna", "AZ": "Baku", "BE": "Brussels", "BG": "Sofia", "BY": "Minsk",
    "CN": "Beijing|Shanghai|Tianjin|Chongqing", "CO": "Bogotá", "CZ": "Prague", "DE": "Berlin|Hamburg|Bremen",
    "FR": "Paris", "GB": "London", "GE": "Tbilisi", "HR": "Zagreb", "HU": "Budapest", "ID": "Jakarta",
    "IN": "Delhi|New Delhi", "JP": "Tokyo", "KR": "Seoul|Busan|Daegu|Incheon|Gwangju|Daejeon|Ulsan|Sejong",
    "KZ": "Almaty|Astana", "MX": "Mexico City", "MY": "Kuala Lumpur", "NO": "Oslo", "RO": "Bucharest",
    "RS": "Belgrade", "RU": "Moscow|Saint Petersburg", "TH": "Bangkok",
    "TW": "Taipei|New Taipei|Taoyuan|Taichung|Tainan|Kaohsiung", "UA": "Kyiv", "US": "Washington, D.C.",
    "UZ": "Tashkent", "VN": "Hanoi|Ho Chi Minh City|Hai Phong|Da Nang|Can Tho",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TruthNames:
    """The names of the true place; None if the data set does not give them."""

    country: str | None = None
    region: str | None = None
    city: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerNames:
    """The names in an answer; `precise` may be a city or an address, finest part first."""

    country: str | None = None
    region: str | None = None
    precise: str | None = None


@dataclass(frozen=True, slots=True)
class LevelResult:
    """Right or wrong by level; None if the truth does not give that level."""

    country: bool | None
    region: bool | None
    city: bool | None


def match_levels(truth: TruthNames, answer: AnswerNames, names: PlaceNames = RULES) -> LevelResult:
    """Compare an answer's names with the truth's by the rules of this module."""
    country, region, city = (_get_claimed_name(name) for name in (truth.country, truth.region, truth.city))
    said = AnswerNames(
        _get_claimed_name(answer.country), _get_claimed_name(answer.region), _get_claimed_name(answer.precise)
    )
    address = _split_address(said.precise) if said.precise else ()
    context = country or said.country

    country_right = country is not None and _country_matches(country, said, address, names)
    region_parts = (said.region, *_split_address(said.region)) if said.region else address[1:]
    region_right = region is not None and any(names.same_region(region, part, context) for part in region_parts)
    city_right = city is not None and (
        (said.precise is not None and _address_names(city, said.precise, context, names))
        or (said.region is not None and _region_is_city(city, said.region, context, names))
        or (country_right and _country_is_city(city, context, names))
    )

    if country is not None and not country_right:
        region_right = city_right = said.country is None and region_right and city_right
    if region is not None and not region_right and city is not None:
        elsewhere = said.region is not None or _address_names_other_region(address, city, context, names)
        city_right = city_right and not elsewhere
    return LevelResult(
        country=None if country is None else country_right,
        region=None if region is None else region_right,
        city=None if city is None else city_right,
    )


def find_named_levels(answer: AnswerNames) -> dict[str, bool]:
    """Return per level whether the answer says anything that could name it, right or wrong.

    An address of several parts may contain a region and a country.
    """
    said = AnswerNames(
        _get_claimed_name(answer.country), _get_claimed_name(answer.region), _get_claimed_name(answer.precise)
    )
    parts = len(_split_address(said.precise)) if said.precise else 0
    return {
        "country": said.country is not None or parts > 1,
        "region": said.region is not None or parts > 1,
        "city": said.precise is not None or said.region is not None or said.country is not None,
    }


def _get_claimed_name(name: str | None) -> str | None:
    return None if name is None or fold(name) in NO_NAME_ANSWERS else name[:MAX_NAME_CHARS]


@lru_cache(maxsize=1 << 14)
def _split_address(text: str) -> tuple[str, ...]:
    stripped = (part.strip() for part in _SEPARATOR.split(text))
    return tuple(part for part in stripped if part)[:_MAX_PARTS]


@lru_cache(maxsize=1 << 14)
def _spellings(part: str) -> tuple[str, ...]:
    """Return a part of an address as written and without its numbers ("75001 Paris")."""
    wordy = " ".join(word for word in part.split() if not any(map(str.isdigit, word)))
    return (part, wordy) if wordy and wordy != part else (part,)


def _country_matches(country: str, said: AnswerNames, address: tuple[str, ...], names: PlaceNames) -> bool:
    if said.country is not None:
        return names.same_country(country, said.country)
    return len(address) > 1 and names.same_country(country, address[-1])


def _address_names(city: str, precise: str, context: str | None, names: PlaceNames) -> bool:
    address = _split_address(precise)
    return names.same_city(city, precise, context) or any(
        names.same_city(city, spelling, context)
        and not (is_listed_region(spelling, context) and any(is_far_city(p, city, context) for p in address[:finer]))
        for finer, part in enumerate(address)
        for spelling in _spellings(part)
    )


def _address_names_other_region(address: tuple[str, ...], city: str, context: str | None, names: PlaceNames) -> bool:
    """Return whether a coarser part of the address is certainly a region; the true one was excluded before."""
    return any(is_listed_region(part, context) and not names.same_city(city, part, context) for part in address[1:])


def _region_is_city(city: str, region: str, context: str | None, names: PlaceNames) -> bool:
    # The region is compared as a region: Washington (the state) must not pass for Washington, D.C.
    cities = _CITY_REGIONS.get(_code(context), "").split("|")
    return any(
        name and names.same_city(city, name, context) and names.same_region(region, name, context) for name in cities
    )


def _country_is_city(city: str, context: str | None, names: PlaceNames) -> bool:
    name = _CITY_COUNTRIES.get(_code(context))
    return name is not None and names.same_city(city, name, context)


def _code(country: str | None) -> str:
    return (country_code(country) if country else None) or ""


@dataclass(frozen=True, slots=True)
class Truth:
    """The true point and, if the data set names them, the true country, region and city."""

    point: LatLon
    country: str | None = None
    region: str | None = None
    city: str | None = None
