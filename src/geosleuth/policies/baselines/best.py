"""The one point to answer where nothing is known of a photo: most probable within a radius, or nearest on average."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from geosleuth.geo import FloatArray, LatLon, great_circle_km

from .mass import Mass

Ints = npt.NDArray[np.int64]

_FIRST_BOXES_DEG = 15.0
_MOST_BOXES = 1500
_SMALLEST = 1 / 25
_CLOSE_ENOUGH = 2e-3
_LEAST_STEP_KM = 25.0
_STARTS = 200


@dataclass(frozen=True, slots=True)
class _Boxes:
    """Boxes of degrees: their middles, and half their heights and widths."""

    lats: FloatArray
    lons: FloatArray
    half_deg: float

    @property
    def reach_km(self) -> FloatArray:
        """How far any point of a box is from its middle, at most."""
        half = self.half_deg
        # The sides that run along parallels are longer towards the equator; one per cent makes up for curved sides.
        nearer = np.maximum(np.abs(self.lats) - half, 0.0)
        north = great_circle_km(self.lats, 0.0, self.lats + half, half)
        south = great_circle_km(self.lats, 0.0, self.lats - half, half)
        across = great_circle_km(nearer, 0.0, nearer, half)
        return 1.01 * np.maximum(np.maximum(north, south), across)

    def quarters(self, kept: Ints) -> "_Boxes":
        """Some of the boxes, each cut into four."""
        quarter = self.half_deg / 2
        steps = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)]) * quarter
        lats = (self.lats[kept][:, None] + steps[:, 0]).ravel()
        lons = (self.lons[kept][:, None] + steps[:, 1]).ravel()
        return _Boxes(lats, lons, quarter)


def likeliest(mass: Mass, radius_km: float) -> LatLon:
    """The point with most of a mass within a radius.

    Boxes of the globe are quartered again and again; those that can't hold a better point than the best so far, by two
    thousandths at least, are left out: what a box can hold is at most what lies within the radius and the box's own
    reach of its middle. It ends when boxes reach less than a twenty-fifth of the radius. Of more than 1,500 boxes the
    most hopeful are looked into.
    """
    return _search(
        lambda boxes: mass.within(boxes.lats, boxes.lons, radius_km),
        lambda boxes, _values: mass.within(boxes.lats, boxes.lons, radius_km + boxes.reach_km),
        until_km=radius_km * _SMALLEST,
        starts=_heaviest(mass),
    )


def nearest_on_average(mass: Mass) -> LatLon:
    """The point with the least mean distance to a mass."""
    return _search(
        lambda boxes: -mass.mean_km(boxes.lats, boxes.lons),
        # Nobody comes nearer to anything by more than they move.
        lambda boxes, values: values + boxes.reach_km,
        until_km=_LEAST_STEP_KM,
        starts=_heaviest(mass),
    )


def _heaviest(mass: Mass) -> _Boxes:
    largest = np.argsort(-mass.shares, kind="stable")[:_STARTS]
    return _Boxes(mass.lats[largest], mass.lons[largest], 0.0)


def _search(
    value_of: Callable[[_Boxes], FloatArray],
    bound_of: Callable[[_Boxes, FloatArray], FloatArray],
    *,
    until_km: float,
    starts: _Boxes,
) -> LatLon:
    # Good points to begin with: the better the best so far, the sooner boxes can be left out.
    values = value_of(starts)
    first = int(np.argmax(values))
    best, point = float(values[first]), LatLon(float(starts.lats[first]), float(starts.lons[first]))
    half = _FIRST_BOXES_DEG / 2
    lats, lons = np.meshgrid(np.arange(-90 + half, 90, 2 * half), np.arange(-180 + half, 180, 2 * half))
    boxes = _Boxes(lats.ravel(), lons.ravel(), half)
    while True:
        values = value_of(boxes)
        first = int(np.argmax(values))
        if values[first] > best:
            best, point = float(values[first]), LatLon(float(boxes.lats[first]), float(boxes.lons[first]))
        bounds = bound_of(boxes, values)
        hopeful = np.flatnonzero(bounds > best + _CLOSE_ENOUGH * abs(best))
        if not hopeful.size or boxes.reach_km.max() < until_km:
            return point
        kept = hopeful[np.argsort(-bounds[hopeful], kind="stable")[:_MOST_BOXES]]
        boxes = boxes.quarters(kept)
