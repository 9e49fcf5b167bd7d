"""Priors that never look: the best point there is, honest odds, random draws that repeat."""

import asyncio
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseline_tasks import ask, asked
from drawn import examples
from geosleuth.geo import LatLon, distance_km, great_circle_km
from geosleuth.lab.baselines import is_baseline
from geosleuth.lab.baselines.blind import (
    Mass,
    best_guess,
    disc_share,
    likeliest,
    nearest_on_average,
    people,
    share_around,
)
from geosleuth.models import make_policy
from geosleuth.support.errors import BadInput
from scenery import scene


def _mass(*rows: tuple[float, float, float], reach_km: float = 1.0) -> Mass:
    lats, lons, shares = (np.array(part) for part in zip(*rows, strict=True))
    return Mass(lats, lons, shares / shares.sum(), np.full(len(rows), reach_km), "dots")


def test_the_likeliest_point_lies_between_towns_and_not_in_the_largest() -> None:
    # Three towns within reach of a common middle outweigh a larger one that stands alone.
    mass = _mass((0.0, 0.0, 4), (50.0, 100.0, 3), (51.0, 101.0, 3), (50.0, 102.0, 3))
    point = likeliest(mass, 120.0)
    assert mass.within(np.array([point.lat]), np.array([point.lon]), 120.0)[0] == pytest.approx(9 / 13)
    assert distance_km(point, LatLon(50.4, 101.0)) < 60


def test_the_date_line_is_no_border() -> None:
    mass = _mass((10.0, 179.5, 1), (10.0, -179.5, 1), (10.0, 0.0, 1.5))
    point = likeliest(mass, 100.0)
    assert mass.within(np.array([point.lat]), np.array([point.lon]), 100.0)[0] == pytest.approx(2 / 3.5)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([300.0, 1000.0]))
def test_no_point_of_a_fine_grid_beats_it(seed: int, radius_km: float) -> None:
    chance = np.random.default_rng(seed)
    mass = Mass(chance.uniform(-60, 60, 40), chance.uniform(-180, 180, 40), np.full(40, 1 / 40), np.full(40, 20.0), "")
    best = likeliest(mass, radius_km)
    lats, lons = (part.ravel() for part in np.meshgrid(np.arange(-70, 71, 2.0), np.arange(-180, 180, 2.0)))
    found = mass.within(np.array([best.lat]), np.array([best.lon]), radius_km)[0]
    assert found >= mass.within(lats, lons, radius_km).max() * (1 - 0.003)


def test_the_nearest_on_average_is_where_the_mean_error_is_least() -> None:
    mass = _mass((0.0, 0.0, 1), (0.0, 10.0, 1), (0.0, 20.0, 3))
    point = nearest_on_average(mass)
    tried = mass.mean_km(np.zeros(41), np.linspace(-10, 30, 41))
    assert mass.mean_km(np.array([point.lat]), np.array([point.lon]))[0] <= tried.min() * 1.01


@settings(max_examples=examples(50))
@given(st.floats(0.5, 400), st.floats(0.5, 400), st.floats(0, 900))
def test_what_discs_share_is_what_dots_in_them_show(radius: float, reach: float, away: float) -> None:
    chance = np.random.default_rng(1)
    far, turn = reach * np.sqrt(chance.random(20_000)), chance.random(20_000) * 2 * np.pi
    seen = np.mean((away + far * np.cos(turn)) ** 2 + (far * np.sin(turn)) ** 2 <= radius**2)
    (share,) = disc_share(np.array([radius]), np.array([reach]), np.array([away]))
    assert share == pytest.approx(seen, abs=0.02)


@pytest.mark.slow
def test_population_answers_are_most_probable_at_their_own_distance() -> None:
    near, far = best_guess("population", 25.0), best_guess("population", 2500.0)
    assert share_around("population", near.point, 25.0) > share_around("population", far.point, 25.0)
    assert share_around("population", far.point, 2500.0) > share_around("population", near.point, 2500.0)
    assert near.share == pytest.approx(share_around("population", near.point, 25.0))
    largest = int(np.argmax(people().shares))
    alone = share_around("population", LatLon(float(people().lats[largest]), float(people().lons[largest])), 25.0)
    assert near.share >= alone * 0.998


def test_a_blind_prior_says_the_same_of_every_photo_and_is_quick() -> None:
    policy = make_policy("blind:population,within=25")
    first = ask(policy, scene(1))
    began = time.process_time()
    assert ask(policy, scene(2)) == first
    assert time.process_time() - began < 1
    assert first.address.country.conclusion == "China"
    assert first.radius_km == 25.0
    assert first.probability == pytest.approx(best_guess("population", 25.0).share)
    assert "not looked at" in (first.explanation or "")


@pytest.mark.slow
def test_land_lies_inland_and_counts_what_land_there_is() -> None:
    answer = ask(make_policy("blind:land,within=25"), scene(1))
    assert answer.point is not None
    # 25 km around it is all land: pi times 25 squared, of some 135 million km2.
    assert answer.probability == pytest.approx(1963.5 / 135e6, rel=0.03)


def test_a_fixed_point_is_answered_with_the_odds_it_deserves() -> None:
    answer = ask(make_policy("blind:35.68,139.69,within=50"), scene(1))
    assert answer.point == LatLon(35.68, 139.69)
    assert 0.002 < (answer.probability or 0) < 0.02


def test_draws_repeat_by_seed_and_photo_and_are_no_one_place() -> None:
    policy = make_policy("blind:population-draw,within=750")
    found = [ask(policy, scene(number)) for number in range(12)]
    assert found == [ask(policy, scene(number)) for number in range(12)]
    assert len({answer.point for answer in found}) == 12
    assert ask(policy, scene(0), seed=7).point != found[0].point
    for answer in found:
        assert answer.point is not None
        assert answer.probability == pytest.approx(share_around("population", answer.point, 750.0))


def test_draws_fall_where_people_are() -> None:
    points = [people().draw(str(number).encode()) for number in range(400)]
    china = sum(1 for point in points if 18 < point.lat < 54 and 74 < point.lon < 135)
    shares = (
        people()
        .shares[(people().lats > 18) & (people().lats < 54) & (people().lons > 74) & (people().lons < 135)]
        .sum()
    )
    assert china / 400 == pytest.approx(shares, abs=0.08)
    nearest = [great_circle_km(point.lat, point.lon, people().lats, people().lons).min() for point in points]
    assert np.median(nearest) < 30


def test_land_draws_are_on_land() -> None:
    from geosleuth.atlas.borders import Borders

    policy = make_policy("blind:land-draw")
    points = [answer.point for number in range(30) if (answer := ask(policy, scene(number))).point]
    land = Borders.load().is_land(np.array([one.lat for one in points]), np.array([one.lon for one in points]))
    assert land.mean() > 0.8


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("blind:people", "blind:population"),
        ("blind:91,0", "is no point"),
        ("blind:population,within=0", "kilometres above 0"),
        ("blind:population,within=far", "kilometres above 0"),
        ("blind:population,k=3", "no option here"),
        ("blind:population,within=1,within=2", "given twice"),
        ("blind:population-draw,within=error", "kilometres above 0"),
        ("blind:", "is no prior"),
        ("nearest", "lacks the gallery"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(spec: str, told: str) -> None:
    with pytest.raises(BadInput, match=told) as caught:
        make_policy(spec)
    assert "\n" not in str(caught.value)


def test_baselines_are_known_by_name_and_stay_on_this_machine() -> None:
    assert is_baseline("blind:land")
    assert not is_baseline("openai:gpt-5")
    policy = make_policy("blind:population", offline=True)
    assert (policy.name, policy.hosts) == ("blind:population", frozenset())
    with pytest.raises(BadInput, match="--base-url"):
        make_policy("blind:population", base_url="http://127.0.0.1:1/v1")
    asyncio.run(policy.aclose())


def test_a_task_without_a_picture_is_answered_too() -> None:
    assert ask(make_policy("blind:population,within=25"), None).located
    assert asked(None).messages
