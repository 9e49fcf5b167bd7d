"""Facts of countries, brands and the land at a point, from tables that ship with the package."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypedDict

from geosleuth.answer.coordinates import make_point
from geosleuth.names import country_name

from .calls import Case, Output
from .declare import tool
from .viewer import (
    Viewer,
    describe_point,
    format_point,
    format_question,
    get_text,
    number_lines,
    one_line,
    percent,
    point_data,
    require_text,
    unique,
)

if TYPE_CHECKING:
    from geosleuth.atlas.facts import BrandHit, CountryFacts, Evidence

_COUNTRY_SOURCE, _BRAND_SOURCE = "geosleuth facts", "name-suggestion-index"
_LAND_SOURCE = "terrain, climate and border tables, GeoNames, added gazetteers"
_LAND_WORDS = {"languages": "languages of the country", "coast_km": "kilometres to the sea"}
_SHOWN = 12
_BRANDS = 6
_LANGUAGES = 8
_MIN_SHARE = 0.005
_IN_TITLE = ("code", "name")


class _Country(TypedDict):
    code: str
    name: str
    capital: str | None
    driving_side: str | None
    speed_unit: str | None
    plates: str | None
    date_format: str | None
    languages: list[str]
    calling_codes: list[str]
    currencies: list[str]
    internet_domains: list[str]
    emergency_numbers: list[str]
    neighbours: list[str]
    postcodes: list[str] | None
    population: float | None
    area_km2: float | None


class _Place(TypedDict):
    lat: float
    lon: float
    country: str | None
    altitude_m: int | None
    terrain: str | None
    climate: str | None
    vegetation: str | None
    coast_km: float
    features: list[str]
    towns: list[str]
    driving_side: str | None
    languages: list[str]
    daylight: list[str]
    missing: str | None


class _Brand(TypedDict):
    name: str
    kinds: list[str]
    countries: list[str] | None
    except_countries: list[str]
    match: str
    matched: str
    score: float


class _Brands(TypedDict):
    results: list[_Brand]
    shares: dict[str, float]


@tool(
    "country_facts",
    use="get the driving side, languages, phone code, plates and more of a country",
    result=_Country,
    viewer=Viewer(lambda given: f"reads up on the country {get_text(given, 'country', 'name')}".rstrip()),
    aliases=("country_info", "country"),
    renames={"name": "country", "code": "country", "query": "country", "country_code": "country"},
)
async def country_facts(case: Case, country: str) -> Output:  # noqa: ARG001  # every tool takes the case
    """Show a country's languages, scripts, driving side, plates, phone codes, postcodes, currency, domain, neighbours.

    Args:
        country: name or code.
    """
    from geosleuth.atlas.facts import country_facts as facts_of

    facts = await asyncio.to_thread(facts_of, require_text(country, "country", "Thailand"))
    data = _country_data(facts)
    lines = [f"{facts.name} ({facts.code}), {facts.continent}"]
    lines += [
        f"{name.replace('_', ' ')}: {_format_fact(value)}"
        for name, value in data.items()
        if value and name not in _IN_TITLE
    ]
    return Output("\n".join([*lines, f"From: {_COUNTRY_SOURCE}."]), data, sources=(_COUNTRY_SOURCE,))


@tool(
    "place_facts",
    use="learn the altitude, terrain, climate, coast, ranges and waters at given coordinates",
    result=_Place,
    viewer=Viewer(lambda given: f"looks what the land is like{describe_point(given) or ' there'}", icon="map"),
    needs=("atlas",),
    aliases=("land_facts", "terrain"),
    renames={"lat": "latitude", "lon": "longitude", "lng": "longitude", "day": "date"},
)
async def place_facts(case: Case, latitude: float, longitude: float, date: str = "") -> Output:
    """Describe the land at a point: altitude, climate, vegetation, coast, ranges, waters, towns, daylight.

    Args:
        latitude: degrees north.
        longitude: degrees east.
        date: YYYY-MM-DD, for daylight.
    """
    from geosleuth.atlas import OfflineAtlas
    from geosleuth.atlas.place_facts import read_day

    point, day = make_point(latitude, longitude), read_day(date)
    # No online service tells of these; the tables ship with the package.
    atlas = case.atlas if isinstance(case.atlas, OfflineAtlas) else OfflineAtlas()
    facts = (await atlas.place_facts(point, day)).as_dict()
    data = {**point_data(point), **{name: value for name, value in facts.items() if name != "point"}}
    lines = [f"The land at {format_point(point)}:"]
    lines += [
        f"{_LAND_WORDS.get(name, name.replace('_', ' '))}: {'; '.join(value) if isinstance(value, list) else value}"
        for name, value in data.items()
        if value not in (None, "", []) and name not in ("lat", "lon", "missing")
    ]
    if facts["missing"]:
        lines.append(f"Note: {facts['missing']}.")
    return Output("\n".join([*lines, f"From: {_LAND_SOURCE}."]), data, sources=(_LAND_SOURCE,))


@tool(
    "brand_lookup",
    use="learn in which countries a brand or a chain is found",
    result=_Brands,
    viewer=Viewer(lambda given: f"looks up the brand {get_text(given, 'brand', 'name', 'text')}".rstrip()),
    aliases=("brand", "brands", "lookup_brand"),
    renames={"brand": "name", "query": "name", "text": "name", "keyword": "name"},
)
async def brand_lookup(case: Case, name: str) -> Output:  # noqa: ARG001  # every tool takes the case
    """Say in which countries a brand or chain is found.

    Args:
        name: as on the sign.
    """
    from geosleuth.atlas.facts import brand, by_brand
    from geosleuth.evidence.brands import is_meant

    text = require_text(name, "name", "Monoprix")
    hits = await asyncio.to_thread(lambda: [hit for hit in brand(text, _BRANDS) if is_meant(hit, text)])
    if not hits:
        nothing = (
            f"No brand {format_question(text)} is known. Try its most telling word alone; local shops are not listed."
        )
        return Output(nothing, {"results": [], "shares": {}}, sources=(_BRAND_SOURCE,))
    evidence = await asyncio.to_thread(by_brand, hits[0].matched)
    lines = [
        f"{one_line(hit.brand.name)} ({hit.brand.kind}), {hit.how} match, confidence {hit.score:.2f}: {_spread(hit)}"
        for hit in hits
    ]
    body = number_lines(f"Brands for {format_question(text)}:", lines)
    data = {"results": [_brand_data(hit) for hit in hits], "shares": dict(evidence.shares)}
    return Output(f"{body}\n{_format_shares(evidence)}\nFrom: {_BRAND_SOURCE}.", data, sources=(_BRAND_SOURCE,))


def _country_data(facts: "CountryFacts") -> dict[str, Any]:
    return {
        "code": facts.code,
        "name": facts.name,
        "capital": facts.capital,
        "languages": [
            f"{language.name} ({language.script}{_people(language.percent)})"
            for language in facts.languages
            if language.name != language.code
        ][:_LANGUAGES],
        "driving_side": facts.driving_side,
        "speed_unit": facts.speed_unit,
        "plates": None if facts.plate is None else f"{facts.plate.pattern}; {facts.plate.colours}",
        "calling_codes": [f"+{code.lstrip('+')}" for code in facts.calling_codes],
        "postcodes": None if facts.postcode is None else list(facts.postcode.examples[:4]),
        "currencies": [
            f"{money.name} ({', '.join(unique((money.code, *money.symbols[:3])))})" for money in facts.currencies
        ],
        "internet_domains": list(facts.tlds),
        "date_format": facts.date_format,
        "emergency_numbers": list(facts.emergency_numbers),
        "neighbours": [country_name(code) for code in facts.neighbours],
        "population": facts.population,
        "area_km2": facts.area_km2,
    }


def _people(share: float | None) -> str:
    return "" if share is None else f", {share:.2g} %" if share < 10 else f", {share:.0f} %"


def _format_fact(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def _brand_data(hit: "BrandHit") -> dict[str, Any]:
    return {
        "name": hit.brand.name,
        "kinds": list(hit.brand.kinds),
        "countries": None if hit.countries is None else sorted(hit.countries),
        "except_countries": sorted(hit.except_countries),
        "match": hit.how,
        "matched": hit.matched,
        "score": hit.score,
    }


def _spread(hit: "BrandHit") -> str:
    # Countries left out of the whole world mostly have an entry of their own: to name them would mislead.
    return "worldwide" if hit.countries is None else _some(hit.countries)


def _some(codes: Iterable[str]) -> str:
    names = sorted(map(country_name, codes))
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _format_shares(evidence: "Evidence") -> str:
    if not evidence.shares:
        return "It rules out next to nothing."
    likely = ", ".join(
        f"{country_name(code)} {percent(share)}"
        for code, share in list(evidence.shares.items())[:_SHOWN]
        if share >= _MIN_SHARE
    )
    return f"The best match speaks for (by {evidence.basis}): {likely}."
