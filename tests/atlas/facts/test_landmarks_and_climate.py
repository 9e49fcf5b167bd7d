"""Landmarks and climate classes."""

import time
from collections import Counter
from functools import cache

import pytest

from geosleuth.atlas.facts import Landmark, all_countries, climate_at, describe_climate, landmarks
from geosleuth.atlas.facts.countries import CODES
from geosleuth.geo import LatLon, distance_km


@cache
def by_id() -> dict[str, Landmark]:
    return {landmark.place.id: landmark for landmark in landmarks()}


def test_landmarks_have_distinct_ids_known_countries_and_names() -> None:
    every = list(landmarks())
    assert len(every) == len(by_id()) > 40_000
    assert {landmark.place.country for landmark in every} <= set(all_countries())
    assert all(landmark.names[0] == landmark.place.name != "" for landmark in every)
    assert all(0 < landmark.rank <= 1 for landmark in every)
    kinds = Counter(landmark.place.kind for landmark in every)
    assert kinds["airport"] > 15_000
    assert kinds["station"] > 20_000
    assert kinds["port"] > 3_800


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
    found = climate_at(LatLon(lat, lon))
    assert found is not None
    assert found.code == code
    assert found.description == describe_climate(code)


def test_there_is_no_climate_class_at_sea_or_at_the_north_pole() -> None:
    assert climate_at(LatLon(0, -30)) is None
    assert climate_at(LatLon(90, -180)) is None
    assert climate_at(LatLon(90, 180)) is None


def test_the_edges_of_the_grid() -> None:
    assert climate_at(LatLon(-90, 180)) == climate_at(LatLon(-90, -180))


def test_every_class_reads_well() -> None:
    descriptions = [describe_climate(code) for code in CODES]
    assert len(set(descriptions)) == len(CODES) == 31
    assert describe_climate("BWh") == "dry, hot desert"
    assert describe_climate("Dfb") == "continental, no dry season, warm summer"


def test_a_cell_is_looked_up_without_reading_the_table_again() -> None:
    times = []
    for step in range(40):
        start = time.thread_time()
        climate_at(LatLon(60 - step * 2.5, step))
        times.append(time.thread_time() - start)
    assert sorted(times)[len(times) // 2] < 0.05
