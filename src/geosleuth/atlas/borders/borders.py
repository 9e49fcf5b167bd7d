"""Countries and their first-level regions, by polygon: for one point or for millions."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput
from geosleuth.geo import Box, LatLon

from .arcs import Arcs, Labels
from .cells import Floats
from .grid import Grid
from .layer import OUTLINES, Layer, Region, read_layer, unpack
from .nearest import nearest_label
from .shapes import Detail, Level, Outlines, Shape

NOWHERE = Region(code="", name="", country="", country_name="")
"""What ``regions[0]`` holds."""

LONGEST_SNAP_KM = 100.0
Ground = Literal["land", "waters", "near"]


@dataclass(frozen=True, slots=True)
class Spot:
    """The region a point is in: on its ``land``, in its ``waters``, or ``near`` it, ``distance_km`` off in the sea."""

    region: Region
    ground: Ground
    distance_km: float = 0.0


class Borders:
    """Look-ups by polygon. Build with `Borders.load()`; safe to share between threads.

    ``regions`` is the table that look-ups index; ``regions[0]`` is `NOWHERE`. Countries are ISO 3166-1 alpha-2 codes
    (and XK for Kosovo); overseas parts with a code of their own go by it: GF, RE, PR, SJ, HK. Borders are the sources'
    view and decide nothing about any claim.
    """

    def __init__(self, layer: Layer, outlines: Arcs) -> None:
        """Make a layer ready; most callers want `load`."""
        self._arcs = {"full": layer.arcs, "light": outlines}
        self._grid = Grid(layer)
        self._count = len(layer.regions)
        self.regions: tuple[Region, ...] = (NOWHERE, *layer.regions)
        own = np.arange(self._count + 1, dtype=np.uint16)
        self._of_land: Labels = np.concatenate([own, np.zeros(self._count, dtype=np.uint16)])
        self._of_any: Labels = np.concatenate([own, own[1:]])
        self._country = np.array([region.country for region in self.regions])
        self._shapes: dict[tuple[Level, Detail], Outlines] = {}

    @classmethod
    def load(cls) -> "Borders":
        """The borders that come with the package, read once (about a second) and kept."""
        return _load()

    def lookup(self, lats: npt.ArrayLike, lons: npt.ArrayLike, *, waters: bool = True) -> Labels:
        """Which region each point is in: indices into ``regions``, 0 for none.

        Exact at borders, to the metre that the polygons are stored with. NaN, infinite and out-of-range values give 0;
        longitudes 180 and -180 are the same. Large batches use two threads.

        Args:
            lats: latitudes in degrees, of any shape.
            lons: longitudes, of the same shape.
            waters: count the waters off a coast as part of the region; a quay or a beach that the coastline leaves
                outside is then in its country. With False only land counts; see `is_land`.
        """
        return (self._of_any if waters else self._of_land)[self._labels(lats, lons)]

    def countries(self, lats: npt.ArrayLike, lons: npt.ArrayLike, *, waters: bool = True) -> npt.NDArray[np.str_]:
        """The country code of each point, empty for none."""
        return self._country[self.lookup(lats, lons, waters=waters)]

    def is_land(self, lats: npt.ArrayLike, lons: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Whether each point is on land at 1:10m. Lakes count as land, the Caspian Sea does not."""
        labels = self._labels(lats, lons)
        return (labels > 0) & (labels <= self._count)

    def reverse(self, lat: float, lon: float, *, snap_km: float = 5.0) -> Spot | None:
        """The region at a point, with how it was found; None in the open sea farther than ``snap_km`` from any.

        Raises:
            BadInput: a distance below 0 or above 100 km.
        """
        if not 0 <= snap_km <= LONGEST_SNAP_KM:
            raise BadInput(f"the distance to look around must lie between 0 and {LONGEST_SNAP_KM:g} km, not {snap_km}")
        label = int(self._labels(lat, lon))
        if label:
            return Spot(self.regions[self._of_any[label]], "land" if label <= self._count else "waters")
        if snap_km == 0 or not (math.isfinite(lat) and abs(lat) <= 90 and math.isfinite(lon) and abs(lon) <= 180):
            return None
        near = nearest_label(self._grid, lat, lon, snap_km)
        return Spot(self.regions[self._of_any[near[0]]], "near", near[1]) if near else None

    def at(self, point: LatLon, *, snap_km: float = 5.0) -> Region | None:
        """The region at a point, or the nearest within ``snap_km``."""
        spot = self.reverse(point.lat, point.lon, snap_km=snap_km)
        return spot.region if spot else None

    def shapes_in(self, box: Box, *, level: Level = "country", detail: Detail = "light") -> list[Shape]:
        """Land, countries or regions that reach into a box, as polygons for drawing.

        Args:
            box: what is to be drawn; shapes come whole, not cut to it.
            level: "land", "country" or "region".
            detail: "light" is good to 0.02 degrees and quick, "full" is all there is.
        """
        return list(self._outlines(level, detail).within(box))

    def country_outline(self, code: str, *, detail: Detail = "light") -> Shape:
        """One country's land.

        Raises:
            BadInput: no such country.
        """
        for shape in self._outlines("country", detail).of(code.upper()):
            return shape
        raise BadInput(f"no country has the code {code[:20]!r}; codes are ISO 3166-1 alpha-2, such as FR")

    def _outlines(self, level: Level, detail: Detail) -> Outlines:
        key = (level, detail)
        if key not in self._shapes:
            self._shapes[key] = Outlines(self._arcs[detail], self.regions, level, may_cross=detail == "light")
        return self._shapes[key]

    def _labels(self, lats: npt.ArrayLike, lons: npt.ArrayLike) -> Labels:
        lat, lon = _floats(lats), _floats(lons)
        if lat.shape != lon.shape:
            raise BadInput(f"as many latitudes as longitudes are needed, not {lat.shape} and {lon.shape}")
        return self._grid.labels(lat.reshape(-1), lon.reshape(-1)).reshape(lat.shape)


def _floats(values: npt.ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadInput("latitudes and longitudes must be numbers") from error


@lru_cache(maxsize=1)
def _load() -> Borders:
    return Borders(read_layer(), Arcs.from_bytes(unpack(OUTLINES)))
