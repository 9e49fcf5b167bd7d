"""Which of several sorts of features stand together: one of each, near each other, in the directions asked for."""

from collections.abc import Iterator, Sequence

import numpy as np

from geosleuth.atlas.model import Colocation, Place
from geosleuth.atlas.regions.colocated import lie_in_order
from geosleuth.errors import BadInput
from geosleuth.geo import FloatArray, bearings_deg, distance_km, great_circle_km, weighted_centre

BEARING_TOLERANCE_DEG = 30.0
_MAX_STEPS = 50_000


def colocations(
    sets: Sequence[Sequence[Place]],
    within_m: float,
    *,
    bearings: Sequence[float | None] = (),
    in_order: bool = False,
    limit: int = 10,
) -> list[Colocation]:
    """Every choice of one place from each set that fits, the closest together first."""
    found = []
    for chosen in _choices(sets, within_m / 1000, bearings):
        lats, lons = _columns(chosen)
        if in_order and not lie_in_order(lats[None], lons[None])[0]:
            continue
        spread_km = max(distance_km(a.point, b.point) for a in chosen for b in chosen)
        centre = weighted_centre(lats, lons) or chosen[0].point
        score = max(0.0, 1 - spread_km * 1000 / within_m)
        found.append(Colocation(tuple(chosen), centre, spread_km * 1000, round(score, 4)))
    found.sort(key=lambda one: (one.spread_m, [place.id for place in one.places]))
    return found[:limit]


def _choices(
    sets: Sequence[Sequence[Place]], within_km: float, bearings: Sequence[float | None]
) -> Iterator[list[Place]]:
    if not all(sets):
        return
    columns = [_columns(places) for places in sets]
    unfinished: list[list[Place]] = [[first] for first in sets[0]]
    steps = 0
    while unfinished:
        chosen = unfinished.pop()
        at = len(chosen)
        if at == len(sets):
            yield chosen
            continue
        steps += 1
        if steps > _MAX_STEPS:
            raise BadInput("too many such features stand together here; give a smaller area or rarer features")
        lats, lons = columns[at]
        fits = np.ones(len(lats), dtype=bool)
        for one in chosen:
            fits &= great_circle_km(one.point.lat, one.point.lon, lats, lons) <= within_km
        wanted = bearings[at] if bearings else None
        if wanted is not None:
            first = chosen[0].point
            turns = bearings_deg(first.lat, first.lon, lats, lons) - wanted
            fits &= np.abs((turns + 180) % 360 - 180) <= BEARING_TOLERANCE_DEG
        taken = {one.id for one in chosen}
        unfinished.extend([*chosen, sets[at][i]] for i in np.flatnonzero(fits).tolist() if sets[at][i].id not in taken)


def _columns(places: Sequence[Place]) -> tuple[FloatArray, FloatArray]:
    return np.array([place.point.lat for place in places]), np.array([place.point.lon for place in places])
