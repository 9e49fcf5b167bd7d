"""From polygons that tile the plane to lines with a zone on either side, and back. Used when borders are compiled."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from .grid import Arcs

Geometries = npt.NDArray[Any]


def faces_of(lines: Sequence[shapely.Geometry]) -> Geometries:
    """The smallest polygons that these lines cut the plane into, all corners on whole numbers.

    Lines are broken where they meet, and the meeting points are rounded together with the lines through them, so no
    sliver can open between two neighbours.
    """
    noded = shapely.unary_union(np.array(lines, dtype=object), grid_size=1.0)
    faces: Geometries = shapely.get_parts(shapely.polygonize(shapely.get_parts(noded)))
    return faces


def arcs_between(faces: Geometries, labels: npt.NDArray[np.uint16]) -> Arcs:
    """The lines between faces of different labels; what no face covers has label 0."""
    keep = labels > 0
    faces, labels = shapely.orient_polygons(faces[keep]), labels[keep]
    rings, owner = shapely.get_rings(faces, return_index=True)
    points, ring = shapely.get_coordinates(rings, return_index=True)
    whole = np.rint(points).astype(np.int64)
    keys = (whole[:, 0] << 32) + (whole[:, 1] & 0xFFFFFFFF)
    step = ring[1:] == ring[:-1]
    start, end, zone = keys[:-1][step], keys[1:][step], labels[owner[ring[:-1][step]]]
    corners, numbers = np.unique(np.concatenate([start, end]), return_inverse=True)
    start, end = np.split(numbers.astype(np.int64), 2)

    # A polygon lies left of its rings as oriented above, so its neighbour's ring holds the same edge the other way.
    forward, backward = start * len(corners) + end, end * len(corners) + start
    order = np.argsort(forward)
    at = np.minimum(np.searchsorted(forward[order], backward), len(order) - 1)
    mate = order[at]
    right = np.where(forward[mate] == backward, zone[mate], 0).astype(np.uint16)
    border = (zone != right) & ((right == 0) | (start < end))
    start, end, zone, right = start[border], end[border], zone[border], right[border]

    x, y = corners >> 32, ((corners & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000
    ends = np.stack([np.stack([x[start], y[start]], 1), np.stack([x[end], y[end]], 1)], 1)
    pieces = np.asarray(shapely.linestrings(ends.astype(np.float64)), dtype=object)
    merged = shapely.get_parts(shapely.line_merge(shapely.multilinestrings(pieces)))
    return _labelled(
        merged,
        dict(zip(zip(start.tolist(), end.tolist(), strict=True), range(len(start)), strict=True)),
        corners,
        zone,
        right,
    )


def _labelled(
    merged: Geometries,
    edges: dict[tuple[int, int], int],
    corners: npt.NDArray[np.int64],
    left: npt.NDArray[np.uint16],
    right: npt.NDArray[np.uint16],
) -> Arcs:
    points, line = shapely.get_coordinates(merged, return_index=True)
    whole = np.rint(points).astype(np.int64)
    numbers = np.searchsorted(corners, (whole[:, 0] << 32) + (whole[:, 1] & 0xFFFFFFFF))
    starts = np.append(np.flatnonzero(np.diff(line, prepend=-1)), len(line))
    sides = np.zeros((2, len(merged)), dtype=np.uint16)
    for arc, first in enumerate(starts[:-1].tolist()):
        a, b = int(numbers[first]), int(numbers[first + 1])
        known = edges.get((a, b))
        turned = known is None
        edge = edges[b, a] if known is None else known
        sides[:, arc] = (right[edge], left[edge]) if turned else (left[edge], right[edge])
    # Neighbours in space become neighbours in the file, and the order never depends on how lines were joined.
    order = np.lexsort((whole[starts[1:] - 1, 0], whole[starts[:-1], 0], whole[starts[:-1], 1] // 100_000))
    lengths = np.diff(starts)[order]
    into = np.concatenate([[0], np.cumsum(lengths)])
    source = np.arange(into[-1]) - np.repeat(into[:-1], lengths) + np.repeat(starts[:-1][order], lengths)
    return Arcs(
        x=whole[source, 0].astype(np.int32),
        y=whole[source, 1].astype(np.int32),
        starts=into.astype(np.int32),
        left=sides[0, order],
        right=sides[1, order],
    )


def simplified(arcs: Arcs, tolerance: float) -> Arcs:
    """The same lines with fewer vertices, ends kept so that they still meet; small closed lines vanish.

    ``tolerance`` is in the lines' units. Borders may cross each other by less than that: for drawing, not for deciding.
    """
    points = np.stack([arcs.x, arcs.y], 1).astype(np.float64)
    lines = shapely.linestrings(points, indices=np.repeat(np.arange(len(arcs)), np.diff(arcs.starts)))
    fewer = np.asarray(shapely.simplify(lines, tolerance, preserve_topology=False), dtype=object)
    size = shapely.box(*shapely.bounds(fewer).T)
    small = shapely.is_closed(fewer) & (np.sqrt(shapely.area(size)) < tolerance)
    keep = np.flatnonzero(~small & (shapely.get_num_coordinates(fewer) > 1))
    points = np.rint(shapely.get_coordinates(fewer[keep]))
    starts = np.concatenate([[0], np.cumsum(shapely.get_num_coordinates(fewer[keep]))])
    return Arcs(
        x=points[:, 0].astype(np.int32),
        y=points[:, 1].astype(np.int32),
        starts=starts.astype(np.int32),
        left=arcs.left[keep],
        right=arcs.right[keep],
    )
