"""What is filled in after an answer, and what is told about it, in whole runs of the command on a real map."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent import first_difference, read_trajectory, replay
from geosleuth.agent.completion import with_odds
from geosleuth.agent.methods import method
from geosleuth.answer import FORMAT, Answer
from geosleuth.geo import LatLon, distance_km
from later import later
from locating import at, locate_here, photo_file, says, texts
from openai_server import Reply, chat_reply, openai_server

later("pydantic_ai")
pytestmark = pytest.mark.usefixtures("atlas_home")

CAIRO = LatLon(30.06, 31.25)
NAMED = says('<answer>The signs decided.\n{"country": "Egypt", "city": "Cairo"}</answer>')
POINT = says('{"lat": 30.05, "lon": 31.24, "city": "Cairo", "country": "Egypt"}')


def found(tmp_path: Path, *words: object, replies: list[Reply]) -> tuple[dict[str, Any], list[str]]:
    """The document of a run, and the words of each request."""
    with openai_server(replies) as url:
        done = locate_here(photo_file(tmp_path), *at(url), *words, "--json")
    assert done.code == 0, done.err
    return done.document, [texts(one.json["messages"]) for one in url.requests]


def point_of(document: dict[str, Any]) -> LatLon:
    return LatLon(document["answer"]["lat"], document["answer"]["lon"])


def test_a_place_that_is_only_named_gets_its_point_marked_as_derived(tmp_path: Path) -> None:
    document, asked = found(tmp_path, "--method", "geovista", replies=[NAMED, says("0.8")])
    assert distance_km(point_of(document), CAIRO) < 30
    assert document["derived_from"] == "Cairo, Egypt"
    assert document["answer"]["probability"] == 0.8
    assert document["doubts"] == []
    assert len(asked) == 2
    assert "One last question: how likely is it" in asked[1]
    with openai_server([NAMED, says("0.8")]) as url:
        page = tmp_path / "page.html"
        card = locate_here(photo_file(tmp_path), *at(url), "--method", "geovista", "--out", page)
    mark = "The model gave no point; this is that of Cairo, Egypt on the map."
    assert mark in " ".join(card.out.split())
    assert mark in page.read_text(encoding="utf-8")


def test_what_the_map_does_not_know_stays_without_a_point(tmp_path: Path) -> None:
    for address in ({"country": "Egypt"}, {"country": "Egypt", "city": "Xqzzplatz"}):
        reply = says(f"<answer>Hm. {json.dumps(address)}</answer>")
        document, asked = found(tmp_path, "--method", "geovista", replies=[reply])
        assert "lat" not in document["answer"]
        assert document["derived_from"] is None
        assert len(asked) == 1


def test_a_capped_finding_says_that_its_point_is_derived_and_no_more(tmp_path: Path) -> None:
    words = ("--method", "geovista", "--granularity", "country")
    document, _ = found(tmp_path, *words, replies=[NAMED, says("0.8")])
    assert document["derived_from"] == ""
    assert "Cairo" not in json.dumps(document)


@pytest.mark.parametrize("name", ["twm", "spotagent", "default"])
def test_odds_are_asked_for_where_a_methods_form_has_none(tmp_path: Path, name: str) -> None:
    document, asked = found(tmp_path, "--method", name, replies=[POINT, says("<think>hm, 0.1</think> 65 %")])
    assert document["derived_from"] is None
    if name == "default":
        assert len(asked) == 1
        return
    assert (document["answer"]["probability"], document["answer"]["radius_km"]) == (0.65, 25.0)
    assert (len(asked), document["spent"]["turns"]) == (2, 2)


def test_an_answer_stands_where_nobody_says_how_likely_it_is(tmp_path: Path) -> None:
    refused = Reply(b'{"error": {"message": "no"}}', 400)
    for reply in (says("I can't say."), refused):
        document, _ = found(tmp_path, "--method", "twm", replies=[POINT, reply])
        assert document["ended"] == "answered"
        assert distance_km(point_of(document), CAIRO) < 30
        assert "probability" not in document["answer"]


def test_a_recording_is_played_to_the_same_end(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    first, _ = found(tmp_path, "--method", "geovista", "--trajectory", kept, replies=[NAMED, says("0.8")])
    done = locate_here(photo_file(tmp_path), "--model", f"replay:{kept}", "--json")
    assert done.code == 0, done.err
    assert done.document["answer"] == first["answer"]
    assert done.document["derived_from"] == first["derived_from"]
    recorded = read_trajectory(kept)
    again = asyncio.run(replay(recorded, method=method("geovista")))
    assert first_difference(recorded, again) is None


def full(**fields: object) -> Reply:
    return says(json.dumps({"format": FORMAT, "probability": 0.6, "radius_km": 5.0, **fields}))


def test_a_name_that_is_elsewhere_than_its_point_is_told(tmp_path: Path) -> None:
    cairo = {"country": {"conclusion": "Egypt"}, "precise": {"conclusion": "Cairo"}}
    document, _ = found(tmp_path, replies=[full(lat=48.85, lon=2.35, **cairo)])
    (doubt,) = document["doubts"]
    assert doubt["kind"] == "name"
    assert "Cairo, Egypt lies 3,1" in doubt["words"]
    with openai_server([full(lat=48.85, lon=2.35, **cairo)]) as url:
        card = locate_here(photo_file(tmp_path), *at(url))
    assert "The place named is not where the point is: Cairo, Egypt lies" in " ".join(card.out.split())
    near, _ = found(tmp_path, replies=[full(lat=30.5, lon=31.0, **cairo)])
    assert near["doubts"] == []
    # Jilin is a city and the province around it.
    jilin = {"country": {"conclusion": "China"}, "region": {"conclusion": "Jilin"}}
    inside, _ = found(tmp_path, replies=[full(lat=42.68, lon=125.53, **jilin)])
    assert inside["doubts"] == []


def test_an_answer_against_the_runs_own_notes_is_told(tmp_path: Path) -> None:
    def noted(place: str, confidence: float, lat: float, lon: float) -> tuple[str, dict[str, object]]:
        return "note_hypothesis", {"place": place, "confidence": confidence, "latitude": lat, "longitude": lon}

    nice, lima = noted("Nice", 0.8, 43.7, 7.26), noted("Lima", 0.1, -12.05, -77.04)
    answer = full(lat=-12.05, lon=-77.04, precise={"conclusion": "Lima"}, country={"conclusion": "Peru"})
    document, _ = found(tmp_path, replies=[chat_reply("", [nice, lima]), answer])
    assert [one["words"] for one in document["doubts"]] == [
        "The run's own notes speak against this answer: Nice was held likelier."
    ]
    dropped = noted("Lima", 0.0, -12.05, -77.04)
    document, _ = found(tmp_path, replies=[chat_reply("", [lima]), chat_reply("", [dropped]), answer])
    assert [one["words"] for one in document["doubts"]] == [
        "The run's own notes speak against this answer: Lima was ruled out before."
    ]
    document, _ = found(tmp_path, replies=[chat_reply("", [nice, noted("Lima", 0.7, -12.05, -77.04)]), answer])
    assert document["doubts"] == []


@pytest.mark.parametrize(
    ("reply", "odds"),
    [("0.7", 0.7), (".25", 0.25), ("1", 1.0), ("Probability: 70 %", 0.7), ("I would say 0.4 within 25 km", 0.4),
     ("<think>0.9?</think><answer>0.3</answer>", 0.3), ("25 km", None), ("likely", None), ("", None), ("12.5%", 0.125)],
)  # fmt: skip
def test_odds_are_read_from_any_wording(reply: str, odds: float | None) -> None:
    assert with_odds(Answer(CAIRO), reply).probability == odds
