"""Land and sea from coastlines, which are only lines with land on their left, often cut off by an extract's edge."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import shapely

from .canvas import Geometries

_PROBE_PX = 0.35
_ROUGH_PX = 0.4  # finer detail of a coast can't be seen

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Ground:
    """An area divided into land and sea, in pixels."""

    land: Geometries
    sea: Geometries


def divide(coast: Geometries, area: Rectangle) -> Ground | None:
    """Divide a rectangle by the coastlines that run through it; None where none of them divides it.

    Every coastline piece says on which side of it land lies. Coast and rectangle together make faces, and each face
    takes what most of the coast along its edge says. An end that stops inside the rectangle is led to the next start or
    to the nearest point of the edge; such a made-up piece of coast has no say.
    """
    frame = shapely.box(*area)
    lines = _pieces(coast, area)
    if not len(lines):
        return None
    edges = shapely.union_all([*lines, *_extensions(lines, area), frame.exterior])
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(edges)))
    if not len(faces):
        return None
    votes = _votes(lines, faces)
    if not votes.any():
        return None
    # joined, because neighbours filled one by one leave a seam between them
    land, sea = (shapely.get_parts(shapely.union_all(faces[side])) for side in (votes > 0, votes < 0))
    return Ground(land=land, sea=sea)


def _pieces(coast: Geometries, area: Rectangle) -> Geometries:
    """Coastlines joined end to end, thinned out, and cut at the rectangle, each still in its own direction."""
    kinds = shapely.get_type_id(coast)
    lines: Geometries = coast[(kinds == shapely.GeometryType.LINESTRING) & ~shapely.is_empty(coast)]
    if not len(lines):
        return lines
    joined = shapely.get_parts(shapely.line_merge(shapely.multilinestrings(lines), directed=True))
    thinned = shapely.simplify(joined, _ROUGH_PX, preserve_topology=False)
    pieces = shapely.get_parts(shapely.clip_by_rect(thinned, *area))
    are_lines = shapely.get_type_id(pieces) == shapely.GeometryType.LINESTRING
    sound: Geometries = pieces[are_lines & ~shapely.is_empty(pieces)]
    return sound


def _extensions(lines: Geometries, area: Rectangle) -> Geometries:
    """Straight lines that close gaps: from an end inside the rectangle to the next start, or to the nearest edge."""
    left, top, right, bottom = area
    open_ended = lines[~shapely.is_closed(lines)]
    starts, ends = (shapely.get_coordinates(shapely.get_point(open_ended, at)) for at in (0, -1))
    starts, ends = (points[_inside(points, area)] for points in (starts, ends))
    free = np.ones(len(starts), dtype=bool)
    loose = []
    added = []
    for x, y in ends.tolist():
        gaps = np.where(free, np.hypot(starts[:, 0] - x, starts[:, 1] - y), np.inf)
        nearest = int(np.argmin(gaps)) if len(gaps) else -1
        if nearest >= 0 and gaps[nearest] <= min(x - left, right - x, y - top, bottom - y):
            free[nearest] = False
            added.append(shapely.LineString([(x, y), starts[nearest]]))
        else:
            loose.append((x, y))
    for x, y in [*loose, *starts[free].tolist()]:
        ways = ((x - left, (left, y)), (right - x, (right, y)), (y - top, (x, top)), (bottom - y, (x, bottom)))
        added.append(shapely.LineString([(x, y), min(ways)[1]]))
    return np.array(added, dtype=object)


def _inside(points: npt.NDArray[np.float64], area: Rectangle) -> npt.NDArray[np.bool_]:
    left, top, right, bottom = area
    x, y = points.T
    inside: npt.NDArray[np.bool_] = (x > left + 0.01) & (x < right - 0.01) & (y > top + 0.01) & (y < bottom - 0.01)
    return inside


def _votes(lines: Geometries, faces: Geometries) -> npt.NDArray[np.float64]:
    """For each face, pixels of coast that call it land, less those that call it sea."""
    coords, index = shapely.get_coordinates(lines, return_index=True)
    start, end = coords[:-1], coords[1:]
    same_line = index[:-1] == index[1:]
    start, end = start[same_line], end[same_line]
    step = end - start
    length = np.hypot(step[:, 0], step[:, 1])
    keep = length > 1e-6
    start, step, length = start[keep], step[keep], length[keep]
    middle = start + step / 2
    # y grows downwards, so the left-hand side of (dx, dy) is (dy, -dx)
    to_left = np.column_stack([step[:, 1], -step[:, 0]]) / length[:, None] * _PROBE_PX
    tree = shapely.STRtree(faces)
    votes = np.zeros(len(faces))
    for sign, probes in ((1, middle + to_left), (-1, middle - to_left)):
        which, face = tree.query(shapely.points(probes), predicate="intersects")
        np.add.at(votes, face, sign * length[which])
    return votes
