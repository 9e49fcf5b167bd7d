"""Convert polygons that tile the plane to lines with a zone on either side. Used only to compile the borders."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from .grid import Arcs

Geometries = npt.NDArray[Any]


def faces_of(lines: Sequence[shapely.Geometry]) -> Geometries:
    """Return the smallest polygons that lines divide the plane into, with all corners on whole numbers.

    Lines are split where they meet, and the points where they meet are rounded together with the lines through them, so
    that no sliver can open between two neighbours.
    """
    noded = shapely.unary_union(np.array(lines, dtype=object), grid_size=1.0)
    faces: Geometries = shapely.get_parts(shapely.polygonize(shapely.get_parts(noded)))
    return faces


def arcs_between(faces: Geometries, labels: npt.NDArray[np.uint16]) -> Arcs:
    """Return the lines between faces of different labels; the label is 0 where there is no face."""
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

    # A polygon lies left of its rings as oriented above, so its neighbour's ring has the same edge in reverse.
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
    return _label_sides(
        merged,
        dict(zip(zip(start.tolist(), end.tolist(), strict=True), range(len(start)), strict=True)),
        corners,
        zone,
        right,
    )


def _label_sides(
    merged: Geometries,
    edges: dict[tuple[int, int], int],
    corners: npt.NDArray[np.int64],
    left: npt.NDArray[np.uint16],
    right: npt.NDArray[np.uint16],
) -> Arcs:
    """Return merged lines as arcs, with the labels on both sides taken from the edge that each starts with."""
    points, line = shapely.get_coordinates(merged, return_index=True)
    whole = np.rint(points).astype(np.int64)
    numbers = np.searchsorted(corners, (whole[:, 0] << 32) + (whole[:, 1] & 0xFFFFFFFF))
    starts = np.append(np.flatnonzero(np.diff(line, prepend=-1)), len(line))
    sides = np.zeros((2, len(merged)), dtype=np.uint16)
    for arc, first in enumerate(starts[:-1].tolist()):
        a, b = int(numbers[first]), int(numbers[first + 1])
        forward_edge = edges.get((a, b))
        if forward_edge is not None:
            sides[:, arc] = left[forward_edge], right[forward_edge]
        else:
            edge = edges[b, a]
            sides[:, arc] = right[edge], left[edge]
    # Neighbours in space become neighbours in the file, and the order does not depend on how lines were joined.
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


def simplify(arcs: Arcs, tolerance: float) -> Arcs:
    """Simplify lines, keeping their ends so that they still meet; closed lines smaller than the tolerance are dropped.

    ``tolerance`` is in the lines' units. Simplified borders may cross each other by less than that, so they are for
    drawing, not for look-ups.
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
