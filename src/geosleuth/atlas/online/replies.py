"""Parse services' answers, which are untrusted input: texts, numbers, places and hits, areas, pictures.

A missing part that the whole answer needs raises `ServiceFault`. A missing part of a single result is returned as None,
and the caller leaves that result out.
"""

import io
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from geosleuth.atlas.protocol import Hit, MatchKind, Place
from geosleuth.atlas.search import exact_key, similarity
from geosleuth.geo import Box, Disc, Extent, LatLon, distance_km, is_valid
from geosleuth.support.errors import BadInput, ServiceFault

if TYPE_CHECKING:
    from PIL.Image import Image

NAME_CHARS = 200
LONG_CHARS = 1000

_JOINERS = "\u200c\u200d"  # needed in Persian and in Indic scripts

Object = Mapping[str, object]
_EMPTY: Object = {}
_MAX_DETAILS = 40
_MAX_RESULTS = 5000
_SETTLEMENTS = frozenset(
    {"city", "town", "village", "hamlet", "municipality", "city_district", "borough", "suburb", "locality"}
)
_REGIONS = frozenset({"state", "region", "province", "county", "state_district", "district", "prefecture"})
_KINDS = {
    "country": "country",
    "house": "address",
    "houses": "address",
    **dict.fromkeys(_REGIONS, "region"),
    **dict.fromkeys(_SETTLEMENTS, "city"),
}
_HIGHWAYS_NOT_STREETS = frozenset(
    {
        *("bus_stop", "traffic_signals", "milestone", "speed_camera", "elevator", "crossing", "services"),
        *("rest_area", "platform", "street_lamp", "stop", "give_way", "emergency_access_point"),
    }
)
MAX_MERCATOR_LAT = 85.05112877980659
TILE_PX = 256
_MAX_PIXELS = 4096 * 4096
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")


def clean(text: str, max_chars: int) -> str:
    """Return one line of text, cut to length, without control, direction and unassigned characters."""
    # Most of the text may be dropped, but cutting it before the loop bounds the time for a huge text.
    kept = (_printable(character) for character in text[: 4 * max_chars + 64])
    line = " ".join("".join(kept).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1].rstrip()}…"


def query_text(text: str, max_chars: int = NAME_CHARS) -> str:
    """Return a query cleaned and cut to the length that may be sent."""
    line = clean(text, max_chars)
    return line.removesuffix("…") if len(line) == max_chars else line


def _printable(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    category = unicodedata.category(character)
    return " " if category[0] == "Z" or character in "\t\n\r\v\f\x85" else ""


def need_object(value: object, host: str, what: str = "its answer") -> Object:
    """Return the value if it is an object; else raise `ServiceFault`."""
    if not isinstance(value, dict):
        raise ServiceFault(host, f"answered in an unexpected shape: {what} is not an object")
    return value


def need_objects(value: object, host: str, what: str = "its answer") -> list[Object]:
    """Return the value if it is a list of objects, cut to the most that is read; else raise `ServiceFault`."""
    if not isinstance(value, list):
        raise ServiceFault(host, f"answered in an unexpected shape: {what} is not a list")
    if any(not isinstance(item, dict) for item in value):
        raise ServiceFault(host, f"answered in an unexpected shape: {what} holds something that is not an object")
    return value[:_MAX_RESULTS]


def inner(value: Object, *path: str) -> Object:
    """Return the object at a path of names, or an empty one."""
    for name in path:
        found = value.get(name)
        if not isinstance(found, dict):
            return _EMPTY
        value = found
    return value


def objects(value: Object, name: str) -> Iterator[Object]:
    """Yield the objects of the list under a name, if there is one."""
    found = value.get(name)
    if isinstance(found, list):
        yield from (item for item in found[:_MAX_RESULTS] if isinstance(item, dict))


def words(value: Object, name: str) -> list[str]:
    """Return the cleaned texts of the list under a name, if there is one."""
    found = value.get(name)
    return [clean(item, NAME_CHARS) for item in found[:50] if isinstance(item, str)] if isinstance(found, list) else []


def text(value: Object, name: str, max_chars: int = NAME_CHARS) -> str | None:
    """Return the cleaned text under a name, or a number as text; None if it is missing, empty or of another type."""
    found = value.get(name)
    if isinstance(found, int | float) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str):
        return None
    return clean(found, max_chars) or None


def first_text(value: Object, *names: str) -> str | None:
    """Return the text under the first of the names that has one."""
    return next((found for found in (text(value, name) for name in names) if found), None)


def number(value: object) -> float | None:
    """Return a finite number, given as a number or as text; else None."""
    if isinstance(value, str):
        try:
            value = float(value[:40])
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1e15:
        return None
    return float(value)


def point(lat: object, lon: object) -> LatLon | None:
    """Return a point if both values are numbers in range; else None."""
    lat_deg, lon_deg = number(lat), number(lon)
    if lat_deg is None or lon_deg is None or not is_valid(lat_deg, lon_deg):
        return None
    return LatLon(lat_deg, lon_deg)


def box(south: object, west: object, north: object, east: object) -> Box | None:
    """Return a box if its corners are valid and south is not north of north; else None."""
    low, high = point(south, west), point(north, east)
    if low is None or high is None or low.lat > high.lat:
        return None
    return Box(low.lat, low.lon, high.lat, high.lon)


def country(value: object) -> str | None:
    """Return a two-letter country code in upper case; None for anything else."""
    return value.upper() if isinstance(value, str) and len(value) == 2 and value.isascii() and value.isalpha() else None


def details(parts: Object, names: Sequence[str] | None = None) -> dict[str, str]:
    """Return the scalar values of an object as cleaned texts; only those named, or all."""
    found: dict[str, str] = {}
    for name in parts if names is None else names:
        value = text(parts, name, LONG_CHARS)
        if value and len(found) < _MAX_DETAILS:
            found[clean(name, 60)] = value
    return found


def osm_kind(key: str | None, value: str | None, level: str | None = None) -> str:
    """Return the kind of an OpenStreetMap object: the atlas's own word, or else its tag ("amenity=cafe").

    Args:
        key: the key of its main tag.
        value: the value of that tag.
        level: the service's word for its level in an address, such as "city".
    """
    if key in ("place", "boundary"):
        known = _KINDS.get(level or "") or _KINDS.get(value or "")
        if known:
            return known
    if key == "highway" and value not in _HIGHWAYS_NOT_STREETS:
        return "street"
    if key == "aeroway" and value == "aerodrome":
        return "airport"
    return f"{key or 'place'}={value or 'yes'}"


def settlement(parts: Object) -> str | None:
    """Return the settlement in an address object of Nominatim or OpenCage."""
    return first_text(parts, "city", "town", "village", "municipality", "hamlet", "suburb", "county")


def region(parts: Object) -> str | None:
    """Return the first-level region in an address object of Nominatim or OpenCage."""
    return first_text(parts, "state", "province", "region", "state_district")


def hit(
    place: Place, query: str, *, names: Iterable[str] = (), near: LatLon | None = None, is_address: bool = False
) -> Hit:
    """Return a hit for a place, with the similarity of the query and the place's best name as its score.

    Services' own scores are not comparable; callers keep the services' order. A query of several parts ("Monaco-Ville,
    Monaco") is compared with the address, too.

    Args:
        place: the place.
        query: what was searched for.
        names: further names of the place.
        near: the point to measure the hit's distance from.
        is_address: whether the query may be an address.
    """
    query_key, first_part = exact_key(query), exact_key(query.partition(",")[0])
    best: tuple[float, str, MatchKind] = (0.0, place.name, "fuzzy")
    for position, name in enumerate((place.name, *names)):
        name_key = exact_key(name)
        score = max(similarity(query_key, name_key), similarity(first_part, name_key))
        kind: MatchKind = "fuzzy" if score < 1 else ("exact" if position == 0 else "alias")
        if score > best[0]:
            best = (score, name, kind)
    if place.address and (is_address or "," in query) and best[2] == "fuzzy":
        score = similarity(query_key, exact_key(place.address))
        if score > best[0]:
            best = (score, place.address, "fuzzy")
    distance = None if near is None else distance_km(near, place.point)
    return Hit(place, round(best[0], 4), best[2], best[1], distance)


def near_hit(place: Place, point: LatLon, reach_km: float) -> Hit:
    """Return a hit that was found by position; its score falls from 1 at the point to 0 at ``reach_km``."""
    away_km = distance_km(point, place.point)
    score = max(0.0, 1 - away_km / reach_km) if reach_km > 0 else 0.0
    return Hit(place, round(score, 4), "near", place.name, away_km)


def settlement_hit(
    service: str, town: str, point: LatLon, country: str | None, region: str | None, address: str | None = None
) -> Hit:
    """Return a hit for the settlement that a point belongs to, of which a service gives the name only."""
    place = Place(f"{service}:settlement:{town}", town, "city", point, spot(point), service, country, region, address)
    return Hit(place, 1.0, "near", town, 0.0)


def spot(point: LatLon) -> Extent:
    """Return the extent of a place of which only the position is known."""
    return Disc(point, 0.0)


def read_nested_text(value: Object, *path: str) -> str | None:
    """Return the cleaned text at a path of names."""
    return text(inner(value, *path[:-1]), path[-1])


def bounding_box(extent: Extent) -> Box:
    """Return the smallest box around an extent; ``west`` > ``east`` if it crosses the antimeridian."""
    if isinstance(extent, Box):
        return extent
    centre, radius_km = extent.centre, extent.radius_km
    reach_deg = math.degrees(radius_km / 6371.0)
    south, north = max(-90.0, centre.lat - reach_deg), min(90.0, centre.lat + reach_deg)
    if south == -90.0 or north == 90.0:
        return Box(south, -180.0, north, 180.0)
    half_deg = math.degrees(math.asin(min(1.0, math.sin(math.radians(reach_deg)) / math.cos(math.radians(centre.lat)))))
    return Box(south, _wrap_longitude(centre.lon - half_deg), north, _wrap_longitude(centre.lon + half_deg))


def plain_boxes(extent: Extent) -> list[Box]:
    """Return the bounding box of an extent, or its two halves if it crosses the antimeridian."""
    whole = bounding_box(extent)
    if whole.west <= whole.east:
        return [whole]
    return [
        Box(whole.south, whole.west, whole.north, 180.0),
        Box(whole.south, -180.0, whole.north, whole.east),
    ]


def around(point: LatLon, radius_km: float) -> Box:
    """Return the bounding box of a circle around a point."""
    return bounding_box(Disc(point, radius_km))


def inside(hits: Iterable[Hit], within: Extent | None) -> list[Hit]:
    """Return the hits whose point lies in the extent: services treat an area as a hint, or support boxes only."""
    return [hit for hit in hits if within is None or within.contains(hit.place.point)]


def check_radius(radius_m: float, max_m: float, service: str) -> None:
    """Check a search radius.

    Raises:
        BadInput: the service does not support it.
    """
    if not 0 < radius_m <= max_m:
        raise BadInput(f"{service} searches within 1 m to {max_m:,.0f} m, not {radius_m:g} m")


def to_pixels(point: LatLon, zoom: float) -> tuple[float, float]:
    """Return a point's position on the Web Mercator world map at a zoom, in pixels from the north-west corner."""
    world_px = TILE_PX * 2.0**zoom
    lat = math.radians(max(-MAX_MERCATOR_LAT, min(MAX_MERCATOR_LAT, point.lat)))
    return (point.lon + 180) / 360 * world_px, (1 - math.asinh(math.tan(lat)) / math.pi) / 2 * world_px


def to_point(x_px: float, y_px: float, zoom: float) -> LatLon:
    """Return the point at a pixel of the world map; x wraps around, y is clamped to the map."""
    world_px = TILE_PX * 2.0**zoom
    lat = math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * max(0.0, min(world_px, y_px)) / world_px))))
    return LatLon(lat, _wrap_longitude(x_px / world_px * 360 - 180))


def picture_box(centre: LatLon, zoom: float, size: tuple[int, int]) -> Box:
    """Return the box that a map picture shows."""
    x, y = to_pixels(centre, zoom)
    width, height = size
    low, high = to_point(x - width / 2, y + height / 2, zoom), to_point(x + width / 2, y - height / 2, zoom)
    if width >= TILE_PX * 2.0**zoom:
        return Box(low.lat, -180.0, high.lat, 180.0)
    return Box(low.lat, low.lon, high.lat, high.lon)


def check_picture(zoom: float, size: tuple[int, int], max_side_px: int, service: str) -> None:
    """Check the zoom and size of a picture.

    Raises:
        BadInput: the service does not support them.
    """
    if not 0 <= zoom <= 24:
        raise BadInput(f"zoom must lie between 0 and 24, not {zoom:g}")
    if not all(16 <= side <= max_side_px for side in size):
        raise BadInput(f"{service} draws pictures of 16 to {max_side_px} pixels a side")


def _wrap_longitude(lon: float) -> float:
    return (lon + 180) % 360 - 180 if not -180 <= lon <= 180 else lon


def open_picture(body: bytes, host: str) -> "Image":
    """Decode a picture, as RGB.

    Raises:
        ServiceFault: it is not a picture, or too large.
    """
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(body), formats=_FORMATS) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise ServiceFault(host, f"sent a picture of {image.width} x {image.height} pixels")
            return image.convert("RGB")
    except (OSError, SyntaxError, ValueError, PIL.Image.DecompressionBombError) as error:
        raise ServiceFault(host, "sent something that is not a picture") from error


def png_of_size(body: bytes, size: tuple[int, int], host: str) -> bytes:
    """Decode a picture and return it as PNG, scaled to a size: some services send more pixels than requested."""
    return to_png(resize_picture(open_picture(body, host), size))


def resize_picture(image: "Image", size: tuple[int, int]) -> "Image":
    """Return a picture scaled to a size."""
    import PIL.Image

    return image if image.size == size else image.resize(size, PIL.Image.Resampling.LANCZOS)


def to_png(image: "Image") -> bytes:
    """Return a picture as PNG bytes."""
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
