"""The map of a world: one region file beside the base atlas, so that every map tool finds what is made up."""

import os
import shutil
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from struct import pack
from typing import Final

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.folders import cache_dir
from geosleuth.atlas.regions import Progress, RegionStore
from geosleuth.atlas.regions.kinds import rank_of
from geosleuth.atlas.regions.osm import LineMerger
from geosleuth.atlas.regions.region_file import (
    ROAD_RANKS,
    FeatureRow,
    RegionWriter,
    address_of,
    index_names,
    kept_tags,
    region_path,
    writing,
)
from geosleuth.errors import BadInput
from geosleuth.files import link_or_copy
from geosleuth.geo import LatLon

from .businesses import SOURCE, BusStop, region_name
from .model import Business
from .towns import Street, WorldTown
from .world import World

_CREATED: Final = "2026-01-01T00:00:00+00:00"  # the same seed gives the same file, whenever it is made
_DIGITS: Final = 16
_UNUSED_AFTER_S: Final = 30 * 86_400.0
_REMEMBERED: Final = 4096  # replies of a group ask the map for the same lines again and again
_DOING: Final = "making the map of the world"


def ensure_layer(world: World, folder: Path | None = None, progress: Progress | None = None) -> Path:
    """The folder with the region file of a world, and with its added regions; made if it is not there yet.

    Args:
        world: whose map.
        folder: where to put it; a folder in the user's cache, named by all that the map hangs on, without it.
        progress: hears of the work, which takes up to a minute, once.

    Raises:
        BadInput: the folder can't be written to, or a region can't be read.
    """
    report = progress or _quiet
    print_of = fingerprint(world)
    if folder is None:
        folder = cache_dir() / "worlds" / f"{world.seed}-{world.noise}-{print_of[:_DIGITS]}"
        _sweep(folder)
    name = region_name(world.seed)
    if not _is_there(folder, name, print_of):
        _write(world, folder, name, print_of, report)
    for path in world.regions:
        _add_region(path, folder)
    return folder


def world_atlas(world: World, folder: Path | None = None, progress: Progress | None = None) -> OfflineAtlas:
    """The base atlas with a world's map and its added regions, and none of the user's own."""
    return OfflineAtlas(ensure_layer(world, folder, progress), remembered=_REMEMBERED)


def fingerprint(world: World) -> str:
    """A number that changes with anything that the map of a world hangs on: the rules and tables, seed and towns."""
    seen = sha256(f"{world.seed} {world.noise}".encode())
    here = Path(__file__).parent
    for path in sorted((*here.glob("*.py"), *(here / "locales").glob("*.py")), key=lambda path: path.name):
        if path.parent != here or path.name.startswith(("towns", "streets", "businesses", "layer")):
            seen.update(path.read_bytes())
    for town in world.towns:
        seen.update(f"{town.id} {town.name} {town.name_on_signs} {town.point} {town.population}".encode())
    for path in world.regions:
        seen.update(str(path.absolute()).encode())
    return seen.hexdigest()


def _sweep(folder: Path) -> None:
    """Note that a map is in use, and remove others of the same seed and noise that nobody has used for a month."""
    with suppress(OSError):
        if folder.is_dir():
            os.utime(folder)
        for other in folder.parent.glob(f"{folder.name[:-_DIGITS]}{'?' * _DIGITS}"):
            if other != folder and time.time() - other.stat().st_mtime > _UNUSED_AFTER_S:
                shutil.rmtree(other, ignore_errors=True)


def _is_there(folder: Path, name: str, print_of: str) -> bool:
    if not region_path(folder, name).is_file():
        return False
    try:
        return RegionStore(folder).info(name).sha256 == print_of
    except BadInput:  # damaged: it is made anew
        return False


def _write(world: World, folder: Path, name: str, print_of: str, report: Progress) -> None:
    with writing(folder, name) as writer:
        lines = LineMerger(writer)
        made = [town for town in world.towns if not town.real]
        for number, town in enumerate(made):
            if number % 10 == 0:
                report(_DOING, number, len(made))
            _town(writer, lines, town, world)
        lines.finish(_quiet)
        report(_DOING, len(made), len(made))
        writer.finish(
            {
                "name": name,
                "kind": "made-up",
                "source": SOURCE,
                "sha256": print_of,
                "licence": "CC0-1.0",
                "attribution": SOURCE,
                "created": _CREATED,
            }
        )


def _town(writer: RegionWriter, lines: LineMerger, town: WorldTown, world: World) -> None:
    for street in world.streets(town):
        _street(writer, lines, street)
    for stop in world.bus_stops(town):
        _feature(writer, stop.id, stop.point, _stop_tags(stop))
    for business in world.businesses(town):
        _feature(writer, business.id.rpartition(":")[2], business.point, business_tags(business, town))


def _street(writer: RegionWriter, lines: LineMerger, street: Street) -> None:
    lats, lons = [point.lat for point in street.line], [point.lon for point in street.line]
    flat = [part for point in street.line for part in (point.lon, point.lat)]
    geom = pack(f"<BII{len(flat)}d", 1, 2, len(street.line), *flat)
    value = street.kind.partition("=")[2]
    tags = {"highway": value, "name": street.name, "description": SOURCE}
    writer.add_shape("road", ROAD_RANKS[value], street.name, geom, (min(lats), min(lons), max(lats), max(lons)))
    lines.add(int(street.id[1:]), tags, geom, list(zip(street.nodes, lats, lons, strict=True)))


def _feature(writer: RegionWriter, osm: str, point: LatLon, tags: dict[str, str]) -> None:
    kind = next(f"{key}={tags[key]}" for key in ("amenity", "shop", "tourism", "highway") if key in tags)
    at = (point.lat, point.lon)
    row = FeatureRow(
        osm, tags["name"], kind, at, (*at, *at), rank_of(kind, tags), address_of(tags), kept_tags(tags),
        index_names(tags),
    )  # fmt: skip
    writer.add_feature(row, tags)


def _stop_tags(stop: BusStop) -> dict[str, str]:
    return {"highway": "bus_stop", "name": stop.name, "description": SOURCE}


def business_tags(business: Business, town: WorldTown) -> dict[str, str]:
    """What OpenStreetMap would say of a business, and that it is made up."""
    key, _, value = business.kind.partition("=")
    told = {
        key: value,
        "name": business.name,
        "brand": business.name if business.chain else None,
        "addr:street": business.street,
        "addr:housenumber": business.house_number,
        "addr:postcode": business.postcode,
        "addr:city": town.name_on_signs,
        "addr:country": town.country,
        "phone": business.phone,
        "website": business.domain and f"https://{business.domain}",
        "description": SOURCE,
    }
    return {key: text for key, text in told.items() if text}


def _add_region(path: Path, folder: Path) -> None:
    """A region file beside the layer: the same file under a second name where the disk can, or else a copy."""
    there = folder / path.name
    if not there.exists():
        link_or_copy(path, there)


def _quiet(_what: str, _done: int, _total: int) -> None:
    return None


__all__ = ["business_tags", "ensure_layer", "fingerprint", "world_atlas"]
