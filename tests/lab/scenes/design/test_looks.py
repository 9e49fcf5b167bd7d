"""The look and the light of a street fit its place."""

import random
from datetime import UTC, datetime

import pytest

from geosleuth.geo import LatLon
from geosleuth.lab.scenes import Scene, World
from geosleuth.lab.scenes.design.appearance import (
    STYLES,
    centre_line,
    edge_line,
    season_of,
    sky_at,
    style_of,
    terrain_at,
)
from worlds import scenes


@pytest.fixture(scope="module")
def many(world: World) -> list[Scene]:
    return scenes(world, 300)


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
    assert season_of(lat, climate, datetime(2020, month, 15, tzinfo=UTC)) == season


def test_it_is_day_even_in_the_far_north() -> None:
    up = sum(sky_at(LatLon(69.6, 18.9), "Dfc", random.Random(n)).sun_elevation_deg > 0 for n in range(60))
    assert up == 60


def test_snow_falls_where_it_can(many: list[Scene]) -> None:
    for scene in many:
        if scene.sky.weather == "snow" or scene.look.ground == "snow":
            assert scene.sky.season == "winter"
            assert scene.spot.climate[0] not in "AB"


def test_palms_and_cactuses_do_not_grow_in_the_cold(many: list[Scene]) -> None:
    for scene in many:
        if scene.look.plant in ("palm", "cactus", "acacia"):
            assert scene.spot.climate[0] not in "DE"
        if scene.spot.climate == "Dfc":
            assert scene.look.plant in ("conifer", "birch")


def test_the_sea_is_seen_near_the_sea_alone() -> None:
    inland = {terrain_at(LatLon(48.2, 16.37), "AT", random.Random(n)) for n in range(40)}
    coast = {terrain_at(LatLon(43.70, 7.27), "FR", random.Random(n)) for n in range(40)}
    assert "coast" not in inland
    assert "coast" in coast


def test_lines_are_yellow_where_they_are() -> None:
    assert centre_line("US") == ("yellow", True)
    assert centre_line("NO") == ("yellow", False)
    assert centre_line("FR") == ("white", False)
    assert edge_line("ZA") == "yellow"
    assert edge_line("GB") == "none"


def test_no_country_builds_in_two_styles(many: list[Scene]) -> None:
    codes = [code for style in STYLES for code in style.countries.split()]
    assert len(codes) == len(set(codes))
    for scene in many:
        style = style_of(scene.spot.country)
        assert scene.spot.country in style.countries.split()
        assert set(scene.look.walls) <= set(style.walls)
        assert set(scene.look.wall_colours) <= set(style.wall_colours)
