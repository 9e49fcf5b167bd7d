"""Answers of the atlas as JSON and as tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth.atlas import Colocation, Document, Hit, Place, Reverse
from geosleuth.bench.numbers import distance
from geosleuth.geo import LatLon
from geosleuth.geo.plain import extent_dict, plain
from geosleuth.names import country_name

if TYPE_CHECKING:
    from geosleuth.atlas.facts.brands import BrandHit
    from geosleuth.atlas.facts.countries import CountryFacts
    from geosleuth.atlas.facts.phones import PhoneInfo
    from geosleuth.atlas.regions import RegionInfo

_NOTHING = "nothing found"


def place_dict(place: Place) -> dict[str, Any]:
    """A place."""
    return {
        "id": place.id,
        "name": place.name,
        "kind": place.kind,
        "lat": place.point.lat,
        "lon": place.point.lon,
        "extent": extent_dict(place.extent),
        "country": place.country,
        "region": place.region,
        "address": place.address,
        "source": place.source,
        "details": dict(place.details),
    }


def hit_dict(hit: Hit) -> dict[str, Any]:
    """A place found, and how."""
    how = {"score": hit.score, "match": hit.match, "matched": hit.matched, "distance_km": hit.distance_km}
    return {**place_dict(hit.place), **how}


def reverse_dict(found: Reverse) -> dict[str, Any]:
    """What lies at a point."""
    return {
        "lat": found.point.lat,
        "lon": found.point.lon,
        "country": found.country,
        "country_name": found.country_name,
        "region": found.region,
        "address": found.address,
        "places": [hit_dict(hit) for hit in found.places],
        "source": found.source,
    }


def colocation_dict(found: Colocation) -> dict[str, Any]:
    """A group of features."""
    return {
        "lat": found.point.lat,
        "lon": found.point.lon,
        "spread_m": found.spread_m,
        "score": found.score,
        "places": [place_dict(place) for place in found.places],
    }


def document_dict(document: Document) -> dict[str, Any]:
    """A passage of text."""
    found: dict[str, Any] = plain(document)
    return found


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        # What people copy must stay in one piece; names may fold.
        table.add_column(column, overflow="fold", no_wrap=column in ("where", "ids", "fit", "away", "data of"))
    return table


def _where(point: LatLon) -> str:
    return f"{point.lat:.5f}, {point.lon:.5f}"


def hit_view(hits: Sequence[Hit]) -> RenderableType:
    """Places, best first."""
    if not hits:
        return Text(_NOTHING)
    far = any(hit.distance_km is not None for hit in hits)
    table = _table("place", "kind", "where", *(["away"] if far else []), "fit")
    for hit in hits:
        place = hit.place
        apart = bool(place.address) and not (place.address or "").startswith(place.name)
        name = Text(place.name if apart else place.address or place.name)
        name.append(f"\n{place.address}" if apart else "", style="dim")
        name.append(f"\n{place.id}", style="dim")
        away = [] if not far else ["" if hit.distance_km is None else distance(hit.distance_km)]
        table.add_row(name, place.kind, _where(place.point), *away, f"{hit.match} {hit.score:.2f}")
    return table


def reverse_view(found: Reverse) -> RenderableType:
    """What lies at a point."""
    if found.country is None:
        return Text("at sea: no country within 5 km")
    return Group(Text(found.address), hit_view(found.places))


def place_view(place: Place) -> RenderableType:
    """One place."""
    facts = {
        "name": place.name, "kind": place.kind, "where": _where(place.point), "address": place.address,
        "country": place.country, "region": place.region, "source": place.source, **place.details,
    }  # fmt: skip
    return facts_view({key: value for key, value in facts.items() if value})


def facts_view(facts: Mapping[str, Any]) -> RenderableType:
    """Names and values."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for key, value in facts.items():
        text = ", ".join(str(item) for item in value) if isinstance(value, list | tuple) else str(value)
        table.add_row(key.replace("_", " "), "–" if value in (None, "", [], ()) else text)
    return table


def colocation_view(found: Sequence[Colocation]) -> RenderableType:
    """Groups of features."""
    if not found:
        return Text(_NOTHING)
    table = _table("features", "where", "apart", "ids")
    for item in found:
        names = "\n".join(f"{place.name} ({place.kind})" for place in item.places)
        ids = "\n".join(place.id for place in item.places)
        table.add_row(names, _where(item.point), distance(item.spread_m / 1000), ids)
    return table


def document_view(found: Sequence[Document]) -> RenderableType:
    """Passages of text."""
    if not found:
        return Text(_NOTHING)
    parts: list[RenderableType] = []
    for document in found:
        parts += [Text(document.title, style="bold"), Text(document.snippet), Text(document.source, style="dim"), ""]
    return Group(*parts[:-1])


def country_view(facts: "CountryFacts") -> RenderableType:
    """Facts of a country that a photo may show."""
    languages = [f"{language.name}" for language in facts.languages]
    return facts_view(
        {
            "country": f"{facts.name} ({facts.code}, {facts.iso3})",
            "capital": facts.capital,
            "continent": facts.continent,
            "languages": languages[:8],
            "scripts": facts.scripts,
            "driving side": facts.driving_side,
            "speed unit": facts.speed_unit,
            "calling code": [f"+{code.lstrip('+')}" for code in facts.calling_codes],
            "internet": facts.tlds,
            "currency": [f"{money.name} ({money.code})" for money in facts.currencies],
            "postcode": None if facts.postcode is None else facts.postcode.pattern,
            "plate": None if facts.plate is None else f"{facts.plate.pattern}; {facts.plate.colours}",
            "neighbours": [country_name(code) for code in facts.neighbours],
            "population": f"{facts.population:,}",
            "area, km²": None if facts.area_km2 is None else f"{facts.area_km2:,.0f}",
            "roads, km": None if facts.road_km is None else f"{facts.road_km:,.0f}",
        }
    )


def brand_view(hits: Sequence["BrandHit"]) -> RenderableType:
    """Brands and where they are found."""
    if not hits:
        return Text(_NOTHING)
    table = _table("brand", "kind", "countries", "fit")
    for hit in hits:
        table.add_row(hit.brand.name, hit.brand.kind, _spread(hit), f"{hit.how} {hit.score:.2f}")
    return table


def _spread(hit: "BrandHit") -> str:
    listed = hit.except_countries if hit.countries is None else hit.countries
    places = sorted(country_name(code) for code in listed)
    shown = ", ".join(places[:12]) + (f" and {len(places) - 12} more" if len(places) > 12 else "")
    if hit.countries is None:
        return f"worldwide except {shown}" if places else "worldwide"
    return shown


def phone_view(found: "PhoneInfo") -> RenderableType:
    """Where a number belongs."""
    if not found.countries:
        return Text("no country's numbering plan has this number")
    return facts_view(
        {
            "number": found.international or found.text,
            "countries": [country_name(code) for code in found.countries[:12]],
            "place": found.place,
            "kind": found.kind,
            "carrier": found.carrier,
            "time zones": found.time_zones,
        }
    )


def regions_view(found: Sequence["RegionInfo"]) -> RenderableType:
    """Added regions."""
    if not found:
        return Text("no region was added yet; add one with: geosleuth atlas add FILE.osm.pbf")
    table = _table("region", "features", "streets", "addresses", "MB", "data of", "credit")
    for item in found:
        counts = (f"{count:,}" for count in (item.features, item.streets, item.addresses))
        table.add_row(
            item.name, *counts, f"{item.size_bytes / 1e6:.1f}", (item.data_date or "–")[:10], item.attribution
        )
    return table
