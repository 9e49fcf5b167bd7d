"""Discard features that can't be part of a combination, before their positions are read.

- `preselect` keeps the features that have one of each other set nearby. It judges by bounding boxes or, if there are
  only points, by cells of a grid, and may keep a few too many. It also marks which stretch of a long street matters
  (its window).
- `boxes_around_features` returns the boxes in which to look for others.

Near the poles and the 180th meridian nothing is discarded.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import STRtree

from geosleuth.geo import EARTH_RADIUS_KM, FloatArray

from .cells import MIN_RADIUS_M, ROW_STRIDE, cell_numbers, in_company
from .feature_query import FeatureSet, Ints, by_region
from .geometry import E7
from .pbf import spans
from .region_store import OpenRegion, RegionStore, read_boxes

_FEW: Final = 100  # so few features are not worth preselecting
_MAX_COMPARED: Final = 200_000  # pairs of boxes; for more, a tree is faster
_MAX_CELLS: Final = 300_000
_POLAR_DEG: Final = 85.0
_TABLE_MASK: Final = (1 << 20) - 1


def margins_deg(within_m: float, farthest: float) -> tuple[float, float]:
    """Return a distance, enlarged a little, in degrees of latitude and of longitude.

    Args:
        within_m: the distance.
        farthest: the largest latitude of the features, north or south, in degrees.
    """
    lat_deg = math.degrees(within_m / 1000 / EARTH_RADIUS_KM) * 1.01
    return lat_deg, lat_deg / max(math.cos(math.radians(min(farthest + lat_deg, 90.0))), 1e-3)


def feature_boxes(store: RegionStore, regions: Sequence[OpenRegion], features: FeatureSet) -> FloatArray:
    """Return the bounding box of each feature: west, south, east and north in degrees."""
    if features.boxes is not None:
        return features.boxes
    lats, lons = features.lats, features.lons
    boxes = np.column_stack([lons, lats, lons, lats])
    for region, streets in by_region(regions, features, features.streets.nonzero()[0]):
        with store.explain_errors(region.info.name):
            ids = features.ids[streets].tolist()
            edges = read_boxes(region, ids)
            found = [at for at, number in zip(streets.tolist(), ids, strict=True) if number in edges]
            packed = b"".join([edges[number] for number in ids if number in edges])
            boxes[found] = np.frombuffer(packed, dtype="<i4").reshape(-1, 4)[:, [1, 0, 3, 2]] / E7
    return boxes


def boxes_around_features(
    store: RegionStore, regions: Sequence[OpenRegion], features: FeatureSet, within_m: float
) -> FloatArray | None:
    """Return the bounding boxes of features, enlarged by a distance; None near a pole or the 180th meridian."""
    boxes = feature_boxes(store, regions, features)
    farthest = float(np.abs(boxes[:, [1, 3]]).max(initial=0.0))
    lat_deg, lon_deg = margins_deg(within_m, farthest)
    if farthest > _POLAR_DEG or float(np.abs(boxes[:, [0, 2]]).max(initial=0.0)) + lon_deg > 180:
        return None
    grown: FloatArray = boxes + np.array([-lon_deg, -lat_deg, lon_deg, lat_deg])
    return grown


def preselect(
    store: RegionStore, regions: Sequence[OpenRegion], feature_sets: Sequence[FeatureSet], within_m: float
) -> Sequence[FeatureSet]:
    """Return the features of each set that may be within a distance of one of each other set.

    A feature of the smallest set is kept if each other set has one near it, and another feature if it is near one that
    is kept. That discards most streets of a common name, whose many positions would have to be compared later.
    """
    counts = [len(features) for features in feature_sets]
    if max(counts) < _FEW:
        return feature_sets
    if not any(features.streets.any() for features in feature_sets):
        return _preselect_points(feature_sets, within_m)
    rarest = int(np.argmin(counts))
    rarest_boxes = feature_boxes(store, regions, feature_sets[rarest])
    feature_sets = _points_near_rarest(feature_sets, rarest, rarest_boxes, within_m)
    counts = [len(features) for features in feature_sets]
    boxes = [
        rarest_boxes if number == rarest else feature_boxes(store, regions, features)
        for number, features in enumerate(feature_sets)
    ]
    all_boxes = np.concatenate(boxes)
    farthest = float(np.abs(all_boxes[:, [1, 3]]).max())
    lat_deg, lon_deg = margins_deg(within_m, farthest)
    if farthest > _POLAR_DEG or float(np.abs(all_boxes[:, [0, 2]]).max()) + lon_deg > 180:
        return feature_sets
    margin = np.array([-lon_deg, -lat_deg, lon_deg, lat_deg])
    near = boxes[rarest] + margin
    keep = np.ones(len(near), dtype=bool)
    pairs = {}
    for number, others in enumerate(boxes):
        if number != rarest:
            rows = np.flatnonzero(keep)
            here, there = _intersecting(near[rows], others)
            pairs[number] = rows[here], there
            keep &= np.isin(np.arange(len(near)), rows[here])
    pairs = {number: (here[keep[here]], there[keep[here]]) for number, (here, there) in pairs.items()}
    kept = {number: np.isin(np.arange(counts[number]), there) for number, (_, there) in pairs.items()}
    kept[rarest] = keep
    # Of a long street, only the stretch near features of the other sets matters.
    windows = {number: _hulls(there, near[here], counts[number]) for number, (here, there) in pairs.items()}
    grown = [_hulls(here, boxes[number][there] + margin, counts[rarest]) for number, (here, there) in pairs.items()]
    windows[rarest] = np.concatenate(
        [np.max([hull[:, :2] for hull in grown], axis=0), np.min([hull[:, 2:] for hull in grown], axis=0)], axis=1
    )
    return [
        replace(features.chosen(kept[number]), windows=windows[number][kept[number]])
        for number, features in enumerate(feature_sets)
    ]


def _preselect_points(feature_sets: Sequence[FeatureSet], within_m: float) -> Sequence[FeatureSet]:
    farthest = max(_largest(features.lats_e7) for features in feature_sets)
    lat_deg, lon_deg = margins_deg(max(within_m, MIN_RADIUS_M), farthest)
    if farthest > _POLAR_DEG or max(_largest(features.lons_e7) for features in feature_sets) + lon_deg > 180:
        return feature_sets
    positions = [(features.lats_e7, features.lons_e7) for features in feature_sets]
    kept = in_company(positions, lat_deg * E7, lon_deg * E7)
    return [features.chosen(some) for features, some in zip(feature_sets, kept, strict=True)]


def _largest(e7: NDArray[np.int32]) -> float:
    """Return the largest absolute value of latitudes or longitudes, in degrees."""
    return max(int(e7.max()), -int(e7.min())) / E7 if len(e7) else 0.0


def _points_near_rarest(
    feature_sets: Sequence[FeatureSet], rarest: int, boxes: FloatArray, within_m: float
) -> Sequence[FeatureSet]:
    """Return the sets without points that are far from all features of the smallest set; streets are kept.

    Args:
        feature_sets: all sets.
        rarest: the index of the smallest set.
        boxes: the bounding boxes of its features.
        within_m: the distance.
    """
    farthest = float(np.abs(boxes[:, [1, 3]]).max(initial=0.0))
    lat_deg, lon_deg = margins_deg(within_m, farthest)
    if farthest + lat_deg > _POLAR_DEG or float(np.abs(boxes[:, [0, 2]]).max(initial=0.0)) + 2 * lon_deg > 180:
        return feature_sets
    west, east = cell_numbers(boxes[:, 0] - lon_deg, 180, lon_deg), cell_numbers(boxes[:, 2] + lon_deg, 180, lon_deg)
    south, north = cell_numbers(boxes[:, 1] - lat_deg, 90, lat_deg), cell_numbers(boxes[:, 3] + lat_deg, 90, lat_deg)
    rows = north - south + 1
    if int((rows * (east - west + 1)).sum()) > _MAX_CELLS:
        return feature_sets
    table = np.zeros(_TABLE_MASK + 1, dtype=bool)
    box_of, row = np.repeat(np.arange(len(boxes)), rows), spans(south, rows)
    columns = (east - west + 1)[box_of]
    table[(np.repeat(row, columns) * ROW_STRIDE + spans(west[box_of], columns)) & _TABLE_MASK] = True
    found = list(feature_sets)
    for number, features in enumerate(feature_sets):
        if number != rarest:
            cells = cell_numbers(features.lats, 90, lat_deg) * ROW_STRIDE + cell_numbers(features.lons, 180, lon_deg)
            kept = table[cells & _TABLE_MASK]
            found[number] = features.chosen(kept | features.streets)
    return found


def _hulls(of: Ints, boxes: FloatArray, count: int) -> FloatArray:
    """Return for each feature the box around all of its boxes.

    Args:
        of: the index of the feature that each box belongs to.
        boxes: west, south, east and north.
        count: the number of features.
    """
    hulls = np.tile([math.inf, math.inf, -math.inf, -math.inf], (count, 1))
    for column, edge in enumerate((np.minimum, np.minimum, np.maximum, np.maximum)):
        edge.at(hulls[:, column], of, boxes[:, column])
    return hulls


def _intersecting(near: FloatArray, some: FloatArray) -> tuple[Ints, Ints]:
    """Return the pairs of intersecting boxes, as indexes into ``near`` and ``some``."""
    points = (some[:, 0] == some[:, 2]) & (some[:, 1] == some[:, 3])
    found = [_pair_points(near, some, points.nonzero()[0]), _pair_boxes(near, some, (~points).nonzero()[0])]
    here, there = (np.concatenate(column) for column in zip(*found, strict=True))
    return here, there


def _pair_points(near: FloatArray, some: FloatArray, rows: Ints) -> tuple[Ints, Ints]:
    """Do `_intersecting` for those rows of ``some`` that are points."""
    rows = rows[some[rows, 1].argsort(kind="stable")]
    lats, lons = some[rows, 1], some[rows, 0]
    begins = lats.searchsorted(near[:, 1])
    counts = lats.searchsorted(near[:, 3], side="right") - begins
    here, there = np.repeat(np.arange(len(near)), counts), spans(begins, counts)
    met = (lons[there] >= near[here, 0]) & (lons[there] <= near[here, 2])
    return here[met], rows[there[met]]


def _pair_boxes(near: FloatArray, some: FloatArray, rows: Ints) -> tuple[Ints, Ints]:
    """Do `_intersecting` for those rows of ``some`` that are not points."""
    if len(near) * len(rows) > _MAX_COMPARED:
        here, there = STRtree(shapely.box(*some[rows].T)).query(shapely.box(*near.T))
        return here, rows[there]
    wests, souths, easts, norths = (edge[:, None] for edge in some[rows].T)
    west, south, east, north = near.T
    there, here = ((norths >= south) & (souths <= north) & (easts >= west) & (wests <= east)).nonzero()
    return here, rows[there]
