"""Outlines as shapely geometries, for drawing: land, countries or regions, light or in full."""

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Literal

import numpy as np
import numpy.typing as npt
import shapely

from geosleuth.geo import Box

from .arcs import UNITS_PER_DEGREE, Arcs
from .layer import Region

Level = Literal["land", "country", "region"]
Detail = Literal["light", "full"]
Numbers = npt.NDArray[np.int64]
_WORTH_PREPARING = 100_000


@dataclass(frozen=True, slots=True)
class Shape:
    """Land as a multipolygon in (lon, lat) degrees, cut at the antimeridian.

    ``ids`` are the regions it is made of, as `Borders.regions` counts them; ``code`` is a country's or a region's.
    """

    code: str
    name: str
    ids: tuple[int, ...]
    geometry: shapely.MultiPolygon


class Outlines:
    """Polygons of one level, put together from lines when they are first asked for."""

    def __init__(self, arcs: Arcs, regions: tuple[Region, ...], level: Level, *, may_cross: bool = False) -> None:
        """``regions`` as `Borders` counts them, the first one standing for nowhere.

        ``may_cross`` says that the lines were simplified one by one, so that some cross each other by a hair.
        """
        self._may_cross = may_cross
        self._members = _members(regions, level)
        group = np.zeros(2 * len(regions), dtype=np.int64)  # waters belong to no shape
        for number, (_, _, ids) in enumerate(self._members, start=1):
            group[list(ids)] = number
        left, right = group[arcs.left], group[arcs.right]
        border = np.flatnonzero(left != right)
        self._lines = _lines(arcs, border)
        sides = np.concatenate([left[border], right[border]])
        order = np.argsort(sides, kind="stable")
        self._line_of = (np.arange(len(sides)) % max(len(border), 1))[order]
        self._begin = np.searchsorted(sides[order], np.arange(1, len(self._members) + 2))
        self._reach = self._boxes()
        self._made: dict[int, shapely.MultiPolygon] = {}
        # GEOS builds the index of a prepared shape when it is first asked, and shapely asks without Python's lock: two
        # threads that do so at once spoil the heap. So none is handed out, and they are asked one at a time.
        self._prepared: dict[int, shapely.MultiPolygon] = {}
        self._asking = Lock()

    def within(self, box: Box) -> Iterator[Shape]:
        """All shapes that reach into the box, whole."""
        halves = [(box.west, box.east)] if box.west <= box.east else [(box.west, 180.0), (-180.0, box.east)]
        frame = shapely.union_all([shapely.box(west, box.south, east, box.north) for west, east in halves])
        for number in np.flatnonzero(shapely.intersects(self._reach, frame)).tolist():
            with self._asking:
                geometry = self._geometry(number)
                reaches_in = shapely.intersects(self._prepared.get(number, geometry), frame)
            if reaches_in:
                yield Shape(*self._members[number], geometry)

    def of(self, code: str) -> Iterator[Shape]:
        """The shapes of that code."""
        for number, member in enumerate(self._members):
            if member[0] == code:
                with self._asking:
                    geometry = self._geometry(number)
                yield Shape(*member, geometry)

    def _boxes(self) -> npt.NDArray[np.object_]:
        bounds = shapely.bounds(self._lines)[self._line_of]
        boxes = []
        for begin, end in zip(self._begin[:-1], self._begin[1:], strict=True):
            mine = bounds[begin:end]
            boxes.append(shapely.box(*mine[:, :2].min(0), *mine[:, 2:].max(0)) if end > begin else shapely.Polygon())
        return np.array(boxes, dtype=object)

    def _geometry(self, number: int) -> shapely.MultiPolygon:
        if number not in self._made:
            lines = self._lines[self._line_of[self._begin[number] : self._begin[number + 1]]]
            # Areas are only found between lines that are cut where they meet.
            cut = shapely.unary_union(lines) if self._may_cross else shapely.multilinestrings(lines)
            enclosed = shapely.build_area(cut) if len(lines) else shapely.MultiPolygon()
            parts = list(shapely.get_parts(enclosed))
            self._made[number] = shapely.MultiPolygon(parts)
            if shapely.get_num_coordinates(self._made[number]) > _WORTH_PREPARING:
                self._prepared[number] = shapely.MultiPolygon(parts)
                shapely.prepare(self._prepared[number])
        return self._made[number]


def _members(regions: tuple[Region, ...], level: Level) -> list[tuple[str, str, tuple[int, ...]]]:
    everywhere = range(1, len(regions))
    if level == "land":
        return [("", "land", tuple(everywhere))]
    if level == "region":
        return [
            (regions[i].district_code or regions[i].code, regions[i].district or regions[i].name, (i,))
            for i in everywhere
        ]
    ids: dict[str, list[int]] = {}
    for i in everywhere:
        ids.setdefault(regions[i].country, []).append(i)
    return [(code, regions[members[0]].country_name, tuple(members)) for code, members in ids.items()]


def _lines(arcs: Arcs, chosen: Numbers) -> npt.NDArray[np.object_]:
    lengths = np.diff(arcs.starts)[chosen]
    begin = np.cumsum(lengths) - lengths
    source = np.arange(lengths.sum()) - np.repeat(begin, lengths) + np.repeat(arcs.starts[:-1][chosen], lengths)
    points = np.stack([arcs.x[source], arcs.y[source]], 1) / UNITS_PER_DEGREE
    return np.asarray(shapely.linestrings(points, indices=np.repeat(np.arange(len(chosen)), lengths)), dtype=object)
