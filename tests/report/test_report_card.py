"""The card of a finding in the terminal."""

import asyncio
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from any_trajectory import trajectories
from drawn import examples
from findings import ANSWER, MONACO, SHA, SIZE, finding_of, saying
from geosleuth.agent import Started, Trajectory
from geosleuth.agent.display import whole_country
from geosleuth.agent.locate import Finding, cap_finding
from geosleuth.answer import Address, Answer, Candidate
from geosleuth.answer.answer import percent_words
from geosleuth.geo import LatLon
from geosleuth.models.detective.answering import WITH_A_MODEL
from geosleuth.photo import Claims
from geosleuth.report.card import braille, card, region_lines, region_width_km, world_lines
from geosleuth.server.finding_view import result_view
from geosleuth.tools.viewer import percent


class _Ascii(io.StringIO):
    encoding = "ascii"


def shown(found: Finding | Trajectory, width: int = 80, file: io.StringIO | None = None, **more: Any) -> list[str]:
    stream = file or io.StringIO()
    Console(file=stream, width=width, markup=False, emoji=False, highlight=False, no_color=True).print(
        card(found, **more)
    )
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_the_card_at_80_columns() -> None:
    lines = shown(finding_of(), maps=False)
    assert lines == [
        "La Terrasse, Monaco",
        "Likely: 72 % that it lies within 220 m of 43.7307, 7.4255.",
        "A lead, not a verdict.",
        "",
        'evidence      1. a business name: "La Terrasse" is the name of La Terrasse',
        '              2. a telephone number in "+377 93 15": Monaco',
        "could also be B   20 % ##         Nice, France",
        'hangs on      one clue, a business name "What would help: nothing": without it',
        "              no place could be told.",
        "against       the language.",
        "would help    another photo.",
        "ruled out     Genoa, Italy",
        "found by      detective, method detective, 1 turn, 3 tool calls (1 failed), 1.5",
        "              s",
    ]


def test_the_answer_is_not_listed_among_what_else_it_could_be() -> None:
    near = LatLon(MONACO.lat + 0.001, MONACO.lon)
    answer = Answer(
        MONACO,
        Address.create("Monaco", None, "Rue Grimaldi, Monaco"),
        0.7,
        0.5,
        "The façade fits the lower part of the street.",
        (
            Candidate("Rue Grimaldi, Monaco", near, 0.6),
            Candidate("rue grimaldi monaco", None, 0.6),
            Candidate("Menton, France", LatLon(43.77, 7.5), 0.2),
        ),
    )
    text = "\n".join(shown(finding_of(answer), maps=False))
    assert text.count("Grimaldi") == 1
    assert "could also be B   20 % ##         Menton, France" in text


def test_a_namesake_elsewhere_is_another_place() -> None:
    answer = Answer(
        MONACO, Address.create("Springfield"), 0.7, 0.5, None, (Candidate("Springfield", LatLon(39.8, -89.6), 0.2),)
    )
    assert "could also be B   20 % ##         Springfield" in "\n".join(shown(finding_of(answer), maps=False))


def _by_a_model(finding: Finding) -> Finding:
    first, *rest = finding.trajectory.events
    assert isinstance(first.body, Started)
    started = replace(first, body=replace(first.body, method="default", policy="scripted"))
    return replace(finding, trajectory=Trajectory((started, *rest)))


def test_a_models_own_words_stand_above_its_evidence() -> None:
    text = "\n".join(shown(_by_a_model(finding_of()), maps=False))
    assert text.index("why           La Terrasse, Monaco: 72 %.") < text.index("evidence      1. a business name")
    assert "\nwhy " not in "\n".join(shown(finding_of(), maps=False)), "the detective's words are its evidence again"


def test_a_long_explanation_is_cut_and_says_where_all_of_it_is() -> None:
    words = "The street is steep. " * 200
    finding = _by_a_model(finding_of(Answer(MONACO, Address.create("Monaco"), 0.7, 0.5, words)))
    lines = shown(finding, maps=False)
    assert len(lines) < 25
    assert "--out report.html" in " ".join(lines)


def test_the_maps_show_the_candidates() -> None:
    lines = shown(
        finding_of(Answer(MONACO, Address.create("Monaco"), 0.9, 1.0, None, (Candidate("Fiji", LatLon(-17.7, 178)),)))
    )
    maps = [line for line in lines if any("\u2800" <= char <= "\u28ff" for char in line)]
    assert len(maps) == 10
    assert all(len(line) <= 80 for line in lines)
    drawn = "\n".join(maps)
    assert drawn.count("A") == 2, "on the world and in its surroundings"
    assert drawn.count("B") == 1, "Fiji is on the world map alone"
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize(("width", "letters"), [(200, 2), (79, 2), (60, 1), (30, 0)])
def test_maps_take_the_room_there_is(width: int, letters: int) -> None:
    lines = shown(finding_of(Answer(MONACO, Address.create("here"), 0.9, 1.0)), width)
    drawn = [line for line in lines if any("\u2800" <= char <= "\u28ff" for char in line)]
    assert "\n".join(drawn).count("A") == letters
    assert max(map(len, lines)) <= min(width, 80)


def test_a_terminal_without_braille_gets_no_map() -> None:
    lines = shown(finding_of(), file=_Ascii())
    assert not any("\u2800" <= char <= "\u28ff" for line in lines for char in line)
    assert lines[0] == "La Terrasse, Monaco"


def test_no_place() -> None:
    answer = Answer(
        explanation="It can't be told. What would help: text.", candidates=(Candidate("India", MONACO, 0.13),)
    )
    text = "\n".join(shown(finding_of(answer), maps=False))
    assert text.startswith("No place was found\n")
    assert "why           It can't be told." in text
    assert "weakly for    A   13 % #          India" in text
    assert "43.73" not in text


def test_no_place_has_no_map_and_trust_one_idea_a_line() -> None:
    nowhere = finding_of(Answer(explanation="It can't be told.", candidates=(Candidate("India", MONACO, 0.13),)))
    assert not any("\u2800" <= char <= "\u28ff" for line in shown(nowhere) for char in line)
    told = 'Because. Against it speaks a. It could also be Nice (9 %). It hangs on one clue: "A. B".'
    lines = shown(finding_of(replace(ANSWER, explanation=told)), maps=False)
    first = next(at for at, line in enumerate(lines) if line.startswith("against"))
    assert lines[first].split() == ["against", "a."]
    assert lines[first + 1].strip() == "It could also be Nice (9 %)."


def test_no_place_names_the_model_that_is_within_reach() -> None:
    answer = Answer(
        explanation=f"No readable text found. Connect a vision model ({WITH_A_MODEL}), or say what you see."
    )
    command = "geosleuth locate wall.png --model ollama:llava"
    for told, expected in ((None, WITH_A_MODEL), (command, command)):
        printed = shown(finding_of(answer), maps=False, with_a_model=told)
        text = " ".join(" ".join(printed).split())
        assert "why No readable text found." in text
        assert f"would help Connect a vision model ({expected}), or say what you see." in text
    assert printed[1] == "", "nothing stands between the heading and the reason"


def test_a_finding_within_an_area_says_that_it_holds_only_there() -> None:
    finding = finding_of()
    events = [
        replace(one, body=replace(one.body, task=replace(one.body.task, area="France")))
        if isinstance(one.body, Started)
        else one
        for one in finding.trajectory.events
    ]
    asked = replace(finding, trajectory=replace(finding.trajectory, events=tuple(events)))
    text = " ".join(" ".join(shown(asked, maps=False)).split())
    assert "Looked for only within France, as you asked: the 72 % hold only if it was taken there." in text
    assert "Looked for only" not in " ".join(shown(finding, maps=False))


def test_a_finding_prints_as_one_line() -> None:
    assert str(finding_of()) == "La Terrasse, Monaco; 72 % within 220 m of 43.7307, 7.4255"
    assert str(finding_of(Answer())) == "no place was found"
    assert repr(finding_of(Answer())) == "<Finding: no place was found>"


def test_a_capped_finding_without_a_place_has_a_reason() -> None:
    answer = Answer(explanation="Of the text found, Rue Grimaldi is left.")
    finding = asyncio.run(cap_finding(finding_of(answer), "city"))
    text = " ".join(" ".join(shown(finding, maps=False)).split())
    assert "why No place could be named. The details are left out: they may tell more than the city." in text
    assert "Grimaldi" not in text


def test_claims_are_told_apart() -> None:
    claims = Claims("JPEG", 1, SHA, SIZE, LatLon(48.8584, 2.2945))
    text = " ".join(" ".join(shown(finding_of(claims=(claims,)), maps=False)).split())
    assert "48.85840, 2.29450, 693 km away: CONTRADICTS the finding. A claim of its metadata, not evidence." in text


def test_a_capped_finding() -> None:
    claims = Claims("JPEG", 1, SHA, SIZE, LatLon(48.8584, 2.2945))
    finding = asyncio.run(cap_finding(finding_of(claims=(claims,)), "country"))
    text = "\n".join(shown(finding))
    assert "Told no finer than the country." in text
    for hidden in ("Terrasse", "43.73", "48.85", "Genoa", "business"):
        assert hidden not in text


def test_control_characters_never_reach_the_terminal() -> None:
    text = "\n".join(shown(saying("a\x1b[2Jb\rc\x9bd [bold]e[/bold]")))
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text.replace("\n", ""))
    assert "[bold]e[/bold]" in text


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(trajectories())
def test_any_run_fits_on_a_card(trajectory: Trajectory) -> None:
    assert shown(trajectory, maps=False)[0]


def test_dots_become_braille() -> None:
    dots = np.zeros((4, 6), dtype=bool)
    dots[0, 0] = dots[3, 1] = True
    dots[:, 2:4] = True
    assert braille(dots) == ["⢁⣿ "]


@pytest.mark.parametrize("point", [LatLon(90, 0), LatLon(-90, 180), LatLon(0, -180), LatLon(65, 179.9)])
def test_maps_at_the_ends_of_the_world(point: LatLon) -> None:
    around = region_lines(point, [("A", point)], radius_km=20000.0)
    assert len(around) == 10
    assert {len(line) for line in around} == {36}
    assert {len(line) for line in world_lines([("A", point)])} == {40}


def test_the_surroundings_are_as_wide_as_the_finding_asks_and_never_blank() -> None:
    widths = [region_width_km(MONACO, radius_km) for radius_km in (0.2, 100, 500, 2000)]
    assert widths == sorted(widths)
    assert widths[0] < 300 < widths[-1]
    for point in (MONACO, LatLon(50.8, 10.0), LatLon(47.0, 103.0)):
        assert sum(letter > "\u2800" for line in region_lines(point, [], radius_km=0.2) for letter in line) > 10


def test_small_terminals_are_no_reason_to_fail(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8") as file:
        Console(file=file, width=1).print(card(finding_of()))


@given(st.floats(0, 1))
def test_a_share_is_the_same_percentage_in_a_sentence_and_in_a_list(share: float) -> None:
    kept = round(share, 3)  # as answers keep it
    assert percent(share) == percent(kept)
    assert percent_words(share) == percent_words(kept)
    assert percent_words(kept) in (percent(share), "under 1 %", "over 99 %")


def test_a_finding_is_one_line_to_python() -> None:
    line = repr(finding_of())
    assert "Monaco" in line
    assert "km of 43.7" in line or "m of 43.7" in line
    assert len(line) < 200
    assert repr(finding_of(Answer(explanation="It can't be told."))) == "<Finding: no place was found>"


def test_a_country_is_filled_in_and_has_no_point() -> None:
    japan = Answer(LatLon(35.689487, 139.691711), Address.create("Japan"), 0.84, 1131.0)
    lines = shown(finding_of(japan))
    assert lines[:2] == ["Japan", "Likely: 84 % that it lies in Japan."]
    assert any(line.startswith("A, filled in, is the finding. ") for line in lines)
    assert "139." not in "\n".join(lines)
    assert repr(finding_of(japan)) == "<Finding: Japan; 84 %>"


@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [(LatLon(43.06417, 141.34694), "agrees with"), (LatLon(24.3448, 124.1572), "agrees with"),
     (LatLon(37.5665, 126.978), "CONTRADICTS")],
    ids=["Sapporo", "Ishigaki, 1,950 km from Tokyo", "Seoul, 1,150 km from Tokyo"],
)  # fmt: skip
def test_a_claim_is_held_against_the_border_of_a_country(claimed: LatLon, verdict: str) -> None:
    japan = Answer(LatLon(35.689487, 139.691711), Address.create("Japan"), 0.84, 1200.0)
    found = finding_of(japan, claims=(Claims("JPEG", 1, SHA, SIZE, claimed),))
    text = " ".join(" ".join(shown(found, maps=False)).split())
    assert f"{claimed.lat:.5f}, {claimed.lon:.5f}: {verdict} the finding." in text
    assert "away" not in text
    assert result_view(found)["claims"][0]["distance_km"] is None


def test_a_models_odds_for_its_circle_are_no_odds_of_the_country() -> None:
    japan = Answer(LatLon(35.689487, 139.691711), Address.create("Japan"), 0.3, 400.0)
    found = by_model(finding_of(japan))
    assert "30 % that it lies within 400 km of 35.7, 139.7" in " ".join(shown(found))
    assert "lies in Japan" not in " ".join(shown(found))
    assert repr(found) == "<Finding: Japan; 30 % within 400 km of 35.7, 139.7>"
    assert whole_country(found.trajectory) is None
    assert whole_country(found.trajectory, "country") == "JP"


def by_model(found: Finding) -> Finding:
    first, *rest = found.trajectory.events
    assert isinstance(first.body, Started)
    started = replace(first, body=replace(first.body, policy="server:any", method="default"))
    return replace(found, trajectory=replace(found.trajectory, events=(started, *rest)))
