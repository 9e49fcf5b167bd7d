"""What ``geosleuth atlas get`` does: a name becomes a file of a server, and that a region or a gazetteer."""

import asyncio
import re
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from geosleuth.app.cli.atlas import GetOptions
from geosleuth.app.console import asked, building, progress, show, show_json, talk
from geosleuth.app.downloads import (
    Kind,
    Source,
    Wanted,
    add,
    add_overture,
    ask_size,
    check_disk,
    day_of,
    fetch,
    fetched,
    find_map,
    find_overture,
    is_of_another_file,
    is_same,
    overture_words,
    plan_words,
    wanted_again,
    wanted_geonames,
)
from geosleuth.atlas import gazetteers_dir, regions_dir
from geosleuth.atlas.base import ensure_base
from geosleuth.atlas.extracts import ask_offer, check_room, download, downloads_dir, dropped, fetch_catalogue
from geosleuth.atlas.extracts.wikipedia import Edition, find_wikipedia, keep_zim, zim_dir
from geosleuth.atlas.map_place import map_point
from geosleuth.atlas.regions import RegionInfo, RegionStore, region_name
from geosleuth.atlas.suggestion import get_command
from geosleuth.errors import BadInput, Offline, require
from geosleuth.geo.extent import plain
from geosleuth.names import fold
from geosleuth.text.numbers import size
from geosleuth.text.safe import one_line

from .atlas import importing, regions_view

_T = TypeVar("_T")
# A latitude may begin with a minus sign, so that the parser lets options through which there are not.
_UNKNOWN_OPTION = re.compile(r"-(?!\d|\.\d)")


def get_maps(options: GetOptions) -> None:
    """Fetch and add what a name means, or newer data for all that was fetched."""
    _check(options)
    kind = _kind(options)
    if options.place is None:
        _advise_on_overture(kind)
        if not fetched(_folder(kind)):
            _none_fetched(options, kind)
            return
    source = Source(kind, options.mirror)
    hosts = " and ".join(dict.fromkeys(source.hosts))
    if not options.yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"this asks {hosts} for a file and downloads it; add --yes to allow it")
    if not options.yes and not asked(f"This asks {hosts} which files there are, and how large. Ask {hosts}?"):
        raise BadInput(f"stopped; {hosts} was not asked")
    if source.kind in ("map", "overture") and options.place is not None:
        # Here and not in one of the atlas's threads, so that an interrupt stops the building at once.
        with building() as tell:
            ensure_base(tell)
    talk(f"asking {hosts}")
    try:
        _get(options, source)
    except Offline as error:
        if source.kind != "map":
            raise
        add_file = "or add a file that you have: geosleuth atlas add FILE.osm.pbf"
        raise Offline(error.host, f"{error.trouble.rstrip('?')}; {add_file}") from error


def _check(options: GetOptions) -> None:
    """Complain about what this machine can tell is wrong, before anybody is asked."""
    kind = _kind(options)
    if options.offline:
        raise BadInput("atlas get fetches over the network, which --offline rules out; leave one of them out")
    _check_place(options, kind)
    _check_name(options, kind)
    if kind == "wikipedia":
        _edition(options)
        require("libzim.reader", extra="zim")
    elif options.edition is not None:
        raise BadInput("--edition belongs to --wikipedia")
    if kind == "overture":
        require("pyarrow.parquet", extra="overture")


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
    if options.update and options.name not in RegionStore(_folder(kind)).names():
        raise BadInput(f"there is no region {options.name} to update; leave out --update to add it")


def _folder(kind: Kind) -> Path:
    return gazetteers_dir() if kind == "geonames" else regions_dir()


def _edition(options: GetOptions) -> Edition:
    edition: Edition | None = next((one for one in get_args(Edition) if one == (options.edition or "mini")), None)
    if edition is None:
        raise BadInput(f"--edition {options.edition!r:.22}: there are {', '.join(get_args(Edition))}")
    return edition


def _advise_on_overture(kind: Kind) -> None:
    """Say how places of Overture are updated: the box or town that was asked for is not kept with them."""
    for info in RegionStore(_folder(kind)).list():
        if info.kind == "overture" and info.origin:
            command = f"geosleuth atlas get BOX --overture --update --name {info.name}"
            talk(f"{info.name} has places of Overture and stays as it is; to update it: {command}")


def _none_fetched(options: GetOptions, kind: Kind) -> None:
    """Say that there is nothing to bring newer data for."""
    infos = RegionStore(_folder(kind)).list()
    added = [f"{info.name} was added from {info.source}" for info in infos if not info.origin]
    advice = [] if infos else [f"fetch a map with: {get_command(None)}"]
    talk("; ".join(["no map to update", *added, *advice]))
    if options.as_json:
        show_json([])


def _get(options: GetOptions, source: Source) -> None:
    if options.wikipedia and options.place is not None:
        _wikipedia(options, options.place, source)
        return
    if options.overture and options.place is not None:
        _show([_places(options, options.place, source)], options)
        return
    wanted = _wanted(options, source)
    _show([_got(one, options, source) for one in wanted], options, [one.place or one.title for one in wanted])


def _show(found: list[RegionInfo], options: GetOptions, understood: Sequence[str] = ()) -> None:
    """Show what is there now; in JSON also what a name was understood as."""
    if not options.as_json:
        show(regions_view(found))
    elif options.place is None:
        show_json([plain(one) for one in found])
    else:
        show_json(plain(found[0]) | ({"understood_as": understood[0]} if understood else {}))


def _kind(options: GetOptions) -> Kind:
    """Return what is wanted: one thing at a time, and all but maps and GeoNames by name only."""
    chosen: dict[Kind, bool] = {
        "geonames": options.geonames, "overture": options.overture, "wikipedia": options.wikipedia,
    }  # fmt: skip
    kinds = [kind for kind, wanted in chosen.items() if wanted]
    if len(kinds) > 1:
        raise BadInput(f"one thing at a time: leave out {' or '.join(f'--{kind}' for kind in kinds)}")
    kind: Kind = kinds[0] if kinds else "map"
    if kind in ("overture", "wikipedia") and options.place is None:
        raise BadInput(f"--{kind} needs a {'place or a box' if kind == 'overture' else 'language'}")
    return kind


def _wikipedia(options: GetOptions, language: str, source: Source) -> None:
    """Fetch the Wikipedia of a language for ``atlas documents``."""
    edition = _edition(options)
    found = _asked(source, find_wikipedia(source.client, source.url, language, edition))
    kept, path = zim_dir() / found.file, downloads_dir() / found.file
    if kept.is_file():
        talk(f"{found.file} is there already")
    else:
        offer = _asked(source, ask_offer(source.client, found.url, checked=False))
        check_room({path.parent: offer.size_bytes})
        _agree(options, f"Wikipedia {found.language} ({edition}): {size(offer.size_bytes)} from {offer.host}")
        with progress(f"downloading {found.file}", offer.size_bytes, measure="bytes") as bar:
            _asked(source, download(source.client, offer, path, bar.at))
        try:
            kept = keep_zim(path, found)
        finally:
            dropped(path)
    if options.as_json:
        show_json({"file": str(kept), "language": found.language, "edition": edition, "month": found.month})
    else:
        show(f"{kept}; atlas documents searches it from now on")


def _agree(options: GetOptions, plan: str) -> None:
    """Say what is to be downloaded, and ask unless the person has agreed before."""
    if options.yes:
        talk(plan)
    elif not asked(f"{plan}. Go on?"):
        raise BadInput("stopped; nothing was downloaded")


def _asked(source: Source, question: Coroutine[Any, Any, _T]) -> _T:
    """Run a question to its end, and close what it opened."""

    async def whole() -> _T:
        async with source.client:
            return await question

    return asyncio.run(whole())


def _wanted(options: GetOptions, source: Source) -> list[Wanted]:
    if options.geonames and options.place is None:
        known = {info.source.partition(".")[0]: info.name for info in fetched(gazetteers_dir())}
        return [wanted_geonames(source, code, name) for code, name in known.items()]
    if options.place is None:
        return _asked(source, _all_again(source))
    if options.geonames:
        return [wanted_geonames(source, options.place, options.name)]
    return [_asked(source, find_map(source, options.place, options.name, anew=options.update))]


async def _all_again(source: Source) -> list[Wanted]:
    catalogue = await fetch_catalogue(source.client, source.url, anew=True)
    found = []
    for info in fetched(regions_dir()):
        wanted = wanted_again(catalogue, info)
        if wanted is None:
            talk(f"{info.name}: {source.host} has no such extract ({info.origin}); it stays as it is")
        else:
            found.append(wanted)
    return found


def _places(options: GetOptions, area: str, source: Source) -> RegionInfo:
    """Fetch and add the places that Overture has within an area."""
    name = options.name or f"overture-{'-'.join(re.findall(r'[a-z0-9]+', fold(area)))}"[:60]
    offer = _asked(source, find_overture(source, area))
    there = next((info for info in RegionStore(regions_dir()).list() if info.name == name), None)
    if there is not None and not options.update:
        raise BadInput(f"a region called {name} is there already; --update replaces it, --name NAME puts it beside")
    _agree(options, overture_words(name, offer))
    with progress(f"downloading {name}", offer.size_bytes, measure="bytes") as bar, importing() as tell:
        return _asked(source, add_overture(source, name, offer, bar.at, tell))


def _got(wanted: Wanted, options: GetOptions, source: Source) -> RegionInfo:
    """Fetch and add one file, unless what it holds is there already."""
    there = wanted.there()
    if there is not None and not options.update:
        if there.origin is None:
            raise BadInput(
                f"a region called {there.name} was added from {there.source} before; --update replaces it, and "
                "--name NAME puts another beside it"
            )
        talk(f"{there.name} is there already, with data of {day_of(there)}; --update brings newer data")
        return there
    if there is not None and is_of_another_file(there, wanted):
        raise BadInput(f"the region {there.name} is from {there.origin}; choose another --name for {wanted.title}")
    offer = _asked(source, ask_size(source, wanted))
    if there is not None and is_same(there, offer):
        talk(f"{there.name} is up to date, with data of {day_of(there)}")
        return there
    check_disk(wanted, offer)
    _agree(options, plan_words(wanted, offer))
    with progress(f"downloading {wanted.name}", offer.size_bytes, measure="bytes") as bar:
        _asked(source, fetch(source, wanted, offer, bar.at))
    with importing() as tell:
        return add(wanted, offer, tell)
