import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.geo import (
    FloatArray,
    LatLon,
    compute_weighted_centre,
    density_mode,
    destinations,
    distance_km,
    great_circle_km,
    medoid,
)

SEEDS = st.integers(0, 10_000)
SEAMS = [LatLon(90, 0), LatLon(-90, 0), LatLon(0, 180), LatLon(45, -180), LatLon(48, 2)]


def cluster(
    seed: int, centre: LatLon, n: int = 25, spread_km: float = 800
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same courses and distances from any centre: a cluster that can be set down anywhere on the globe."""
    rng = np.random.default_rng(seed)
    lats, lons = destinations(centre.lat, centre.lon, rng.uniform(0, 360, n), spread_km * rng.uniform(0, 1, n))
    return lats, lons, rng.uniform(0.1, 1, n)


@pytest.mark.parametrize("centre", SEAMS)
@settings(max_examples=examples(25))
@given(seed=SEEDS)
def test_the_medoid_is_the_same_point_wherever_the_cluster_lies(centre: LatLon, seed: int) -> None:
    lats, lons, weights = cluster(seed, centre)
    here = cluster(seed, LatLon(0, 0))
    assert medoid(lats, lons, weights) == medoid(*here)


@settings(max_examples=examples(25))
@given(SEEDS)
def test_no_other_point_is_nearer_to_all(seed: int) -> None:
    lats, lons, weights = cluster(seed, LatLon(88, 0))
    sums = [float(weights @ great_circle_km(lat, lon, lats, lons)) for lat, lon in zip(lats, lons, strict=True)]
    assert sums[medoid(lats, lons, weights)] == pytest.approx(min(sums))


def test_an_outlier_does_not_move_the_medoid() -> None:
    assert medoid(np.array([10.0, 10.0, 10.0, -60.0]), np.array([179.9, 180.0, -179.9, 0.0])) == 1


@pytest.mark.parametrize("centre", SEAMS)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_centres_turn_with_the_globe(centre: LatLon, seed: int) -> None:
    lats, lons, weights = cluster(seed, centre)
    home_lats, home_lons, _ = cluster(seed, LatLon(0, 0))
    for found, at_home in [
        (compute_weighted_centre(lats, lons, weights), compute_weighted_centre(home_lats, home_lons, weights)),
        (density_mode(lats, lons, 400, weights), density_mode(home_lats, home_lons, 400, weights)),
    ]:
        assert found is not None
        assert at_home is not None
        # As far from every point of the cluster as at home: the same place in the cluster.
        np.testing.assert_allclose(
            great_circle_km(found.lat, found.lon, lats, lons),
            great_circle_km(at_home.lat, at_home.lon, home_lats, home_lons),
            atol=1e-2,
        )


def test_the_centre_of_a_ring_round_the_pole_is_the_pole() -> None:
    lons = np.arange(-180.0, 180.0, 30.0)
    centre = compute_weighted_centre(np.full(12, 80.0), lons)
    assert centre is not None
    assert distance_km(centre, LatLon(90, 0)) < 1e-8
    assert distance_km(density_mode(np.full(12, 80.0), lons, 1200), LatLon(90, 0)) < 1


def test_the_centre_of_two_places_is_half_way_and_follows_the_weights() -> None:
    lats, lons = np.array([0.0, 0.0]), np.array([170.0, -170.0])
    middle, pulled = compute_weighted_centre(lats, lons), compute_weighted_centre(lats, lons, np.array([3.0, 1.0]))
    assert middle is not None
    assert pulled is not None
    assert distance_km(middle, LatLon(0, 180)) < 1e-9
    assert 170 < pulled.lon < 180


def test_places_that_cancel_out_have_no_centre() -> None:
    assert compute_weighted_centre(np.array([90.0, -90.0]), np.array([0.0, 0.0])) is None
    assert compute_weighted_centre(np.zeros(4), np.array([-180.0, -90.0, 0.0, 90.0])) is None


def test_the_mode_is_the_dense_place_not_the_middle() -> None:
    lats = np.array([60.0, 60.01, 59.99, -30.0, 10.0])
    lons = np.array([179.99, -179.99, 180.0, 20.0, 100.0])
    mode = density_mode(lats, lons, 50)
    assert distance_km(mode, LatLon(60, 180)) < 1
    assert distance_km(density_mode(lats, lons, 50, np.array([1, 1, 1, 9.0, 1])), LatLon(-30, 20)) < 1


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([5.0, 200.0, 1000.0]))
def test_nowhere_on_a_grid_is_denser_than_the_mode(seed: int, bandwidth_km: float) -> None:
    centre = LatLon(70, 180)
    lats, lons, weights = cluster(seed, centre, n=12)

    def density(lat: FloatArray, lon: FloatArray) -> FloatArray:
        angle = great_circle_km(lat[:, None], lon[:, None], lats, lons) / 6371
        kappa = (6371 / bandwidth_km) ** 2
        kernel: FloatArray = np.exp(-2 * kappa * np.sin(angle / 2) ** 2) @ weights
        return kernel

    mode = density_mode(lats, lons, bandwidth_km, weights)
    peak = float(density(np.array([mode.lat]), np.array([mode.lon]))[0])
    courses, reach = np.meshgrid(np.arange(0.0, 360.0, 3.0), np.linspace(0, 900, 60))
    around = density(*destinations(centre.lat, centre.lon, courses.ravel(), reach.ravel()))
    assert peak >= around.max() * (1 - 1e-6)
    assert peak >= density(lats, lons).max() * (1 - 1e-9)


NONE: FloatArray = np.array([])
ONE: FloatArray = np.array([1.0])


@pytest.mark.parametrize(
    ("lats", "lons", "weights", "complaint"),
    [
        (NONE, NONE, None, "no points"),
        (ONE, np.array([1.0, 2.0]), None, "equally long"),
        (ONE, ONE, np.array([1.0, 2.0]), "equally long"),
        (np.array([91.0]), ONE, None, "latitude"),
        (ONE, np.array([math.nan]), None, "longitude"),
        (ONE, ONE, np.array([-1.0]), "weights"),
        (ONE, ONE, np.array([0.0]), "weights"),
        (ONE, ONE, np.array([math.nan]), "weights"),
    ],
)
def test_impossible_questions_are_refused(
    lats: FloatArray, lons: FloatArray, weights: FloatArray | None, complaint: str
) -> None:
    for ask in (
        lambda: medoid(lats, lons, weights),
        lambda: compute_weighted_centre(lats, lons, weights),
        lambda: density_mode(lats, lons, 10, weights),
    ):
        with pytest.raises(ValueError, match=complaint):
            ask()
