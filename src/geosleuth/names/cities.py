"""Do two names mean one city, or one region of a country? By GeoNames' names, and by plain text.

A name is looked up inside its country where that is known. A name that several places bear stands for

- those that have it as their main name; a place that only lists it among its other names joins them where it is
  larger than all of these and its main name holds it (*Halle* is also Halle (Saale), but *Newton* is not Tallahassee,
  which was called so once), or where no place has it as its main name;
- and, of these, only places with at least a tenth of the people of the largest: *Frankfurt* is the one on the Main,
  *Washington* is the capital and no town in Utah.

Two names mean one city where the places they stand for overlap, or where their text is the same: two Springfields in
one country can't be told apart by name, so equal text passes, and it is the region's level that catches them. Where
GeoNames knows both names and the places differ, that settles it: *Carson City* is not *Carson*. Generic words ("City",
"Ville de", "市") are dropped only from names that GeoNames does not know.

Left out of the alternate names: IATA codes ("PAR"), one- and two-letter abbreviations, and GeoNames' machine
transliterations (they start with a small letter: "ba li"), which make strangers meet.

Text without generic words, the postal codes of the states of the USA, and a short hand-written list of the regions
that go by several names or scripts (``data/region_names.json``). Everything beyond waits for an atlas, which takes
this module's place behind `geosleuth.names.PlaceNames`.

Words that make a *different* place stay: a district or county is not the city that shares its name (Xian County is
far from Xi'an), and "New", "North", "Upper" belong to the name.
"""

import json
from collections import defaultdict
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Final, NamedTuple

from geosleuth.geo.distance import great_circle_km
from geosleuth.support.errors import DataFault
from geosleuth.support.lazy import lazy_pattern

from .country_names import City, cities_by_country, country_code, us_states
from .folding import MAX_NAME_CHARS, compact, fold, fold_once

_CITY_KINDS: Final = "city|town|village|municipality|metropolis|borough|commune|urban area|metropolitan area"
_CITY_BEFORE: Final = (
    "greater|metropolitan|metro|downtown|central|ville de|commune de|ciudad de|municipio de|villa de|cidade de|"
    "municipio do|municipio da|citta di|comune di|freie und hansestadt|freie hansestadt|hansestadt|landeshauptstadt|"
    "bundesstadt|kreisstadt|lutherstadt|universitatsstadt|stadt|gemeente|stad|miasto|mesto|hlavni mesto|obec|город|"
    "місто|г|град|kota|bandar|bandaraya|thanh pho|tp|lungsod ng"
)
_CITY_AFTER: Final = (
    "city|town|village|municipality|metropolis|metro|metropolitan|metropolitan area|metro area|metropolitan city|"
    "metropolitan municipality|metropolitan region|urban area|special city|special municipality|capital city|capital|"
    "prefecture|prefecture level city|municipal district|shi|shih|si|stadt|stad|kommun|kommune|by|ciudad|"
    "city centre|city center|dc|df|centre ville|old town"
)
_CITY_GLUED: Final = (
    "特别市",
    "特別市",
    "特別自治市",
    "직할시",
    "광역시",
    "특별자치시",
    "특별시",
    "市区",
    "市",
    "시",
    "都",
    "府",
    "県",
)

_REGION_KINDS: Final = (
    "state|free state|federal state|province|region|prefecture|oblast|canton|county|department|governorate|republic|"
    "territory|emirate|autonomous community|autonomous region|voivodeship|district|land"
)
_REGION_BEFORE: Final = (
    "estado|estado de|estado do|estado da|provincia|provincia de|provincia di|provincia del|province de|province du|"
    "departamento de|departamento del|departement de|departement du|region|region de|region de la|region del|regione|"
    "comunidad autonoma de|comunidad de|comunidad foral de|comunidade autonoma de|principado de|canton de|canton du|"
    "kanton|freistaat|land|bundesland|county|provinsi|propinsi|tinh|wojewodztwo|zupanija|kraj|область|республика|край"
)
_REGION_AFTER: Final = (
    "state|province|region|oblast|krai|kray|republic|prefecture|governorate|district|county|canton|territory|"
    "department|division|emirate|voivodeship|autonomous region|special administrative region|sar|"
    "autonomous prefecture|autonomous community|autonomous oblast|autonomous republic|metropolitan region|"
    "zhuang autonomous region|uyghur autonomous region|uygur autonomous region|hui autonomous region|"
    "federal district|raion|regency|zone|ken|fu|to|sheng|do|lan|fylke|maakunta|megye|kraj|zupanija|il|ili|tinh|"
    "область|обл|край|"
    "autonomous city"
)
_REGION_GLUED: Final = (
    "维吾尔自治区",
    "維吾爾自治區",
    "壮族自治区",
    "壯族自治區",
    "回族自治区",
    "回族自治區",
    "特别行政区",
    "特別行政區",
    "特別自治道",
    "특별자치도",
    "自治区",
    "自治區",
    "自治州",
    "省",
    "州",
    "県",
    "縣",
    "县",
    "府",
    "都",
    "道",
    "도",
)


_SAYS_CITY: Final = lazy_pattern(r"^(?:the )?(?:city of|ciudad de|ville de|stadt) | (?:city|shi|stadt)$|..(?:市|시)$")

# Cities this many times smaller than the largest city of the same name are not what people mean by it.
_MIN_SHARE = 10
_SPELLED_OUT = {"st": "saint", "ste": "sainte", "ft": "fort", "mt": "mount"}
_IATA_CODE = lazy_pattern(r"[A-Z]{3}")
_FIRST_CJK = "\u2e80"
_ASIDE = lazy_pattern(r"[(（\[]([^)）\]]*)[)）\]]")
_MAX_PARTS = 4
_LARGE = 100_000
_FAR_KM = 75.0
# Abbreviations and other common names of cities that the rules would lose.
_NICKNAMES = {
    ("US", "nyc"): "newyorkcity",
    ("US", "la"): "losangeles",
    ("US", "sf"): "sanfrancisco",
    ("US", "dc"): "washingtondc",
    ("MY", "kl"): "kualalumpur",
    ("VN", "hcmc"): "hochiminhcity",
    ("IN", "newdelhi"): "delhi",
    ("IN", "baroda"): "vadodara",
}


def _join_alternatives(wordings: list[str]) -> str:
    # The longest goes first, or "autonomous region" would leave "autonomous" behind.
    return "|".join(sorted(set(wordings), key=lambda words: (-len(words), words)))


class _GenericWords:
    """One set of words, and how to take them off a folded name."""

    def __init__(self, kinds: str, before: str, after: str, glued: tuple[str, ...]) -> None:
        of = [f"{the}{kind} of{of_the}" for kind in kinds.split("|") for the in ("", "the ") for of_the in ("", " the")]
        self._before = lazy_pattern(rf"^(?:{_join_alternatives(before.split('|') + of)}) (?=\S)")
        self._after = lazy_pattern(rf"(?<=\S) (?:{_join_alternatives(after.split('|'))})$")
        self._glued = glued

    def without(self, folded: str) -> str:
        """The name less its generic words; a name that is nothing but generic words stays whole."""
        for _ in range(3):
            shorter = self._after.sub("", self._before.sub("", folded))
            for ending in self._glued:
                # One sign left over is no name: 京都 is Kyoto, not "京" and a word for prefecture.
                if shorter.endswith(ending) and len(shorter) - len(ending) >= 2:
                    shorter = shorter.removesuffix(ending)
                    break
            if shorter == folded:
                break
            folded = shorter
        return folded


_CITY = _GenericWords(_CITY_KINDS, _CITY_BEFORE, _CITY_AFTER, _CITY_GLUED)
_REGION = _GenericWords(_REGION_KINDS, _REGION_BEFORE, _REGION_AFTER, _REGION_GLUED)


@lru_cache(maxsize=1 << 14)
def without_city_words(folded: str) -> str:
    """A folded city name less "City", "Municipality", "Ville de", "市" and the like."""
    return _CITY.without(folded)


@lru_cache(maxsize=1 << 14)
def without_region_words(folded: str) -> str:
    """A folded region name less "Province", "State of", "Oblast", "省" and the like."""
    return _REGION.without(folded)


def says_city(folded: str) -> bool:
    """Return whether a folded name calls itself a city, and so not the region of the same name."""
    return _SAYS_CITY.search(folded) is not None


class _Part(NamedTuple):
    """A name as it is looked up, less its generic words if unknown, and the places that it stands for."""

    key: str
    places: frozenset[int]


_Reading = tuple[_Part, ...]


class _Bearer(NamedTuple):
    """A place, seen from one of its names."""

    city: City
    main_name: str


class _Index(NamedTuple):
    """The places that each name stands for, and the names that are some place's main one; both by key."""

    places: dict[str, tuple[City, ...]]
    main_names: frozenset[str]


def same_city(a: str, b: str, country: str | None = None) -> bool:
    """Return whether two names, in any language, mean the same city; `country` (any name or code) says where to look.

    Brackets hold a second reading, of which one is enough (``Cologne (Köln)``, ``Suzhou (Tongli)``); across a slash
    every part must mean the city, so that ``Basel/Bâle`` counts and a hedge such as ``Xiamen/Quanzhou`` does not. A
    name that folds to nothing is no city. The order of the two names makes no difference.
    """
    code = country_code(country) if country else None
    readings_b = _readings(b[:MAX_NAME_CHARS], code)
    return any(_agree(reading, other) for reading in _readings(a[:MAX_NAME_CHARS], code) for other in readings_b)


def is_far_city(name: str, city: str, country: str | None = None) -> bool:
    """Return whether a name is surely that of another city, large and far from the city that `city` names.

    This tells "Seattle, Washington" from the capital and "Montréal, Québec" from Québec City, where the second name is
    a region. Small places are no proof: their names are also those of districts (there is a Chelsea in New York).
    """
    code = country_code(country) if country else None
    places = _index(code).places
    others = places.get(_make_name_key(fold(name), code), ())
    here = places.get(_make_name_key(fold(city), code), ())
    return bool(others) and all(
        other.population >= _LARGE
        and all(great_circle_km(other.lat, other.lon, near.lat, near.lon) > _FAR_KM for near in here)
        for other in others
    )


def cities_called(name: str, country: str | None = None) -> tuple[City, ...]:
    """The cities that a name means; `country` is a code, and without one the whole world is looked through."""
    folded = fold(name)
    places = _index(country).places
    return (
        places.get(_make_name_key(folded, country))
        or places.get(_make_name_key(without_city_words(folded), country))
        or ()
    )


def _agree(a: _Reading, b: _Reading) -> bool:
    if len(a) == len(b) == 1:
        return _meet(a[0], b[0])
    return all(any(_meet(x, y) for y in b) for x in a) and all(any(_meet(x, y) for x in a) for y in b)


def _meet(a: _Part, b: _Part) -> bool:
    return a.key == b.key or not a.places.isdisjoint(b.places)


@lru_cache(maxsize=1 << 15)
def _readings(name: str, country: str | None) -> tuple[_Reading, ...]:
    """The ways to take a name, each as parts that must all agree."""
    whole = fold(name)
    if not whole:
        return ()
    texts = [] if _is_main_name(whole, country) else [_ASIDE.sub(" ", name), *_ASIDE.findall(name)[:_MAX_PARTS]]
    ways = [tuple(map(fold, text.split("/")[:_MAX_PARTS])) for text in texts]
    return tuple(
        tuple(_look_up_part(folded, country) for folded in way if folded)
        for way in dict.fromkeys([(whole,), *ways])
        if any(way)
    )


def _is_main_name(folded: str, country: str | None) -> bool:
    # What GeoNames writes with brackets or a slash means just that: "Frankfurt (Oder)" is not Frankfurt.
    return _make_name_key(folded, country) in _index(country).main_names


def _look_up_part(folded: str, country: str | None) -> _Part:
    places = _index(country).places
    key = _make_name_key(folded, country)
    if key not in places:
        key = _make_name_key(without_city_words(folded), country)
    return _Part(key, frozenset(city.geoname_id for city in places.get(key, ())))


def _make_name_key(folded: str, country: str | None) -> str:
    key = "".join(_SPELLED_OUT.get(word, word) for word in folded.split())
    return _NICKNAMES.get((country or "", key), key)


@cache
def _index(country: str | None) -> _Index:
    """Names inside one country or, slower to build, in the whole world."""
    bearers: dict[str, list[_Bearer]] = defaultdict(list)
    main_names: set[str] = set()
    countries = cities_by_country()
    for city in countries.get(country, ()) if country else chain.from_iterable(countries.values()):
        main_name, *other_names = city.names
        main_key = _make_name_key(fold_once(main_name), country)
        main_names.add(main_key)
        bearer = _Bearer(city, main_key)
        for key in {_make_name_key(fold_once(name), country) for name in other_names if _is_a_name(name)} | {main_key}:
            bearers[key].append(bearer)
    bearers.pop("", None)
    return _Index({key: _find_most_prominent(key, places) for key, places in bearers.items()}, frozenset(main_names))


def _is_a_name(alternate: str) -> bool:
    if _IATA_CODE.fullmatch(alternate) or (alternate.isascii() and alternate[:1].islower()):
        return False
    return len(alternate) > (1 if alternate[:1] >= _FIRST_CJK else 2)


def _find_most_prominent(name: str, bearers: list[_Bearer]) -> tuple[City, ...]:
    """Return the places usually meant by a name; see the module's docstring for the rule."""
    if len(bearers) > 1:
        largest_main = max((place.city.population for place in bearers if place.main_name == name), default=None)
        if largest_main is not None:
            bearers = [
                place
                for place in bearers
                if place.main_name == name or (name in place.main_name and place.city.population > largest_main)
            ]
        fewest = max(place.city.population for place in bearers) / _MIN_SHARE
        bearers = [place for place in bearers if place.city.population >= fewest]
    return tuple(place.city for place in bearers)


def same_region(a: str, b: str, country: str | None = None) -> bool:
    """Return whether two names mean the same region; `country` (any name or code) says where to look.

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
    if _detect_kinds(folded_a) | _detect_kinds(folded_b) == {"city", "region"}:
        return False
    known_a, known_b = _find_listed_regions(folded_a, country), _find_listed_regions(folded_b, country)
    if known_a and known_b:
        return not known_a.isdisjoint(known_b)
    plain_a, plain_b = _strip_kind_words(folded_a), _strip_kind_words(folded_b)
    return compact(plain_a) == compact(plain_b) or same_city(plain_a, plain_b, country)


def is_listed_region(name: str, country: str | None = None) -> bool:
    """Return whether a name is surely that of a region, listed in this country (or anywhere, if None)."""
    return bool(_find_listed_regions(fold(name), country_code(country) if country else None))


def list_regions(name: str, country: str | None = None) -> list[tuple[str, str]]:
    """Return the country's code with each longer Latin name of every listed region so called: "WA" is in two."""
    tables = _hand_written() | {"US": _us_states()}
    found = sorted(_find_listed_regions(fold(name), country), key=lambda place: (place[:2] != "US", place))
    rows = [(place[:2], tables[place[:2]][int(place[2:])].split("|")) for place in found]
    return [
        (code, other)
        for code, names in rows
        for other in names
        if len(other) > 3 and other != name and other < _FIRST_CJK
    ]


def _strip_kind_words(folded: str) -> str:
    return without_city_words(without_region_words(folded))


def _detect_kinds(folded: str) -> set[str]:
    """Return the kinds that a name claims: ``{"city"}``, ``{"region"}`` or nothing."""
    if without_region_words(folded) != folded:
        return {"region"}
    return {"city"} if says_city(folded) else set()


def _find_listed_regions(folded: str, country: str | None) -> set[str]:
    """Country and number of every listed region that bears the name."""
    return (
        _load_listed_regions(country).get(compact(folded))
        or _load_listed_regions(country).get(compact(_strip_kind_words(folded)))
        or set()
    )


@cache
def _load_listed_regions(country: str | None) -> dict[str, set[str]]:
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
