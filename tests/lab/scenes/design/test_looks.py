"""The look and the light of a street fit its place."""

import random
from datetime import UTC, datetime

import pytest

from geosleuth.geo import LatLon
from geosleuth.lab.scenes.design.appearance import (
    choose_terrain,
    compute_season,
    draw_sky,
)


@pytest.mark.parametrize(
    ("lat", "climate", "month", "season"),
    [
        (48.0, "Cfb", 1, "winter"), (48.0, "Cfb", 7, "summer"), (-34.0, "Csb", 1, "summer"),
        (-34.0, "Csb", 7, "winter"), (10.0, "Aw", 7, "wet"), (10.0, "Aw", 1, "dry"), (-10.0, "Aw", 1, "wet"),
        (8.0, "As", 1, "wet"), (13.8, "Cwa", 11, "dry"), (4.6, "Cfb", 2, "wet"),
        (1.0, "Af", 3, "wet"), (20.0, "BWh", 8, "dry"), (40.0, "BSk", 10, "autumn"),
    ],
)  # fmt: skip
def test_seasons_by_latitude_climate_and_month(lat: float, climate: str, month: int, season: str) -> None:
    assert compute_season(lat, climate, datetime(2020, month, 15, tzinfo=UTC)) == season


def test_it_is_day_even_in_the_far_north() -> None:
    up = sum(draw_sky(LatLon(69.6, 18.9), "Dfc", random.Random(n)).sun_elevation_deg > 0 for n in range(60))
    assert up == 60


def test_the_sea_is_seen_near_the_sea_alone() -> None:
    inland = {choose_terrain(LatLon(48.2, 16.37), "AT", random.Random(n)) for n in range(40)}
    coast = {choose_terrain(LatLon(43.70, 7.27), "FR", random.Random(n)) for n in range(40)}
    assert "coast" not in inland
    assert "coast" in coast
