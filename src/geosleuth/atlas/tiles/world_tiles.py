"""Land and borders of the whole world cut down to tiles, kept once made, and how much detail may be shown.

Each tile is cut from its ancestor, which is kept for its other children: so the outline of Eurasia is walked once, and
not for every tile of it.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
import shapely

from geosleuth.answer import GRANULARITIES, Granularity
from geosleuth.atlas.borders import NOWHERE
from geosleuth.atlas.borders import Detail as BordersDetail
from geosleuth.atlas.borders.borders import Outlines
from geosleuth.atlas.borders.grid import OUTLINES, UNITS_PER_DEGREE, Arcs, Layer, read_layer, unpack
from geosleuth.atlas.folders import KeptFiles
from geosleuth.errors import BadInput
from geosleuth.names import country_name

from .mvt import BUFFER, EXTENT, MAX_ZOOM, TILE_PX, Feature, Frame, Geometries, clipped, on_plane

_OWN_COST = 200  # bytes that an entry takes beside its own


class Memory:
    """The latest results, as many as fit into so many bytes. What is being made is not made twice at once."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}

    @property
    def held_bytes(self) -> int:
        """What is held now."""
        return self._held

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """What is known under a key, or what ``make`` makes."""
        known = self._known(key)
        if known is not None:
            return known
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                known = self._known(key)
                return self._keep(key, make()) if known is None else known
        finally:
            with self._lock:
                self._making.pop(key, None)

    def _known(self, key: Hashable) -> bytes | None:
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
            return known

    def _keep(self, key: Hashable, made: bytes) -> bytes:
        with self._lock:
            self._kept[key] = made
            self._held += len(made) + _OWN_COST
            while self._held > self._most and self._kept:
                _, old = self._kept.popitem(last=False)
                self._held -= len(old) + _OWN_COST
        return made


FULL_DETAIL_FROM = 7
REGION_BORDERS_FROM = 3
_REGION_PX = 44.0  # how wide the middle one of a country's regions must be
_LEVELS = 2  # from one kept ancestor to the next
_KEPT = 400
_EDGE = 0.05  # how far land that meets the plane's lower end is drawn beyond it
_SNAPPED = 6e-5  # 0.02 degrees
_ROUGH = 3.0  # units: less than a pixel while the tile is shown at its largest
_LEAST_AREA = 6.0  # by the square of the roughness
_FEW_CORNERS = 6  # a plain house is as simple as it gets
_BUILDING = threading.RLock()
_LAND: "dict[BordersDetail, Cut]" = {}


class Cut:
    """Shapes of the world that hand out what reaches into a tile, and remember what they cut for its ancestors."""

    def __init__(self, shapes: Geometries) -> None:
        """``shapes`` are in shares of the plane."""
        self._all = shapes
        self._kept: OrderedDict[tuple[int, int, int], Geometries] = OrderedDict()
        self._lock = threading.Lock()

    def within(self, frame: Frame) -> Geometries:
        """Everything that reaches into a tile's buffer, cut there, as shares of the plane."""
        with self._lock:
            return self._pieces(frame.z, frame.x, frame.y)

    def _pieces(self, z: int, x: int, y: int) -> Geometries:
        if z == 0:
            return self._all
        known = self._kept.get((z, x, y))
        if known is not None:
            self._kept.move_to_end((z, x, y))
            return known
        up = z % _LEVELS or _LEVELS
        above = self._pieces(z - up, x >> up, y >> up)
        pieces = _sound(clipped(above, Frame(z, x, y).reach))
        self._kept[z, x, y] = pieces
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return pieces


def _sound(shapes: Geometries) -> Geometries:
    """Parts of shapes without empty ones and without rings that cross themselves, as cutting may leave them."""
    parts = shapely.get_parts(shapes)
    broken = ~shapely.is_valid(parts)
    if broken.any():
        parts[broken] = shapely.make_valid(parts[broken])
        parts = shapely.get_parts(shapely.get_parts(parts))
    sound: Geometries = parts[~shapely.is_empty(parts)]
    return sound


def land(frame: Frame, folder: KeptFiles) -> Geometries:
    """The world's land in a tile, in its units, without what is too small to see."""
    pieces = thinned(_in_units(_land("full" if frame.z >= FULL_DETAIL_FROM else "light", folder), frame))
    pieces = _sound(pieces)
    if 0 < frame.x < (1 << frame.z) - 1:
        return pieces
    # Joined, because land on both sides of the antimeridian must not show it as a shore.
    left, _, right, _ = shapely.bounds(pieces).T
    cut = (np.abs(left) < 1) | (np.abs(right) < 1) | (np.abs(left - EXTENT) < 1) | (np.abs(right - EXTENT) < 1)
    joined = shapely.union_all(pieces[cut], grid_size=0.5)
    together: Geometries = np.concatenate([pieces[~cut], shapely.get_parts([joined])])
    return together


def borders(frame: Frame, *, of_regions: bool) -> list[Feature]:
    """Borders between countries, and where they are wanted between regions of one that are wide enough to see."""
    abroad, inside = _borders("full" if frame.z >= FULL_DETAIL_FROM else "light")
    lines = [("region", cut) for from_zoom, cut in inside.items() if of_regions and frame.z >= from_zoom]
    return [Feature(thinned(_in_units(cut, frame)), {"class": name}) for name, cut in [*lines, ("country", abroad)]]


def thinned(shapes: Geometries, rough: float = _ROUGH) -> Geometries:
    """Each shape, in a tile's units, with as many corners as can be seen; nothing for a speck."""
    seen = (shapely.get_dimensions(shapes) < 2) | (shapely.area(shapes) >= _LEAST_AREA * rough * rough)
    out: Geometries = np.where(seen, shapes, shapely.Point())
    rich = seen & (shapely.get_num_coordinates(shapes) > _FEW_CORNERS)
    out[rich] = shapely.simplify(shapes[rich], rough, preserve_topology=False)
    return out


def _in_units(cut: Cut, frame: Frame) -> Geometries:
    """What a tile shows, that beyond the antimeridian included where its buffer reaches there."""
    found = [frame.from_plane(cut.within(frame))]
    last = (1 << frame.z) - 1
    for edge, other, turns in ((0, last, -1), (last, 0, 1)):
        if frame.x == edge:
            beyond = frame.from_plane(cut.within(Frame(frame.z, other, frame.y)), turns)
            # Only at the sides: above and below it is cut already, and cutting twice at one line may go wrong.
            found.append(clipped(beyond, (-BUFFER, -EXTENT, EXTENT + BUFFER, 2 * EXTENT)))
    return np.concatenate(found)


def _land(detail: BordersDetail, folder: KeptFiles) -> Cut:
    with _BUILDING:
        if detail not in _LAND:
            _LAND[detail] = folder.load(f"land-{detail}.wkb", lambda: _built_land(detail), _read_land)
        return _LAND[detail]


def _read_land(wkb: bytes) -> Cut:
    return Cut(shapely.get_parts(shapely.from_wkb(wkb)))


def _borders(detail: BordersDetail) -> tuple[Cut, dict[int, Cut]]:
    """Lines with another country on the other side, and with another region of the same one, by the zoom they suit."""
    with _BUILDING:
        return _built_borders(detail)


def country_shapes() -> Iterator[tuple[str, Geometries]]:
    """Name and outline, as shares of the plane, of each country."""
    regions = (NOWHERE, *_layer().regions)
    outlines = Outlines(_arcs("light"), regions, "country", may_cross=True)
    for code in dict.fromkeys(region.country for region in regions[1:]):
        for shape in outlines.of(code):
            name = country_name(code)
            yield shape.name if name == code else name, _projected(shapely.get_parts(shape.geometry))


def _built_land(detail: BordersDetail) -> bytes:
    """Putting outlines together takes seconds, hence as something that can be kept."""
    outlines = Outlines(_arcs(detail), (NOWHERE, *_layer().regions), "land", may_cross=detail == "light")
    near = _SNAPPED if detail == "light" else 0.0
    parts = [_projected(shapely.get_parts(shape.geometry), near) for shape in outlines.of("")]
    polygons = [part for part in _sound(np.concatenate(parts)) if part.geom_type == "Polygon"]
    wkb: bytes = shapely.to_wkb(shapely.MultiPolygon(polygons))
    return wkb


@cache
def _built_borders(detail: BordersDetail) -> tuple[Cut, dict[int, Cut]]:
    arcs, regions = _arcs(detail), _layer().regions
    waters = [""] * len(regions)
    country = np.array(["", *(region.country for region in regions), *waters])
    region = np.array(["", *(region.code for region in regions), *waters])
    between = (country[arcs.left] != "") & (country[arcs.right] != "")
    abroad = country[arcs.left] != country[arcs.right]
    elsewhere = between & ~abroad & (region[arcs.left] != region[arcs.right])
    from_zoom = _region_zooms(arcs, country)[arcs.left]
    inside = {zoom: _lines(arcs, elsewhere & (from_zoom == zoom)) for zoom in np.unique(from_zoom[elsewhere]).tolist()}
    return _lines(arcs, between & abroad), inside


def _region_zooms(arcs: Arcs, country: npt.NDArray[np.str_]) -> npt.NDArray[np.int64]:
    """For each zone, the zoom from which its country's regions are wide enough for their borders to be drawn."""
    plane = on_plane(np.column_stack([arcs.x, arcs.y]) / UNITS_PER_DEGREE)
    low = np.full((len(country), 2), np.inf)
    high = np.full((len(country), 2), -np.inf)
    for side in (arcs.left, arcs.right):
        np.minimum.at(low, side, np.minimum.reduceat(plane, arcs.starts[:-1]))
        np.maximum.at(high, side, np.maximum.reduceat(plane, arcs.starts[:-1]))
    with np.errstate(invalid="ignore"):
        wide_px = np.sqrt(np.maximum(high - low, 0).prod(axis=1)) * TILE_PX
    zooms = np.full(len(country), FULL_DETAIL_FROM, dtype=np.int64)
    for code in np.unique(country[country != ""]):
        mine = (country == code) & np.isfinite(wide_px) & (wide_px > 0)
        if mine.any():
            wanted = np.ceil(np.log2(_REGION_PX / np.median(wide_px[mine])))
            zooms[country == code] = int(np.clip(wanted, REGION_BORDERS_FROM, FULL_DETAIL_FROM + 2))
    return zooms


@cache
def _layer() -> Layer:
    return read_layer()


def _arcs(detail: BordersDetail) -> Arcs:
    return _layer().arcs if detail == "full" else Arcs.from_bytes(unpack(OUTLINES))


def _projected(parts: Geometries, near: float = 0.0) -> Geometries:
    """On the plane; what lies so near its sides is brought right there, since light outlines miss them by a hair."""
    plane = on_plane(shapely.get_coordinates(parts))
    plane[plane[:, 0] < near, 0] = 0.0
    plane[plane[:, 0] > 1 - near, 0] = 1.0
    plane[plane[:, 1] > 1 - 1e-9, 1] += _EDGE
    projected: Geometries = shapely.set_coordinates(parts, plane)
    return projected


def _lines(arcs: Arcs, chosen: npt.NDArray[np.bool_]) -> Cut:
    of_corner = np.repeat(np.arange(len(arcs)), np.diff(arcs.starts))
    mine = chosen[of_corner]
    plane = on_plane(np.column_stack([arcs.x[mine], arcs.y[mine]]) / UNITS_PER_DEGREE)
    number = np.cumsum(chosen) - 1
    return Cut(np.asarray(shapely.linestrings(plane, indices=number[of_corner[mine]]), dtype=object))


@dataclass(frozen=True, slots=True)
class Detail:
    """What tiles hold: ``ground`` is water, parks and land use of added regions, ``spots`` are shops and such."""

    max_zoom: int
    least_people: int = 0
    region_borders: bool = True
    ground: bool = True
    streets: bool = True
    spots: bool = True


_DETAILS: Final[dict[Granularity, Detail]] = {
    "country": Detail(4, 1_000_000, region_borders=False, ground=False, streets=False, spots=False),
    "region": Detail(6, 100_000, ground=False, streets=False, spots=False),
    "city": Detail(10, streets=False, spots=False),
    "street": Detail(MAX_ZOOM, spots=False),
    "exact": Detail(MAX_ZOOM),
}


def detail_of(finest: str) -> Detail:
    """What a granularity admits.

    Raises:
        BadInput: there is no such granularity.
    """
    for name, detail in _DETAILS.items():
        if name == finest:
            return detail
    raise BadInput(f"{finest[:40]!r} is no granularity; use one of {', '.join(GRANULARITIES)}")
