"""Candidates: the features that a word may mean, with positions to measure distances from.

A feature has its one point; a street has a position every 11 m or so. An object that several regions contain, as they
overlap, becomes one candidate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from geosleuth.atlas.keyed_rows import select_rows
from geosleuth.geo import Extent, FloatArray

from .cells import NEIGHBOUR_OFFSETS, hash_cells
from .feature_query import FeatureQuery, FeatureSet, Ints, by_region
from .geometry import E7
from .region_store import OpenRegion, RegionStore, check_positions, inside, read_sources, unpack_grounds

_MAX_CACHED: Final = 20_000  # entries in the cache of a region
_STREET_STEP_DEG: Final = 0.0001  # about 11 m
_REGION_BITS: Final = 40  # an object number is the feature's id, plus the region's number shifted by this
_SHORT: Final = 200  # positions; to clip a shorter street takes longer than to compare all of it


@dataclass(frozen=True, slots=True)
class Candidates:
    """Features that a word may mean, and their positions: one each, or many along a street."""

    regions: Ints  # number of the region, for each feature
    owners: Ints  # ids of the features
    scores: FloatArray  # how well each feature matches the word
    keys: Ints  # object number of each feature, equal if two regions contain the same object
    lats: FloatArray  # of each position
    lons: FloatArray
    owner_of: Ints  # for each position the index of its feature

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.owners)


def resolve(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    text: str,
    within: Extent | None,
    known: dict[tuple[str, int | str], int],
) -> Candidates:
    """Return all features that a name or a category may mean.

    Args:
        store: opens the regions.
        regions: the regions to search.
        text: the name or category.
        within: positions outside are left out.
        known: numbers of objects, extended by this function, so that they are the same across calls.
    """
    query = FeatureQuery.look_up(store, regions, text, within)
    return build_candidates(store, regions, query.all(), within, known)


def build_candidates(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    features: FeatureSet,
    within: Extent | None,
    known: dict[tuple[str, int | str], int],
) -> Candidates:
    """Return features as candidates: each object once, with its positions inside an extent; see `resolve`."""
    keys = _object_numbers(store, regions, features, known)
    if (keys < 0).any():  # keep the first feature of each object
        _, first = np.unique(keys, return_index=True)
        first.sort()
        features, keys = features.chosen(first), keys[first]
    placed, belongs = _positions(store, regions, features)
    if within is not None:
        kept = inside(within, placed[:, 1], placed[:, 0])
        placed, belongs = placed[kept], belongs[kept]
    return Candidates(features.regions, features.ids, features.scores, keys, placed[:, 1], placed[:, 0], belongs)


def _object_numbers(
    store: RegionStore, regions: Sequence[OpenRegion], features: FeatureSet, known: dict[tuple[str, int | str], int]
) -> Ints:
    """Return a number for the object of each feature: the same if two regions contain the same object.

    To save time, the source's id is read (giving a negative number) only for features of different regions at the same
    point, and for streets that may be cut by the boundary between regions.
    """
    objects = features.ids + (features.regions << _REGION_BITS)
    if len(regions) == 1:
        return objects
    points, streets = features.lats_e7.astype(np.int64) << 32 ^ features.lons_e7, features.streets
    sorted_points = np.sort(points)
    shared_points = sorted_points[1:][sorted_points[1:] == sorted_points[:-1]]
    doubtful = np.zeros(len(points), dtype=bool)
    if len(shared_points):  # features of one region at one point are different objects
        places = np.isin(points, shared_points).nonzero()[0]
        _, first, point_of = np.unique(points[places], return_index=True, return_inverse=True)
        elsewhere = features.regions[places] != features.regions[places[first]][point_of]
        doubtful[places] = np.isin(point_of, point_of[elsewhere])
    if streets.any():
        doubtful[streets] |= _may_be_cut(points[streets], features.regions[streets])
    for region, places in by_region(regions, features, doubtful.nonzero()[0]):
        with store.explain_errors(region.info.name):
            ids = features.ids[places].tolist()
            sources = read_sources(region, ids)
            for at, number in zip(places.tolist(), ids, strict=True):
                objects[at] = -1 - known.setdefault((region.info.kind, sources[number]), len(known))
    return objects


def _may_be_cut(spots: Ints, of: Ints) -> NDArray[np.bool_]:
    """Return for each street whether one of another region is within a cell, so that both may be parts of one street.

    Args:
        spots: latitude and longitude of each, packed into one number.
        of: number of the region of each.
    """
    lats, lons = spots >> 32, (spots << 32) >> 32
    cells, spot = np.unique(hash_cells(lats / E7, lons / E7), return_inverse=True)
    least, most = np.full(len(cells), np.iinfo(np.int64).max), np.full(len(cells), -1)
    np.minimum.at(least, spot, of)  # the first and the last region that has a street in each cell
    np.maximum.at(most, spot, of)
    found = np.zeros(len(spots), dtype=bool)
    for wanted in (cells + step for step in NEIGHBOUR_OFFSETS):
        beside = np.minimum(cells.searchsorted(wanted), len(cells) - 1)
        there = cells[beside] == wanted
        found |= there[spot] & ((least[beside][spot] != of) | (most[beside][spot] != of))
    return found


def _positions(store: RegionStore, regions: Sequence[OpenRegion], features: FeatureSet) -> tuple[FloatArray, Ints]:
    """Return positions as rows of longitude and latitude, and the index of the feature of each; streets last."""
    at = np.column_stack([features.lons, features.lats])
    streets = features.streets.nonzero()[0]
    if not len(streets):
        return at, np.arange(len(features))
    points = (~features.streets).nonzero()[0]
    parts: list[FloatArray] = []
    belongs: list[Ints] = []
    done = 0
    for region, own_streets in by_region(regions, features, streets):
        number = features.regions[own_streets[0]]
        own_points = points[done : int(features.regions[points].searchsorted(number, side="right"))]
        done += len(own_points)
        parts.append(at[own_points])
        belongs.append(own_points)
        with store.explain_errors(region.info.name):
            along = _along_streets(region, features.ids[own_streets].tolist())
        if features.windows is not None:
            along = [*map(_inside_window, along, features.windows[own_streets].tolist())]
        parts += along
        belongs.append(own_streets.repeat([len(item) for item in along]))
    return np.concatenate([*parts, at[points[done:]]]), np.concatenate([*belongs, points[done:]])


def _along_streets(region: OpenRegion, streets: Sequence[int]) -> list[FloatArray]:
    """Return longitudes and latitudes along each street, sorted; cached, since they are slow to compute."""
    if not streets:
        return []
    known: dict[int, Any] = {street: region.memory.get(f"street {street}") for street in streets}
    missing = [street for street, points in known.items() if points is None]
    if not missing:
        return [known[street] for street in streets]
    geoms = dict.fromkeys(missing, b"")
    geoms |= select_rows(region.conn, "SELECT feature, geom FROM ground WHERE feature", missing)
    drawn = [street for street in missing if geoms[street]]
    lines = shapely.segmentize(unpack_grounds([geoms[street] for street in drawn]), _STREET_STEP_DEG)
    points, of = shapely.get_coordinates(lines, return_index=True)
    check_positions(points[:, 1], points[:, 0])
    cuts = np.searchsorted(of, np.arange(len(drawn) + 1)).tolist()
    for number, street in enumerate(drawn):
        along = known[street] = np.unique(points[cuts[number] : cuts[number + 1]], axis=0)
        if len(region.memory) < _MAX_CACHED:
            region.memory[f"street {street}"] = along
    return [np.empty((0, 2)) if known[street] is None else known[street] for street in streets]


def _inside_window(points: FloatArray, window: Sequence[float]) -> FloatArray:
    """Return the positions of a street that are in a window, or all if they are few; they are sorted by longitude."""
    if len(points) <= _SHORT:
        return points
    west, south, east, north = window
    begin, end = points[:, 0].searchsorted((west, east)).tolist()
    lats = points[begin : end + 1, 1]
    return points[begin : end + 1][(lats >= south) & (lats <= north)]
