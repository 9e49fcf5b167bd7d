"""What ``geosleuth atlas get`` does: a name becomes a file of a server, and that a region or a gazetteer."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from geosleuth.app.cli.atlas import GetOptions
from geosleuth.app.console import asked, building, progress, show, show_json, talk
from geosleuth.atlas import OfflineAtlas, gazetteers_dir, regions_dir
from geosleuth.atlas.base import ensure_base
from geosleuth.atlas.extracts import (
    OFFICIAL,
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
from geosleuth.atlas.gazetteers import import_geonames
from geosleuth.atlas.online import OnlineClient
from geosleuth.atlas.regions import RegionInfo, RegionStore, import_osm, region_name
from geosleuth.atlas.suggestion import remember_size
from geosleuth.errors import BadInput, GeosleuthError
from geosleuth.geo.extent import plain
from geosleuth.names import country_name, required_country_code
from geosleuth.net import host_of
from geosleuth.pipeline.plan import is_local, online_settings
from geosleuth.text.numbers import plural, size

from .atlas import importing, regions_view

_EXTRACTS: Final = ("GEOSLEUTH_EXTRACTS_URL", OFFICIAL)
_GEONAMES: Final = ("GEOSLEUTH_GEONAMES_URL", "https://download.geonames.org/export/dump")
_CATALOGUE_BYTES: Final = 32 * 1024 * 1024
# What importing takes, roughly, for each byte of the file: Monaco's 0.54 MB become 3.5 MB in 1.5 s.
_DISK_A_BYTE, _BYTES_A_SECOND = 7, 1_000_000
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A file to fetch, and what it is to become."""

    title: str
    name: str
    url: str
    folder: Path
    take: Callable[..., RegionInfo]
    countries: frozenset[str] = frozenset()

    @property
    def is_map(self) -> bool:
        return self.folder == regions_dir()

    def there(self) -> RegionInfo | None:
        """What has its name already; a damaged file is as good as none."""
        try:
            return RegionStore(self.folder).info(self.name)
        except BadInput:
            return None


class _Source:
    """A server that files are fetched from, asked only once the user has agreed."""

    def __init__(self, options: GetOptions) -> None:
        """Take the address that was given, or else the usual one."""
        variable, usual = _GEONAMES if options.geonames else _EXTRACTS
        self.url = (options.mirror or os.environ.get(variable) or usual).strip().rstrip("/")
        self.host = host_of(self.url)
        if not self.host or "?" in self.url or "#" in self.url:
            raise BadInput(f"the mirror {self.url[:80]!r} is no address; it starts with https:// and has no ? and no #")
        settings = online_settings([self.host])
        # Whoever names a server of their own network means it.
        private = frozenset({self.host}) if is_local(self.host) else frozenset()
        self.client = OnlineClient(replace(settings, private_hosts=private, max_bytes=_CATALOGUE_BYTES))

    def ask(self, question: Coroutine[Any, Any, _T]) -> _T:
        """Run a question to its end, and close what it opened."""

        async def whole() -> _T:
            async with self.client:
                return await question

        return asyncio.run(whole())


def get_maps(options: GetOptions) -> None:
    """Fetch and add what a name means, or newer data for all that was fetched."""
    if options.offline:
        raise BadInput("atlas get fetches over the network, which --offline rules out; leave one of them out")
    if options.place is None and not options.update:
        raise BadInput("name a country, a region or a city, such as: geosleuth atlas get andorra")
    if options.place is None and options.name is not None:
        raise BadInput("--name needs a place")
    if options.name is not None:
        region_name(options.name, Path())
    source = _Source(options)
    if not options.yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"this asks {source.host} for a file and downloads it; add --yes to allow it")
    if not options.geonames and options.place is not None:
        # Here and not in one of the atlas's threads, so that an interrupt stops the building at once.
        with building() as tell:
            ensure_base(tell)
    talk(f"asking {source.host}")
    wanted = _geonames_wanted(options, source) if options.geonames else source.ask(_maps_wanted(options, source))
    found = [_got(one, options, source) for one in wanted]
    if options.as_json:
        shown = [plain(one) for one in found]
        show_json(shown[0] if options.place is not None else shown)
    else:
        show(regions_view(found))


def _geonames_wanted(options: GetOptions, source: _Source) -> list[_Wanted]:
    if options.place is None:
        codes = {info.source.partition(".")[0]: info.name for info in _fetched(gazetteers_dir())}
    else:
        code = required_country_code(options.place)
        codes = {code: options.name or f"geonames-{code.lower()}"}
    return [
        _Wanted(
            f"GeoNames of {country_name(code)}", name, f"{source.url}/{code}.zip", gazetteers_dir(), import_geonames
        )
        for code, name in codes.items()
    ]


async def _maps_wanted(options: GetOptions, source: _Source) -> list[_Wanted]:
    catalogue = await fetch_catalogue(source.client, source.url, anew=options.update)

    def wanted(extract: Extract, name: str | None) -> _Wanted:
        whole = frozenset[str]() if extract.subdivisions else extract.countries
        title = extract.id if extract.name == extract.id else f"{extract.name} ({extract.id})"
        return _Wanted(title, name or extract.region, extract.url, regions_dir(), import_osm, whole)

    if options.place is not None:
        return [wanted(await find_extract(catalogue, options.place, OfflineAtlas()), options.name)]
    found = []
    for info in _fetched(regions_dir()):
        extract = catalogue.of_file(info.origin or "")
        if extract is None:
            talk(f"{info.name}: {source.host} has no such extract ({info.origin}); it stays as it is")
        else:
            found.append(wanted(extract, info.name))
    return found


def _fetched(folder: Path) -> list[RegionInfo]:
    return [info for info in RegionStore(folder).list() if info.origin]


def _got(wanted: _Wanted, options: GetOptions, source: _Source) -> RegionInfo:
    """Fetch and add one file, unless what it holds is there already."""
    there = wanted.there()
    if there is not None and not options.update:
        if there.origin is None:
            raise BadInput(
                f"a region called {there.name} was added from {there.source} before; --update replaces it, and "
                "--name NAME puts another beside it"
            )
        talk(f"{there.name} is there already, with data of {_day(there)}; --update brings newer data")
        return there
    offer = source.ask(ask_offer(source.client, wanted.url, checked=wanted.is_map))
    remember_size(wanted.countries, offer.size_bytes)
    if there is not None and _is_same(there, offer):
        talk(f"{there.name} is up to date, with data of {_day(there)}")
        return there
    path = downloads_dir() / wanted.url.rpartition("/")[2]
    needed = _DISK_A_BYTE * offer.size_bytes
    check_room({path.parent: offer.size_bytes, wanted.folder: needed})
    plan = (
        f"{wanted.title}: {size(offer.size_bytes)} from {offer.host}{f', of {offer.day}' if offer.day else ''}; needs "
        f"about {size(needed + offer.size_bytes)} on disk, {size(needed)} of it for good, and "
        f"{_duration(offer.size_bytes / _BYTES_A_SECOND)} of work after the download"
    )
    if options.yes:
        talk(plan)
    elif not asked(f"{plan}. Go on?"):
        raise BadInput("stopped; nothing was downloaded")
    with progress(f"downloading {wanted.name}", offer.size_bytes, measure="bytes") as bar:
        source.ask(download(source.client, offer, path, bar.at))
    return _added(wanted, offer, path)


def _added(wanted: _Wanted, offer: Offer, path: Path) -> RegionInfo:
    origin = {"origin": wanted.url, "origin_md5": offer.md5, "data_date": offer.day}
    take = partial(wanted.take, origin={key: value for key, value in origin.items() if value})
    try:
        wanted.folder.mkdir(parents=True, exist_ok=True)
        with importing() as tell:
            found = take(path, wanted.name, folder=wanted.folder, progress=tell)
    except OSError as error:
        dropped(path)
        raise BadInput(f"{wanted.folder}: what was fetched can't be kept there: {error.strerror or error}") from error
    except GeosleuthError:
        dropped(path)
        raise
    dropped(path)
    return found


def _is_same(there: RegionInfo, offer: Offer) -> bool:
    if offer.md5 is not None:
        return there.origin_md5 == offer.md5
    return there.origin is not None and offer.day is not None and _day(there) >= offer.day


def _day(there: RegionInfo) -> str:
    return (there.data_date or "an unknown day")[:14]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return plural(round(seconds / 60), "minute", "minutes") if seconds < 5400 else f"{seconds / 3600:.1f} hours"
