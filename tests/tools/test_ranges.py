"""`range_fix`, asked as an agent asks it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import LatLon, distance_km
from geosleuth.photo import Album
from geosleuth.tools import Case, Observation, ToolCall, Toolset
from geosleuth.tools.ranges import range_fix


@pytest.fixture
def case(atlas_home: Path) -> Case:
    return Case(Album(), OfflineAtlas(atlas_home / "regions"))


def ask(case: Case, **arguments: Any) -> Observation:
    (observation,) = asyncio.run(Toolset([range_fix]).run([ToolCall("call-1", "range_fix", arguments)], case))
    json.dumps(observation.data, allow_nan=False)
    return observation


def points(found: Observation) -> list[tuple[LatLon, float]]:
    return [(LatLon(fix["lat"], fix["lon"]), fix["radius_km"]) for fix in found.data["fixes"]]


def test_seoul_56_and_pyongyang_205_stand_at_the_border_north_of_seoul(case: Case) -> None:
    found = ask(case, towns=["Seoul", "Pyongyang"], distances=[56, 205])
    (point, radius_km) = points(found)[0]
    assert distance_km(point, LatLon(37.9, 126.7)) < 25
    assert distance_km(point, LatLon(37.9, 126.7)) <= radius_km
    assert "South Korea" in found.text
    assert "a lead, not a fix" in found.text.lower()
    assert found.data["fixes"][0]["residuals_km"] == [0.0, 0.0]


def test_names_in_their_own_script_lead_to_the_same_place(case: Case) -> None:
    ours, theirs = (
        ask(case, towns=["Seoul", "Pyongyang"], distances=[56, 205]),
        ask(case, towns=["서울", "평양"], distances=[56, 205]),
    )
    assert points(ours) == points(theirs)


# Computed, not read off real signs: the distances are the straight lines from a known place to the towns as the atlas
# has them, and for roads these times 1.2.
COMPUTED = {
    "Dijon": (["Paris", "Lyon", "Strasbourg"], LatLon(47.3220, 5.0415)),
    "Zaragoza": (["Madrid", "Valencia", "Barcelona"], LatLon(41.6561, -0.8773)),
    "Canberra": (["Sydney", "Melbourne", "Dubbo"], LatLon(-35.2835, 149.1281)),
    "Bloemfontein": (["Cape Town", "Johannesburg", "Durban"], LatLon(-29.1211, 26.2140)),
    "Nizhny Novgorod": (["Moscow", "Kazan", "Samara"], LatLon(56.3269, 44.0065)),
    "Denali": (["Anchorage", "Fairbanks"], LatLon(63.3325, -150.5011)),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_computed_distances_lead_back_to_the_place(case: Case, name: str) -> None:
    towns, truth = COMPUTED[name]
    centres = asyncio.run(_centres(case, towns))
    straight = [distance_km(truth, centre, "geodesic") for centre in centres]
    found = ask(case, towns=towns, distances=straight, along="straight")
    assert min(distance_km(truth, point) for point, _ in points(found)) < 0.1
    by_road = ask(case, towns=towns, distances=[round(1.2 * km) for km in straight])
    assert any(distance_km(truth, point) <= radius_km for point, radius_km in points(by_road))
    if len(towns) > 2:
        assert min(distance_km(truth, point) for point, _ in points(by_road)) < 100


async def _centres(case: Case, towns: list[str]) -> list[LatLon]:
    return [(await case.atlas.geocode(town, limit=1))[0].place.point for town in towns]


def test_miles_are_miles(case: Case) -> None:
    km = ask(case, towns=["Paris", "Lyon"], distances=[230, 240], along="straight")
    miles = ask(case, towns=["Paris", "Lyon"], distances=[230 / 1.609344, 240 / 1.609344], unit="mi", along="straight")
    for (a, _), (b, _) in zip(points(km), points(miles), strict=True):
        assert distance_km(a, b) < 0.1


def test_names_are_read_as_the_towns_that_fit_together(case: Case) -> None:
    found = ask(case, towns=["Springfield", "Cambridge"], distances=[80, 20], unit="mi")
    assert [town["place"] for town in found.data["towns"]] == [
        "Springfield, Massachusetts, United States",
        "Cambridge, Massachusetts, United States",
    ]
    assert len(found.data["towns"][0]["candidates"]) > 3
    assert "Springfield (" in found.text
    english = ask(case, towns=["Cambridge", "Oxford"], distances=[100, 60], area="United Kingdom")
    assert [town["id"].partition(":")[0] for town in english.data["towns"]] == ["geonames", "geonames"]
    assert all("United Kingdom" in town["place"] for town in english.data["towns"])


def test_an_area_decides_between_towns_of_one_name(case: Case) -> None:
    found = ask(case, towns=["Springfield", "Columbus", "Dayton"], distances=[30, 50, 25], unit="mi", area="Ohio")
    assert all("Ohio" in town["place"] for town in found.data["towns"])


def test_two_straight_distances_leave_two_places(case: Case) -> None:
    found = ask(case, towns=["Berlin", "Hamburg"], distances=[190, 100], along="straight")
    assert len(found.data["fixes"]) == 2
    assert "\n2. " in found.text


def test_one_distance_leaves_a_ring(case: Case) -> None:
    found = ask(case, towns=["Reykjavík"], distances=[50])
    assert found.data["fixes"][0]["is_ring"] is True
    assert "whole ring" in found.text


def test_a_compromise_says_that_it_is_one(case: Case) -> None:
    found = ask(case, towns=["Seoul", "Pyongyang"], distances=[60, 100], along="straight", area="")
    assert found.failure is None
    assert "nearest compromise" in found.text
    assert found.data["conflict"] > 0.1
    assert max(found.data["fixes"][0]["residuals_km"]) > 10


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"towns": ["Paris", "Sydney"], "distances": [10, 10], "area": ""}, "no place can be"),
        ({"towns": ["Qwzrtxy"], "distances": [10]}, "no place called"),
        ({"towns": ["Paris"], "distances": [10, 20]}, "1 towns and 2 distances"),
        ({"towns": [], "distances": []}, "give one distance"),
        ({"towns": ["Paris"], "distances": [-3]}, "can't be"),
        ({"towns": ["Paris"], "distances": [25000], "along": "straight"}, "no place can be"),
        ({"towns": ["Paris"] * 9, "distances": [1] * 9}, "too many"),
        ({"towns": ["Paris"], "distances": [10], "area": "Qwzrtxy"}, "knows no place"),
    ],
)
def test_what_can_not_be_is_refused_with_a_reason(case: Case, arguments: dict[str, Any], words: str) -> None:
    found = ask(case, **arguments)
    assert found.failure == "refused"
    assert words in found.text
    assert "\n" not in found.text
