"""Download data for the atlas by place name and import it; used by ``atlas get`` and by the service.

Both take the same steps: ``find_map`` turns a name into a `DownloadTarget`, ``ask_size`` asks the server what the file
takes, ``fetch`` downloads it and ``add`` imports it.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from geosleuth.atlas import OfflineAtlas, gazetteers_dir, regions_dir
from geosleuth.atlas.extracts import (
    OFFICIAL,
    Catalogue,
    Extract,
    Offer,
    ask_offer,
    check_room,
    delete_download,
    download,
    downloads_dir,
    fetch_catalogue,
    find_extract,
)
from geosleuth.atlas.extracts.overture_places import DATA, STAC, PlacesOffer, fetch_places, file_name, find_places
from geosleuth.atlas.extracts.wikipedia import KIWIX
from geosleuth.atlas.gazetteers import import_geonames
from geosleuth.atlas.map_place import map_place, map_point
from geosleuth.atlas.online import OnlineClient
from geosleuth.atlas.online.access import check_consent, check_written_address
from geosleuth.atlas.regions import RegionInfo, RegionStore, import_osm, import_overture
from geosleuth.atlas.suggestion import import_seconds, remember_size
from geosleuth.geo import Box, Extent
from geosleuth.names import country_name, require_country_code
from geosleuth.pipeline.searches import is_local, online_settings
from geosleuth.support.errors import BadFile, BadInput, ServiceFault
from geosleuth.support.net import parse_host
from geosleuth.support.text.numbers import duration, size

Kind = Literal["map", "geonames", "overture", "wikipedia"]
ImportProgress = Callable[[str, int, int], None]
"""Called with the name of the current step, how much of it is done, and its total."""

_SOURCES: Final[dict[Kind, tuple[str, str]]] = {
    "map": ("GEOSLEUTH_EXTRACTS_URL", OFFICIAL),
    "geonames": ("GEOSLEUTH_GEONAMES_URL", "https://download.geonames.org/export/dump"),
    "overture": ("GEOSLEUTH_OVERTURE_URL", STAC),
    "wikipedia": ("GEOSLEUTH_KIWIX_URL", KIWIX),
}
_CATALOGUE_BYTES: Final = 32 * 1024 * 1024
# Disk space that an import takes per byte of the file: staged rows, and the finished region (1.5 to 2.8 bytes).
_STAGED_PER_BYTE, _REGION_PER_BYTE = 5, 3


@dataclass(frozen=True, slots=True)
class DownloadTarget:
    """A file to download, and the region or gazetteer to import it as.

    Attributes:
        title: what it is, for people.
        name: the name of the region or gazetteer.
        url: the address of the file.
        folder: where the region or gazetteer is kept.
        importer: imports the downloaded file.
        countries: codes of the countries that the file covers as a whole.
        place: the place that was asked for, if the file covers more than that.
    """

    title: str
    name: str
    url: str
    folder: Path
    importer: Callable[..., RegionInfo]
    countries: frozenset[str] = frozenset()
    place: str = ""

    @property
    def description(self) -> str:
        """Its title, and the place that was asked for if the file covers more."""
        return f"{self.place} lies in {self.title}" if self.place else self.title

    @property
    def is_map(self) -> bool:
        """Return whether the file is imported as a region rather than a gazetteer."""
        return self.folder == regions_dir()

    @property
    def path(self) -> Path:
        """The path of the download until it is imported."""
        return downloads_dir() / self.url.rpartition("/")[2]

    def existing(self) -> RegionInfo | None:
        """Return the region or gazetteer that has this name already; None also if its file is damaged."""
        try:
            return RegionStore(self.folder).info(self.name)
        except BadInput:
            return None


class DownloadServer:
    """A server to download from. It is not contacted before the first request."""

    def __init__(self, kind: Kind = "map", mirror: str | None = None) -> None:
        """Use the given mirror, or the one in the environment, or else the default server.

        Raises:
            BadInput: the address is malformed, or plain http outside the private network.
        """
        self.kind = kind
        variable, default = _SOURCES[kind]
        if mirror is not None and not mirror.strip():  # such as an unset variable of a script
            raise BadInput("the mirror is empty; give its address, or leave the option out for the usual server")
        self.url = (mirror or os.environ.get(variable) or default).strip().rstrip("/")
        self.host = parse_host(self.url)
        if not self.host or "?" in self.url or "#" in self.url:
            raise BadInput(
                f"the mirror {self.url[:80]!r} is not a server address; it starts with https:// (in your own network "
                "also http://) and has no ? or #"
            )
        # Overture keeps its index and its data on two servers; a mirror holds both.
        self.data = DATA if self.url == STAC else self.url
        self.hosts = [self.host, parse_host(self.data)] if kind == "overture" else [self.host]
        settings = online_settings(self.hosts)
        # A mirror in the user's own network needs no further consent.
        private = frozenset({self.host}) if is_local(self.host) else frozenset()
        settings = replace(settings, private_hosts=private, max_bytes=_CATALOGUE_BYTES)
        for url in (self.url, self.data):
            check_written_address(check_consent(url, settings), settings)
        self.client = OnlineClient(settings)


async def find_map(
    source: DownloadServer, place: str, name: str | None = None, *, refresh: bool = False
) -> DownloadTarget:
    """Return the extract to download for a place.

    Args:
        source: the server.
        place: a country, region, city, code or point.
        name: the name of the region; by default the extract's own.
        refresh: whether to download the catalogue even if a recent copy is cached.

    Raises:
        BadInput: there is no such place, or no extract covers it.
        ServiceFault: the server fails, or its catalogue is invalid.
    """
    catalogue = await fetch_catalogue(source.client, source.url, refresh=refresh)
    match = await find_extract(catalogue, place)
    return map_target(match.extract, name, match.place)


def map_target(extract: Extract, name: str | None = None, place: str = "") -> DownloadTarget:
    """Return the download of an extract; ``place`` is the place that was asked for, if the extract covers more."""
    countries = frozenset[str]() if extract.subdivisions else extract.countries
    return DownloadTarget(
        extract.title, name or extract.region, extract.url, regions_dir(), import_osm, countries, place
    )


def update_target(catalogue: Catalogue, info: RegionInfo) -> DownloadTarget | None:
    """Return the current file of the extract that a region was imported from; None if the catalogue lacks it."""
    extract = catalogue.of_file(info.origin or "")
    return None if extract is None else map_target(extract, info.name)


def geonames_target(source: DownloadServer, place: str, name: str | None = None) -> DownloadTarget:
    """Return the download of a country's GeoNames file.

    Raises:
        BadInput: there is no such country.
    """
    code = require_country_code(place)
    return DownloadTarget(
        f"GeoNames of {country_name(code)}",
        name or f"geonames-{code.lower()}",
        f"{source.url}/{code}.zip",
        gazetteers_dir(),
        import_geonames,
    )


def list_downloaded(folder: Path) -> list[RegionInfo]:
    """Return the regions or gazetteers of a folder that ``atlas get`` downloaded by name.

    Overture's places are left out: they were downloaded by area, which is not kept with them.
    """
    return [info for info in RegionStore(folder).list() if info.origin and info.kind != "overture"]


async def ask_size(source: DownloadServer, target: DownloadTarget) -> Offer:
    """Return a file's size, date and checksum, and remember the size for `geosleuth.atlas.suggestion`.

    Raises:
        ServiceFault: the server has no such file, or does not report its size.
    """
    offer = await ask_offer(source.client, target.url, checked=target.is_map)
    remember_size({*target.countries, *([target.place] if target.place else [])}, offer.size_bytes)
    return offer


@dataclass(frozen=True, slots=True)
class Needs:
    """The rough disk space and time that an import takes."""

    import_bytes: int  # during the import: the download, staged rows and the region
    disk_bytes: int  # after it: the region
    seconds: float  # of work after the download

    @classmethod
    def from_offer(cls, offer: Offer) -> "Needs":
        """Estimate the needs from the size of a download."""
        size_bytes = offer.size_bytes
        region_bytes = _REGION_PER_BYTE * size_bytes
        import_bytes = size_bytes + _STAGED_PER_BYTE * size_bytes + region_bytes
        return cls(import_bytes, region_bytes, import_seconds(size_bytes))


def describe_plan(target: DownloadTarget, offer: Offer) -> str:
    """Return a sentence, without its full stop, on the file, its server and what the download takes."""
    needs = Needs.from_offer(offer)
    of_day = f", of {offer.day}" if offer.day else ""
    return (
        f"{target.description}: {size(offer.size_bytes)} from {offer.host}{of_day}; needs "
        f"about {size(needs.import_bytes)} on disk while it is imported, {size(needs.disk_bytes)} permanently, and "
        f"{duration(needs.seconds)} to import after the download"
    )


def check_disk(target: DownloadTarget, offer: Offer) -> None:
    """Check that there is disk space for the download and the import.

    Raises:
        BadInput: there is not enough.
    """
    in_folder_bytes = Needs.from_offer(offer).import_bytes - offer.size_bytes
    check_room({target.path.parent: offer.size_bytes, target.folder: in_folder_bytes})


async def fetch(
    source: DownloadServer, target: DownloadTarget, offer: Offer, progress: Callable[[int, int], None]
) -> None:
    """Download a file, resuming an earlier attempt; see `download`."""
    await download(source.client, offer, target.path, progress)


def add(target: DownloadTarget, offer: Offer, progress: ImportProgress) -> RegionInfo:
    """Import a downloaded file, and delete the download.

    Raises:
        BadInput: the region can't be written.
        ServiceFault: the server sent a file that is damaged or of the wrong kind.
    """
    origin = {"origin": target.url, "origin_md5": offer.md5, "data_date": offer.day}
    import_file = partial(target.importer, origin={key: value for key, value in origin.items() if value})
    try:
        with _bad_file_as_fault(offer.host, offer.url):
            target.folder.mkdir(parents=True, exist_ok=True)
            return import_file(target.path, target.name, folder=target.folder, progress=progress)
    except OSError as error:
        raise BadInput(f"{target.folder}: what was fetched can't be kept there: {error.strerror or error}") from error
    finally:
        delete_download(target.path)


@contextmanager
def _bad_file_as_fault(host: str, url: str) -> Iterator[None]:
    """Blame a file that can't be imported on its server: the download itself was verified."""
    try:
        yield
    except BadFile as error:
        sent = urlsplit(url).path[:120]
        raise ServiceFault(host, f"sent {sent}, which {error.trouble}; nothing was changed") from error


async def area_box(area: str) -> Box:
    """Return the box of an area given as S,W,N,E, as LAT,LON,RADIUS_KM, or as the name of a town.

    Raises:
        BadInput: the text is none of these, or the area crosses the 180th meridian.
    """
    from geosleuth.atlas.place_extent import get_extent
    from geosleuth.atlas.regions.region_store import boxes_around
    from geosleuth.photo import Album
    from geosleuth.tools import Case
    from geosleuth.tools.places import around, find_area

    found: Extent | None
    if any(character.isalpha() for character in area) and map_point(area) is None:
        place = await asyncio.to_thread(map_place, area)
        found = get_extent(place) or around(place.point)
    else:
        found = await find_area(Case(Album(), OfflineAtlas()), area)
    if found is None:
        raise BadInput("name a town or a box, such as: geosleuth atlas get 43.72,7.40,43.76,7.45 --overture")
    if isinstance(found, Box):
        return found
    boxes = boxes_around(found.centre, 1000 * found.radius_km)
    if len(boxes) > 1:
        raise BadInput("this area crosses the 180th meridian; download its two sides separately")
    return Box(*boxes[0])


async def find_overture(source: DownloadServer, area: str) -> PlacesOffer:
    """Find Overture's places within an area; see `area_box` and `find_places`."""
    return await find_places(source.client, await area_box(area), stac=source.url, data=source.data)


def describe_overture(name: str, offer: PlacesOffer) -> str:
    """Return a sentence, without its full stop, on the places to download."""
    return f"Overture places for {name}: {size(offer.size_bytes)} from {offer.host}, of {offer.day}"


async def add_overture(
    source: DownloadServer,
    name: str,
    offer: PlacesOffer,
    progress: Callable[[int, int], None],
    imported: ImportProgress,
) -> RegionInfo:
    """Download Overture's places and import them as a region.

    Raises:
        BadInput: they can't be written.
        ServiceFault: the server fails.
    """
    path = downloads_dir() / file_name(offer)
    check_room({path.parent: 2 * offer.size_bytes, regions_dir(): 2 * offer.size_bytes})
    try:
        await fetch_places(source.client, offer, path, progress)
        regions_dir().mkdir(parents=True, exist_ok=True)
        origin = {"origin": f"{source.data}/release/{offer.release}/theme=places", "data_date": offer.day}
        with _bad_file_as_fault(offer.host, origin["origin"]):
            return import_overture(path, name, folder=regions_dir(), progress=imported, origin=origin)
    finally:
        path.unlink(missing_ok=True)


def is_of_another_file(existing: RegionInfo, target: DownloadTarget) -> bool:
    """Return whether a region was imported from a file of another name; the server does not matter."""
    return existing.origin is not None and existing.origin.rpartition("/")[2] != target.path.name


def is_same(existing: RegionInfo, offer: Offer) -> bool:
    """Return whether a region holds the data that is offered: by checksum, or else by date."""
    if offer.md5 is not None:
        return existing.origin_md5 == offer.md5
    return existing.origin is not None and offer.day is not None and format_data_date(existing) >= offer.day


def format_data_date(info: RegionInfo) -> str:
    """Return the date of a region's data, for people."""
    return info.data_date[:10] if info.data_date else "an unknown day"
