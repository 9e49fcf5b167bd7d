"""Read a catalogue of extracts (Geofabrik's ``index-v1.json``) and find the extract that a place name refers to.

A catalogue is untrusted input. From the URL of an entry only the path is used, and only if it ends in ``.osm.pbf``, so
that a download never leaves the chosen server. Entries with a malformed id are skipped. Other faults of an entry are
kept in `Extract.trouble` and reported when that extract is requested.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import shapely

from geosleuth.atlas.base.build import admin1_table
from geosleuth.atlas.borders import Borders
from geosleuth.atlas.granular import region_outline
from geosleuth.atlas.map_place import map_place, map_point
from geosleuth.atlas.online.http import OnlineClient, ServiceRequest, parse_json
from geosleuth.atlas.online.replies import clean
from geosleuth.atlas.protocol import Place
from geosleuth.geo import LatLon
from geosleuth.geo.extent import repair
from geosleuth.names import country_code, country_name, fold
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.support.net import parse_host

from .download import missing_file_fault

# The server of the catalogue and the extracts, unless the user names a mirror.
OFFICIAL: Final = "https://download.geofabrik.de"

_INDEX: Final = "index-v1.json"
_CACHE_S: Final = 7 * 86_400.0
_MAX_EXTRACTS: Final = 20_000
_ID: Final = re.compile(r"[a-z0-9]+(?:[-_/][a-z0-9]+)*")
_PATH: Final = re.compile(r"(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+\.osm\.pbf")
_SUBDIVISION: Final = re.compile(r"[A-Z]{2}-[A-Z0-9]{1,3}")
_SEPARATOR: Final = re.compile(r"[,;|/()]")
_MAX_NAME_CHARS: Final = 80
_MAX_ID_CHARS: Final = 60
_MAX_COORDINATE_DEG: Final = 360.0  # some extracts continue beyond the 180th meridian
# The share of a region's land that an extract must cover; below 1, as both draw coasts and borders differently.
_MIN_COVERED_SHARE: Final = 0.9
# Points per side of the grid that is sampled to find the countries of an extract without country codes.
_GRID_POINTS: Final = 80


@dataclass(frozen=True, slots=True, eq=False)
class Extract:
    """A part of the world that can be downloaded as one file.

    Attributes:
        id: the catalogue's id, such as "us/california".
        name: the catalogue's name for people.
        url: the file's address on the chosen server; empty if the catalogue's address can't be used.
        trouble: why ``url`` is empty.
        countries: ISO 3166-1 alpha-2 codes.
        subdivisions: ISO 3166-2 codes.
        geometry: the outline as GeoJSON, unchecked.
        parent: the id of the extract that contains this one, if any.
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
        """Name and id, for people."""
        return self.id if self.name == self.id else f"{self.name} ({self.id})"

    @property
    def region(self) -> str:
        """The name of its region in the atlas: "us-california" for "us/california"."""
        return self.id.replace("/", "-")


@dataclass(slots=True, eq=False)
class Catalogue:
    """All extracts of one server."""

    source: str
    extracts: Sequence[Extract]
    _shapes: dict[str, Any] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """The server's host name."""
        return parse_host(self.source)

    def by_name(self, text: str) -> Extract | None:
        """Return the extract with this id, else of this ISO code or country, else with this name."""
        key, code = fold(text), text.strip().upper()
        if not key:
            return None
        for extract in self.extracts:
            if key == fold(extract.id):
                return extract
        if _SUBDIVISION.fullmatch(code):
            return self.of_subdivision(code)
        country = None if _SEPARATOR.search(text) else country_code(text)
        if country is not None and (whole := self.of_country(country)):
            return whole
        namesakes = [
            extract for extract in self.extracts if key in (fold(extract.id.rpartition("/")[2]), fold(extract.name))
        ]
        return min(namesakes, key=lambda extract: (extract.id.count("/"), extract.id), default=None)

    def of_country(self, code: str) -> Extract | None:
        """Return the extract of a country; of several, the one with the fewest other countries, then the largest."""
        found = [extract for extract in self.extracts if code in extract.countries and not extract.subdivisions]
        if len(found) < 2:
            return next(iter(found), None)
        return min(found, key=lambda extract: (len(extract.countries), -self._shape(extract).area, extract.id))

    def of_subdivision(self, code: str) -> Extract | None:
        """Return the extract of a first-level region; of several, the one with the fewest other regions."""
        found = [extract for extract in self.extracts if code in extract.subdivisions]
        return min(found, key=lambda extract: (len(extract.subdivisions), extract.id), default=None)

    def of_file(self, url: str) -> Extract | None:
        """Return the extract of a file, by the path of its URL; the server may be another mirror."""
        return next(
            (extract for extract in self.extracts if extract.url and url.endswith(extract.url[len(self.source) :])),
            None,
        )

    def covering(self, point: LatLon, land: "Sequence[shapely.Geometry]" = ()) -> Extract | None:
        """Return the smallest extract that covers a point and nearly all of ``land``.

        If no extract covers enough of ``land``, return the one around the point that covers most of it.
        """
        position = shapely.Point(point.lon, point.lat)
        found = [extract for extract in self.extracts if self._shape(extract).covers(position)]
        found.sort(key=lambda extract: (self._shape(extract).area, extract.id))
        if not land or not found:
            return next(iter(found), None)
        whole = shapely.make_valid(shapely.union_all(list(land)))
        shares = [self._shape(extract).intersection(whole).area / (whole.area or 1.0) for extract in found]
        enough = (extract for extract, share in zip(found, shares, strict=True) if share >= _MIN_COVERED_SHARE)
        return next(enough, found[shares.index(max(shares))])

    def is_continent(self, extract: Extract) -> bool:
        """Return whether an extract has no parent and spans several countries, by its codes or else by its outline."""
        if extract.parent:
            return False
        countries = extract.countries | {code[:2] for code in extract.subdivisions}
        return len(countries) > 1 if countries else self._largest_country_share(extract) < _MIN_COVERED_SHARE

    def _largest_country_share(self, extract: Extract) -> float:
        """Return the largest share of an extract's land that belongs to one country; 1 if it has no land."""
        shape = self._shape(extract)
        if shape.is_empty:
            return 1.0
        west, south, east, north = shape.bounds
        lons, lats = np.meshgrid(np.linspace(west, east, _GRID_POINTS), np.linspace(south, north, _GRID_POINTS))
        inside = shapely.contains_xy(shape, lons, lats)
        codes = Borders.load().countries(lats[inside], lons[inside], waters=False)
        counts = np.unique(codes[codes != ""], return_counts=True)[1]
        return float(counts.max() / counts.sum()) if len(counts) else 1.0

    def _shape(self, extract: Extract) -> Any:
        """Return the outline of an extract; empty if the catalogue's geometry is unusable."""
        if extract.id not in self._shapes:
            parsed = shapely.from_geojson(json.dumps(extract.geometry), on_invalid="ignore")
            is_area = parsed is not None and parsed.geom_type in ("Polygon", "MultiPolygon")
            on_earth = is_area and all(abs(edge) <= _MAX_COORDINATE_DEG for edge in parsed.bounds)
            self._shapes[extract.id] = shapely.Polygon()
            with suppress(ValueError):
                self._shapes[extract.id] = repair(parsed) if on_earth else shapely.Polygon()
        return self._shapes[extract.id]


async def fetch_catalogue(client: OnlineClient, source: str, *, refresh: bool = False) -> Catalogue:
    """Return the catalogue of a server; a copy from the last week is reused unless ``refresh``.

    Raises:
        BadInput: the user has not allowed the host.
        ServiceFault: the server fails or has no valid catalogue.
    """
    url = f"{source}/{_INDEX}"
    catalogue = await client.ask(
        ServiceRequest(url=url, keep_s=0.0 if refresh else _CACHE_S, absent=(404,)),
        partial(read_catalogue, source=source),
    )
    if catalogue is None:
        raise missing_file_fault(url)
    return catalogue


def read_catalogue(body: bytes, source: str) -> Catalogue:
    """Parse a catalogue.

    Raises:
        ServiceFault: it is not JSON, or lists no extracts.
    """
    host = parse_host(source)
    parsed = parse_json(body, host)
    features = parsed.get("features") if isinstance(parsed, dict) else None
    found: dict[str, Extract] = {}
    for feature in features[:_MAX_EXTRACTS] if isinstance(features, list) else ():
        extract = _extract(feature, source)
        if extract is not None:
            found.setdefault(extract.id, extract)
    if not found:
        raise ServiceFault(host, "its catalogue lists no extracts")
    return Catalogue(source, list(found.values()))


def _extract(feature: object, source: str) -> Extract | None:
    """Return the extract of a catalogue entry; None for an entry without a valid id."""
    entry = feature.get("properties") if isinstance(feature, dict) else None
    if not isinstance(feature, dict) or not isinstance(entry, dict):
        return None
    extract_id, name, urls = entry.get("id"), entry.get("name"), entry.get("urls")
    if not isinstance(extract_id, str) or len(extract_id) > _MAX_ID_CHARS or not _ID.fullmatch(extract_id):
        return None
    url, trouble = _address(urls.get("pbf") if isinstance(urls, dict) else None, source)
    return Extract(
        id=extract_id,
        name=clean(name, _MAX_NAME_CHARS) if isinstance(name, str) else extract_id,
        url=url,
        trouble=trouble,
        countries=_codes(entry, "iso3166-1:alpha2"),
        subdivisions=_codes(entry, "iso3166-2"),
        geometry=feature.get("geometry"),
        parent=parent if isinstance(parent := entry.get("parent"), str) else "",
    )


def _address(url: object, source: str) -> tuple[str, str]:
    """Return the URL of an extract on ``source`` and an empty text, or an empty URL and what is wrong with it."""
    if not isinstance(url, str):
        return "", "names no file"
    base = next((base for base in (source, OFFICIAL) if url.startswith(f"{base}/")), None)
    if base is None:
        host = parse_host(url)
        if host and host in (parse_host(source), parse_host(OFFICIAL)):
            return "", "gives an address without https, or of another port or folder"
        if not host:
            return "", "has an address without a host"
        return "", f"leads to {clean(host, _MAX_NAME_CHARS)}, which was not asked for"
    path = url[len(base) :]
    if not _PATH.fullmatch(path):
        return "", "names a file that is no extract (.osm.pbf)"
    return source + path, ""


def _codes(entry: Mapping[str, object], key: str) -> frozenset[str]:
    """Return the ISO codes under a key, which holds a list of codes or a single one."""
    given = entry.get(key)
    listed: Iterable[object] = given if isinstance(given, list) else [given]
    return frozenset(code.upper() for code in listed if isinstance(code, str) and len(code) <= 6)


@dataclass(frozen=True, slots=True, eq=False)
class ExtractMatch:
    """The extract found for a place name; ``place`` is the place that was recognized, if the extract is larger."""

    extract: Extract
    place: str = ""


async def find_extract(catalogue: Catalogue, text: str) -> ExtractMatch:
    """Return the extract for a country, region, city, code or point; names in any language of the base atlas.

    A point, a city, or a region without its own extract gets the smallest extract that covers it.

    Raises:
        BadInput: there is no such place, no extract covers it, or only that of a continent does.
        ServiceFault: the catalogue gives no usable address for that extract.
    """
    query = clean(text, _MAX_NAME_CHARS)
    if not query:
        raise BadInput("name a country, a region or a city, such as: geosleuth atlas get andorra")
    named = catalogue.by_name(query)
    match = (
        await _match_place(catalogue, query) if named is None else ExtractMatch(named, _country_in_larger(named, query))
    )
    if match.extract.trouble:
        raise ServiceFault(catalogue.host, f"its catalogue's entry {match.extract.id} {match.extract.trouble}")
    return match


def _country_in_larger(extract: Extract, query: str) -> str:
    """Return the name of the country that was asked for if its extract also holds others; else empty."""
    code = country_code(query)
    return country_name(code) if code in extract.countries and len(extract.countries) > 1 else ""


async def _match_place(catalogue: Catalogue, query: str) -> ExtractMatch:
    """Look up a point or place name that is not in the catalogue, and return the extract that covers it."""
    point = map_point(query)
    if point is None:
        place = await asyncio.to_thread(map_place, query)
        own, land = _own_extract(catalogue, place)
        if own is not None:
            return ExtractMatch(own)
        point, title = place.point, place.address or place.name
    else:
        title, land = query, ()
    extract = catalogue.covering(point, land)
    if extract is None:
        raise BadInput(f"{catalogue.host} has no extract that covers {title}")
    if catalogue.is_continent(extract):
        raise BadInput(
            f"the smallest extract of {catalogue.host} that covers {title} is {extract.title}, which spans many "
            f"countries; if you want all of it: geosleuth atlas get {extract.id}"
        )
    return ExtractMatch(extract, title)


def _own_extract(catalogue: Catalogue, place: Place) -> "tuple[Extract | None, Sequence[shapely.Geometry]]":
    """Return the extract of a country or region, or None and the outline of its land (empty for other places)."""
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
