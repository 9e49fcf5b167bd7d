"""Text answers without a point, placed by a geocoder: scored apart from what was answered, and marked as such.

Several papers score text answers this way. The figure then measures the geocoder too, so it never replaces the plain
one: a geocoded file stands beside its original under a name of its own, with the number of answers it placed.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from geosleuth.geo import LatLon, distances_km

from .scored import Scored

MARK = " (geocoded)"


def with_geocoded(scored: Scored, geocode: Callable[[str], LatLon | None]) -> Scored:
    """A copy in which unlocated answers that name a place stand where the geocoder puts that name."""
    lat, lon = scored.lat.copy(), scored.lon.copy()
    placed = 0
    for row, name in scored.named_only.items():
        point = geocode(name)
        if point is not None:
            lat[row], lon[row] = point.lat, point.lon
            placed += 1
    unlocated = int(np.isnan(scored.lat).sum())
    note = (
        f"{placed} of {unlocated} unlocated answers name a place and were put where the atlas has it; "
        "this measures the atlas too"
    )
    return replace(
        scored,
        label=scored.label + MARK,
        lat=lat,
        lon=lon,
        distance_km=distances_km(scored.truth_lat, scored.truth_lon, lat, lon, method=scored.distance),
        notes=(note, *scored.notes),
    )
