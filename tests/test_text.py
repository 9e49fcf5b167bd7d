"""Words of maps, files and models on terminals, in tables, pages and exports: nothing in them steers anything."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.answer.formats import FORMATS
from geosleuth.answer.formats.context import AnswerContext, LocatedAnswer
from geosleuth.atlas import Hit, Place, Reverse
from geosleuth.cli.handlers.atlas import show_hits, show_place, show_reverse
from geosleuth.geo import Disc, LatLon
from geosleuth.report.markup import text as html_text
from geosleuth.support.console import show, show_json
from geosleuth.support.text import legible, one_line, printable

STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f"
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HOSTILE = f"Café {STEERING}{DIRECTIONS}gpj.exe\r"
HERE = LatLon(43.7, 7.4)


def hostile_place() -> Place:
    return Place(
        f"osm:x:{HOSTILE}", HOSTILE, HOSTILE, HERE, Disc(HERE, 1.0), HOSTILE,
        region=HOSTILE, address=f"1 {HOSTILE}", details={HOSTILE: HOSTILE},
    )  # fmt: skip


def steering_in(text: str) -> set[str]:
    return {char for char in text if (unicodedata.category(char) == "Cc" and char not in "\n\t") or char in DIRECTIONS}


@given(st.text())
def test_what_is_printed_steers_nothing(text: str) -> None:
    assert steering_in(printable(text)) == set()
    assert len(one_line(text).splitlines()) <= 1
    assert steering_in(legible(text)) <= {"\r"}
    assert steering_in(html_text(text)) <= {"\r"}


@pytest.mark.parametrize("name", ["نیم‌فاصله", "क्‍ष", "Café\u00a0Noir", "👩‍🚒", "ירושלים", "a\tb\nc"])
def test_names_of_all_scripts_stay_as_they_are(name: str) -> None:
    assert legible(name) == printable(name) == name


def test_names_of_a_map_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    hit = Hit(hostile_place(), 0.5, "near", HOSTILE, 0.1)
    for as_json in (False, True):
        show_hits([hit], as_json=as_json)
        show_place("x", hit.place, as_json=as_json)
        show_reverse(Reverse(HERE, "FR", HOSTILE, HOSTILE, (hit,), HOSTILE), as_json=as_json)
    shown = capsys.readouterr().out
    assert "Café" in shown
    assert steering_in(shown) == set()


def test_whatever_a_command_shows_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(HOSTILE)
    table.add_row(HOSTILE)
    for view in (HOSTILE, Text(HOSTILE), table):
        show(view)
    assert steering_in(capsys.readouterr().out) == set()
    show_json({"name": HOSTILE})
    told = capsys.readouterr().out
    assert steering_in(told) == set()
    assert json.loads(told) == {"name": HOSTILE}


@pytest.mark.parametrize("name", FORMATS)
def test_exports_are_clean(name: str) -> None:
    answer = Answer(
        HERE, Address.create("France", HOSTILE, HOSTILE), 0.5, 1.0, HOSTILE, (Candidate(HOSTILE, HERE, 0.1, HOSTILE),)
    )
    context = AnswerContext(sha256="0" * 64, file_name=HOSTILE, model=HOSTILE, method=HOSTILE, sources=(HOSTILE,))
    written = FORMATS[name].render([LocatedAnswer(answer, context)])
    assert steering_in(written) <= {"\r"}
    if name.endswith("json"):
        assert not set(DIRECTIONS) & set(str(json.loads(written)))
