"""The page's sources: every word comes from the strings file, and the types are those of the server."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from geosleuth.server import shapes
from geosleuth.server.http import maps, schemas, videos

SOURCES = Path(__file__).parents[3] / "page" / "src"

# Words between tags, and in the attributes that people read or hear.
WORDS = re.compile(r">\s*([A-Za-z][^<>{}]*[a-z][^<>{}]*)\s*</")
SPOKEN = re.compile(r"""\b(?:aria-label|title|placeholder|alt|label)=["']([^"']*[A-Za-z][^"']*)["']""")
USED = re.compile(r"""\b(?:t|counted|maybe)\(\s*(?:[^()"'`]*\?\s*)?["'`]([^"'`]+)["'`]""")
FIELD = re.compile(r"^  (?:readonly )?(\w+)\??:", re.MULTILINE)


def sources() -> list[Path]:
    found = [*SOURCES.rglob("*.tsx"), *SOURCES.rglob("*.ts")]
    assert len(found) > 40
    return found


@cache
def strings() -> dict[str, str]:
    loaded: dict[str, str] = json.loads((SOURCES / "strings" / "en.json").read_text())
    return loaded


@cache
def interfaces() -> dict[str, set[str]]:
    text = "".join((SOURCES / "api" / name).read_text() for name in ("types.ts", "views.ts"))
    found = re.findall(r"^export interface (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    return {name: set(FIELD.findall(body)) for name, body in found}


def test_no_visible_word_is_written_in_the_code() -> None:
    written = {
        f"{path.relative_to(SOURCES)}: {words.strip()}"
        for path in SOURCES.rglob("*.tsx")
        for pattern in (WORDS, SPOKEN)
        for words in pattern.findall(path.read_text())
    }
    assert written == set()


def test_every_string_is_used_and_numbers_have_both_forms() -> None:
    code = "\n".join(path.read_text() for path in sources())
    stems = {key.rsplit(".", 1)[0] for key in strings() if key.endswith((".one", ".other"))}
    assert {f"{stem}.{form}" for stem in stems for form in ("one", "other")} <= set(strings())
    # Keys that are made from data, such as the name of a state, are known by how they begin.
    made = {found.split("${")[0] for found in re.findall(r"`([\w.]+\.\$\{[^`]*)`", code)}
    unused = {
        key
        for key in strings()
        if f'"{key}"' not in code
        and not (key.endswith((".one", ".other")) and f'"{key.rsplit(".", 1)[0]}"' in code)
        and not any(key.startswith(start) for start in made)
    }
    assert unused == set()


def test_nothing_is_set_as_markup() -> None:
    for path in sources():
        assert not re.search(
            r"dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write|\beval\(", path.read_text()
        ), path


def test_no_file_has_grown_past_reading() -> None:
    long = {str(path.relative_to(SOURCES)): len(path.read_text().splitlines()) for path in sources()}
    assert {name: lines for name, lines in long.items() if lines > 300} == {}


@pytest.mark.parametrize(
    ("name", "served"),
    [
        ("RunRow", schemas.RunShown),
        ("CaseRow", schemas.CaseShown),
        ("PhotoRow", schemas.PhotoShown),
        ("About", schemas.AboutShown),
        ("Settings", schemas.SettingsShown),
        ("KeyRow", schemas.KeyShown),
        ("KeyList", schemas.KeyList),
        ("ModelChoice", schemas.ModelShown),
        ("RunRequest", schemas.NewRun),
        ("Feedback", schemas.NewFeedback),
        ("CheckedView", schemas.CheckShown),
        ("GuideView", schemas.GuideShown),
        ("GuideAttribute", schemas.GuideAttribute),
        ("GuideValue", schemas.GuideValue),
        ("SightingsView", schemas.SightingsShown),
        ("SightingView", schemas.SightingShown),
        ("CountryOdds", schemas.CountryOdds),
        ("MapsView", maps.MapsShown),
        ("MapOffer", maps.MapOfferShown),
        ("MapJob", maps.MapJobShown),
        ("RegionRow", maps.RegionShown),
        ("VideoRow", videos.VideoShown),
        ("VideoPlace", videos.PlaceShown),
    ],
)
def test_rows_are_what_the_server_promises(name: str, served: Any) -> None:
    assert interfaces()[name] == set(served.model_fields)


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("AnswerView", shapes.AnswerView),
        ("AnswerCandidate", shapes.RivalView),
        ("ClueView", shapes.ClueView),
        ("Support", shapes.SupportView),
        ("ClaimView", shapes.ClaimView),
        ("CompareView", shapes.CompareView),
        ("SpentView", shapes.SpentView),
        ("Budget", shapes.BudgetView),
        ("StartedTold", shapes.StartedView),
        ("ResumedTold", shapes.ResumedView),
        ("SaidTold", shapes.SaidView),
        ("ObservedTold", shapes.ObservedView),
        ("PictureView", shapes.PictureView),
        ("VoiceView", shapes.VoiceView),
        ("TeamView", shapes.TeamView),
    ],
)
def test_views_are_what_the_service_makes(name: str, view: Any) -> None:
    assert interfaces()[name] == set(view.__annotations__)
