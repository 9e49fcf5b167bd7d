"""A catalogue of extracts in the form of Geofabrik's ``index-v1.json``, and which of them a name means.

A catalogue is somebody else's file. Of an address that it gives only the path is used, and only where that is the path
of an extract; ids that are none are left out; whatever else is wrong with an entry is told when somebody asks for it.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import shapely

from geosleuth.atlas.base.build import admin1_table
from geosleuth.atlas.borders import Borders
from geosleuth.atlas.granular import region_outline
from geosleuth.atlas.map_place import map_place, map_point
from geosleuth.atlas.online.http import OnlineClient, Question, parse_json
from geosleuth.atlas.online.replies import clean
from geosleuth.atlas.protocol import Place
from geosleuth.errors import BadInput, ServiceFault
from geosleuth.geo import LatLon
from geosleuth.names import country_code, country_name, fold
from geosleuth.net import host_of

from .download import has_no

OFFICIAL: Final = "https://download.geofabrik.de"
"""Where the catalogue and the extracts are asked for unless the user names a mirror."""

_INDEX: Final = "index-v1.json"
_KEEP_S: Final = 7 * 86_400.0
_MOST_EXTRACTS: Final = 20_000
_ID: Final = re.compile(r"[a-z0-9]+(?:[-_/][a-z0-9]+)*")
_PATH: Final = re.compile(r"(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+\.osm\.pbf")
_SUBDIVISION: Final = re.compile(r"[A-Z]{2}-[A-Z0-9]{1,3}")
_SEVERAL_PARTS: Final = re.compile(r"[,;|/()]")
_NAME_CHARS: Final = 80
_ID_CHARS: Final = 60
_FARTHEST_DEG: Final = 360.0  # some extracts go on beyond the 180th meridian
_COVERED: Final = 0.9
"""The share of a region's land that an extract must hold: the two draw coasts and borders differently."""
_SAMPLES: Final = 80
"""How many points along each side tell which countries an extract without codes lies in."""


@dataclass(frozen=True, slots=True, eq=False)
class Extract:
    """A piece of the world to be had as one file.

    ``url`` is where it lies at the source that was asked; where the catalogue's word on it can't be followed, ``url``
    is empty and ``trouble`` says why. Codes are ISO 3166-1 alpha-2 and ISO 3166-2.
    """

    id: str
    name: str
    url: str
    trouble: str
    countries: frozenset[str]
    subdivisions: frozenset[str]
    geometry: object
    parent: str = ""

    @property
    def title(self) -> str:
        """Its name and id, for people."""
        return self.id if self.name == self.id else f"{self.name} ({self.id})"

    @property
    def region(self) -> str:
        """What its region is called in the atlas: "us/california" is "us-california"."""
        return self.id.replace("/", "-")


@dataclass(slots=True, eq=False)
class Catalogue:
    """All extracts of one source."""

    source: str
    extracts: Sequence[Extract]
    _shapes: dict[str, Any] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """Who is asked."""
        return host_of(self.source)

    def called(self, text: str) -> Extract | None:
        """The extract of that id, code or country, in this order, or whose own name it is."""
        key, code = fold(text), text.strip().upper()
        if not key:
            return None
        for one in self.extracts:
            if key == fold(one.id):
                return one
        if _SUBDIVISION.fullmatch(code):
            return self.of_subdivision(code)
        country = None if _SEVERAL_PARTS.search(text) else country_code(text)
        if country is not None and (whole := self.of_country(country)):
            return whole
        namesakes = [one for one in self.extracts if key in (fold(one.id.rpartition("/")[2]), fold(one.name))]
        return min(namesakes, key=lambda one: (one.id.count("/"), one.id), default=None)

    def of_country(self, code: str) -> Extract | None:
        """The extract of a country: the one with the fewest others in it, and the largest of these."""
        found = [one for one in self.extracts if code in one.countries and not one.subdivisions]
        if len(found) < 2:
            return next(iter(found), None)
        return min(found, key=lambda one: (len(one.countries), -self._shape(one).area, one.id))

    def of_subdivision(self, code: str) -> Extract | None:
        """The extract of a first-level region: the one with the fewest others in it."""
        found = [one for one in self.extracts if code in one.subdivisions]
        return min(found, key=lambda one: (len(one.subdivisions), one.id), default=None)

    def of_file(self, path: str) -> Extract | None:
        """The extract in a file, by the end of its address."""
        return next((one for one in self.extracts if one.url and path.endswith(one.url[len(self.source) :])), None)

    def around(self, point: LatLon, land: "Sequence[shapely.Geometry]" = ()) -> Extract | None:
        """The smallest extract that holds a point and nearly all of some land; else that which holds most of it."""
        spot = shapely.Point(point.lon, point.lat)
        found = [one for one in self.extracts if self._shape(one).covers(spot)]
        found.sort(key=lambda one: (self._shape(one).area, one.id))
        if not land or not found:
            return next(iter(found), None)
        whole = shapely.make_valid(shapely.union_all(list(land)))
        shares = [self._shape(one).intersection(whole).area / (whole.area or 1.0) for one in found]
        enough = (one for one, share in zip(found, shares, strict=True) if share >= _COVERED)
        return next(enough, found[shares.index(max(shares))])

    def is_continent(self, extract: Extract) -> bool:
        """Return whether it is a part of no other and not of one country, by its codes or else by its land."""
        if extract.parent:
            return False
        countries = extract.countries | {code[:2] for code in extract.subdivisions}
        return len(countries) > 1 if countries else self._largest_share(extract) < _COVERED

    def _largest_share(self, extract: Extract) -> float:
        """The share of an extract's land that is of one country; 1 where it has none."""
        shape = self._shape(extract)
        if shape.is_empty:
            return 1.0
        west, south, east, north = shape.bounds
        lons, lats = np.meshgrid(np.linspace(west, east, _SAMPLES), np.linspace(south, north, _SAMPLES))
        inside = shapely.contains_xy(shape, lons, lats)
        codes = Borders.load().countries(lats[inside], lons[inside], waters=False)
        counts = np.unique(codes[codes != ""], return_counts=True)[1]
        return float(counts.max() / counts.sum()) if len(counts) else 1.0

    def _shape(self, extract: Extract) -> Any:
        """Its ground; empty where the catalogue draws none that can be read."""
        if extract.id not in self._shapes:
            drawn = shapely.from_geojson(json.dumps(extract.geometry), on_invalid="ignore")
            is_area = drawn is not None and drawn.geom_type in ("Polygon", "MultiPolygon")
            on_earth = is_area and all(abs(edge) <= _FARTHEST_DEG for edge in drawn.bounds)
            self._shapes[extract.id] = shapely.make_valid(drawn) if on_earth else shapely.Polygon()
        return self._shapes[extract.id]


async def fetch_catalogue(client: OnlineClient, source: str, *, anew: bool = False) -> Catalogue:
    """The catalogue of a source; what was fetched within a week stands, unless it is wanted ``anew``.

    Raises:
        BadInput: the user has not allowed the host.
        ServiceFault: it can't be had, or is no catalogue.
    """
    url = f"{source}/{_INDEX}"
    found = await client.ask(
        Question(url=url, keep_s=0.0 if anew else _KEEP_S, absent=(404,)), partial(read_catalogue, source=source)
    )
    if found is None:
        raise has_no(url)
    return found


def read_catalogue(body: bytes, source: str) -> Catalogue:
    """A catalogue as it was sent.

    Raises:
        ServiceFault: it is none, or lists no extract.
    """
    host = host_of(source)
    parsed = parse_json(body, host)
    features = parsed.get("features") if isinstance(parsed, dict) else None
    found: dict[str, Extract] = {}
    for feature in features[:_MOST_EXTRACTS] if isinstance(features, list) else ():
        extract = _extract(feature, source)
        if extract is not None:
            found.setdefault(extract.id, extract)
    if not found:
        raise ServiceFault(host, "its catalogue lists no extracts")
    return Catalogue(source, list(found.values()))


def _extract(feature: object, source: str) -> Extract | None:
    entry = feature.get("properties") if isinstance(feature, dict) else None
    if not isinstance(feature, dict) or not isinstance(entry, dict):
        return None
    called, name, urls = entry.get("id"), entry.get("name"), entry.get("urls")
    if not isinstance(called, str) or len(called) > _ID_CHARS or not _ID.fullmatch(called):
        return None
    url, trouble = _address(urls.get("pbf") if isinstance(urls, dict) else None, source)
    return Extract(
        id=called,
        name=clean(name, _NAME_CHARS) if isinstance(name, str) else called,
        url=url,
        trouble=trouble,
        countries=_codes(entry, "iso3166-1:alpha2"),
        subdivisions=_codes(entry, "iso3166-2"),
        geometry=feature.get("geometry"),
        parent=parent if isinstance(parent := entry.get("parent"), str) else "",
    )


def _address(url: object, source: str) -> tuple[str, str]:
    """Where an extract lies at the source that was asked, or else what is wrong with its address."""
    if not isinstance(url, str):
        return "", "names no file"
    base = next((base for base in (source, OFFICIAL) if url.startswith(f"{base}/")), None)
    if base is None:
        host = host_of(url)
        if host and host in (host_of(source), host_of(OFFICIAL)):
            return "", "gives an address without https, or of another port or folder"
        return "", f"leads to {clean(host, _NAME_CHARS) or 'no host'}, which was not asked for"
    path = url[len(base) :]
    if not _PATH.fullmatch(path):
        return "", "names a file that is no extract (.osm.pbf)"
    return source + path, ""


def _codes(entry: Mapping[str, object], key: str) -> frozenset[str]:
    """Codes are given as a list, or one alone as a text."""
    given = entry.get(key)
    listed: Iterable[object] = given if isinstance(given, list) else [given]
    return frozenset(one.upper() for one in listed if isinstance(one, str) and len(one) <= 6)


@dataclass(frozen=True, slots=True, eq=False)
class Meant:
    """The extract that a text means; ``place`` is the place in it that was understood, where it is a larger one."""

    extract: Extract
    place: str = ""


async def find_extract(catalogue: Catalogue, text: str) -> Meant:
    """The extract that a name means: a country, region, city or code, in any language that the base atlas knows.

    A point, a city, or a region without an extract of its own, means the smallest extract that covers it.

    Raises:
        BadInput: nothing goes by the name, no extract covers it, or only a continent does.
        ServiceFault: the catalogue's word on that extract can't be followed.
    """
    wanted = clean(text, _NAME_CHARS)
    if not wanted:
        raise BadInput("name a country, a region or a city, such as: geosleuth atlas get andorra")
    own = catalogue.called(wanted)
    found = await _around(catalogue, wanted) if own is None else Meant(own, _one_of_several(own, wanted))
    if found.extract.trouble:
        raise ServiceFault(catalogue.host, f"its catalogue's entry {found.extract.id} {found.extract.trouble}")
    return found


def _one_of_several(extract: Extract, wanted: str) -> str:
    """The country that was meant by a name, where its extract holds others, too; else empty."""
    code = country_code(wanted)
    return country_name(code) if code in extract.countries and len(extract.countries) > 1 else ""


async def _around(catalogue: Catalogue, wanted: str) -> Meant:
    """The extract of a place, or around one, that the catalogue does not call so."""
    point = map_point(wanted)
    if point is None:
        place = await asyncio.to_thread(map_place, wanted)
        own, land = _own_extract(catalogue, place)
        if own is not None:
            return Meant(own)
        point, words = place.point, place.address or place.name
    else:
        words, land = wanted, ()
    extract = catalogue.around(point, land)
    if extract is None:
        raise BadInput(f"{catalogue.host} has no extract that covers {words}")
    if catalogue.is_continent(extract):
        raise BadInput(
            f"the smallest extract of {catalogue.host} that covers {words} is {extract.title}, which spans many "
            f"countries; if you want all of it: geosleuth atlas get {extract.id}"
        )
    return Meant(extract, words)


def _own_extract(catalogue: Catalogue, place: Place) -> "tuple[Extract | None, Sequence[shapely.Geometry]]":
    """The extract of a country or a region, or else its land."""
    if place.kind == "country" and place.country:
        if found := catalogue.of_country(place.country):
            return found, ()
        return None, [Borders.load().country_outline(place.country, detail="full").geometry]
    if place.kind == "region" and place.country:
        code = admin1_table().get(place.id.partition(":")[2], ("", None, []))[1]
        if code and (found := catalogue.of_subdivision(code)):
            return found, ()
        return None, region_outline(place.country, code) if code else ()
    return None, ()
