"""Signs and vehicles against each other: a bus is one witness, however much stands on it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from geosleuth.answer import Answer
from geosleuth.atlas import OfflineAtlas
from geosleuth.evidence import TextSeen
from geosleuth.geo import distance_km
from geosleuth.names import country_code
from sign_bench import work_on
from sign_texts import SignText

PHARMACY = ("Farmacia San Marco", "Via Garibaldi 12", "Tel. 0541 782331")
POLISH_BUS = ("Kowalski Tours Warszawa", "www.kowalski.pl", "+48 22 826 12 34")
RESTAURANT = ("Ristorante Da Luigi", "Via Roma 5")
GERMAN_BUS = ("Reisebüro Huber München", "www.huber-reisen.de", "+49 89 2180 1234")


@dataclass(frozen=True, slots=True)
class Street(SignText):
    """Several boards in one picture, far from each other."""

    boards: tuple[tuple[str, ...], ...] = ()

    def seen(self) -> tuple[TextSeen, ...]:
        """Each board's lines stand close together, the boards far apart."""
        return tuple(
            TextSeen(text, "image-1", (60, top, 60 + 14.0 * len(text), top + 30), 0.95, "latin")
            for number, board in enumerate(self.boards)
            for row, text in enumerate(board)
            for top in [40.0 + 400 * number + 42 * row]
        )


@pytest.fixture
def atlas(atlas_home: Path) -> OfflineAtlas:
    return OfflineAtlas(atlas_home / "regions")


def answered(atlas: OfflineAtlas, *boards: Sequence[str]) -> Answer:
    lines = tuple(line for board in boards for line in board)
    street = Street("road", lines, frozenset(), None, 0.0, boards=tuple(map(tuple, boards)))
    return asyncio.run(work_on(street, atlas)).answer


def country(answer: Answer) -> str | None:
    named = answer.address.country.conclusion
    return country_code(named) if named else None


def odds_of(answer: Answer, name: str) -> float:
    return sum(one.probability or 0.0 for one in answer.candidates if name in (one.name or ""))


def test_a_tour_bus_is_not_followed_however_much_stands_on_it(atlas: OfflineAtlas) -> None:
    answer = answered(atlas, PHARMACY, POLISH_BUS)
    assert country(answer) == "IT"
    assert (answer.probability or 0.0) < 0.9
    assert 0.01 <= odds_of(answer, "Poland") < 0.4
    assert "two signs point to different places" in (answer.explanation or "")
    assert '"Kowalski Tours Warszawa' in (answer.explanation or "")


def test_a_bus_against_little_else_is_no_certainty(atlas: OfflineAtlas) -> None:
    answer = answered(atlas, RESTAURANT, GERMAN_BUS)
    assert (answer.probability or 0.0) < 0.75
    assert country(answer) == "IT"
    assert odds_of(answer, "Germany") > 0.1
    assert "two signs point to different places" in (answer.explanation or "")


def test_a_bus_alone_or_at_home_is_believed(atlas: OfflineAtlas) -> None:
    alone = answered(atlas, POLISH_BUS)
    assert country(alone) == "PL"
    assert (alone.probability or 0.0) > 0.8
    at_home = answered(atlas, ("Apteka", "ul. Piękna 12", "22 826 12 30"), POLISH_BUS)
    assert country(at_home) == "PL"
    assert (at_home.probability or 0.0) > 0.8
    assert "different places" not in (at_home.explanation or "")


def test_the_house_alone_says_the_same_as_with_the_bus(atlas: OfflineAtlas) -> None:
    alone, beside = answered(atlas, PHARMACY), answered(atlas, PHARMACY, POLISH_BUS)
    assert alone.point is not None
    assert beside.point is not None
    assert distance_km(alone.point, beside.point) < 60
    assert (alone.probability or 0.0) > (beside.probability or 0.0)
