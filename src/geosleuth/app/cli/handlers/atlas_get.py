"""What ``geosleuth atlas get`` does: a name becomes a file of a server, and that a region or a gazetteer."""

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from geosleuth.app.cli.atlas import GetOptions
from geosleuth.app.console import asked, building, progress, show, show_json, talk
from geosleuth.app.downloads import (
    Source,
    Wanted,
    add,
    ask_size,
    check_disk,
    day_of,
    fetch,
    fetched,
    find_map,
    is_same,
    plan_words,
    wanted_again,
    wanted_geonames,
)
from geosleuth.atlas import gazetteers_dir, regions_dir
from geosleuth.atlas.base import ensure_base
from geosleuth.atlas.extracts import fetch_catalogue
from geosleuth.atlas.regions import RegionInfo, region_name
from geosleuth.errors import BadInput
from geosleuth.geo.extent import plain

from .atlas import importing, regions_view

_T = TypeVar("_T")


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
    source = Source("geonames" if options.geonames else "map", options.mirror)
    if not options.yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"this asks {source.host} for a file and downloads it; add --yes to allow it")
    if not options.geonames and options.place is not None:
        # Here and not in one of the atlas's threads, so that an interrupt stops the building at once.
        with building() as tell:
            ensure_base(tell)
    talk(f"asking {source.host}")
    found = [_got(one, options, source) for one in _wanted(options, source)]
    if options.as_json:
        shown = [plain(one) for one in found]
        show_json(shown[0] if options.place is not None else shown)
    else:
        show(regions_view(found))


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
    offer = _asked(source, ask_size(source, wanted))
    if there is not None and is_same(there, offer):
        talk(f"{there.name} is up to date, with data of {day_of(there)}")
        return there
    check_disk(wanted, offer)
    plan = plan_words(wanted, offer)
    if options.yes:
        talk(plan)
    elif not asked(f"{plan}. Go on?"):
        raise BadInput("stopped; nothing was downloaded")
    with progress(f"downloading {wanted.name}", offer.size_bytes, measure="bytes") as bar:
        _asked(source, fetch(source, wanted, offer, bar.at))
    with importing() as tell:
        return add(wanted, offer, tell)
