"""Businesses, streets and stops straight from OpenStreetMap extracts, for made-up scenes."""

import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from math import cos, radians
from pathlib import Path

import osmium
import phonenumbers
from osmium.osm import Node, Relation, Way
from shapely import Point, STRtree, contains_xy
from shapely.geometry import LineString
from shapely.ops import polygonize, unary_union

from geosleuth.geo import LatLon

ROOT = Path(__file__).resolve().parents[2]
BUNDLED_MONACO = ROOT / "examples" / "regions" / "monaco.osm.pbf"
REGIONS = {"monaco": ("MC", "Monaco"), "andorra": ("AD", "Andorra"), "helsinki": ("FI", "Helsinki")}
# The one extract that reaches into a neighbouring country. Its wards are closed where its border, out at sea, is not.
_CUT_BY_WARDS = "monaco"

# What stands over a door; a tag without a place of business behind it (a bench, a work of art) is left out.
_BUSINESS = {
    "shop": None,
    "craft": None,
    "office": frozenset({"estate_agent", "insurance", "lawyer", "travel_agent", "bank", "company"}),
    "tourism": frozenset({"hotel", "hostel", "guest_house", "museum", "gallery", "camp_site", "apartments"}),
    "amenity": frozenset({
        "restaurant", "cafe", "bar", "pub", "fast_food", "pharmacy", "bank", "nightclub", "fuel", "theatre", "cinema",
        "library", "school", "kindergarten", "clinic", "dentist", "ice_cream", "marketplace", "place_of_worship",
    }),
}  # fmt: skip
# Where street plates hang; a tunnel, a race track or a moving walkway has a name and none.
_STREETS = frozenset({
    "primary", "secondary", "tertiary", "residential", "unclassified", "living_street", "pedestrian", "service",
})  # fmt: skip
_SIGN = re.compile(r"[A-Za-zÀ-ɏ0-9&'’.,\- ]{5,28}")
_DOMAIN = re.compile(r"(?:https?://)?((?:www\.)?[a-z0-9-]{3,20}\.(?:mc|ad|fi|com))/?$")
_HARBOURING = ("facebook", "instagram", "google")
_STREET_KM = 0.08
_STOP_KM = 0.2
# More of one name than this, or further apart, and the name alone says nothing of the place.
_ONE_PLACE_KM = 0.5


@dataclass(frozen=True, slots=True)
class Business:
    """A place of business, and what hangs and stands around it."""

    name: str
    point: LatLon
    country: str
    city: str
    street: str | None = None
    street_other: str | None = None
    stop: str | None = None
    phone: str | None = None
    domain: str | None = None


def extracts() -> dict[str, Path]:
    """The extracts at hand by region: those beside the repository where they are, and always a Monaco."""
    folder = Path(os.environ.get("GEOSLEUTH_SHARED", ROOT.parent / "shared")) / "data" / "osm"
    found = {name: folder / f"{name}.osm.pbf" for name in REGIONS if (folder / f"{name}.osm.pbf").is_file()}
    return {"monaco": BUNDLED_MONACO} | found


@dataclass(slots=True)
class _Read:
    businesses: list[tuple[LatLon, dict[str, str]]] = field(default_factory=list)
    stops: list[tuple[LatLon, str]] = field(default_factory=list)
    streets: list[tuple[LineString, str, str | None]] = field(default_factory=list)
    wards: list[LineString] = field(default_factory=list)


@cache
def businesses(extract: Path, region: str) -> tuple[Business, ...]:
    """Businesses of one region whose name a sign can show and that stand for one place, by name."""
    country, city = REGIONS[region]
    read = _read(extract, wards=region == _CUT_BY_WARDS)
    land = unary_union(list(polygonize(unary_union(read.wards)))) if read.wards else None
    by_name = defaultdict(list)
    for point, tags in read.businesses:
        by_name[tags["name"].casefold()].append((point, tags))
    streets = STRtree([line for line, _, _ in read.streets])
    found = []
    for name in sorted(by_name):
        point, tags = by_name[name][0]
        if any(_km(point, other) > _ONE_PLACE_KM for other, _ in by_name[name]):
            continue
        if land is not None and not contains_xy(land, point.lon, point.lat):
            continue
        street = _street(point, tags, read, streets)
        found.append(
            Business(
                tags["name"], point, country, city, *street, _nearest_stop(point, read), _phone(tags, country),
                _domain(tags),
            )
        )  # fmt: skip
    return tuple(found)


def _read(extract: Path, *, wards: bool) -> _Read:
    read = _Read()
    around: set[int] = set()
    for thing in osmium.FileProcessor(str(extract), osmium.osm.RELATION) if wards else ():
        if isinstance(thing, Relation) and thing.tags.get("admin_level") == "10":
            around |= {member.ref for member in thing.members if member.type == "w"}
    for thing in osmium.FileProcessor(str(extract)).with_locations():
        if isinstance(thing, Node):
            _take_node(read, LatLon(round(thing.location.lat, 6), round(thing.location.lon, 6)), dict(thing.tags))
        elif isinstance(thing, Way):
            places = [(node.lon, node.lat) for node in thing.nodes if node.location.valid()]
            if len(places) >= 2:
                line = LineString(places)
                read.wards += [line] if thing.id in around else []
                _take_street(read, line, dict(thing.tags))
    return read


def _take_node(read: _Read, point: LatLon, tags: dict[str, str]) -> None:
    name = tags.get("name", "")
    if not _SIGN.fullmatch(name):
        return
    if tags.get("highway") == "bus_stop":
        read.stops.append((point, name))
    elif _is_business(tags):
        read.businesses.append((point, tags))


def _take_street(read: _Read, line: LineString, tags: dict[str, str]) -> None:
    name = tags.get("name", "")
    if tags.get("highway") in _STREETS and "tunnel" not in tags and _SIGN.fullmatch(name):
        read.streets.append((line, name, _other_name(tags)))


def _is_business(tags: dict[str, str]) -> bool:
    return any(key in tags and (kinds is None or tags[key] in kinds) for key, kinds in _BUSINESS.items())


def _other_name(tags: dict[str, str]) -> str | None:
    other = tags.get("name:sv")
    return other if other and other != tags["name"] and _SIGN.fullmatch(other) else None


def _street(point: LatLon, tags: dict[str, str], read: _Read, streets: STRtree) -> tuple[str | None, str | None]:
    """The street that a business stands at: its address's, or the nearest, with its name in a second language."""
    named = tags.get("addr:street")
    if not named and len(read.streets):
        line, name, other = read.streets[int(streets.nearest(Point(point.lon, point.lat)))]
        at = line.interpolate(line.project(Point(point.lon, point.lat)))
        return (name, other) if _km(point, LatLon(at.y, at.x)) <= _STREET_KM else (None, None)
    other = next((other for _, name, other in read.streets if name == named), None)
    return (named, other) if named and any(name == named for _, name, _ in read.streets) else (None, None)


def _nearest_stop(point: LatLon, read: _Read) -> str | None:
    near = min(((_km(point, at), name) for at, name in read.stops), default=None)
    return near[1] if near and near[0] <= _STOP_KM else None


def _phone(tags: dict[str, str], country: str) -> str | None:
    """The number as mapped, where it is one of the country itself."""
    raw = (tags.get("phone") or tags.get("contact:phone") or "").split(";")[0]
    try:
        number = phonenumbers.parse(raw, None)
    except phonenumbers.NumberParseException:
        return None
    if phonenumbers.region_code_for_number(number) != country:
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def _domain(tags: dict[str, str]) -> str | None:
    match = _DOMAIN.fullmatch((tags.get("website") or tags.get("contact:website") or "").strip().lower())
    return match[1] if match and not any(word in match[1] for word in _HARBOURING) else None


def _km(here: LatLon, there: LatLon) -> float:
    """Plain and good for a town; the detective's distances are not used to measure it."""
    north = (here.lat - there.lat) * 111.2
    east = (here.lon - there.lon) * 111.2 * cos(radians(here.lat))
    return float((north * north + east * east) ** 0.5)
