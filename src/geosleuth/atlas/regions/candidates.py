"""Candidates for colocated features: features with the positions that count for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from geosleuth.atlas.keyed_rows import rows_with
from geosleuth.geo import Extent, FloatArray

from .cells import BESIDE, hashed_cells
from .feature_query import FeatureQuery, FeatureSet, Ints, by_region
from .geometry import E7
from .region_store import OpenRegion, RegionStore, check_positions, grounds_of, inside, sources_of

_REMEMBERED: Final = 20_000
_STREET_STEP_DEG: Final = 0.0001  # about 11 m
_REGION_BITS: Final = 40
_SHORT: Final = 200  # positions: to cut a shorter street takes longer than to look at all of it


@dataclass(frozen=True, slots=True)
class Candidates:
    """Features that one word may stand for, and their positions: one each, or a row of them along a street."""

    regions: Ints  # number of the region, one for each owner
    owners: Ints  # id of the feature
    scores: FloatArray  # one for each owner
    keys: Ints  # one for each owner: equal where two regions hold the same object
    lats: FloatArray
    lons: FloatArray
    owner_of: Ints  # index into owners, for each position

    def __len__(self) -> int:
        """How many features."""
        return len(self.owners)


def resolve(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    text: str,
    within: Extent | None,
    known: dict[tuple[str, int | str], int],
) -> Candidates:
    """Everything that a name or a category may mean; ``known`` numbers objects across calls and regions."""
    query = FeatureQuery.of(store, regions, text, within)
    return candidates_of(store, regions, query.all(), within, known)


def candidates_of(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    features: FeatureSet,
    within: Extent | None,
    known: dict[tuple[str, int | str], int],
) -> Candidates:
    """Return features as candidates: each object once, with its positions inside an extent."""
    keys = _object_numbers(store, regions, features, known)
    if (keys < 0).any():  # the first of each object stands for it
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
    """Numbers of the objects, the same for one that several regions hold.

    The source's own id is looked at for what lies at the same point, and for streets, which regions may cut.
    """
    objects = features.ids + (features.regions << _REGION_BITS)
    if len(regions) == 1:
        return objects
    every, long = features.lats_e7.astype(np.int64) << 32 ^ features.lons_e7, features.streets
    order = np.sort(every)
    twice = order[1:][order[1:] == order[:-1]]
    doubtful = np.zeros(len(every), dtype=bool)
    if len(twice):  # features of one region that lie at one point are several objects
        places = np.isin(every, twice).nonzero()[0]
        _, first, spot = np.unique(every[places], return_index=True, return_inverse=True)
        elsewhere = features.regions[places] != features.regions[places[first]][spot]
        doubtful[places] = np.isin(spot, spot[elsewhere])
    if long.any():
        doubtful[long] |= _may_be_cut(every[long], features.regions[long])
    for region, places in by_region(regions, features, doubtful.nonzero()[0]):
        with store.explained(region.info.name):
            ids = features.ids[places].tolist()
            sources = sources_of(region, ids)
            for at, number in zip(places.tolist(), ids, strict=True):
                objects[at] = -1 - known.setdefault((region.info.kind, sources[number]), len(known))
    return objects


def _may_be_cut(spots: Ints, of: Ints) -> NDArray[np.bool_]:
    """Which streets have another of another region within a degree, so that they may be parts of one."""
    lats, lons = spots >> 32, (spots << 32) >> 32
    cells, spot = np.unique(hashed_cells(lats / E7, lons / E7), return_inverse=True)
    least, most = np.full(len(cells), np.iinfo(np.int64).max), np.full(len(cells), -1)
    np.minimum.at(least, spot, of)  # the first and the last region that has a street in each cell
    np.maximum.at(most, spot, of)
    found = np.zeros(len(spots), dtype=bool)
    for wanted in (cells + step for step in BESIDE):
        beside = np.minimum(cells.searchsorted(wanted), len(cells) - 1)
        there = cells[beside] == wanted
        found |= there[spot] & ((least[beside][spot] != of) | (most[beside][spot] != of))
    return found


def _positions(store: RegionStore, regions: Sequence[OpenRegion], features: FeatureSet) -> tuple[FloatArray, Ints]:
    """(lon, lat) rows, and for each row which of the features it belongs to; in each region streets come last."""
    at = np.column_stack([features.lons, features.lats])
    streets = features.streets.nonzero()[0]
    if not len(streets):
        return at, np.arange(len(features))
    points = (~features.streets).nonzero()[0]
    spots: list[FloatArray] = []
    belongs: list[Ints] = []
    done = 0
    for region, some in by_region(regions, features, streets):
        number = features.regions[some[0]]
        before = points[done : int(features.regions[points].searchsorted(number, side="right"))]
        done += len(before)
        spots.append(at[before])
        belongs.append(before)
        with store.explained(region.info.name):
            along = _along_streets(region, features.ids[some].tolist())
        if features.windows is not None:
            along = [*map(_inside_window, along, features.windows[some].tolist())]
        spots += along
        belongs.append(some.repeat([len(one) for one in along]))
    return np.concatenate([*spots, at[points[done:]]]), np.concatenate([*belongs, points[done:]])


def _along_streets(region: OpenRegion, streets: Sequence[int]) -> list[FloatArray]:
    """Positions along all the ways of streets; remembered, since they take a while to make."""
    if not streets:
        return []
    known: dict[int, Any] = {street: region.memory.get(f"street {street}") for street in streets}
    missing = [street for street, points in known.items() if points is None]
    if not missing:
        return [known[street] for street in streets]
    geoms = dict.fromkeys(missing, b"")
    geoms |= rows_with(region.conn, "SELECT feature, geom FROM ground WHERE feature", missing)
    drawn = [street for street in missing if geoms[street]]
    lines = shapely.segmentize(grounds_of([geoms[street] for street in drawn]), _STREET_STEP_DEG)
    points, of = shapely.get_coordinates(lines, return_index=True)
    check_positions(points[:, 1], points[:, 0])
    cuts = np.searchsorted(of, np.arange(len(drawn) + 1)).tolist()
    for number, street in enumerate(drawn):
        along = known[street] = np.unique(points[cuts[number] : cuts[number + 1]], axis=0)
        if len(region.memory) < _REMEMBERED:
            region.memory[f"street {street}"] = along
    return [np.empty((0, 2)) if known[street] is None else known[street] for street in streets]


def _inside_window(points: FloatArray, window: Sequence[float]) -> FloatArray:
    """Return those points of a street that lie in a window; points ascend by their longitudes."""
    if len(points) <= _SHORT:
        return points
    west, south, east, north = window
    begin, end = points[:, 0].searchsorted((west, east)).tolist()
    lats = points[begin : end + 1, 1]
    return points[begin : end + 1][(lats >= south) & (lats <= north)]
