"""Landmarks and climate classes."""

from functools import cache

import pytest

from geosleuth.atlas.facts import Landmark, describe_climate, find_climate, landmarks
from geosleuth.geo import LatLon, distance_km


@cache
def by_id() -> dict[str, Landmark]:
    return {landmark.place.id: landmark for landmark in landmarks()}


@pytest.mark.parametrize(
    ("key", "lat", "lon", "country"),
    [
        ("airport:NCE", 43.66, 7.21, "FR"),
        ("airport:JFK", 40.64, -73.78, "US"),
        ("port:NLRTM", 51.9, 4.5, "NL"),
        ("sight:eiffel-tower", 48.858, 2.294, "FR"),
        ("sight:taj-mahal", 27.175, 78.042, "IN"),
    ],
)
def test_known_landmarks_are_where_they_are(key: str, lat: float, lon: float, country: str) -> None:
    place = by_id()[key].place
    assert distance_km(place.point, LatLon(lat, lon)) < 10
    assert place.country == country
    assert place.extent.contains(place.point)


def test_codes_and_long_names_are_names_too() -> None:
    assert {"NCE", "LFMN"} <= set(by_id()["airport:NCE"].names)
    assert "Berlin Hauptbahnhof" in {name for landmark in landmarks() for name in landmark.names}


@pytest.mark.parametrize(
    ("lat", "lon", "code"),
    [
        (48.85, 2.35, "Cfb"),
        (30.04, 31.24, "BWh"),
        (13.75, 100.5, "Aw"),
        (-3.1, -60.0, "Af"),
        (55.75, 37.6, "Dfb"),
        (72.0, -40.0, "EF"),
        (38.72, -9.14, "Csa"),
        (1.3, 103.8, "Af"),
    ],
)
def test_climate_of_known_places(lat: float, lon: float, code: str) -> None:
    found = find_climate(LatLon(lat, lon))
    assert found is not None
    assert found.code == code
    assert found.description == describe_climate(code)


def test_there_is_no_climate_class_at_sea_or_at_the_north_pole() -> None:
    assert find_climate(LatLon(0, -30)) is None
    assert find_climate(LatLon(90, -180)) is None
    assert find_climate(LatLon(90, 180)) is None


def test_the_edges_of_the_grid() -> None:
    assert find_climate(LatLon(-90, 180)) == find_climate(LatLon(-90, -180))
