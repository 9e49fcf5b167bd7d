"""Which lines stand on one sign, and which signs are likely from elsewhere."""

import pytest

from geosleuth.evidence.clue import Clue, TextSeen
from geosleuth.evidence.sign_layout import DOUBT, DOUBT_FIXED, DOUBT_MOVABLE, on_one_panel, panels


def line(text: str, left: float, top: float, tall: float = 30, image: str = "image-1") -> TextSeen:
    return TextSeen(text, image, (left, top, left + 0.5 * tall * len(text), top + tall), 0.95, "latin")


def clue(where: TextSeen | None, seen: str = "x") -> Clue:
    return Clue("language", where.text if where else seen, "", 0.5, {"IT": 1.0}, (), where)


def test_lines_close_together_are_one_sign_and_others_are_not() -> None:
    name, street = line("Farmacia", 60, 40), line("Via Garibaldi", 60, 85)
    assert on_one_panel(name, street)
    assert on_one_panel(street, name)
    assert not on_one_panel(name, line("Via Garibaldi", 60, 400)), "far below"
    assert not on_one_panel(name, line("Via Garibaldi", 600, 40)), "far beside"
    assert not on_one_panel(name, line("Via Garibaldi", 60, 85, tall=100)), "much larger letters"
    assert not on_one_panel(name, line("Via Garibaldi", 60, 85, image="image-2")), "another photo"


def test_clues_are_grouped_whatever_their_order_and_what_was_not_read_stands_nowhere() -> None:
    house = [clue(line("Farmacia", 60, 40)), clue(line("Tel. 0541", 60, 124)), clue(line("San Marco", 60, 82))]
    bus = clue(line("Kowalski", 60, 500))
    hint = clue(None, "somebody said so")
    first = panels([*house, hint, bus])
    assert [one.clues for one in first] == [(0, 1, 2), (4,)]
    assert first[0].texts == ("Farmacia", "San Marco", "Tel. 0541")
    assert [one.texts for one in panels([bus, hint, *house])] == [("Kowalski",), first[0].texts]
    assert panels([hint]) == ()


def test_other_text_joins_clues_and_tells_what_a_sign_is() -> None:
    ends = [clue(line("Kowalski", 60, 40)), clue(line("kowalski.pl", 60, 180))]
    assert len(panels(ends)) == 2
    (bus,) = panels(ends, [line("Biuro podróży", 60, 85), line("Wycieczki", 60, 130), line("far away", 900, 900)])
    assert bus.clues == (0, 1)
    assert bus.doubt == DOUBT_MOVABLE


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("Kowalski Tours Warszawa", DOUBT_MOVABLE),
        ("Reisebüro Huber", DOUBT_MOVABLE),
        ("Viajes El Corte", DOUBT_MOVABLE),
        ("Turkish Airlines", DOUBT_MOVABLE),
        ("Brewed since 1759", DOUBT_MOVABLE),
        ("Via Garibaldi 12", DOUBT_FIXED),
        ("Mannerheimintie 5", DOUBT_FIXED),
        ("Bus stop High Street", DOUBT_FIXED),
        ("Farmacia San Marco", DOUBT),
        ("Columbus", DOUBT),
    ],
)
def test_words_tell_a_vehicle_from_a_wall(text: str, doubt: float) -> None:
    (panel,) = panels([clue(line(text, 60, 40))])
    assert panel.doubt == doubt
