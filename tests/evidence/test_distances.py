"""Distance signs: names and figures on one line, in two columns, in miles and kilometres."""

import pytest

from geosleuth.evidence import TextSeen, distances, text_clues
from geosleuth.evidence.distances import range_questions


def line(text: str, left: float = 0, top: float = 0, image: str = "image-1") -> TextSeen:
    return TextSeen(text, image, (left, top, left + 16 * len(text), top + 30), 0.95, "latin")


@pytest.mark.parametrize(
    ("text", "town", "distance", "unit"),
    [
        ("Seoul 56 km", "Seoul", 56, "km"),
        ("Seoul 56km", "Seoul", 56, "km"),
        ("56 Seoul", "Seoul", 56, None),
        ("12 km Marseille", "Marseille", 12, "km"),
        ("パリ 12km", "パリ", 12, "km"),
        ("서울 56km", "서울", 56, "km"),
        ("Москва 120 км", "Москва", 120, "km"),
        ("القاهرة 120 كم", "القاهرة", 120, "km"),
        ("北京 85公里", "北京", 85, "km"),
        ("Oxford 7 ½ miles", "Oxford", 7.5, "mi"),
        ("Barstow 32 mi", "Barstow", 32, "mi"),
        ("A8 Nice 12 km", "Nice", 12, "km"),
        ("↑ Rovaniemi 8,5 km", "Rovaniemi", 8.5, "km"),
        ("Andorra la Vella 3 km", "Andorra la Vella", 3, "km"),
    ],
)
def test_one_line(text: str, town: str, distance: float, unit: str | None) -> None:
    [found] = distances([line(text)])
    assert (found.town, found.distance, found.unit) == (town, distance, unit)
    assert found.where.text == text


def test_two_columns_are_matched_by_their_rows() -> None:
    sign = [line("Seoul", 0, 0), line("Pyongyang", 0, 60), line("205", 400, 62), line("56", 400, -2)]
    assert [(one.town, one.distance) for one in distances(sign)] == [("Seoul", 56), ("Pyongyang", 205)]


def test_figures_may_stand_on_the_left_and_one_unit_serves_all() -> None:
    sign = [line("12 km", 0, 0), line("Turku", 150, 0), line("165", 0, 60), line("Helsinki", 150, 60)]
    assert [(one.town, one.distance, one.unit) for one in distances(sign)] == [
        ("Turku", 12, "km"),
        ("Helsinki", 165, "km"),
    ]


def test_bare_numbers_count_in_company_only() -> None:
    assert distances([line("Paris 12")]) == []
    assert len(distances([line("Paris 12"), line("Lyon 450", top=60)])) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Rue Grimaldi 12", "Bus 12", "Hotel 12", "Menu 12", "km 12", "Exit 12", "Paris 75001", "Open 24", "12 €",
        "Tel 12 34",
        "2024 Paris", "12:30", "A8", "", "99999 km Paris", "0 km Paris",
    ],
)  # fmt: skip
def test_what_is_no_distance(text: str) -> None:
    assert distances([line(text)]) == []


def test_columns_of_two_pictures_do_not_mix() -> None:
    assert distances([line("Seoul", 0, 0), line("56 km", 300, 0, image="image-2")]) == []


def test_a_distance_sign_is_a_clue_without_countries() -> None:
    [clue] = [clue for clue in text_clues([line("Seoul 56 km")]) if clue.kind == "distance_sign"]
    assert clue.countries == {}
    assert "56 km to Seoul" in clue.says


def test_a_town_in_two_scripts_is_one_name() -> None:
    (found,) = distances([line("평양 Pyeongyang 205Km →")])
    assert (found.town, found.distance, found.unit) == ("평양", 205.0, "km")


def test_an_arrow_that_was_read_as_a_figure_is_tried_without_it() -> None:
    rows = [line("서울 Seoul 156Km"), line("평양 Pyeongyang 205Km", top=50)]
    asked = [one.distances for one in range_questions(distances(rows), {})]
    assert asked == [(156.0, 205.0), (56.0, 205.0)]
