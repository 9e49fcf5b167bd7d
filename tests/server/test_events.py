"""What readers of a run are told, from real runs of the detective: in order, whole, and of capped runs no place."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings

from any_trajectory import trajectories
from drawn import examples
from geosleuth.agent import Event, Trajectory
from geosleuth.agent.locate import Finding, cap_finding
from geosleuth.agent.methods import method
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.geo import LatLon
from geosleuth.models.detective import Detective
from geosleuth.models.feedback import Rejected
from geosleuth.photo import BoxScale
from geosleuth.report.chain import call_words, outcome_words, points_found
from geosleuth.server import shapes
from geosleuth.server.finding_view import compare_view, result_view
from geosleuth.server.stream_events import EventTranslator, StreamItem
from geosleuth.tools import Observation, ToolCall
from scripted import ScriptedPolicy, answers, call, calls
from told_runs import Sight

PHARMACY = ("Farmacia San Marco", "Via Garibaldi 12", "Tel. 0541 782331")
POLISH_BUS = ("Kowalski Tours Warszawa", "www.kowalski.pl", "+48 22 826 12 34")
VIEWS = {
    "started": shapes.StartedView,
    "resumed": shapes.ResumedView,
    "said": shapes.SaidView,
    "observed": shapes.ObservedView,
    "candidate": shapes.CandidateView,
    "clues": shapes.CluesView,
    "spent": shapes.SpentView,
    "answer": shapes.AnswerView,
    "ended": shapes.EndedView,
}


@pytest.fixture
def atlas(atlas_home: Path) -> OfflineAtlas:
    return OfflineAtlas(atlas_home / "regions")


class Listening:
    """Keeps what is told while a run goes on."""

    def __init__(self, teller: EventTranslator) -> None:
        self.teller = teller
        self.told: list[StreamItem] = []

    def __call__(self, event: Event) -> None:
        self.told += self.teller(event)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [data for one, data in self.told if one == kind]


def heard(sight: Sight) -> tuple[Trajectory, Listening]:
    detective = Detective()
    listening = Listening(EventTranslator(detective=detective))
    return sight.run(detective, sinks=[listening]), listening


def test_a_run_is_told_from_its_start_to_its_end(atlas: OfflineAtlas) -> None:
    done, listening = heard(Sight(atlas, (PHARMACY,)))
    kinds = [kind for kind, _ in listening.told]
    assert kinds[0] == "started"
    assert kinds[-2:] == ["answer", "ended"]
    assert {"said", "observed", "candidate", "clues", "spent"} <= set(kinds)
    for kind, data in listening.told:
        assert set(data) == set(get_type_hints(VIEWS[kind])), kind
        json.dumps(data, allow_nan=False)
    answer = listening.of("answer")[0]
    assert done.answer is not None
    assert done.answer.point is not None
    assert (answer["lat"], answer["lon"]) == (done.answer.point.lat, done.answer.point.lon)
    assert answer["place"].endswith("Italy")
    assert answer["candidates"][0]["id"] == "h1"
    assert answer["would_help"]
    spent = listening.of("spent")[-1]
    assert (spent["turns"], spent["calls"]) == (done.spent.turns, done.spent.calls)
    assert spent["of"]["turns"] == done.started.budget.turns


def test_calls_and_outcomes_are_in_plain_words_with_boxes(atlas: OfflineAtlas) -> None:
    _, listening = heard(Sight(atlas, (("WELCOME TO GRANADA",),)))
    words = [one["words"] for said in listening.of("said") for one in said["calls"]]
    assert words[0] == "reads the text in the photo"
    assert 'looks up "GRANADA" on the map' in words
    read = listening.of("observed")[0]
    assert read["words"] == 'read 1 line: "WELCOME TO GRANADA"'
    assert read["lines"][0]["box"] == [0.05, 0.05, pytest.approx(0.26), 0.0875]
    assert read["lines"][0]["photo"] == 1
    found = next(one for one in listening.of("observed") if one["tool"] == "maps_geocode")
    assert any(point["name"] == "Granada" and abs(point["lat"] - 37.19) < 0.1 for point in found["points"])
    made = {one["id"] for said in listening.of("said") for one in said["calls"]}
    assert {one["call"] for one in listening.of("observed")} == made


def test_clues_are_told_as_they_change_and_say_what_they_support(atlas: OfflineAtlas) -> None:
    _, listening = heard(Sight(atlas, (PHARMACY, POLISH_BUS)))
    told = listening.of("clues")
    assert told
    assert all(one != other for one, other in pairwise(told))
    clues = {clue["seen"]: clue for clue in told[-1]["clues"]}
    rimini = {one["name"]: one["log_ratio"] for one in clues["0541 782331"]["supports"]}
    assert rimini["Rimini, Italy"] > 1
    assert rimini["Warsaw, Poland"] < 0
    assert clues["0541 782331"]["kind_words"] == "a telephone number"
    assert clues["0541 782331"]["photo"] == 1
    assert not any(clue["rejected"] for clue in told[-1]["clues"])
    ids = [clue["id"] for clue in told[-1]["clues"]]
    assert len(ids) == len(set(ids))


def test_candidates_come_with_their_size_and_their_fate(atlas: OfflineAtlas) -> None:
    _, listening = heard(Sight(atlas, (("WELCOME TO GRANADA",),)))
    told = listening.of("candidate")
    assert [one["id"] for one in told[:3]] == ["h1", "h2", "h3"]
    assert all(one["radius_km"] > 0 and one["for"] for one in told)
    assert told[-1]["fate"] == "answered"


def test_a_stored_run_tells_the_same_but_for_the_clues(atlas: OfflineAtlas) -> None:
    done, listening = heard(Sight(atlas, (PHARMACY,)))
    again = EventTranslator().whole(done)
    assert [kind for kind, _ in again] == [kind for kind, _ in listening.told if kind != "clues"]
    assert dict(again)["answer"]["place"] == listening.of("answer")[0]["place"]


def test_going_on_is_told_after_what_was_before(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY, POLISH_BUS))
    first = sight.run()
    rejected = Rejected(texts=PHARMACY)
    detective = Detective(rejected=rejected)
    listening = Listening(EventTranslator(detective=detective))
    for event in first.events:
        listening(event)
    before = len(listening.told)
    sight.go_on(first, rejected, detective, sinks=[listening])
    kinds = [kind for kind, _ in listening.told[before:]]
    assert kinds[0] == "resumed"
    assert "ended" in kinds
    assert '"Via Garibaldi 12"' in listening.of("resumed")[0]["words"]
    assert [one["place"].rpartition(", ")[2] for one in listening.of("answer")] == ["Italy", "Poland"]
    assert {clue["seen"] for clue in listening.of("clues")[-1]["clues"] if clue["rejected"]} >= {"0541 782331"}
    # A budget counts anew.
    assert listening.of("spent")[-1]["turns"] < len(listening.of("said"))


def test_of_a_capped_run_no_place_is_told(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY, ("Rimini",)))
    detective = Detective()
    listening = Listening(EventTranslator(granularity="country", detective=detective))
    done = sight.run(detective, sinks=[listening])
    assert done.answer is not None
    assert done.answer.located
    told = json.dumps(listening.told)
    for secret in (*PHARMACY, "Rimini", "0541", "Garibaldi", "Italy", "44.0", "12.5"):
        assert secret not in told
    assert not listening.of("clues")
    assert not listening.of("answer")
    assert listening.of("said")[0]["calls"][0]["words"] == "reads the text in the photo"
    assert all(not one["lines"] and not one["points"] for one in listening.of("observed"))
    finding = asyncio.run(cap_finding(sight.finding(done), "country", OfflineGazetteer(atlas)))
    [(kind, answer)] = listening.teller.closing(finding)
    assert kind == "answer"
    assert answer["place"] == "Italy"
    assert answer["address"]["precise"] is None
    assert answer["evidence"] == []
    assert "Rimini" not in json.dumps(answer)


def test_hostile_text_stays_text_on_one_line(atlas: OfflineAtlas) -> None:
    hostile = '<script>alert("GRANADA")</script>'
    _, listening = heard(Sight(atlas, ((hostile,), ("WELCOME TO GRANADA",))))
    lines = [line["text"] for one in listening.of("observed") for line in one["lines"]]
    assert hostile in lines
    for one in listening.of("observed"):
        assert "\n" not in one["words"]
    read = listening.of("observed")[0]["words"]
    assert r"<script>alert(\"GRANADA\")</script>" in read
    assert listening.of("started")[0]["budget"]["turns"] == 14


def test_of_a_stored_capped_run_nothing_finer_is_told(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY, ("Rimini",)))
    done = sight.run()
    capped = asyncio.run(cap_finding(sight.finding(done), "country", OfflineGazetteer(atlas))).trajectory
    told = EventTranslator().whole(capped)
    assert dict(told)["answer"]["place"] == "Italy"
    for secret in (*PHARMACY, "Rimini", "0541", "Garibaldi"):
        assert secret not in json.dumps(told)


@pytest.mark.parametrize(("scale", "box"), [("pixels", [900, 40, 1150, 160]), ("thousandths", [750, 50, 958, 200])])
def test_magnifying_says_which_part(atlas: OfflineAtlas, scale: BoxScale, box: list[int]) -> None:
    sight = Sight(atlas, (("GRANADA",),), method=method("detective", box_scale=scale))
    script = [
        calls(call("read_text", image="image-1"), call("image_zoom_in_tool", image="image-1", bbox_2d=box)),
        calls(call("image_zoom_in_tool", image="image-1", bbox_2d=box[:3]), thinking="Once more."),
        calls(call("read_text", image="image-2"), call("image_zoom_in_tool", image="image-1", bbox_2d=box[::-1])),
        calls(call("read_text", image="image-1", bbox_2d=box)),
        answers(37.2, -3.6),
    ]
    listening = Listening(EventTranslator())
    sight.run(ScriptedPolicy(script), sinks=[listening])
    first, second, third, fourth = [[one["words"] for one in said["calls"]] for said in listening.of("said")[:4]]
    assert first == ["reads the text in the photo", "magnifies a part of the photo"]
    assert second == ["magnifies a part of the photo"]
    assert third[0] == "reads the text in a part of the photo"
    assert fourth == ["reads the text in the part of the photo at the top right"]
    zoomed = listening.of("observed")[1]
    assert zoomed["words"] == "magnified the part at the top right"
    assert zoomed["picture"]["box"] == pytest.approx([0.75, 0.05, 0.958, 0.2], abs=0.01)
    assert zoomed["picture"]["handle"] == "image-2"
    assert listening.of("observed")[2]["ok"] is False
    assert listening.of("said")[1]["thought"] == "Once more."
    assert call_words(call("read_text", image="image-1", bbox_2d=box), box=[0.4, 0.4, 0.6, 0.5]) == (
        "reads the text in the part of image-1 in the middle"
    )


def test_calls_of_any_shape_have_words() -> None:
    assert call_words(ToolCall("1", "maps_geocode", {"address": "Rue Grimaldi", "country": "MC"})) == (
        'looks up "Rue Grimaldi" on the map in MC'
    )
    assert call_words(ToolCall("1", "geocode", {"address": 'a"\nb'})) == r'looks up "a\" b" on the map'
    assert call_words(ToolCall("1", "their_tool", {"x": 1})) == 'uses "their_tool"'
    assert call_words(ToolCall("1", "maps_geocode", "no json")) == "looks up on the map"
    assert call_words(ToolCall("1", "reverse_geocode", {"latitude": "x", "longitude": 1e9})) == "looks up what is there"
    assert call_words(ToolCall("1", "range_fix", {"towns": ["A", "B"]})) == (
        'works out where the distances to "A" and "B" meet'
    )
    assert outcome_words(Observation("1", "maps_geocode", "No.", {"results": []})) == "found nothing"
    inverness = {"name": "Inverness", "lat": 57.5, "lon": -4.2}
    tells = Observation("1", "text_clues", "…", {"results": [{"says": "of Inverness", "spots": [inverness, 3]}]})
    assert outcome_words(tells) == "that tells: of Inverness"
    assert list(points_found(tells)) == [("Inverness", LatLon(57.5, -4.2))]
    assert outcome_words(Observation("1", "x", "a line\nanother", failure="service")) == (
        "an online service failed: a line"
    )
    assert len(outcome_words(Observation("1", "x", "long " * 1000))) <= 200


@given(trajectories())
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
def test_any_run_can_be_told_as_json(run: Trajectory) -> None:
    told = EventTranslator().whole(run)
    assert told[0][0] == "started"
    for kind, data in told:
        assert set(data) == set(get_type_hints(VIEWS[kind])), kind
    json.dumps(told, allow_nan=False, ensure_ascii=False).encode()
    result = result_view(Finding(run, ()))
    json.dumps(result, allow_nan=False, ensure_ascii=False).encode()
    assert compare_view(result, result)["only_left"] == []


@given(trajectories())
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
def test_of_any_capped_run_no_text_is_told(run: Trajectory) -> None:
    told = EventTranslator(granularity="country").whole(run)
    for kind, data in told:
        if kind == "said":
            assert data["thought"] == ""
            assert data["text"] == ""
        elif kind == "observed":
            assert data["lines"] == []
            assert data["points"] == []
        elif kind == "candidate":
            assert (data["lat"], data["lon"], data["radius_km"]) == (None, None, None)
        assert kind not in ("clues", "answer")


def test_half_a_character_of_a_model_breaks_no_wire(atlas: OfflineAtlas) -> None:
    odd = "caf\ud800"
    script = [
        calls(call("note_hypothesis", place=odd, confidence=0.5), call(odd, x=odd), thinking=odd, text=odd),
        answers(37.2, -3.6, city=odd),
    ]
    sight, listening = Sight(atlas, (("GRANADA",),)), Listening(EventTranslator())
    done = sight.run(ScriptedPolicy(script), sinks=[listening])
    told = json.dumps(listening.told, ensure_ascii=False).encode()
    assert b"caf?" in told
    json.dumps(result_view(sight.finding(done)), ensure_ascii=False).encode()
