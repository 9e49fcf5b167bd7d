"""Read what services answer, whose shape nobody guarantees: texts, places and hits, areas, pictures.

What an answer can't do without raises `ServiceFault` when it is missing; what a single result lacks reads as None, and
the caller leaves that result out.
"""

import io
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from geosleuth.atlas.protocol import Hit, MatchKind, Place
from geosleuth.atlas.search import exact_key, similarity
from geosleuth.errors import BadInput, ServiceFault
from geosleuth.geo import Box, Disc, Extent, LatLon, distance_km, is_valid

if TYPE_CHECKING:
    from PIL.Image import Image

NAME_CHARS = 200
LONG_CHARS = 1000

_JOINERS = "\u200c\u200d"  # they shape words of Persian and of Indian scripts


def clean(text: str, max_chars: int) -> str:
    """One line of text: control, direction and unassigned characters dropped, spaces collapsed, cut to length."""
    # What is dropped may be most of the text, but a limit before the loop keeps a huge text from costing time.
    kept = (_kept(character) for character in text[: 4 * max_chars + 64])
    line = " ".join("".join(kept).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1].rstrip()}…"


def query_text(text: str, max_chars: int = NAME_CHARS) -> str:
    """What is sent of a query that may be of any length and hold anything."""
    line = clean(text, max_chars)
    return line.removesuffix("…") if len(line) == max_chars else line


def _kept(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    category = unicodedata.category(character)
    return " " if category[0] == "Z" or character in "\t\n\r\v\f\x85" else ""


Object = Mapping[str, object]

_EMPTY: Object = {}
_MAX_DETAILS = 40
_MAX_RESULTS = 5000


def need_object(value: object, host: str, what: str = "its answer") -> Object:
    """The value as an object."""
    if not isinstance(value, dict):
        raise ServiceFault(host, f"answered in an unexpected shape: {what} is not an object")
    return value


def need_objects(value: object, host: str, what: str = "its answer") -> list[Object]:
    """The objects in a list."""
    if not isinstance(value, list):
        raise ServiceFault(host, f"answered in an unexpected shape: {what} is not a list")
    if any(not isinstance(one, dict) for one in value):
        raise ServiceFault(host, f"answered in an unexpected shape: {what} holds something that is not an object")
    return value[:_MAX_RESULTS]


def inner(value: Object, *path: str) -> Object:
    """The object under a path of names, or an empty one."""
    for name in path:
        found = value.get(name)
        if not isinstance(found, dict):
            return _EMPTY
        value = found
    return value


def objects(value: Object, name: str) -> Iterator[Object]:
    """The objects in a list under a name, where there is one."""
    found = value.get(name)
    if isinstance(found, list):
        yield from (one for one in found[:_MAX_RESULTS] if isinstance(one, dict))


def words(value: Object, name: str) -> list[str]:
    """The texts in a list under a name, where there is one."""
    found = value.get(name)
    return [clean(one, NAME_CHARS) for one in found[:50] if isinstance(one, str)] if isinstance(found, list) else []


def text(value: Object, name: str, max_chars: int = NAME_CHARS) -> str | None:
    """A cleaned text, or a number as text; None where it is missing, empty or something else."""
    found = value.get(name)
    if isinstance(found, int | float) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str):
        return None
    return clean(found, max_chars) or None


def first_text(value: Object, *names: str) -> str | None:
    """The first of several texts that is there."""
    return next((found for found in (text(value, name) for name in names) if found), None)


def number(value: object) -> float | None:
    """A finite number, also where it is written as a text."""
    if isinstance(value, str):
        try:
            value = float(value[:40])
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1e15:
        return None
    return float(value)


def point(lat: object, lon: object) -> LatLon | None:
    """A point, where both values are numbers in range."""
    lat_deg, lon_deg = number(lat), number(lon)
    if lat_deg is None or lon_deg is None or not is_valid(lat_deg, lon_deg):
        return None
    return LatLon(lat_deg, lon_deg)


def box(south: object, west: object, north: object, east: object) -> Box | None:
    """A box, where its corners are points and its south lies south."""
    low, high = point(south, west), point(north, east)
    if low is None or high is None or low.lat > high.lat:
        return None
    return Box(low.lat, low.lon, high.lat, high.lon)


def country(value: object) -> str | None:
    """A two-letter country code in capitals."""
    return value.upper() if isinstance(value, str) and len(value) == 2 and value.isascii() and value.isalpha() else None


def details(parts: Object, names: Sequence[str] | None = None) -> dict[str, str]:
    """Plain values of an object as cleaned texts; those named, or all."""
    found: dict[str, str] = {}
    for name in parts if names is None else names:
        value = text(parts, name, LONG_CHARS)
        if value and len(found) < _MAX_DETAILS:
            found[clean(name, 60)] = value
    return found


_SETTLEMENTS = frozenset(
    {"city", "town", "village", "hamlet", "municipality", "city_district", "borough", "suburb", "locality"}
)
_REGIONS = frozenset({"state", "region", "province", "county", "state_district", "district", "prefecture"})
_OWN_WORDS = {
    "country": "country",
    "house": "address",
    "houses": "address",
    **dict.fromkeys(_REGIONS, "region"),
    **dict.fromkeys(_SETTLEMENTS, "city"),
}
_NO_STREETS = frozenset(
    {
        *("bus_stop", "traffic_signals", "milestone", "speed_camera", "elevator", "crossing", "services"),
        *("rest_area", "platform", "street_lamp", "stop", "give_way", "emergency_access_point"),
    }
)


def osm_kind(key: str | None, value: str | None, level: str | None = None) -> str:
    """What an OpenStreetMap object is, in our words where we have one; ``level`` is the service's word for its size."""
    if key in ("place", "boundary"):
        known = _OWN_WORDS.get(level or "") or _OWN_WORDS.get(value or "")
        if known:
            return known
    if key == "highway" and value not in _NO_STREETS:
        return "street"
    if key == "aeroway" and value == "aerodrome":
        return "airport"
    return f"{key or 'place'}={value or 'yes'}"


def named_level(parts: Object, levels: Iterable[str]) -> str | None:
    """The first of several address levels that is named."""
    return next((name for name in (text(parts, level) for level in levels) if name), None)


def settlement(parts: Object) -> str | None:
    """The settlement in an address by levels, as Nominatim and OpenCage write it."""
    return named_level(parts, ("city", "town", "village", "municipality", "hamlet", "suburb", "county"))


def region(parts: Object) -> str | None:
    """The first-level region in an address by levels."""
    return named_level(parts, ("state", "province", "region", "state_district"))


def hit(
    place: Place, query: str, *, names: Iterable[str] = (), near: LatLon | None = None, is_address: bool = False
) -> Hit:
    """A hit whose score tells how alike the query and the best fitting name are.

    Services rank by scales of their own, which can't be compared; their order is kept and the score is ours. A query
    of several parts ("Monaco-Ville, Monaco") is compared with the address too.
    """
    asked, first_part = exact_key(query), exact_key(query.partition(",")[0])
    best: tuple[float, str, MatchKind] = (0.0, place.name, "fuzzy")
    for position, name in enumerate((place.name, *names)):
        whole = exact_key(name)
        score = max(similarity(asked, whole), similarity(first_part, whole))
        kind: MatchKind = "fuzzy" if score < 1 else ("exact" if position == 0 else "alias")
        if score > best[0]:
            best = (score, name, kind)
    if place.address and (is_address or "," in query) and best[2] == "fuzzy":
        score = similarity(asked, exact_key(place.address))
        if score > best[0]:
            best = (score, place.address, "fuzzy")
    distance = None if near is None else distance_km(near, place.point)
    return Hit(place, round(best[0], 4), best[2], best[1], distance)


def near_hit(place: Place, point: LatLon, reach_km: float) -> Hit:
    """A hit found by position alone: the nearer, the better."""
    away_km = distance_km(point, place.point)
    score = max(0.0, 1 - away_km / reach_km) if reach_km > 0 else 0.0
    return Hit(place, round(score, 4), "near", place.name, away_km)


def spot(point: LatLon) -> Extent:
    """The extent of something of which only the position is known."""
    return Disc(point, 0.0)


def nested_text(value: Object, *path: str) -> str | None:
    """A text some levels down."""
    return text(inner(value, *path[:-1]), path[-1])


MAX_MERCATOR_LAT = 85.05112877980659
TILE_PX = 256


def bounding_box(extent: Extent) -> Box:
    """The smallest box around an extent; `west` greater than `east` where it crosses the antimeridian."""
    if isinstance(extent, Box):
        return extent
    centre, radius_km = extent.centre, extent.radius_km
    reach_deg = math.degrees(radius_km / 6371.0)
    south, north = max(-90.0, centre.lat - reach_deg), min(90.0, centre.lat + reach_deg)
    if south == -90.0 or north == 90.0:
        return Box(south, -180.0, north, 180.0)
    half_deg = math.degrees(math.asin(min(1.0, math.sin(math.radians(reach_deg)) / math.cos(math.radians(centre.lat)))))
    return Box(south, _turned(centre.lon - half_deg), north, _turned(centre.lon + half_deg))


def plain_boxes(extent: Extent) -> list[Box]:
    """One box, or the two halves of one that crosses the antimeridian."""
    whole = bounding_box(extent)
    if whole.west <= whole.east:
        return [whole]
    return [
        Box(whole.south, whole.west, whole.north, 180.0),
        Box(whole.south, -180.0, whole.north, whole.east),
    ]


def around(point: LatLon, radius_km: float) -> Box:
    """The box around a point."""
    return bounding_box(Disc(point, radius_km))


def inside(hits: Iterable[Hit], within: Extent | None) -> list[Hit]:
    """Those hits whose point lies in the extent; services take it as a hint, or only know boxes."""
    return [hit for hit in hits if within is None or within.contains(hit.place.point)]


def check_radius(radius_m: float, longest_m: float, who: str) -> float:
    """The radius, if it is one the service takes."""
    if not 0 < radius_m <= longest_m:
        raise BadInput(f"{who} searches within 1 m to {longest_m:,.0f} m, not {radius_m:g} m")
    return radius_m


def to_pixels(point: LatLon, zoom: float) -> tuple[float, float]:
    """Where a point lies on the square map of the whole world at a zoom, in pixels from its north-west corner."""
    world_px = TILE_PX * 2.0**zoom
    lat = math.radians(max(-MAX_MERCATOR_LAT, min(MAX_MERCATOR_LAT, point.lat)))
    return (point.lon + 180) / 360 * world_px, (1 - math.asinh(math.tan(lat)) / math.pi) / 2 * world_px


def to_point(x_px: float, y_px: float, zoom: float) -> LatLon:
    """The point at a pixel of the world map; columns repeat, rows end at the map's edge."""
    world_px = TILE_PX * 2.0**zoom
    lat = math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * max(0.0, min(world_px, y_px)) / world_px))))
    return LatLon(lat, _turned(x_px / world_px * 360 - 180))


def picture_box(centre: LatLon, zoom: float, size: tuple[int, int]) -> Box:
    """The ground that a map picture shows."""
    x, y = to_pixels(centre, zoom)
    width, height = size
    low, high = to_point(x - width / 2, y + height / 2, zoom), to_point(x + width / 2, y - height / 2, zoom)
    if width >= TILE_PX * 2.0**zoom:
        return Box(low.lat, -180.0, high.lat, 180.0)
    return Box(low.lat, low.lon, high.lat, high.lon)


def check_picture(zoom: float, size: tuple[int, int], longest_px: int, who: str) -> None:
    """Refuse zooms and sizes that make no picture.

    Raises:
        BadInput: says what the service takes.
    """
    if not 0 <= zoom <= 24:
        raise BadInput(f"zoom must lie between 0 and 24, not {zoom:g}")
    if not all(16 <= side <= longest_px for side in size):
        raise BadInput(f"{who} draws pictures of 16 to {longest_px} pixels a side")


def _turned(lon: float) -> float:
    return (lon + 180) % 360 - 180 if not -180 <= lon <= 180 else lon


_MAX_PIXELS = 4096 * 4096
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")


def open_picture(body: bytes, host: str) -> "Image":
    """The picture in an answer, as RGB.

    Raises:
        ServiceFault: it is no picture, or one of absurd size.
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
    """The picture in an answer as PNG; a service that draws finer than asked is scaled."""
    return to_png(resized(open_picture(body, host), size))


def resized(image: "Image", size: tuple[int, int]) -> "Image":
    """The picture in that size."""
    import PIL.Image

    return image if image.size == size else image.resize(size, PIL.Image.Resampling.LANCZOS)


def to_png(image: "Image") -> bytes:
    """The picture as PNG bytes."""
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
