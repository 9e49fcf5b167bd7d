"""Positions that are near each other are found by cells, whatever their number and wherever they are."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from geosleuth.atlas.regions import cells
from geosleuth.atlas.regions.cells import in_company, neighbours
from geosleuth.geo import great_circle_km


@pytest.mark.parametrize("middle", [(0.0, 0.0), (60.0, 180.0), (-89.9, 10.0), (89.99, -179.9)])
def test_no_neighbour_is_left_out(middle: tuple[float, float]) -> None:
    chance = np.random.default_rng(5)
    lats, lons, other_lats, other_lons = (
        np.clip(middle[0] + chance.uniform(-0.02, 0.02, 60), -90, 90) if at % 2 == 0
        else (middle[1] + chance.uniform(-0.02, 0.02, 60) + 540) % 360 - 180
        for at in range(4)
    )  # fmt: skip
    for radius_m in (50.0, 500.0, 3000.0):
        one, two = neighbours((lats, lons), (other_lats, other_lons), radius_m)
        metres = great_circle_km(lats[:, None], lons[:, None], other_lats[None], other_lons[None]) * 1000
        near = set(zip(*(places.tolist() for places in np.nonzero(metres <= radius_m)), strict=True))
        pairs = list(zip(one.tolist(), two.tolist(), strict=True))
        assert near <= set(pairs)
        assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("counts", [(40, 40), (500, 30), (25, 400, 60), (20, 20, 20, 500)])
@pytest.mark.parametrize("reach", [0.001, 0.02, 0.4])
@pytest.mark.parametrize("at_once", [7, 10_000])
def test_what_is_together_is_kept_and_what_is_far_is_not(
    monkeypatch: pytest.MonkeyPatch, counts: tuple[int, ...], reach: float, at_once: int
) -> None:
    monkeypatch.setattr(cells, "_AT_ONCE", at_once)
    chance = np.random.default_rng(27)
    sets = [(chance.uniform(-1, 1, count), chance.uniform(177, 179, count)) for count in counts]

    def near(one: int, two: int, times: float) -> NDArray[np.bool_]:
        (lats, lons), (other_lats, other_lons) = sets[one], sets[two]
        north, east = np.abs(lats[:, None] - other_lats), np.abs(lons[:, None] - other_lons)
        return (north <= times * reach) & (east <= times * 2 * reach)

    together = np.ones(counts, dtype=bool)  # each combination of one position from each set
    for one, two in itertools.combinations(range(len(counts)), 2):
        shape = [count if number in (one, two) else 1 for number, count in enumerate(counts)]
        together &= near(one, two, 1.0).reshape(shape)
    kept = in_company(sets, reach, 2 * reach)
    far_ones = 0
    for number, some in enumerate(kept):
        others = [other for other in range(len(counts)) if other != number]
        must = np.flatnonzero(np.any(together, axis=tuple(others)))
        assert set(must.tolist()) <= set(some.tolist())
        far = ~np.logical_and.reduce([near(number, other, 4.0).any(axis=1) for other in others])
        far_ones += int(far[some].sum())
    assert far_ones <= 0.15 * sum(counts)
