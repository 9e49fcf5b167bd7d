"""Do two names mean one region (state, province, prefecture, Land …) of a country?

Text without generic words, the postal codes of the states of the USA, and a short hand-written list of the regions
that go by several names or scripts (``data/region_names.json``). Everything beyond waits for an atlas, which takes
this module's place behind `geosleuth.names.PlaceNames`.
"""

import json
from functools import cache, lru_cache
from importlib.resources import files

from geosleuth.errors import DataFault

from .cities import same_city
from .countries import country_code
from .folding import MAX_NAME_CHARS, compact, fold
from .generic_words import says_city, without_city_words, without_region_words
from .geonames import us_states


def same_region(a: str, b: str, country: str | None = None) -> bool:
    """Whether two names mean one region; `country` (any name or code) says where to look.

    Where the lists know both names they decide. Otherwise equal text passes, and so do two names of one city, since
    regions are often called after it (``北京市`` and ``Beijing``). A region is not the city that shares its name when
    one says "City" and the other "Province" or the like. The order of the two names makes no difference.
    """
    first, second = sorted((a[:MAX_NAME_CHARS], b[:MAX_NAME_CHARS]))
    return _same_region(first, second, country_code(country) if country else None)


@lru_cache(maxsize=1 << 15)
def _same_region(a: str, b: str, country: str | None) -> bool:
    folded_a, folded_b = fold(a), fold(b)
    if not folded_a or not folded_b:
        return False
    if folded_a == folded_b:
        return True
    if _kind(folded_a) | _kind(folded_b) == {"city", "region"}:
        return False
    known_a, known_b = _listed(folded_a, country), _listed(folded_b, country)
    if known_a and known_b:
        return not known_a.isdisjoint(known_b)
    plain_a, plain_b = _plain(folded_a), _plain(folded_b)
    return compact(plain_a) == compact(plain_b) or same_city(plain_a, plain_b, country)


def is_listed_region(name: str, country: str | None = None) -> bool:
    """Whether a name is surely that of a region, since the lists have it in this country (or anywhere, if None)."""
    return bool(_listed(fold(name), country_code(country) if country else None))


def _plain(folded: str) -> str:
    return without_city_words(without_region_words(folded))


def _kind(folded: str) -> set[str]:
    """What a name says of itself: ``{"city"}``, ``{"region"}`` or nothing."""
    if without_region_words(folded) != folded:
        return {"region"}
    return {"city"} if says_city(folded) else set()


def _listed(folded: str, country: str | None) -> set[str]:
    """Country and number of every listed region that bears the name."""
    return _regions(country).get(compact(folded)) or _regions(country).get(compact(_plain(folded))) or set()


@cache
def _regions(country: str | None) -> dict[str, set[str]]:
    """Listed regions of one country, or of all, by compact name; each stands as country and number."""
    regions: dict[str, set[str]] = {}
    listed = _hand_written() | {"US": _us_states()}
    for code, rows in listed.items():
        if country in (None, code):
            for number, names in enumerate(rows):
                for name in names.split("|"):
                    regions.setdefault(compact(name), set()).add(f"{code}{number}")
    return regions


def _us_states() -> list[str]:
    capital = "District of Columbia"
    return [
        f"{code}|{name}" + ("|Washington, D.C.|Washington DC" if name == capital else "")
        for code, name in sorted(us_states().items())
    ]


@cache
def _hand_written() -> dict[str, list[str]]:
    source = files("geosleuth.names") / "data" / "region_names.json"
    try:
        table: dict[str, list[str]] = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataFault(f"the table of region names can't be read: {source}") from error
    return table
