"""Run ``geosleuth atlas get``: find a file by place name, ask for consent, download it and add it to the atlas."""

import asyncio
import re
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from geosleuth.atlas import gazetteers_dir, regions_dir
from geosleuth.atlas.base import base_path
from geosleuth.atlas.extracts import ask_offer, check_room, delete_download, download, downloads_dir, fetch_catalogue
from geosleuth.atlas.extracts.wikipedia import Edition, find_wikipedia, keep_zim, zim_dir
from geosleuth.atlas.map_place import map_place, map_point
from geosleuth.atlas.regions import RegionInfo, RegionStore, region_name
from geosleuth.atlas.suggestion import get_command
from geosleuth.cli.atlas import GetOptions
from geosleuth.cli.preparation import agree, offline_atlas
from geosleuth.geo.extent import plain
from geosleuth.names import country_code, fold
from geosleuth.server.downloads import (
    DownloadServer,
    DownloadTarget,
    Kind,
    add,
    add_overture,
    ask_size,
    check_disk,
    describe_overture,
    describe_plan,
    fetch,
    find_map,
    find_overture,
    format_data_date,
    geonames_target,
    is_of_another_file,
    is_same,
    list_downloaded,
    update_target,
)
from geosleuth.support.console import progress, show, show_json, talk
from geosleuth.support.errors import BadInput, Offline, require
from geosleuth.support.text.numbers import size
from geosleuth.support.text.safe import one_line

from .atlas import importing, regions_view

_T = TypeVar("_T")
# Since a latitude may begin with a minus sign, the parser passes unknown options on as places.
_SUBDIVISION = re.compile(r"[A-Za-z]{2}-[A-Za-z0-9]{1,3}")
_NOTHING = "nothing was downloaded"
_UNKNOWN_OPTION = re.compile(r"-(?!\d|\.\d)")


def get_maps(options: GetOptions) -> None:
    """Download and add the data of a place; without a place, update all that was downloaded before."""
    _check_options(options)
    kind = _resolve_kind(options)
    if options.place is None:
        _advise_on_overture(kind)
        if not list_downloaded(_get_data_folder(kind)):
            _report_nothing_to_update(options, kind)
            return
    source = DownloadServer(kind, options.mirror)
    hosts = " and ".join(dict.fromkeys(source.hosts))
    doubt = _doubt_of_name(options, kind)
    told = f"{doubt}this asks {hosts} for a file and downloads it"
    agree(told, yes=options.yes, question=f"Ask {hosts}?", stopped=f"{hosts} was not asked")
    offline_atlas(needed=source.kind in ("map", "overture") and options.place is not None)
    try:
        _get(options, source)
    except Offline as error:
        if source.kind != "map":
            raise
        add_file = "or add a file that you have: geosleuth atlas add FILE.osm.pbf"
        raise Offline(error.host, f"{error.trouble.rstrip('?')}; {add_file}") from error


def _doubt_of_name(options: GetOptions, kind: Kind) -> str:
    """Return that no place of the base atlas is called so, before anybody is asked; else empty.

    The server may know more names: those of its extracts, such as us/california or dach.
    """
    place = options.place
    if kind != "map" or place is None or "/" in place or map_point(place) is not None or not base_path().is_file():
        return ""
    try:
        if country_code(place) is None and not _SUBDIVISION.fullmatch(place.strip()):
            map_place(place)
    except BadInput as error:
        return f"{error} (unless {place.strip()[:40]} is one of the server's own names); "
    return ""


def _check_options(options: GetOptions) -> None:
    kind = _resolve_kind(options)
    if options.offline:
        raise BadInput("atlas get fetches over the network, which --offline rules out; leave one of them out")
    _check_place(options, kind)
    _check_name(options, kind)
    if kind == "wikipedia":
        _edition(options)
        require("libzim.reader", extra="atlas")
    elif options.edition is not None:
        raise BadInput("--edition belongs to --wikipedia")
    if kind == "overture":
        require("pyarrow.parquet", extra="atlas")


def _check_place(options: GetOptions, kind: Kind) -> None:
    if options.place is None and options.update:
        return
    if options.place is None or not one_line(options.place).strip():
        raise BadInput("name a country, a region or a city, such as: geosleuth atlas get andorra")
    if _UNKNOWN_OPTION.match(options.place):
        raise BadInput(f"no such option: {options.place[:40]}")
    if kind == "map":
        map_point(options.place)


def _check_name(options: GetOptions, kind: Kind) -> None:
    if options.name is None:
        return
    if options.place is None:
        raise BadInput("--name needs a place")
    if kind == "wikipedia":
        raise BadInput("--name does not apply to --wikipedia, whose files keep their names")
    region_name(options.name, Path())
    if options.update and options.name not in RegionStore(_get_data_folder(kind)).names():
        raise BadInput(f"there is no region {options.name} to update; leave out --update to add it")


def _get_data_folder(kind: Kind) -> Path:
    return gazetteers_dir() if kind == "geonames" else regions_dir()


def _edition(options: GetOptions) -> Edition:
    edition: Edition | None = next((known for known in get_args(Edition) if known == (options.edition or "mini")), None)
    if edition is None:
        raise BadInput(f"unknown --edition {options.edition!r:.22}; choose one of {', '.join(get_args(Edition))}")
    return edition


def _advise_on_overture(kind: Kind) -> None:
    """Print how to update Overture's places: the area they were downloaded for is not kept with them."""
    for info in RegionStore(_get_data_folder(kind)).list():
        if info.kind == "overture" and info.origin:
            command = f"geosleuth atlas get BOX --overture --update --name {info.name}"
            talk(f"{info.name} has places of Overture and stays as it is; to update it: {command}")


def _report_nothing_to_update(options: GetOptions, kind: Kind) -> None:
    infos = RegionStore(_get_data_folder(kind)).list()
    added = [f"{info.name} was added from {info.source}" for info in infos if not info.origin]
    advice = [] if infos else [f"fetch a map with: {get_command(None)}"]
    talk("; ".join(["no map to update", *added, *advice]))
    if options.as_json:
        show_json([])


def _get(options: GetOptions, source: DownloadServer) -> None:
    if options.wikipedia and options.place is not None:
        _wikipedia(options, options.place, source)
        return
    if options.overture and options.place is not None:
        _show([_get_overture(options, options.place, source)], options)
        return
    targets = _targets(options, source)
    regions = [_get_target(target, options, source) for target in targets]
    _show(regions, options, [target.place or target.title for target in targets])


def _show(regions: list[RegionInfo], options: GetOptions, places: Sequence[str] = ()) -> None:
    """Print regions or gazetteers; JSON of a single one also names the place that was recognized."""
    if not options.as_json:
        show(regions_view(regions))
    elif options.place is None:
        show_json([plain(region) for region in regions])
    else:
        show_json(plain(regions[0]) | ({"understood_as": places[0]} if places else {}))


def _resolve_kind(options: GetOptions) -> Kind:
    chosen: dict[Kind, bool] = {
        "geonames": options.geonames, "overture": options.overture, "wikipedia": options.wikipedia,
    }  # fmt: skip
    kinds = [kind for kind, is_chosen in chosen.items() if is_chosen]
    if len(kinds) > 1:
        raise BadInput(f"one thing at a time: leave out {' or '.join(f'--{kind}' for kind in kinds)}")
    kind: Kind = kinds[0] if kinds else "map"
    if kind in ("overture", "wikipedia") and options.place is None:
        raise BadInput(f"--{kind} needs a {'place or a box' if kind == 'overture' else 'language'}")
    return kind


def _wikipedia(options: GetOptions, language: str, source: DownloadServer) -> None:
    edition = _edition(options)
    found = _run_requests(source, find_wikipedia(source.client, source.url, language, edition))
    kept, path = zim_dir() / found.file, downloads_dir() / found.file
    if kept.is_file():
        talk(f"{found.file} is there already")
    else:
        offer = _run_requests(source, ask_offer(source.client, found.url, checked=False))
        check_room({path.parent: offer.size_bytes})
        plan = f"Wikipedia {found.language} ({edition}): {size(offer.size_bytes)} from {offer.host}"
        agree(plan, yes=options.yes, stopped=_NOTHING)
        with progress(f"downloading {found.file}", offer.size_bytes, measure="bytes") as bar:
            _run_requests(source, download(source.client, offer, path, bar.update))
        try:
            kept = keep_zim(path, found)
        finally:
            delete_download(path)
    if options.as_json:
        show_json({"file": str(kept), "language": found.language, "edition": edition, "month": found.month})
    else:
        show(f"{kept}; atlas documents searches it from now on")


def _run_requests(source: DownloadServer, requests: Coroutine[Any, Any, _T]) -> _T:
    async def run_and_close() -> _T:
        async with source.client:
            return await requests

    return asyncio.run(run_and_close())


def _targets(options: GetOptions, source: DownloadServer) -> list[DownloadTarget]:
    """Return the files to download: that of a place, or those of all earlier downloads."""
    if options.geonames and options.place is None:
        names = {info.source.partition(".")[0]: info.name for info in list_downloaded(gazetteers_dir())}
        return [geonames_target(source, code, name) for code, name in names.items()]
    if options.place is None:
        return _run_requests(source, _update_targets(source))
    if options.geonames:
        return [geonames_target(source, options.place, options.name)]
    return [_run_requests(source, find_map(source, options.place, options.name, refresh=options.update))]


async def _update_targets(source: DownloadServer) -> list[DownloadTarget]:
    catalogue = await fetch_catalogue(source.client, source.url, refresh=True)
    targets = []
    for info in list_downloaded(regions_dir()):
        target = update_target(catalogue, info)
        if target is None:
            talk(f"{info.name}: {source.host} has no such extract ({info.origin}); it stays as it is")
        else:
            targets.append(target)
    return targets


def _get_overture(options: GetOptions, area: str, source: DownloadServer) -> RegionInfo:
    name = options.name or f"overture-{'-'.join(re.findall(r'[a-z0-9]+', fold(area)))}"[:60]
    offer = _run_requests(source, find_overture(source, area))
    exists = any(info.name == name for info in RegionStore(regions_dir()).list())
    if exists and not options.update:
        raise BadInput(f"a region called {name} is there already; --update replaces it, --name NAME adds another")
    agree(describe_overture(name, offer), yes=options.yes, stopped=_NOTHING)
    with progress(f"downloading {name}", offer.size_bytes, measure="bytes") as bar, importing() as report:
        return _run_requests(source, add_overture(source, name, offer, bar.update, report))


def _get_target(target: DownloadTarget, options: GetOptions, source: DownloadServer) -> RegionInfo:
    existing = target.existing()
    if existing is not None and not options.update:
        if existing.origin is None:
            raise BadInput(
                f"a region called {existing.name} was added from {existing.source} before; --update replaces it, and "
                "--name NAME adds another"
            )
        talk(
            f"{existing.name} is there already, with data of {format_data_date(existing)}; "
            "--update downloads newer data"
        )
        return existing
    if existing is not None and is_of_another_file(existing, target):
        raise BadInput(
            f"the region {existing.name} is from {existing.origin}; choose another --name for {target.title}"
        )
    offer = _run_requests(source, ask_size(source, target))
    if existing is not None and is_same(existing, offer):
        talk(f"{existing.name} is up to date, with data of {format_data_date(existing)}")
        return existing
    check_disk(target, offer)
    agree(describe_plan(target, offer), yes=options.yes, stopped=_NOTHING)
    with progress(f"downloading {target.name}", offer.size_bytes, measure="bytes") as bar:
        _run_requests(source, fetch(source, target, offer, bar.update))
    with importing() as report:
        return add(target, offer, report)
