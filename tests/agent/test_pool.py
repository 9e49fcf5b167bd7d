"""The candidate pool."""

import asyncio
from typing import Any

from geosleuth.agent import CandidatePool, Event, Hypothesis, Noted, Said, ToolObserved, Trajectory, run
from geosleuth.agent.setup import AgentSetup
from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.models import Step
from geosleuth.tools import Observation, ToolCall
from scripted import Line, ScriptedPolicy, answers, call, calls, says
from small_runs import ALL_TOOLS, small_case, small_method


def go(*script: Line) -> Trajectory:
    policy = ScriptedPolicy(script, then=says("?"))
    return asyncio.run(run(small_case(), AgentSetup(method=small_method(), policy=policy, toolset=ALL_TOOLS)))


def note(place: str, confidence: float, **more: Any) -> Step:
    return calls(call("note_hypothesis", place=place, confidence=confidence, **more))


def pool_with(*notes: dict[str, Any]) -> CandidatePool:
    """A pool that was told so, as the loop tells it."""
    pool = CandidatePool()
    for number, data in enumerate(notes):
        observation = Observation(str(number), "note_hypothesis", "Noted.", {"hypothesis": data})
        for hypothesis in pool.changes(ToolObserved(1, observation)):
            pool.see(Noted(hypothesis))
    return pool


def test_every_change_of_a_candidate_is_an_event() -> None:
    found = go(
        note("Monaco", 0.4, evidence_for=["palm trees"], lat=43.73, lon=7.42, radius_km=2),
        note("MONACO", 0.7, evidence_against=["too green"]),
        note("Nice", 0.2),
        answers(43.731, 7.421),
    )
    noted = [event.body.hypothesis for event in found.events if isinstance(event.body, Noted)]
    assert [(one.id, one.confidence, one.fate) for one in noted] == [
        ("h1", 0.4, "open"), ("h1", 0.7, "open"), ("h2", 0.2, "open"), ("h1", 0.7, "answered"),
    ]  # fmt: skip
    monaco, nice = found.pool
    assert monaco.evidence_for == ("palm trees",)
    assert monaco.evidence_against == ("too green",)
    assert monaco.point == LatLon(43.73, 7.42)
    assert nice.fate == "open"
    assert found.answer is not None
    assert [one.name for one in found.answer.candidates] == ["MONACO", "Nice"]


def test_the_policys_own_candidates_stand() -> None:
    own = says('{"format": "geosleuth-answer/1", "lat": 1, "lon": 2, "candidates": [{"name": "Elsewhere"}]}')
    found = go(note("Monaco", 0.4), own)
    assert found.answer is not None
    assert [one.name for one in found.answer.candidates] == ["Elsewhere"]


def test_a_place_near_by_under_another_name_is_the_same_candidate() -> None:
    pool = pool_with(
        {"place": "Monaco", "confidence": 0.5, "point": {"lat": 43.73, "lon": 7.42}},
        {"place": "Rue Grimaldi", "confidence": 0.6, "point": {"lat": 43.735, "lon": 7.42}},
    )
    assert [(one.place, one.confidence) for one in pool.candidates] == [("Rue Grimaldi", 0.6)]


def test_a_town_is_not_the_country_around_it() -> None:
    pool = pool_with(
        {"place": "France", "confidence": 0.9, "point": {"lat": 46.2, "lon": 2.2}, "radius_km": 500},
        {"place": "Lyon", "confidence": 0.3, "point": {"lat": 45.76, "lon": 4.84}, "radius_km": 10},
        {"place": "A café there", "confidence": 0.2, "point": {"lat": 45.77, "lon": 4.84}, "radius_km": 0.1},
    )
    assert [one.place for one in pool.candidates] == ["France", "Lyon", "A café there"]
    (settled,) = pool.settle(Answer(LatLon(45.76, 4.841)))
    assert settled.place == "Lyon"


def test_a_candidate_is_dropped_at_next_to_no_confidence_and_may_come_back() -> None:
    found = go(note("Monaco", 0.4), note("Monaco", 0.02))
    assert [one.fate for one in found.pool] == ["dropped"]
    assert found.answered is not None
    assert found.answered.by == "nobody"
    back = go(note("Monaco", 0.4), note("Monaco", 0.01), note("Monaco", 0.5))
    assert [one.fate for one in back.pool] == ["answered"]


def test_what_tools_find_about_a_candidate_is_a_check() -> None:
    found = go(
        note("Café Riva, Nice", 0.4, lat=43.70, lon=7.27),
        calls(
            call("look_up", query="opening hours of Cafe RIVA"),
            call("look_up", query="weather", lat=43.71, lon=7.27),
            call("draw_map", lat=43.70, lon=7.26),
            call("look_up", query="Rome"),
            call("draw_map", lat=41.9, lon=12.5),
        ),
    )
    (candidate,) = found.pool
    assert [check.partition("(")[0] for check in candidate.checks] == ["look_up", "look_up", "draw_map"]
    assert "Nothing but opening hours" in candidate.checks[0]


def test_the_pools_answer_is_its_best_open_candidate_with_its_own_odds() -> None:
    pool = pool_with(
        {"place": "Nice", "confidence": 0.3, "point": {"lat": 43.7, "lon": 7.27}},
        {"place": "Monaco", "confidence": 0.6, "point": {"lat": 43.73, "lon": 7.42}, "radius_km": 2, "country": "MC"},
        {"place": "Menton", "confidence": 0.0, "point": {"lat": 43.77, "lon": 7.5}},
    )
    answer = pool.answer()
    assert answer is not None
    assert (answer.point, answer.probability, answer.radius_km) == (LatLon(43.73, 7.42), 0.6, 2)
    assert answer.address.country.conclusion == "Monaco"
    assert [one.name for one in answer.candidates] == ["Monaco", "Nice", "Menton"]


def test_a_candidate_without_a_point_is_answered_by_name() -> None:
    answer = pool_with({"place": "Laos", "confidence": 0.6}).answer()
    assert answer is not None
    assert answer.point is None
    assert answer.address == Address.create(country="Laos")


def test_notes_of_any_shape_do_no_harm() -> None:
    odd: list[Any] = [
        None, 3, [], {}, {"place": 7}, {"place": " "}, {"place": "x", "point": "here", "confidence": "high"},
        {"place": "y", "point": {"lat": 999, "lon": 0}, "confidence": 7, "radius_km": -1, "evidence_for": {"a": 1}},
        {"place": "z" * 10_000, "confidence": True, "evidence_for": ["e" * 10_000] * 500},
    ]  # fmt: skip
    pool = pool_with(*odd)
    assert [one.place[0] for one in pool.candidates] == ["x", "y", "z"]
    assert all(one.confidence is None and one.point is None and one.radius_km is None for one in pool.candidates)
    assert len(pool.candidates[2].place) < 1000
    assert len(str(pool.candidates[2].evidence_for)) < 10_000


def test_a_note_counts_only_from_the_tool_that_notes() -> None:
    pool = CandidatePool()
    said = {"hypothesis": {"place": "Null Island", "confidence": 1.0}}
    assert pool.changes(ToolObserved(1, Observation("a", "search_web", "Text", said))) == ()
    failed = Observation("a", "note_hypothesis", "No.", said, failure="refused")
    assert pool.changes(ToolObserved(1, failed)) == ()


def test_the_pool_is_the_same_when_read_back_from_events() -> None:
    found = go(note("Monaco", 0.4), note("Nice", 0.2), note("Monaco", 0.6), calls(call("look_up", query="Nice")))
    assert CandidatePool(found.events).candidates == found.pool


def test_noting_for_ever_stays_small() -> None:
    call_of = ToolCall("c", "look_up", {"query": "Monaco"})
    pool = CandidatePool(
        [Event(0, 0.0, Noted(Hypothesis("h1", "Monaco"))), Event(1, 0.0, Said(1, Step(calls=(call_of,))))]
    )
    for number in range(500):
        body = ToolObserved(1, Observation("c", "look_up", f"finding {number}"))
        for hypothesis in pool.changes(body):
            pool.see(Noted(hypothesis))
    assert len(pool.candidates[0].checks) <= 20
    assert "finding 499" in pool.candidates[0].checks[-1]
