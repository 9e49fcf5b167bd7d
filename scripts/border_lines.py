"""Compile the borders file from polygons that tile the plane: their lines with a zone on either side, and its grids."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from geosleuth.atlas.borders.grid import (
    BLOCK_COLUMNS,
    BLOCK_ROWS,
    CELL,
    CELL_OFFSET,
    COLUMNS,
    EAST,
    NORTH,
    PER_BLOCK,
    ROWS,
    Arcs,
    BorderLayer,
    BorderRegion,
    find_touched_cells,
    list_blocks,
    spread,
)  # fmt: skip

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


def corner_labels(arcs: Arcs) -> npt.NDArray[np.uint16]:
    """Return the zone at the south-west corner of every fine cell, found by sweeping each row from west to east."""
    at = arcs.edges()
    arc = arcs.arc_of_edge()
    x0, y0 = (arcs.x[at] + EAST).astype(np.float64), (arcs.y[at] + NORTH).astype(np.float64)
    x1, y1 = (arcs.x[at + 1] + EAST).astype(np.float64), (arcs.y[at + 1] + NORTH).astype(np.float64)
    east_of = np.where(y1 > y0, arcs.right[arc], arcs.left[arc])
    # Row r's corners lie at r * CELL - 0.5; an edge crosses the row if its ends lie on both sides.
    low = np.ceil((np.minimum(y0, y1) + CELL_OFFSET) / CELL).astype(np.int32)
    high = np.floor((np.maximum(y0, y1) + CELL_OFFSET) / CELL).astype(np.int32)
    crossing = np.flatnonzero((high >= low) & (low < ROWS))
    turn, row = spread(low[crossing], np.minimum(high[crossing], ROWS - 1))
    edge = crossing[turn]
    height = row * float(CELL) - CELL_OFFSET
    where = x0[edge] + (height - y0[edge]) * ((x1 - x0) / np.where(y1 == y0, 1, y1 - y0))[edge]
    order = np.lexsort((where, row))
    where, zone = where[order], east_of[edge][order]
    bounds = np.searchsorted(row[order], np.arange(ROWS + 1))
    corners = np.arange(COLUMNS) * float(CELL) - CELL_OFFSET
    labels = np.zeros((ROWS, COLUMNS), dtype=np.uint16)
    for number in range(ROWS):
        here = slice(bounds[number], bounds[number + 1])
        zones = np.concatenate([np.zeros(1, dtype=np.uint16), zone[here]])
        labels[number] = zones[np.searchsorted(where[here], corners, side="right")]
    return labels


def compile_layer(arcs: Arcs, regions: Sequence[BorderRegion]) -> BorderLayer:
    """Compute the grids of some lines."""
    fine = corner_labels(arcs)
    cells, _ = find_touched_cells(arcs)
    numbers = list_blocks(cells)
    square = fine.reshape(BLOCK_ROWS, PER_BLOCK, BLOCK_COLUMNS, PER_BLOCK)
    coarse = square[:, 0, :, 0].copy()
    blocks = square.transpose(0, 2, 1, 3).reshape(BLOCK_ROWS * BLOCK_COLUMNS, PER_BLOCK**2)[numbers]
    return BorderLayer(arcs, coarse, blocks, numbers, tuple(regions))
