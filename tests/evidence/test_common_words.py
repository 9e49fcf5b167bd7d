"""A word of any language's common vocabulary is a word first."""

import pytest

from geosleuth.evidence.place_clues import place_clues
from geosleuth.evidence.vocabulary import is_common_word, list_languages

PECS = {
    "name": "Pécs",
    "kind": "city",
    "lat": 46.08,
    "lon": 18.23,
    "country": "HU",
    "id": "gn:1",
    "extent": {"radius_km": 4.0},
}


@pytest.mark.parametrize("word", ["PETS", "makan", "Piscina", "allowed"])
def test_common_words_are_known_in_any_case(word: str) -> None:
    assert is_common_word(word)


@pytest.mark.parametrize("name", ["Paris", "Kalundborg", "Monaco", "London"])
def test_names_of_towns_are_none(name: str) -> None:
    assert not is_common_word(name)


def test_a_word_has_all_its_languages() -> None:
    assert {"it", "es", "pt", "ca"} <= list_languages("piscina")


def test_a_common_word_is_no_misread_town() -> None:
    assert (
        place_clues("address", {"results": [{**PECS, "match": "fuzzy", "score": 0.7, "matched": "Pécs"}]}, asked="PETS")
        == []
    )


def test_a_town_called_like_a_common_word_says_little() -> None:
    row = {**PECS, "name": "Makan", "matched": "Makan", "match": "exact", "score": 1.0}
    (clue,) = place_clues("address", {"results": [row]}, asked="MAKAN", manner="line")
    assert clue.reliability < 0.15
