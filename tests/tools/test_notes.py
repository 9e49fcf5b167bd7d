"""Hypotheses are noted with the ground they stand for, and are never lost."""

from pathlib import Path
from typing import Any

import pytest

from geosleuth.atlas import Hit, OfflineAtlas
from geosleuth.geo import Extent
from geosleuth.support.errors import ServiceFault
from geosleuth.tools import Case
from geosleuth.tools.notes import note_hypothesis
from homes import add_region
from tool_cases import MONACO, call, case_of


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regions")
    add_region(MONACO, folder)
    return folder


@pytest.fixture
def case(atlas_home: Path, regions: Path) -> Case:
    assert atlas_home.is_dir()
    return case_of(atlas=OfflineAtlas(regions))


def noted(case: Case, **arguments: Any) -> dict[str, Any]:
    seen = call(note_hypothesis, case, {"confidence": 0.5, **arguments})
    assert seen.failure is None, seen.text
    hypothesis: dict[str, Any] = seen.data["hypothesis"]
    return hypothesis


def test_a_note_holds_place_point_country_and_evidence(case: Case) -> None:
    arguments = {
        "place": "La Condamine, Monaco",
        "confidence": 0.6,
        "evidence_for": ["blue plates", "sign 'Rue Grimaldi'"],
        "evidence_against": "no sea in sight",
    }
    seen = call(note_hypothesis, case, arguments)
    hypothesis = seen.data["hypothesis"]
    assert hypothesis["country"] == "MC"
    assert hypothesis["point"]["lat"] == pytest.approx(43.735, abs=0.01)
    assert hypothesis["confidence"] == 0.6
    assert hypothesis["evidence_for"] == ["blue plates", "sign 'Rue Grimaldi'"]
    assert hypothesis["evidence_against"] == ["no sea in sight"]
    assert "confidence 60 %, evidence 2 for, 1 against" in seen.text


@pytest.mark.parametrize(("given", "share"), [(0.25, 0.25), (25, 0.25), ("80", 0.8), (1, 1.0), (0, 0.0), (100, 1.0)])
def test_confidence_may_be_in_percent(case: Case, given: Any, share: float) -> None:
    assert noted(case, place="Paris", confidence=given)["confidence"] == share


@pytest.mark.parametrize(
    ("place", "country", "least_km", "most_km"),
    [
        ("France", "FR", 900, 1100),
        ("Monaco", "MC", 1, 5),
        ("Île-de-France", "FR", 70, 110),
        ("Bavaria", "DE", 200, 320),
        ("Paris", "FR", 15, 60),
        ("Rue Grimaldi, Monaco", "MC", 0.1, 1),
    ],
)
def test_the_radius_is_that_of_the_ground(
    case: Case, place: str, country: str, least_km: float, most_km: float
) -> None:
    hypothesis = noted(case, place=place)
    assert hypothesis["country"] == country
    assert least_km < hypothesis["radius_km"] < most_km


def test_a_misspelled_name_is_taken_for_what_it_means(case: Case) -> None:
    seen = call(note_hypothesis, case, {"place": "Marseile", "confidence": 0.3})
    assert "Taken as Marseille" in seen.text


@pytest.mark.parametrize("place", ["somewhere in southern Italy", "the old town", "Xqzvkkw"])
def test_a_place_that_nobody_knows_is_noted_without_a_point(case: Case, place: str) -> None:
    seen = call(note_hypothesis, case, {"place": place, "confidence": 0.2})
    assert seen.failure is None
    assert seen.data["hypothesis"]["point"] is None
    assert "latitude and longitude" in seen.text


class Unreachable(OfflineAtlas):
    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        raise ServiceFault("maps.example", f"no answer to {text[:limit]} {within} {country}")


def test_a_note_is_not_lost_when_a_service_is_down() -> None:
    hypothesis = noted(case_of(atlas=Unreachable()), place="Paris")
    assert (hypothesis["place"], hypothesis["point"]) == ("Paris", None)


@pytest.mark.parametrize(
    ("arguments", "failure", "says"),
    [
        ({"place": "", "confidence": 0.5}, "refused", "place is empty"),
        ({"place": "Paris", "confidence": -0.1}, "refused", "between 0 and 1"),
        ({"place": "Paris", "confidence": 250}, "refused", "between 0 and 1"),
        ({"place": "Paris", "confidence": 0.5, "lat": 48.9}, "refused", "both latitude and longitude"),
        ({"place": "Paris", "confidence": 0.5, "lat": 148.9, "lon": 2}, "refused", "swapped"),
        ({"place": "Paris"}, "bad_arguments", "confidence"),
        ({"place": "Paris", "confidence": "high"}, "bad_arguments", "a number"),
    ],
)
def test_what_can_not_be_noted_is_refused(arguments: dict[str, Any], failure: str, says: str) -> None:
    seen = call(note_hypothesis, case_of(), arguments)
    assert seen.failure == failure
    assert says in seen.text
