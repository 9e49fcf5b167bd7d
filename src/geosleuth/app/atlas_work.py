"""What the ``atlas`` commands do once their words are read; imported only when one runs."""

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from geosleuth.answer.coordinates import find_points
from geosleuth.app import atlas_views as views
from geosleuth.app.console import Bar, progress, show, show_json, talk
from geosleuth.atlas import Atlas, Colocation, Document, Hit, Marker, OfflineAtlas, Picture, Place, Reverse, regions_dir
from geosleuth.atlas.base import ensure_base
from geosleuth.atlas.base.build import line_on_stderr
from geosleuth.errors import BadInput
from geosleuth.files import write_bytes_atomically
from geosleuth.geo import Box, Disc, Extent, LatLon, is_valid
from geosleuth.names import required_country_code

if TYPE_CHECKING:
    from geosleuth.atlas.online import OnlineSettings

_T = TypeVar("_T")
_NUMBER = r"\s*([+-]?\d+(?:\.\d+)?)\s*"


def ask(
    via: str | None, allow: Sequence[str], question: Callable[[Atlas], Awaitable[_T]], tiles: Path | None = None
) -> _T:
    """Put a question to the offline atlas, or to an online service whose hosts the user allowed."""

    async def answer() -> _T:
        return await question(atlas)

    if via is None:
        # Here and not in one of the atlas's threads, so that an interrupt stops the building at once.
        with building() as progress:
            ensure_base(progress)
        atlas: Atlas = OfflineAtlas(tiles=tiles)
        return asyncio.run(answer())
    from geosleuth.atlas.online import make_online

    atlas = make_online(via, online_settings(allow))
    return asyncio.run(answer())


def online_settings(allow: Sequence[str]) -> "OnlineSettings":
    """Whom the user allows, and from the environment their own servers, tiles and contact (docs/online.md)."""
    from geosleuth.atlas.online import ONLINE_NAMES, OnlineSettings, TileSource
    from geosleuth.tools.web import IMAGE_NAMES, WEB_NAMES

    names = (*ONLINE_NAMES, *WEB_NAMES, *IMAGE_NAMES)
    servers = {name: url for name in names if (url := os.environ.get(f"GEOSLEUTH_{name.upper()}_URL"))}
    tiles = {
        kind: TileSource(template=template, attribution=os.environ.get("GEOSLEUTH_TILES_CREDIT", ""))
        for kind in ("map", "satellite")
        if (template := os.environ.get(f"GEOSLEUTH_{kind.upper()}_TILES"))
    }
    # An address on this machine or in the own network, written into the environment, is meant; public hosts are paced
    # and checked like any other.
    hosts = {
        urlsplit(url).hostname or "" for url in (*servers.values(), *(source.template for source in tiles.values()))
    }
    own = {host for host in hosts if _is_local(host)}
    return OnlineSettings(
        allow_hosts=frozenset(allow),
        private_hosts=frozenset(own),
        base_urls=servers,
        contact=os.environ.get("GEOSLEUTH_CONTACT", ""),
        map_tiles=tiles.get("map"),
        satellite_tiles=tiles.get("satellite"),
    )


def _is_local(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa"))


# Reading arguments.


def point(text: str) -> LatLon:
    """A point as people write it."""
    match = re.fullmatch(rf"{_NUMBER}[,;\s]{_NUMBER}", text)
    if match and is_valid(float(match[1]), float(match[2])):
        return LatLon(float(match[1]), float(match[2]))
    found = [] if match else find_points(f"coordinates: {text[:200]}")
    if not found:
        raise BadInput(f"{text[:60]!r} is no point; write LAT,LON in degrees, such as 48.8584,2.2945")
    return found[0].point


def maybe_point(text: str | None) -> LatLon | None:
    """A point, if one was given."""
    return None if text is None else point(text)


def area(text: str | None) -> Extent | None:
    """An area: four numbers are a box, three a disc."""
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
        if len(numbers) == 4:
            return Box(*numbers)
        if len(numbers) == 3:
            return Disc(LatLon(*numbers[:2]), numbers[2])
    except ValueError as error:
        raise BadInput(f"--within {text[:60]!r} is no area: {error}") from error
    raise BadInput(f"--within {text[:60]!r} is no area; write S,W,N,E in degrees or LAT,LON,RADIUS_KM")


def country(text: str | None) -> str | None:
    """A country's code, from its name or code."""
    return None if text is None else required_country_code(text)


def bearings(text: str | None, count: int) -> list[float | None] | None:
    """Directions from the first feature to the others; x where unknown."""
    if text is None:
        return None
    try:
        values = [None if part.strip().casefold() in ("x", "") else float(part) % 360 for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count - 1:
        raise BadInput(f"--bearings takes {count - 1} directions in degrees for {count} features, such as 90,x")
    return values


def markers(texts: Sequence[str]) -> list[Marker]:
    """Pins, lettered in the order given."""
    return [Marker(point(text), chr(ord("A") + number % 26)) for number, text in enumerate(texts)]


def check_png(path: Path) -> None:
    """Complain before the work about a file that can't be written."""
    if path.suffix.lower() != ".png":
        raise BadInput(f"{path}: maps are written as .png")
    if not path.parent.is_dir():
        raise BadInput(f"{path}: the folder {path.parent} does not exist")


# Showing answers.


def show_hits(hits: list[Hit], *, as_json: bool) -> None:
    """Places, best first."""
    if as_json:
        show_json([views.hit_dict(hit) for hit in hits])
    else:
        show(views.hit_view(hits))


def show_reverse(found: Reverse, *, as_json: bool) -> None:
    """What lies at a point."""
    if as_json:
        show_json(views.reverse_dict(found))
    else:
        show(views.reverse_view(found))


def show_place(place_id: str, place: Place | None, *, as_json: bool) -> None:
    """One place."""
    if place is None:
        raise BadInput(f"no place has the id {place_id[:80]!r}; ids are in the answers of search and geocode")
    if as_json:
        show_json(views.place_dict(place))
    else:
        show(views.place_view(place))


def show_colocations(found: list[Colocation], *, as_json: bool) -> None:
    """Groups of features."""
    if as_json:
        show_json([views.colocation_dict(item) for item in found])
    else:
        show(views.colocation_view(found))


def find_documents(text: str, zims: Sequence[Path], limit: int) -> list[Document]:
    """Passages from the bundled texts and from the user's Kiwix files."""
    found = ask(None, (), lambda it: it.search_documents(text, limit=limit))
    for path in zims:
        from geosleuth.atlas.facts.zim import ZimDocuments

        found += ZimDocuments(path).search(text, limit=limit)
    return found


def show_documents(found: list[Document], *, as_json: bool) -> None:
    """Passages of text."""
    if as_json:
        show_json([views.document_dict(document) for document in found])
    else:
        show(views.document_view(found))


def show_country(name: str, *, as_json: bool) -> None:
    """Facts of a country."""
    from geosleuth.atlas.facts.countries import country_facts

    facts = country_facts(name)
    if as_json:
        show_json(views.plain(facts))
    else:
        show(views.country_view(facts))


def show_brands(name: str, limit: int, *, as_json: bool) -> None:
    """Brands and where they are found."""
    from geosleuth.atlas.facts.brands import brand

    hits = brand(name, limit=limit)
    if as_json:
        show_json([views.plain(hit) for hit in hits])
    else:
        show(views.brand_view(hits))


def show_phone(number: str, region: str | None, *, as_json: bool) -> None:
    """Where a number belongs."""
    from geosleuth.atlas.facts.phones import phone

    found = phone(number, region)
    if as_json:
        show_json(views.plain(found))
    else:
        show(views.phone_view(found))


def write_picture(path: Path, picture: Picture, *, as_json: bool) -> None:
    """Save a picture and say what it shows and whom to credit."""
    write_bytes_atomically(path, picture.png)
    if as_json:
        show_json({"file": str(path), "attribution": picture.attribution, "extent": views.extent_dict(picture.extent)})
    else:
        talk(f"wrote {path}; credit: {picture.attribution or 'none needed'}")


# Regions.


def add_region(file: Path, name: str | None, *, as_json: bool) -> None:
    """Import a file of features."""
    from geosleuth.atlas.regions import import_osm, import_overture

    folder = regions_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: regions can't be kept there: {error.strerror or error}") from error
    take = import_overture if file.suffix.lower() in (".parquet", ".geoparquet") else import_osm
    with importing() as progress:
        found = take(file, name, folder=folder, progress=progress)
    if as_json:
        show_json(views.plain(found))
    else:
        show(views.regions_view([found]))


def show_regions(*, as_json: bool) -> None:
    """All added regions, damaged ones too."""
    from geosleuth.atlas.regions import RegionStore

    store = RegionStore(regions_dir())
    found, damaged = list(store.list()), list(store.damaged())
    for item in damaged:
        talk(item.message)
    if as_json:
        show_json([views.plain(item) for item in found])
    else:
        show(views.regions_view(found))


def remove_region(name: str, *, as_json: bool) -> None:
    """Delete a region's file."""
    from geosleuth.atlas.regions import RegionStore

    RegionStore(regions_dir()).remove(name)
    if as_json:
        show_json({"removed": name})
    else:
        talk(f"removed {name}")


def show_info(name: str | None, *, as_json: bool) -> None:
    """One region, or the whole atlas."""
    from geosleuth.atlas.base import base_path
    from geosleuth.atlas.regions import RegionStore

    store = RegionStore(regions_dir())
    if name is not None:
        found: Any = views.plain(store.info(name))
    else:
        base = base_path()
        found = {
            "base": str(base),
            "base_built": base.is_file(),
            "base_bytes": base.stat().st_size if base.is_file() else None,
            "regions_folder": str(regions_dir()),
            "regions": [item.name for item in store.list()],
        }
    if as_json:
        show_json(found)
    else:
        show(views.facts_view(found))


# Progress, on stderr and only at a terminal.


@contextmanager
def building() -> Iterator[Callable[[str, float], None]]:
    """A bar for the one-time building of the base atlas; where nobody sees one, a line if it takes a while."""
    if not sys.stderr.isatty():
        yield line_on_stderr()
        return
    bars: list[Bar] = []
    with ExitStack() as held:

        def tell(what: str, share: float) -> None:
            # Not before there is something to build: most of the time it is built already.
            if not bars:
                bars.append(held.enter_context(progress("building the base atlas, once")))
            bars[0].at(round(100 * share), 100, what)

        yield tell


@contextmanager
def importing() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for importing a region."""
    with progress("importing") as bar:
        yield lambda what, done, total: bar.at(done, total, what)
