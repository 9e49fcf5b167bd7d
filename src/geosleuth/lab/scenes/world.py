"""A world: real towns with made-up streets and businesses from one seed, and its map as a region file."""

import os
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final, Literal

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import BasePlaces, ensure_base, open_base
from geosleuth.atlas.borders import Borders
from geosleuth.atlas.folders import cache_dir
from geosleuth.atlas.regions import OpenRegion, Progress, RegionStore, import_osm
from geosleuth.atlas.regions import region_name as usual_name
from geosleuth.atlas.regions.feature_kinds import estimate_rank, is_street
from geosleuth.atlas.regions.osm import LineMerger
from geosleuth.atlas.regions.region_file import ROAD_RANKS, SUFFIX, region_path
from geosleuth.atlas.regions.region_store import read_tags, rows_of_kinds, unpack_grounds
from geosleuth.atlas.regions.region_writer import FeatureRow, RegionWriter, open_writer
from geosleuth.atlas.regions.tags import encode_kept_tags, format_address, index_names
from geosleuth.geo import Box, LatLon
from geosleuth.support.errors import BadInput
from geosleuth.support.files import link_or_copy

from .businesses import SOURCE, BusStop, generate_bus_stops, generate_businesses, region_name
from .locales import Land, find_land
from .scene import Business, Split
from .towns import Street, TownPlan, WorldTown, build_street_plan, compute_cell_name, load_towns, split_of_cell

# Maximum businesses from one region, drawn by their ids; more would cost time and teach nothing new.
MAX_BUSINESSES: Final = 600

_KINDS: Final = (
    "shop=", "craft=", "tourism=hotel", "tourism=hostel", "tourism=guest_house", "amenity=restaurant", "amenity=cafe",
    "amenity=bar", "amenity=pub", "amenity=fast_food", "amenity=pharmacy", "amenity=bank", "amenity=ice_cream",
)  # fmt: skip
_STOPS: Final = ("highway=bus_stop", "public_transport=platform", "public_transport=stop_position")
_STREET_DEG: Final = 0.0008
_STOP_DEG: Final = 0.002
_SHORTEST, _LONGEST = 4, 40

Noise = Literal["none", "chains", "homonyms", "both"]
"""Which names stand in several towns: those of chains, those that unrelated businesses happen to share."""
_KEPT_TOWNS: Final = 4096
_CREATED: Final = "2026-01-01T00:00:00+00:00"  # the same seed gives the same file, whenever it is made
_DIGITS: Final = 16
_UNUSED_AFTER_S: Final = 30 * 86_400.0
_REMEMBERED: Final = 4096  # replies of a group ask the map for the same lines again and again
_DOING: Final = "making the map of the world"


@dataclass(frozen=True, slots=True)
class RealRegion:
    """Contents that a world takes from one region file."""

    file: Path
    extent: Box
    towns: tuple[WorldTown, ...]
    businesses: dict[int, tuple[Business, ...]]
    stops: tuple[BusStop, ...]
    streets: tuple[Street, ...]


def region_file(path: Path) -> Path:
    """Return a region file as it is, or that of an extract, which is taken in once and kept in the user's cache.

    Raises:
        BadInput: there is no such file, or it is no sound extract.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no such region file or extract")
    if path.name.endswith(SUFFIX):
        return path
    with path.open("rb") as stream:
        digest = file_digest(stream, "sha256").hexdigest()[:16]
    folder, name = cache_dir() / "worlds" / f"region-{digest}", usual_name(None, path)
    if name not in RegionStore(folder).names():
        import_osm(path, name, folder=folder)
    return region_path(folder, name)


@lru_cache(maxsize=16)
def real_region(file: Path) -> RealRegion:
    """Return what a region file holds for a world.

    Raises:
        BadInput: the file is damaged.
    """
    name = file.name.removesuffix(SUFFIX)
    store = RegionStore(file.parent)
    with store.explain_errors(name):
        region = store.open(name)
        streets = tuple(_streets(region))
        stops = tuple(
            BusStop(osm, text, LatLon(lat, lon), 0.0, 0.0)
            for osm, text, lat, lon in sorted(
                (row[1], row[2], row[4], row[5]) for row in rows_of_kinds(region, _STOPS.__contains__) if row[2]
            )
        )
        rows = _sample_businesses(region)
    towns, businesses = _assign_towns(file, rows, streets, stops)
    return RealRegion(file, region.info.extent, towns, businesses, stops, streets)


def _sample_businesses(region: OpenRegion) -> list[tuple[str, str, str, float, float, dict[str, str]]]:
    """Return a fixed sample of named businesses."""
    rows = [
        (f"{region.info.kind}:{region.info.name}:{row[1]}", *row[2:6], row[0])
        for row in rows_of_kinds(region, lambda kind: kind.startswith(_KINDS))
        if _SHORTEST <= len(row[2]) <= _LONGEST
    ]
    rows.sort(key=lambda row: sha256(row[0].encode()).digest())
    chosen = sorted(rows[:MAX_BUSINESSES], key=lambda row: row[0])
    return [(*row[:5], read_tags(region, row[5])) for row in chosen]


def _streets(region: OpenRegion) -> Iterable[Street]:
    import shapely

    rows = {row[0]: row for row in rows_of_kinds(region, is_street) if row[2]}
    grounds = region.conn.execute("SELECT feature, geom FROM ground").fetchall()
    drawn = [(rows[number], geom) for number, geom in grounds if number in rows]
    longest: dict[str, tuple[float, str, str, Any]] = {}
    lines, of = shapely.get_parts(unpack_grounds([geom for _, geom in drawn]), return_index=True)
    for at, shape in sorted(zip(of.tolist(), lines, strict=True), key=lambda item: drawn[item[0]][0][1]):
        _, osm, name, kind, *_ = drawn[at][0]
        if osm not in longest or shape.length > longest[osm][0]:
            longest[osm] = (shape.length, name, kind, shape)
    for osm, (_, name, kind, shape) in longest.items():
        line = tuple(LatLon(round(lat, 7), round(lon, 7)) for lon, lat in shapely.get_coordinates(shape).tolist())
        yield Street(osm, name, kind, line, tuple(_node(point) for point in line))


def _node(point: LatLon) -> int:
    """Return an id for a point, equal for streets that meet there."""
    return round((point.lat + 90) * 1e7) * 10**10 + round((point.lon + 180) * 1e7)


def _assign_towns(
    file: Path,
    rows: Sequence[tuple[str, str, str, float, float, dict[str, str]]],
    streets: Sequence[Street],
    stops: Sequence[BusStop],
) -> tuple[tuple[WorldTown, ...], dict[int, tuple[Business, ...]]]:
    """Return businesses by the atlas town that they lie in, in countries whose signs are known."""
    countries = Borders.load().countries([row[3] for row in rows], [row[4] for row in rows]).tolist() if rows else []
    at_street, at_stop = _Nearest(streets), [(stop.point, stop.name) for stop in stops]
    towns: dict[int, WorldTown] = {}
    found: dict[int, list[Business]] = {}
    repeated = {name for name in (row[1] for row in rows) if sum(row[1] == name for row in rows) > 1}
    with closing(open_base(ensure_base())) as conn:
        base = BasePlaces(conn)
        for (place_id, name, kind, lat, lon, tags), country in zip(rows, countries, strict=True):
            land, point = find_land(country), LatLon(lat, lon)
            near = base.around(point, country=country, limit=1) if land is not None else []
            if land is None or not near:
                continue
            place = near[0].place
            number = int(place.id.removeprefix("geonames:"))
            towns.setdefault(number, _town(number, place, country, land, file))
            found.setdefault(number, []).append(
                Business(
                    place_id, name, kind, point, tags.get("addr:street") or at_street.name(point),
                    tags.get("addr:housenumber"), _phone(tags), _domain(tags), tags.get("addr:postcode"),
                    _nearest_stop(point, at_stop), chain="brand" in tags or name in repeated, real=True,
                )
            )  # fmt: skip
    return tuple(towns.values()), {number: tuple(some) for number, some in found.items()}


def _town(number: int, place: Any, country: str, land: Land, file: Path) -> WorldTown:
    cell = compute_cell_name(place.point)
    return WorldTown(
        number, place.name, place.name, place.point, country, place.region, "",
        int(place.details.get("population", "0")), cell, split_of_cell(cell), land, 0, region_file=file,
    )  # fmt: skip


class _Nearest:
    """Street nearest to a point."""

    def __init__(self, streets: Sequence[Street]) -> None:
        import shapely

        self._names = [street.name for street in streets]
        self._tree = shapely.STRtree(
            [shapely.LineString([(point.lon, point.lat) for point in street.line]) for street in streets]
        )

    def name(self, point: LatLon) -> str | None:
        import shapely

        found = self._tree.query_nearest(shapely.Point(point.lon, point.lat), max_distance=_STREET_DEG).tolist()
        return self._names[min(found)] if found else None


def _nearest_stop(point: LatLon, stops: Sequence[tuple[LatLon, str]]) -> str | None:
    near = min(((abs(point.lat - at.lat) + abs(point.lon - at.lon), name) for at, name in stops), default=None)
    return near[1] if near and near[0] <= _STOP_DEG else None


def _phone(tags: dict[str, str]) -> str | None:
    number = (tags.get("phone") or tags.get("contact:phone") or "").split(";")[0].strip()
    return number if number.startswith("+") else None


def _domain(tags: dict[str, str]) -> str | None:
    address = (tags.get("website") or tags.get("contact:website") or "").strip().casefold()
    host = address.partition("://")[2].partition("/")[0] if "://" in address else address.partition("/")[0]
    return host.removeprefix("www.") if "." in host and host.isascii() and len(host) <= _LONGEST else None


@dataclass(frozen=True)
class World:
    """Towns, filled with streets and businesses on first use.

    Nothing depends on which towns were looked at before. Two worlds of one seed that differ in ``noise`` have the same
    towns, streets, doors and telephone numbers; only the names over some doors differ. With ``pages`` its businesses
    have pages on a made-up web, and some of its scenes can't be told without (`geosleuth.lab.scenes.web_pages`).
    """

    seed: int = 1
    noise: Noise = "both"
    regions: tuple[Path, ...] = ()
    towns: Sequence[WorldTown] = field(default=(), repr=False, hash=False)
    pages: bool = False

    def list_towns(self, split: Split) -> tuple[WorldTown, ...]:
        """Return the towns of one split."""
        return tuple(town for town in self.towns if town.split == split)

    def streets(self, town: WorldTown) -> tuple[Street, ...]:
        """Return the streets of a town; those of its whole region where they are real."""
        if town.region_file is not None:
            return real_region(town.region_file).streets
        return _plan(town, self.seed).streets

    def bus_stops(self, town: WorldTown) -> tuple[BusStop, ...]:
        """Return the bus stops of a town; those of its whole region where they are real."""
        if town.region_file is not None:
            return real_region(town.region_file).stops
        return generate_bus_stops(town, _plan(town, self.seed))

    def businesses(self, town: WorldTown) -> tuple[Business, ...]:
        """Return the businesses of a town."""
        if town.region_file is not None:
            return real_region(town.region_file).businesses[town.geonames]
        return _businesses(town, self.seed, self.noise)


def open_world(seed: int = 1, regions: Sequence[Path] = (), *, noise: Noise = "both", pages: bool = False) -> World:
    """Return the world of a seed; cheap, since towns are filled on first use.

    Args:
        seed: another one gives other towns, streets and businesses.
        regions: files of added regions, or extracts (taken in once, which takes seconds), whose real businesses join
            the world. Towns inside them have no made-up streets.
        noise: which names repeat in several towns.
        pages: give its businesses pages that a web search finds, and draw scenes that need one.

    Raises:
        BadInput: a region can't be read.
    """
    files = tuple(region_file(path) for path in regions)
    towns = load_towns(seed)
    for region in map(real_region, files):
        towns = (*(town for town in towns if not region.extent.contains(town.point)), *region.towns)
    return World(seed, noise, files, towns, pages)


@lru_cache(maxsize=_KEPT_TOWNS)
def _plan(town: WorldTown, seed: int) -> TownPlan:
    return build_street_plan(town, seed)


@lru_cache(maxsize=_KEPT_TOWNS)
def _businesses(town: WorldTown, seed: int, noise: Noise) -> tuple[Business, ...]:
    return generate_businesses(
        town, _plan(town, seed), seed, chains=noise in ("chains", "both"), homonyms=noise in ("homonyms", "both")
    )


def ensure_layer(world: World, folder: Path | None = None, progress: Progress | None = None) -> Path:
    """Return the folder with the region file of a world, and with its added regions; made if it is not there yet.

    Args:
        world: whose map.
        folder: where to put it; by default a folder in the user's cache, named by all that the map depends on.
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
        _write_map(world, folder, name, print_of, report)
    for path in world.regions:
        _add_region(path, folder)
    return folder


def world_atlas(world: World, folder: Path | None = None) -> OfflineAtlas:
    """Return the base atlas with a world's map, pages and added regions, and none of the user's own."""
    layer = ensure_layer(world, folder)
    if world.pages:
        from .web_pages import PagedAtlas

        return PagedAtlas(world, layer, remembered=_REMEMBERED)
    return OfflineAtlas(layer, remembered=_REMEMBERED)


def fingerprint(world: World) -> str:
    """Return a digest of all that the map of a world depends on: rules, tables, seed and towns."""
    seen = sha256(f"{world.seed} {world.noise}".encode())
    here = Path(__file__).parent
    rules = (here / f"{name}.py" for name in ("businesses", "towns", "world"))
    for path in (*rules, *sorted((here / "locales").glob("*.py")), *sorted((here / "locales" / "data").iterdir())):
        seen.update(path.read_bytes())
    for town in world.towns:
        seen.update(f"{town.id} {town.name} {town.name_on_signs} {town.point} {town.population}".encode())
    for path in world.regions:
        seen.update(str(path.absolute()).encode())
    return seen.hexdigest()


def _sweep(folder: Path) -> None:
    """Mark a map as used, and remove others of the same seed and noise that are unused for a month."""
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
    except BadInput:  # damaged: it is made again
        return False


def _write_map(world: World, folder: Path, name: str, print_of: str, report: Progress) -> None:
    with open_writer(folder, name) as writer:
        lines = LineMerger(writer)
        made = [town for town in world.towns if not town.real]
        for number, town in enumerate(made):
            if number % 10 == 0:
                report(_DOING, number, len(made))
            _town_rows(writer, lines, town, world)
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


def _town_rows(writer: RegionWriter, lines: LineMerger, town: WorldTown, world: World) -> None:
    for street in world.streets(town):
        _street(writer, lines, street)
    for stop in world.bus_stops(town):
        _feature(writer, stop.id, stop.point, _stop_tags(stop))
    for business in world.businesses(town):
        _feature(writer, business.id.rpartition(":")[2], business.point, business_tags(business, town))


def _street(writer: RegionWriter, lines: LineMerger, street: Street) -> None:
    import shapely

    value = street.kind.partition("=")[2]
    tags = {"highway": value, "name": street.name, "description": SOURCE}
    line = shapely.LineString([(point.lon, point.lat) for point in street.line])
    writer.add_shape("road", ROAD_RANKS[value], street.name, line)
    at = [(node, point.lat, point.lon) for node, point in zip(street.nodes, street.line, strict=True)]
    lines.add(int(street.id[1:]), tags, at)


def _feature(writer: RegionWriter, osm: str, point: LatLon, tags: dict[str, str]) -> None:
    kind = next(f"{key}={tags[key]}" for key in ("amenity", "shop", "tourism", "highway") if key in tags)
    at = (point.lat, point.lon)
    row = FeatureRow(
        osm, tags["name"], kind, at, (*at, *at), estimate_rank(kind, tags), format_address(tags),
        encode_kept_tags(tags),
        index_names(tags),
    )  # fmt: skip
    writer.add_feature(row, tags)


def _stop_tags(stop: BusStop) -> dict[str, str]:
    return {"highway": "bus_stop", "name": stop.name, "description": SOURCE}


def business_tags(business: Business, town: WorldTown) -> dict[str, str]:
    """Return what OpenStreetMap would say of a business, and that it is made up."""
    key, _, value = business.kind.partition("=")
    tags = {
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
    return {key: text for key, text in tags.items() if text}


def _add_region(path: Path, folder: Path) -> None:
    """Hard-link or copy a region file next to the layer."""
    there = folder / path.name
    if not there.exists():
        link_or_copy(path, there)


def _quiet(_what: str, _done: int, _total: int) -> None:
    return None
