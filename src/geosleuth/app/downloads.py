"""Maps by name, for the command and the service: which file a name means, what it needs, its download and import."""

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
    download,
    downloads_dir,
    dropped,
    fetch_catalogue,
    find_extract,
)
from geosleuth.atlas.extracts.overture_places import DATA, STAC, PlacesOffer, fetch_places, file_name, find_places
from geosleuth.atlas.extracts.wikipedia import KIWIX
from geosleuth.atlas.gazetteers import import_geonames
from geosleuth.atlas.map_place import map_place, map_point
from geosleuth.atlas.online import OnlineClient
from geosleuth.atlas.online.access import check_consent
from geosleuth.atlas.regions import RegionInfo, RegionStore, import_osm, import_overture
from geosleuth.atlas.suggestion import remember_size
from geosleuth.errors import BadFile, BadInput, ServiceFault
from geosleuth.geo import Box, Extent
from geosleuth.names import country_name, required_country_code
from geosleuth.net import host_of
from geosleuth.pipeline.plan import is_local, online_settings
from geosleuth.text.numbers import plural, size

Kind = Literal["map", "geonames", "overture", "wikipedia"]
Imported = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is, and of how much."""

_SOURCES: Final[dict[Kind, tuple[str, str]]] = {
    "map": ("GEOSLEUTH_EXTRACTS_URL", OFFICIAL),
    "geonames": ("GEOSLEUTH_GEONAMES_URL", "https://download.geonames.org/export/dump"),
    "overture": ("GEOSLEUTH_OVERTURE_URL", STAC),
    "wikipedia": ("GEOSLEUTH_KIWIX_URL", KIWIX),
}
_CATALOGUE_BYTES: Final = 32 * 1024 * 1024
# What importing takes for each byte of the file: room for rows that are staged while the region is made, and the region
# itself (1.5 to 2.8 bytes).
_SCRATCH_A_BYTE, _REGION_A_BYTE, _BYTES_A_SECOND = 5, 3, 1_000_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to fetch, and what it is to become."""

    title: str
    name: str
    url: str
    folder: Path
    take: Callable[..., RegionInfo]
    countries: frozenset[str] = frozenset()
    place: str = ""

    @property
    def words(self) -> str:
        """What it is, for people; and which place in it was asked for, where it is larger than that."""
        return f"{self.place} lies in {self.title}" if self.place else self.title

    @property
    def is_map(self) -> bool:
        """Whether it becomes a region and not a gazetteer."""
        return self.folder == regions_dir()

    @property
    def path(self) -> Path:
        """Where it lies until it is imported."""
        return downloads_dir() / self.url.rpartition("/")[2]

    def there(self) -> RegionInfo | None:
        """What has its name already; a damaged file is as good as none."""
        try:
            return RegionStore(self.folder).info(self.name)
        except BadInput:
            return None


class Source:
    """A server that files are fetched from; nothing is asked of it before the first question."""

    def __init__(self, kind: Kind = "map", mirror: str | None = None) -> None:
        """Take the address that was given, or the one in the environment, or else the usual one.

        Raises:
            BadInput: it is no address, or one of plain http outside the own network.
        """
        self.kind = kind
        variable, usual = _SOURCES[kind]
        self.url = (mirror or os.environ.get(variable) or usual).strip().rstrip("/")
        self.host = host_of(self.url)
        if not self.host or "?" in self.url or "#" in self.url:
            raise BadInput(f"the mirror {self.url[:80]!r} is no address; it starts with https:// and has no ? and no #")
        # Overture's index lies on a server of its own; a mirror has both.
        self.data = DATA if self.url == STAC else self.url
        self.hosts = [self.host, host_of(self.data)] if kind == "overture" else [self.host]
        settings = online_settings(self.hosts)
        # Whoever names a server of their own network means it.
        private = frozenset({self.host}) if is_local(self.host) else frozenset()
        settings = replace(settings, private_hosts=private, max_bytes=_CATALOGUE_BYTES)
        for url in (self.url, self.data):
            check_consent(url, settings)
        self.client = OnlineClient(settings)


async def find_map(source: Source, place: str, name: str | None = None, *, anew: bool = False) -> Wanted:
    """Return the file that the name of a place means.

    Raises:
        BadInput: nothing goes by the name, or no extract covers it.
        ServiceFault: the catalogue can't be had, or can't be followed.
    """
    catalogue = await fetch_catalogue(source.client, source.url, anew=anew)
    meant = await find_extract(catalogue, place)
    return wanted_map(meant.extract, name, meant.place)


def wanted_map(extract: Extract, name: str | None = None, place: str = "") -> Wanted:
    """Return an extract as a file to fetch, for a place in it."""
    whole = frozenset[str]() if extract.subdivisions else extract.countries
    return Wanted(extract.title, name or extract.region, extract.url, regions_dir(), import_osm, whole, place)


def wanted_again(catalogue: Catalogue, info: RegionInfo) -> Wanted | None:
    """Return the file that a fetched region is from, as the catalogue has it now."""
    extract = catalogue.of_file(info.origin or "")
    return None if extract is None else wanted_map(extract, info.name)


def wanted_geonames(source: Source, place: str, name: str | None = None) -> Wanted:
    """Return the GeoNames file of a country.

    Raises:
        BadInput: there is no such country.
    """
    code = required_country_code(place)
    return Wanted(
        f"GeoNames of {country_name(code)}",
        name or f"geonames-{code.lower()}",
        f"{source.url}/{code}.zip",
        gazetteers_dir(),
        import_geonames,
    )


def fetched(folder: Path) -> list[RegionInfo]:
    """Return what was fetched by name and not added from a file; Overture's places are fetched by their area."""
    return [info for info in RegionStore(folder).list() if info.origin and info.kind != "overture"]


async def ask_size(source: Source, wanted: Wanted) -> Offer:
    """Return what the server says of a file, and remember its size for suggestions.

    Raises:
        ServiceFault: it has no such file, or does not say how large it is.
    """
    offer = await ask_offer(source.client, wanted.url, checked=wanted.is_map)
    remember_size(wanted.countries, offer.size_bytes)
    return offer


@dataclass(frozen=True, slots=True)
class Needs:
    """What a download takes: bytes of disk while it is imported and in the end, and seconds of work after it."""

    import_bytes: int  # the download, what is staged, and what is there in the end
    disk_bytes: int
    seconds: float

    @classmethod
    def of(cls, offer: Offer) -> "Needs":
        """Return the needs of an offer, roughly."""
        size_bytes = offer.size_bytes
        kept_bytes = _REGION_A_BYTE * size_bytes
        return cls(size_bytes + _SCRATCH_A_BYTE * size_bytes + kept_bytes, kept_bytes, size_bytes / _BYTES_A_SECOND)


def plan_words(wanted: Wanted, offer: Offer) -> str:
    """Return what is to be downloaded from where, and what it takes, in one sentence without its end."""
    needs = Needs.of(offer)
    return (
        f"{wanted.words}: {size(offer.size_bytes)} from {offer.host}{f', of {offer.day}' if offer.day else ''}; needs "
        f"about {size(needs.import_bytes)} on disk while it is imported, {size(needs.disk_bytes)} of it for good, and "
        f"{_duration(needs.seconds)} of work after the download"
    )


def check_disk(wanted: Wanted, offer: Offer) -> None:
    """Complain about a disk that has no room for it.

    Raises:
        BadInput: it has not.
    """
    in_folder = Needs.of(offer).import_bytes - offer.size_bytes
    check_room({wanted.path.parent: offer.size_bytes, wanted.folder: in_folder})


async def fetch(source: Source, wanted: Wanted, offer: Offer, progress: Callable[[int, int], None]) -> None:
    """Download a file, from where it broke off; see `download`."""
    await download(source.client, offer, wanted.path, progress)


def add(wanted: Wanted, offer: Offer, progress: Imported) -> RegionInfo:
    """Import what was downloaded, and delete the file.

    Raises:
        BadInput: it can't be kept.
        ServiceFault: it is not what it should be.
    """
    origin = {"origin": wanted.url, "origin_md5": offer.md5, "data_date": offer.day}
    take = partial(wanted.take, origin={key: value for key, value in origin.items() if value})
    try:
        with _bad_files_blamed_on(offer.host, offer.url):  # its checksum is right: it came so
            wanted.folder.mkdir(parents=True, exist_ok=True)
            return take(wanted.path, wanted.name, folder=wanted.folder, progress=progress)
    except OSError as error:
        raise BadInput(f"{wanted.folder}: what was fetched can't be kept there: {error.strerror or error}") from error
    finally:
        dropped(wanted.path)


@contextmanager
def _bad_files_blamed_on(host: str, url: str) -> Iterator[None]:
    try:
        yield
    except BadFile as error:
        sent = urlsplit(url).path[:120]
        raise ServiceFault(host, f"sent {sent}, which {error.trouble}; nothing was changed") from error


async def area_box(area: str) -> Box:
    """Return the box of an area as people write it: S,W,N,E, or LAT,LON,RADIUS_KM, or the name of a town.

    Raises:
        BadInput: it is none of these.
    """
    from geosleuth.atlas.regions.region_store import boxes_around
    from geosleuth.photo import Album
    from geosleuth.tools import Case
    from geosleuth.tools.places import find_area, ground_of

    found: Extent | None
    if any(one.isalpha() for one in area) and map_point(area) is None:
        found = ground_of(await asyncio.to_thread(map_place, area))
    else:
        found = await find_area(Case(Album(), OfflineAtlas()), area)
    if found is None:
        raise BadInput("name a town or a box, such as: geosleuth atlas get 43.72,7.40,43.76,7.45 --overture")
    if isinstance(found, Box):
        return found
    boxes = boxes_around(found.centre, 1000 * found.radius_km)
    if len(boxes) > 1:
        raise BadInput("this area crosses the 180th meridian; fetch its two sides one by one")
    return Box(*boxes[0])


async def find_overture(source: Source, area: str) -> PlacesOffer:
    """Return what Overture has within an area."""
    return await find_places(source.client, await area_box(area), stac=source.url, data=source.data)


def overture_words(name: str, offer: PlacesOffer) -> str:
    """Return what is to be downloaded of Overture, in one sentence without its end."""
    return f"Overture places for {name}: {size(offer.size_bytes)} from {offer.host}, of {offer.day}"


async def add_overture(
    source: Source, name: str, offer: PlacesOffer, progress: Callable[[int, int], None], imported: Imported
) -> RegionInfo:
    """Download places and import them as a region.

    Raises:
        BadInput: they can't be kept.
        ServiceFault: the server fails.
    """
    path = downloads_dir() / file_name(offer)
    check_room({path.parent: 2 * offer.size_bytes, regions_dir(): 2 * offer.size_bytes})
    try:
        await fetch_places(source.client, offer, path, progress)
        regions_dir().mkdir(parents=True, exist_ok=True)
        origin = {"origin": f"{source.data}/release/{offer.release}/theme=places", "data_date": offer.day}
        with _bad_files_blamed_on(offer.host, origin["origin"]):
            return import_overture(path, name, folder=regions_dir(), progress=imported, origin=origin)
    finally:
        path.unlink(missing_ok=True)


def is_of_another_file(there: RegionInfo, wanted: Wanted) -> bool:
    """Return whether a region was fetched from another file than the one wanted, not just from another server."""
    return there.origin is not None and there.origin.rpartition("/")[2] != wanted.path.name


def is_same(there: RegionInfo, offer: Offer) -> bool:
    """Return whether a region holds the very data that is offered."""
    if offer.md5 is not None:
        return there.origin_md5 == offer.md5
    return there.origin is not None and offer.day is not None and day_of(there) >= offer.day


def day_of(there: RegionInfo) -> str:
    """Return the day of a region's data, for people."""
    return there.data_date[:10] if there.data_date else "an unknown day"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return plural(round(seconds / 60), "minute", "minutes") if seconds < 5400 else f"{seconds / 3600:.1f} hours"
