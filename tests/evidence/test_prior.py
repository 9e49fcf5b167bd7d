"""The prior: where photos are before anything is seen, and how likely a random place is to be a given one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.evidence.country_prior import MIN_CHANCE, country_prior, world_prior
from geosleuth.evidence.heartlands import find_country, heartland, shares_within
from geosleuth.geo import Box, Disc, LatLon, distance_km

CODES = sorted(country_prior())


def chance_of_place(country: str | None, radius_km: float) -> float:
    world = world_prior()
    at = world.codes.index(country) if country in world.codes else -1
    return float(world.chance(np.array([at]), np.array([radius_km]))[0])


def test_the_prior_is_a_distribution_in_which_every_country_has_a_share() -> None:
    prior = country_prior()
    assert sum(prior.values()) == pytest.approx(1.0)
    assert min(prior.values()) > 0
    assert {"MC", "AD", "FI", "AQ", "XK"} <= set(prior)


def test_wealth_roads_and_visitors_count() -> None:
    prior = country_prior()
    assert prior["IN"] > prior["FR"] > prior["MC"]
    # A quarter of the product of all countries, a tenth of the roads, 4 % of the people.
    assert 0.1 < prior["US"] < 0.2
    assert prior["KP"] < 0.1 * prior["KR"], "hardly anybody may take photos there"
    assert prior["MC"] > 1e-4, "thirty-nine thousand people, and many more with a camera"


@given(st.sampled_from(CODES), st.floats(0.01, 15_000), st.floats(0.01, 15_000))
def test_a_larger_place_is_likelier_and_never_likelier_than_its_country(code: str, one: float, other: float) -> None:
    small, large = sorted((one, other))
    most = max(country_prior()[code], MIN_CHANCE) * (1 + 1e-12)
    assert MIN_CHANCE <= chance_of_place(code, small) <= chance_of_place(code, large) <= most


def test_a_shop_has_the_least_chance_and_monaco_is_a_single_town() -> None:
    assert chance_of_place("FI", 0.15) == MIN_CHANCE
    assert chance_of_place("MC", 2.0) == pytest.approx(country_prior()["MC"])


def test_a_country_is_its_largest_city_and_reaches_as_far_as_most_of_its_people() -> None:
    finland = heartland("FI")
    assert finland is not None
    assert distance_km(finland.point, LatLon(60.17, 24.94)) < 5
    assert 100 < finland.radius_km < 600
    monaco = heartland("MC")
    assert monaco is not None
    assert 1 <= monaco.radius_km < 3
    andorra = heartland("AD")
    assert andorra is not None
    assert 8 < andorra.radius_km < 30, "most of its people live outside its one listed town"


def test_an_extent_narrows_a_country_to_what_lies_inside() -> None:
    south = heartland("FR", Box(43, 6.5, 44.2, 7.8))
    assert south is not None
    assert distance_km(south.point, LatLon(43.70, 7.27)) < 10, "Nice"
    assert south.radius_km < 60
    shares = shares_within(Disc(LatLon(43.73, 7.42), 5))
    assert shares["MC"] == pytest.approx(1.0)
    assert shares.get("FR", 0.0) < 0.01
    assert "DE" not in shares


def test_points_have_countries_by_polygon_and_the_open_sea_has_none() -> None:
    assert find_country(LatLon(43.7384, 7.4246)) == "MC"
    assert find_country(LatLon(42.5063, 1.5218)) == "AD"
    assert find_country(LatLon(0.0, -30.0)) is None
