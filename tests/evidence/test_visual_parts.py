"""What a learned prior is made of: places held out, the lowest point, slopes that are right."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.evidence.visual import experts
from geosleuth.evidence.visual.cells import (
    APART_KM,
    Areas,
    apart,
    assign_folds,
    build_areas,
    label_places,
    number_blocks,
    number_spots,
    unit_vectors,
)
from geosleuth.evidence.visual.experts import (
    _slopes,
    learn_weights,
    nearness,
    pool_opinions,
    temper,
)
from geosleuth.geo import LatLon, great_circle_km
from geosleuth.support.fitting import log_shares, lowest
from looks import towns


def _points(photos: int = 800, seed: int = 0) -> list[LatLon]:
    lats, lons, _ = towns(np.random.default_rng(seed), photos)
    return [LatLon(float(lat), float(lon)) for lat, lon in zip(lats, lons, strict=True)]


def test_no_photo_is_learned_from_near_one_that_is_held_out() -> None:
    places = label_places(_points())
    fold = assign_folds(number_blocks(places), 1, 5)
    sizes = np.bincount(fold)
    assert sizes.max() - sizes.min() <= 0.1 * len(fold)
    for number in range(5):
        out = fold == number
        used = apart(places, out)
        assert not (used & out).any()
        between = great_circle_km(
            places.lats[used][:, None], places.lons[used][:, None], places.lats[out], places.lons[out]
        )
        assert between.min() > APART_KM * 0.99
    assert apart(places, np.zeros(len(fold), dtype=np.bool_)).all()


def test_every_area_lies_in_one_country_and_is_compact() -> None:
    places = label_places(_points())
    areas, label = build_areas(places)
    names, country = places.codes
    assert areas.codes == names
    assert (areas.country[label] == country).all()
    assert np.bincount(label, minlength=len(areas)).min() >= 1
    own = np.take_along_axis(areas.distances_km(unit_vectors(places.lats, places.lons)), label[:, None], axis=1)
    assert np.median(own) < 500
    shares = np.eye(len(areas))
    assert areas.by_country(shares).sum(axis=1) == pytest.approx(np.ones(len(areas)))


@given(
    st.lists(st.floats(-3, 3), min_size=2, max_size=6),
    st.lists(st.floats(0.1, 50), min_size=6, max_size=6),
)
def test_the_lowest_point_of_a_bowl_is_found(middle: list[float], steepness: list[float]) -> None:
    where = np.array(middle)
    steep = np.array(steepness[: len(where)])

    def bowl(at: npt.NDArray[np.floating]) -> tuple[float, npt.NDArray[np.floating]]:
        return float((steep * (at - where) ** 2).sum()), 2 * steep * (at - where)

    found = lowest(bowl, np.zeros(len(where)), 200)
    assert bowl(found)[0] < 1e-3


def test_the_networks_slopes_are_those_of_its_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experts, "_DROP_INPUT", 0.0)
    monkeypatch.setattr(experts, "_DROP_HIDDEN", 0.0)
    chance = np.random.default_rng(0)
    shapes: list[tuple[int, ...]] = [(5, 4), (4,), (4, 3), (3,)]
    layers = [chance.normal(size=shape) for shape in shapes]
    rows, targets = chance.normal(size=(7, 5)), chance.dirichlet(np.ones(3), 7)

    def loss() -> float:
        hidden = np.maximum(rows @ layers[0] + layers[1], 0)
        return float(-(targets * log_shares(hidden @ layers[2] + layers[3])).sum() / len(rows))  # type: ignore[arg-type]

    told = _slopes(layers, rows, targets, chance)  # type: ignore[arg-type]
    for layer, slope in zip(layers, told, strict=True):
        for at in np.ndindex(layer.shape):
            before = layer[at]
            layer[at] = before + 1e-5
            above = loss()
            layer[at] = before - 1e-5
            below = loss()
            layer[at] = before
            assert slope[at] == pytest.approx((above - below) / 2e-5, abs=1e-4)


def _square(photos: int, areas: int) -> tuple[Areas, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    chance = np.random.default_rng(3)
    centres = unit_vectors(np.linspace(-60, 60, areas), np.linspace(-150, 150, areas))
    right = chance.integers(0, areas, photos)
    return Areas(tuple("ABCDEFGH"[:areas]), np.arange(areas), centres), right, centres[right]


def test_the_one_who_knows_is_listened_to_and_the_one_who_guesses_is_not() -> None:
    areas, right, points = _square(400, 6)
    chance = np.random.default_rng(0)
    knowing = log_shares((3.0 * np.eye(6)[right] + chance.normal(size=(400, 6))).astype(np.float32))
    guessing = log_shares((3.0 * chance.normal(size=(400, 6))).astype(np.float32))
    pool = learn_weights([knowing, guessing], right, nearness(points, areas), areas)
    assert pool.weights[0] > 0.7
    assert abs(pool.weights[1]) < 0.1
    shares = pool_opinions(pool.weights, [knowing, guessing])
    assert shares.sum(axis=1) == pytest.approx(np.ones(400), abs=1e-5)


def test_one_who_boasts_is_toned_down() -> None:
    areas, right, points = _square(400, 6)
    chance = np.random.default_rng(1)
    modest = (1.5 * np.eye(6)[right] + chance.normal(size=(400, 6))).astype(np.float32)
    pool = learn_weights([log_shares(5 * modest)], right, nearness(points, areas), areas)
    shares = pool_opinions(pool.weights, [log_shares(5 * modest)])
    hits = shares.argmax(axis=1) == right
    assert float(shares.max(axis=1).mean()) == pytest.approx(float(hits.mean()), abs=0.06)


def test_one_who_is_too_modest_is_believed_more() -> None:
    areas, right, _ = _square(600, 6)
    chance = np.random.default_rng(2)
    sure = (2.0 * np.eye(6)[right] + chance.normal(size=(600, 6))).astype(np.float32)
    blind = np.full((600, 6), np.log(1 / 6), dtype=np.float32)
    opinions, modest, missing = [blind, log_shares(sure)], np.array([0.0, 0.9]), 0.02
    for weights in (modest, 3 * modest):
        shares = areas.by_country(pool_opinions(temper(weights, opinions, right, areas, missing), opinions))
        hits = float((shares.argmax(axis=1) == right).mean())
        assert (1 - missing) * float(shares.max(axis=1).mean()) == pytest.approx(hits, abs=0.03)


def test_photos_of_one_spot_are_one_and_those_of_the_next_town_are_not() -> None:
    places = label_places([LatLon(48.8501, 2.3501), LatLon(48.8502, 2.3503), LatLon(48.95, 2.35), LatLon(40.4, -3.7)])
    spot = number_spots(places, np.array([0, 0, 0, 1]))
    assert spot[0] == spot[1]
    assert len(set(spot.tolist())) == 3
    assert len(set(number_spots(places, np.array([0, 1, 0, 1])).tolist())) == 4
