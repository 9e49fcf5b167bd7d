"""The map: where names and addresses are, what lies at a point, drawn maps, and views from above."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypedDict

from geosleuth.answer.coordinates import make_point, parse_point
from geosleuth.atlas import Hit, OfflineAtlas, Picture
from geosleuth.atlas.suggestion import get_command
from geosleuth.geo import Extent, LatLon
from geosleuth.names import country_name, fold, require_country_code
from geosleuth.photo import PhotoLimits, open_photo
from geosleuth.support.errors import BadInput

from .calls import Case, Output
from .declare import HitData, Hits, PlaceData, PointData, tool
from .places import Whereabouts, find, find_area
from .viewer import (
    Viewer,
    describe_point,
    extent_data,
    format_point,
    format_question,
    get_text,
    hit_data,
    hit_words,
    hits_output,
    length,
    looks_up,
    number_lines,
    one_line,
    place_data,
    place_words,
    point_data,
    quote,
    require_text,
    several,
    unique,
)

_POINT_RENAMES = {"lat": "latitude", "lon": "longitude", "lng": "longitude", "long": "longitude"}
_AREA_RENAMES = {"within": "area", "near": "area", "city": "area", "place": "area", "location": "area"}
_LINE_CHARS = 200
_MAX_RADIUS_M = 50_000
_MAX_SPREAD_M = 20_000
_SEPARATORS = (";", ",")
_MAPS_SHOWN = 6

_RENAMES = {
    "center": "centre",
    "location": "centre",
    "place": "centre",
    "point": "centre",
    "query": "centre",
    "address": "centre",
    "zoom_level": "zoom",
}
_MAX_ZOOM = 20
# Nearer than this, a map of towns and relief alone, or with named features, is an empty sheet.
_TOWNS_ZOOM, _FEATURES_ZOOM = 9.0, 12.0
# A map service's picture is small; what is larger is none.
_LIMITS = PhotoLimits(max_bytes=32 * 1024 * 1024, max_pixels=16_000_000)


class _Here(PointData):
    country: str | None
    country_name: str | None
    region: str | None
    address: str | None
    places: list[HitData]


class _Details(PlaceData):
    details: dict[str, Any]


class _Group(PointData):
    spread_m: float
    score: float
    places: list[PlaceData]


class _Groups(TypedDict):
    results: list[_Group]


def _what_lies_here(data: Mapping[str, Any]) -> str:
    named: list[str] = []
    for part in (data.get("address"), data.get("region"), data.get("country_name")):
        if part and not any(fold(str(part)) in fold(other) for other in named):
            named.append(str(part))
    return f"that is {quote(', '.join(named), _LINE_CHARS)}" if named else "that is on no map"


@tool(
    "maps_geocode",
    use="turn an address or the name of a place into coordinates",
    result=Hits,
    viewer=Viewer(looks_up("looks up", "address"), icon="map"),
    needs=("atlas",),
    aliases=("geocode", "geocode_tool", "maps_geo"),
    renames={
        "query": "address", "q": "address", "text": "address", "place": "address", "location": "address",
        "name": "address", "country_code": "country",
    },
)  # fmt: skip
async def maps_geocode(case: Case, address: str, country: str = "") -> Output:
    """Find the coordinates of a place, street or address.

    Args:
        address: such as "Rue Grimaldi, Monaco"; or the lines of a sign.
        country: only there: name or code.
    """
    query = require_text(", ".join(filter(str.strip, address.splitlines())), "address", "Rue Grimaldi, Monaco")
    code = await asyncio.to_thread(require_country_code, country) if country.strip() else None
    hits = await case.atlas.geocode(query, limit=5, country=code)
    there = f" in {code}" if code else ""
    if hits:
        return hits_output(f"Places for {format_question(query)}{there}:", hits, "")
    advice = f"Try its local spelling, or name the town and country too. {await _lacks(case, country=code)}".strip()
    if parse_point(query):
        advice = "These are coordinates: reverse_geocode says what is there."
    return hits_output("", hits, f"No place {format_question(query)}{there} is known. {advice}")


async def _lacks(case: Case, point: LatLon | None = None, country: str | None = None) -> str:
    """Return the gap in the offline map, here or as a whole, and the command that fills it; empty if there is none."""
    if not isinstance(case.atlas, OfflineAtlas):
        return ""
    if point is not None and await case.atlas.list_detailed_maps(point):
        return ""
    everywhere = await case.atlas.list_detailed_maps()
    known = "no detailed map is installed"
    if everywhere:
        listed = ", ".join(everywhere[:_MAPS_SHOWN]) + (" and others" if len(everywhere) > _MAPS_SHOWN else "")
        known = f"the detailed maps installed are {listed}" + (", none of which reaches there" if point else "")
    if point is not None:
        country = (await case.atlas.reverse(point)).country
    command = get_command(country_name(country).lower() if country else None)
    return f'Streets, shops and stops: {known}; "{command}" fetches one.'


@tool(
    "reverse_geocode",
    use="say which place lies at given coordinates",
    result=_Here,
    viewer=Viewer(lambda given: f"looks up what is{describe_point(given) or ' there'}", _what_lies_here, icon="map"),
    needs=("atlas",),
    aliases=("maps_regeocode", "regeocode", "reverse_geocoding"),
    renames=_POINT_RENAMES,
)
async def reverse_geocode(case: Case, latitude: float, longitude: float) -> Output:
    """Say what lies at a point: country, region, town, surroundings.

    Args:
        latitude: degrees north.
        longitude: degrees east.
    """
    found = await case.atlas.reverse(make_point(latitude, longitude))
    data = {
        **point_data(found.point),
        "country": found.country,
        "country_name": found.country_name,
        "region": found.region,
        "address": found.address,
        "places": [hit_data(hit) for hit in found.places],
    }
    if found.country is None and not found.places:
        return Output(f"{format_point(found.point)} lies at sea: no country is near.", data, sources=(found.source,))
    code = f" ({found.country})" if found.country else ""
    title = f"{format_point(found.point)} is {one_line(found.address)}{code}."
    kept = (hit.place.source for hit in found.places if hit.place.source not in found.source)
    sources = unique((found.source, *kept))
    return Output(number_lines(title, map(hit_words, found.places), sources), data, sources=sources)


@tool(
    "nearby",
    use="list what stands around a point, to compare it with what the photo shows",
    result=Hits,
    viewer=Viewer(lambda given: f"looks what is around{describe_point(given).removeprefix(' at')}", icon="map"),
    needs=("atlas", "features"),
    aliases=("nearby_search", "poi_nearby", "search_nearby", "maps_around_search"),
    renames={**_POINT_RENAMES, "radius": "radius_m", "metres": "radius_m", "meters": "radius_m", "type": "category"},
)
async def nearby(case: Case, latitude: float, longitude: float, radius_m: float = 250.0, category: str = "") -> Output:
    """List shops, stops, streets and other mapped features around a point, nearest first.

    Args:
        latitude: degrees north.
        longitude: degrees east.
        radius_m: in metres, at most 50000.
        category: only such: "cafe", "shop=bakery".
    """
    point = make_point(latitude, longitude)
    if not 0 < radius_m <= _MAX_RADIUS_M:
        raise BadInput(f"radius_m must lie between 1 and {_MAX_RADIUS_M} metres, not {radius_m:g}")
    kind = one_line(category)
    hits = await case.atlas.nearby(point, radius_m, category=kind or None, limit=20)
    what = f"{format_question(kind)} features" if kind else "features"
    around = f"within {length(radius_m / 1000)} of {format_point(point)}"
    if hits:
        return hits_output(f"Mapped {what} {around}:", hits, "")
    lacks = await _lacks(case, point)
    advice = [f"a radius_m up to {_MAX_RADIUS_M}"] if radius_m < _MAX_RADIUS_M else []
    advice += ["no category"] if kind else []
    more = lacks or (f"Try {' or '.join(advice)}." if advice else "")
    return hits_output("", hits, f"No mapped {what} {around}. {more}".strip())


@tool(
    "poi_input_tips",
    use="complete a name of which you have only a part, or are not sure how it is spelt",
    result=Hits,
    viewer=Viewer(looks_up("looks for names that begin with", "text"), icon="map"),
    needs=("atlas",),
    aliases=("input_tips", "poi_tips", "poi_suggest"),
    renames={
        "keyword": "text", "keywords": "text", "query": "text", "q": "text", "input": "text", "prefix": "text",
        "city": "near", "location": "near",
    },
)  # fmt: skip
async def poi_input_tips(case: Case, text: str, near: str = "") -> Output:
    """Complete a name of which only the beginning is known.

    Args:
        text: how it begins.
        near: only in and around this: a name or "lat,lon".
    """
    prefix = require_text(text, "text", "Boulev")
    where, ground = await _resolve_search_area(case, near)
    hits = await case.atlas.suggest(prefix, limit=10 if where is None else 100, near=where.point if where else None)
    hits = _keep_inside(hits, ground)[:10]
    around = f" in or around {where.name}" if where else ""
    lacks = "" if hits else await _lacks(case, where.point if where else None)
    nothing = f"No name{around} begins with {format_question(prefix)}. Try fewer letters. {lacks}".strip()
    return hits_output(f"Names{around} that begin with {format_question(prefix)}:", hits, nothing)


async def _resolve_search_area(case: Case, near: str) -> tuple[Whereabouts | None, Extent | None]:
    """Return the place that a search is limited to, and its ground; nothing for an empty text, everywhere."""
    if not near.strip():
        return None, None
    where = await find(case, near, "near")
    return where, await asyncio.to_thread(lambda: where.ground)


def _keep_inside(hits: list[Hit], ground: Extent | None) -> list[Hit]:
    return hits if ground is None else [hit for hit in hits if ground.contains(hit.place.point)]


@tool(
    "poi_keyword_search",
    use="find shops, sights and other places by name or by kind",
    result=Hits,
    viewer=Viewer(looks_up("looks for", "keyword"), icon="map"),
    needs=("atlas", "features"),
    aliases=("poi_search", "maps_text_search", "keyword_search"),
    renames={
        "keywords": "keyword", "query": "keyword", "q": "keyword", "text": "keyword", "name": "keyword",
        "city": "near", "location": "near", "region": "near", "place": "near", "area": "near",
        "type": "category", "types": "category", "kind": "category",
    },
)  # fmt: skip
async def poi_keyword_search(case: Case, keyword: str, near: str = "", category: str = "") -> Output:
    """Find mapped features (shops, sights, streets) by name; misread letters are forgiven.

    Args:
        keyword: the name, as on a sign.
        near: only in and around this: a name or "lat,lon".
        category: only such: "cafe", "shop=bakery".
    """
    query = require_text(keyword, "keyword", "Boulangerie Costa")
    where, ground = await _resolve_search_area(case, near)
    kind, point = one_line(category), where.point if where else None
    hits = await case.atlas.search_pois(query, near=point, within=ground, category=kind or None, limit=10)
    hits = _keep_inside(hits, ground)
    around = f" in or around {where.name}" if where else ""
    lacks = "" if hits else await _lacks(case, point)
    advice = f"Try its most telling word alone{', or no category' if kind else ''}."
    more = lacks if where and lacks else f"{advice} {lacks}".strip()
    nothing = f"Nothing called {format_question(query)} is known{around}. {more}"
    return hits_output(f"Features called {format_question(query)}{around}:", hits, nothing)


@tool(
    "poi_detail_query",
    use="get all that is known about one place that you have found, by its id",
    result=_Details,
    viewer=Viewer(looks_up("reads up on", "poi_id"), icon="map"),
    needs=("atlas", "features"),
    aliases=("poi_detail", "poi_details", "maps_search_detail"),
    renames={"id": "poi_id"},
)
async def poi_detail_query(case: Case, poi_id: str) -> Output:
    """Show all that is known of one place: address, phone, website, population.

    Args:
        poi_id: an id from another result.
    """
    wanted = require_text(poi_id, "poi_id", "geonames:2988507")
    place = await case.atlas.poi(wanted)
    if place is None:
        raise BadInput(
            f"no place has the id {format_question(wanted)}; ids stand in the results of the other map tools"
        )
    lines = [f"{one_line(place_words(place))}; {format_point(place.point)}; id {one_line(place.id)}"]
    lines += [f"{one_line(key)}: {quote(value)}" for key, value in place.details.items()]
    lines.append(f"From: {one_line(place.source)}.")
    return Output("\n".join(lines), place_data(place, details=True), sources=(place.source,))


@tool(
    "find_colocated",
    use="find the spots where several things that you have named stand close together",
    result=_Groups,
    viewer=Viewer(
        lambda given: f"looks where {several(given, 'features') or 'these things'} stand together", icon="map"
    ),
    needs=("atlas", "region",),
    aliases=("colocated", "find_colocated_features"),
    renames={
        **_AREA_RENAMES, "names": "features", "keywords": "features", "pois": "features", "within_metres": "within_m",
        "within_meters": "within_m", "radius_m": "within_m", "metres": "within_m", "distance_m": "within_m",
    },
)  # fmt: skip
async def find_colocated(case: Case, features: list[str], within_m: float = 150.0, area: str = "") -> Output:
    """Find every spot where several features stand close together, as a street view shows them.

    Args:
        features: two to five names or categories: "Carrefour", "amenity=cafe".
        within_m: most metres between any two.
        area: only there: a name, "south,west,north,east" or "lat,lon,radius_km".
    """
    wanted = [line for feature in _several(features) if (line := one_line(feature))]
    if not 2 <= len(wanted) <= 5:
        raise BadInput(
            f'features must be two to five names or categories, such as ["Carrefour", "pharmacy"]; got {len(wanted)}'
        )
    if not 0 < within_m <= _MAX_SPREAD_M:
        raise BadInput(f"within_m must lie between 1 and {_MAX_SPREAD_M} metres, not {within_m:g}")
    groups = await case.atlas.colocated(wanted, within_m, within=await find_area(case, area), limit=10)
    names = ", ".join(map(format_question, wanted))
    around = f"within {length(within_m / 1000)} of each other"
    if not groups:
        text = (
            f"Nowhere do {names} stand {around}. Try fewer features, a category, or a larger within_m. "
            f"{await _lacks(case)}".strip()
        )
        return Output(text, {"results": []})
    lines = [
        f"{format_point(group.point)}; {length(group.spread_m / 1000)} apart; "
        + "; ".join(f"{place_words(place)}, id {one_line(place.id)}" for place in group.places)
        for group in groups
    ]
    data = [
        {
            **point_data(group.point),
            "spread_m": group.spread_m,
            "score": group.score,
            "places": [place_data(place) for place in group.places],
        }
        for group in groups
    ]
    sources = unique(place.source for group in groups for place in group.places)
    return Output(number_lines(f"{names} {around}:", lines, sources), {"results": data}, sources=sources)


@tool(
    "find_crossing",
    use="find where two streets meet",
    result=Hits,
    viewer=Viewer(
        lambda given: (
            f"looks where {get_text(given, 'first') or 'one street'} and {get_text(given, 'second') or 'another'} meet"
        ),
        icon="map",
    ),
    needs=(
        "atlas",
        "region",
    ),
    aliases=("crossing", "intersection", "find_intersection"),
    renames={**_AREA_RENAMES, "street_1": "first", "street_2": "second", "street1": "first", "street2": "second"},
)
async def find_crossing(case: Case, first: str, second: str, area: str = "") -> Output:
    """Find where two streets meet.

    Args:
        first: one street.
        second: the other.
        area: only there: a name, "south,west,north,east" or "lat,lon,radius_km".
    """
    item, other = require_text(first, "first", "Rue Grimaldi"), require_text(second, "second", "Rue Suffren Reymond")
    hits = await case.atlas.crossing(item, other, within=await find_area(case, area), limit=5)
    nothing = (
        f"No crossing of {format_question(item)} and {format_question(other)} was found. {await _lacks(case)}".strip()
    )
    return hits_output(f"Where {format_question(item)} and {format_question(other)} meet:", hits, nothing)


def _several(features: list[str]) -> list[str]:
    """Return the features; a single text that lists several with commas is split."""
    if len(features) == 1:
        for separator in _SEPARATORS:
            if separator in features[0]:
                return features[0].split(separator)
    return features


class _MapPicture(PointData):
    place: str
    zoom: float
    extent: dict[str, float]
    attribution: str


@tool(
    "static_map_query",
    use="see the drawn map around a point: streets, junctions, water, railways",
    result=_MapPicture,
    viewer=Viewer(lambda given: f"looks at a map of {get_text(given, 'centre') or 'a place'}", icon="map"),
    needs=("atlas",),
    aliases=("static_map_tool", "static_map", "map_tool"),
    renames=_RENAMES,
)
async def static_map_query(case: Case, centre: str, zoom: float = 15.0) -> Output:
    """Draw the map around a place, to compare streets, water and names with the photo.

    Args:
        centre: a name or "lat,lon".
        zoom: 5 country, 10 county, 13 town, 15 quarter, 17 street.
    """
    where = await _where(case, centre, zoom)
    lacks = await _lacks(case, where.point)
    drawn = zoom
    if lacks and isinstance(case.atlas, OfflineAtlas):
        drawn = min(zoom, _FEATURES_ZOOM if case.atlas.has_features else _TOWNS_ZOOM)
    shown = await _build_map_output(await case.atlas.map(where.point, zoom=drawn), where, drawn, "Map")
    further = f"Drawn from zoom {drawn:g}, not {zoom:g}: nearer it would be blank." if drawn < zoom else ""
    return replace(shown, text=" ".join(filter(None, (shown.text, further, lacks))))


@tool(
    "satellite_map_query",
    use="see a point from above: roofs, fields, shapes of roads",
    result=_MapPicture,
    viewer=Viewer(lambda given: f"looks at {get_text(given, 'centre') or 'a place'} from above", icon="map"),
    needs=(
        "atlas",
        "tiles",
    ),
    aliases=("satellite_map_tool", "satellite_map", "satellite_tool", "satellite"),
    renames=_RENAMES,
)
async def satellite_map_query(case: Case, centre: str, zoom: float = 16.0) -> Output:
    """Show a place from above, to compare roofs, roads and coasts with the photo.

    Args:
        centre: a name or "lat,lon".
        zoom: 13 town, 15 quarter, 17 street.
    """
    where = await _where(case, centre, zoom)
    return await _build_map_output(
        await case.atlas.satellite(where.point, zoom=zoom), where, zoom, "Picture from above"
    )


async def _where(case: Case, centre: str, zoom: float) -> Whereabouts:
    if not 0 <= zoom <= _MAX_ZOOM:
        raise BadInput(f"zoom must lie between 0 (the world) and {_MAX_ZOOM} (a house), not {zoom:g}")
    return await find(case, centre, "centre")


async def _build_map_output(picture: Picture, where: Whereabouts, zoom: float, what: str) -> Output:
    photo = (await asyncio.to_thread(open_photo, picture.png, _LIMITS, kind="photo")).photo
    extent = extent_data(picture.extent)
    name = f"{where.name} at {format_point(where.point)}" if where.place else format_point(where.point)
    ground = ", ".join(f"{side} {degrees:.5f}" for side, degrees in extent.items())
    credit = one_line(picture.attribution) or "none needed"
    text = f"{what} around {name}, zoom {zoom:g}, north is up. It shows {ground}. Credit: {credit}."
    data = {
        **point_data(where.point),
        "place": where.name,
        "zoom": zoom,
        "extent": extent,
        "attribution": picture.attribution,
    }
    return Output(text, data, (photo,), (picture.source,))
