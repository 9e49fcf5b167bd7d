"""A finding as pages get it, and how two of them differ."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import cast, get_type_hints

import pytest

from geosleuth.agent import Trajectory, build_conversation
from geosleuth.agent.locate import Finding, cap_finding
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.geo import LatLon
from geosleuth.models import Prompt
from geosleuth.models.detective import Detective, Reasoning
from geosleuth.models.feedback import Rejected
from geosleuth.photo import Claims
from geosleuth.server import shapes
from geosleuth.server.finding_view import compare_view, result_view
from geosleuth.server.requests import build_rejected, decode_rejected, encode_rejected, with_rejected
from geosleuth.server.shapes import PlaceView, ResultView
from geosleuth.support.errors import BadInput, ServiceFault
from scripted import ScriptedPolicy
from told_runs import Sight

PHARMACY = ("Farmacia San Marco", "Via Garibaldi 12", "Tel. 0541 782331")
POLISH_BUS = ("Kowalski Tours Warszawa", "www.kowalski.pl", "+48 22 826 12 34")
CLAIMED = Claims("JPEG", 1234, "ab" * 32, (1200, 800), LatLon(48.8584, 2.2945), notes=("by the tower",))


@pytest.fixture
def atlas(atlas_home: Path) -> OfflineAtlas:
    return OfflineAtlas(atlas_home / "regions")


def reviewed(sight: Sight, run: Trajectory, policy: Detective | None = None) -> Reasoning:
    conversation = build_conversation(
        run.events, context=sight.method.context, tools=sight.toolset, picture=sight.case.album.__getitem__
    )
    return (policy or Detective()).review(conversation)


def result_of(sight: Sight, run: Trajectory, policy: Detective | None = None) -> ResultView:
    return result_view(sight.finding(run), reviewed(sight, run, policy))


def test_a_result_has_all_of_its_keys_and_is_json(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY,))
    result = result_of(sight, sight.run())
    assert set(result) == set(get_type_hints(ResultView))
    assert set(result["answer"]) == set(get_type_hints(shapes.AnswerView))
    assert set(result["clues"][0]) == set(get_type_hints(shapes.ClueView))
    assert set(result["answer"]["candidates"][0]) == set(get_type_hints(shapes.RivalView))
    assert set(result["pool"][0]) == set(get_type_hints(shapes.CandidateView))
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert [one["text"] for one in result["text"] if one["number"]]
    strengths = [max((abs(s["log_ratio"] or 0.0) for s in one["supports"]), default=0.0) for one in result["clues"]]
    assert strengths == sorted(strengths, reverse=True)


def test_ids_of_clues_are_the_same_in_every_run(atlas: OfflineAtlas) -> None:
    ids = [
        {one["seen"]: one["id"] for one in result_of(sight, sight.run())["clues"]}
        for sight in (Sight(atlas, (PHARMACY,)), Sight(atlas, (POLISH_BUS, PHARMACY)))
    ]
    common = ids[0].keys() & ids[1].keys()
    assert "0541 782331" in common
    assert all(ids[0][seen] == ids[1][seen] for seen in common)


def test_two_runs_side_by_side(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY, POLISH_BUS))
    first = sight.run()
    rejected = Rejected(texts=PHARMACY)
    second = sight.go_on(first, rejected)
    left, right = result_of(sight, first), result_of(sight, second, Detective(rejected=rejected))
    compared = compare_view(left, right)
    assert set(compared) == set(get_type_hints(shapes.CompareView))
    assert compared["same"] is False
    assert compared["distance_km"] is not None
    assert 1000 < compared["distance_km"] < 1300
    assert "different places" in compared["words"]
    assert "0541 782331" in {one["seen"] for one in compared["only_left"]}
    assert compared["only_right"] == []
    odds = {one["name"]: one for one in compared["candidates"]}
    warsaw = next(one for name, one in odds.items() if name.startswith("Warsaw"))
    assert warsaw["left"] is not None
    assert warsaw["right"] is not None
    assert warsaw["left"] < warsaw["right"]
    assert compared["spent"]["right"]["turns"] > compared["spent"]["left"]["turns"]
    itself = compare_view(left, left)
    assert itself["same"] is True
    assert itself["distance_km"] == 0
    assert itself["only_left"] == itself["only_right"] == []


def test_two_shops_whose_areas_overlap_are_not_the_same_place(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY,))
    left = result_of(sight, sight.run())
    lat = left["answer"]["lat"]
    assert lat is not None
    moved = {**left["answer"], "lat": lat + 0.001, "place": "Another Shop", "radius_km": 0.6}
    right = cast("shapes.ResultView", {**left, "answer": moved})
    compared = compare_view(cast("shapes.ResultView", {**left, "answer": {**left["answer"], "radius_km": 0.6}}), right)
    assert compared["same"] is False
    assert compared["words"].startswith("The areas overlap; the points are 111")
    beside = cast("shapes.ResultView", {**left, "answer": {**moved, "lat": lat + 0.0003}})
    assert compare_view(left, beside)["same"] is True


@pytest.mark.parametrize(
    ("country", "at", "words"),
    [
        ("Austria", (43.7384, 7.4246), "The runs mean different places."),
        ("Austria", (48.2082, 16.3738), "One run means a place in Austria, the other the whole country."),
        ("Netherlands", (52.3676, 4.9041), "One run means a place in the Netherlands, the other the whole country."),
    ],
)
def test_a_whole_country_has_no_point_to_measure_from(
    atlas: OfflineAtlas, country: str, at: tuple[float, float], words: str
) -> None:
    sight = Sight(atlas, (PHARMACY,))
    found = result_of(sight, sight.run())
    place = {**found["answer"], "place": "A Shop", "lat": at[0], "lon": at[1], "area": None}
    address = {"country": country, "region": None, "precise": None}
    whole = {**place, "place": country, "address": address, "lat": 47.6, "lon": 14.1, "radius_km": 250.0}
    left, right = (cast("shapes.ResultView", {**found, "answer": one}) for one in (place, {**whole, "area": "country"}))
    for compared in (compare_view(left, right), compare_view(right, left)):
        assert (compared["words"], compared["same"], compared["distance_km"]) == (words, False, None)
    assert compare_view(right, right)["same"] is True


def test_a_run_without_a_place_can_be_compared(atlas: OfflineAtlas) -> None:
    sight, blank = Sight(atlas, (PHARMACY,)), Sight(atlas, ())
    found, nothing = result_of(sight, sight.run()), result_of(blank, blank.run())
    compared = compare_view(found, nothing)
    assert compared["same"] is None
    assert compared["distance_km"] is None
    assert compared["words"] == "Only one of the runs found a place."
    assert nothing["answer"]["located"] is False
    assert nothing["clues"] == []


def test_what_a_page_rejects_by_id_is_ruled_out(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (("WELCOME TO GRANADA",),))
    first = sight.run()
    result = result_of(sight, first)
    candidates: list[PlaceView] = [*result["pool"], *result["answer"]["candidates"]]
    chosen = result["answer"]["candidates"][0]
    rejected = build_rejected(result["clues"], candidates, reject_candidates=[chosen["id"]])
    assert rejected.places[0].radius_km == chosen["radius_km"]
    second = sight.go_on(first, rejected)
    assert second.answer is not None
    assert all(one.name != "Granada, Spain" for one in second.answer.candidates)
    place = next(one for one in result["clues"] if one["kind"] == "place")
    gone = build_rejected(result["clues"], candidates, reject_clues=[place["id"]])
    assert gone.seen == ("GRANADA",)
    third = sight.go_on(first, gone)
    assert third.answer is not None
    assert not third.answer.located
    after = result_of(sight, third, Detective(rejected=gone))
    assert {one["seen"] for one in after["clues"] if one["rejected"]} == {"GRANADA"}
    with pytest.raises(BadInput, match="no candidate 'h99'"):
        build_rejected(result["clues"], candidates, reject_candidates=["h99"])
    with pytest.raises(BadInput, match="no clue"):
        build_rejected(result["clues"], candidates, reject_clues=["clue-nothing"])
    both = rejected + gone
    assert decode_rejected(json.loads(json.dumps(encode_rejected(both)))) == both


def test_a_rejected_candidate_is_dropped_whoever_goes_on(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (("WELCOME TO GRANADA",),))
    first = sight.run()
    result = result_of(sight, first)
    answer = result["answer"]["candidates"][0]
    assert answer["name"] != first.pool[0].place
    rejected = build_rejected(result["clues"], result["answer"]["candidates"], reject_candidates=[answer["id"]])
    dropped = with_rejected(first, rejected)
    assert {one.id: one.fate for one in dropped.pool} == {"h1": "dropped", "h2": "open", "h3": "open"}
    assert [event.index for event in dropped.events] == list(range(len(dropped.events)))
    assert dropped.spent == first.spent


def test_a_model_is_told_and_can_not_fall_back_on_what_was_rejected(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (("WELCOME TO GRANADA",),))
    first = sight.run()
    result = result_of(sight, first)
    rejected = build_rejected(result["clues"], result["pool"], reject_candidates=["h1"])
    model = ScriptedPolicy([ServiceFault("a model", "gone")])
    second = sight.go_on(first, rejected, model)
    last = model.seen[0].messages[-1]
    assert isinstance(last, Prompt)
    assert 'It was not taken at "Granada, Spain"' in last.text
    view = result_view(sight.finding(second))
    assert view["ended"] is not None
    assert view["ended"]["reason"] == "service"
    assert "gone" in (view["ended"]["trouble"] or "")
    assert view["answered_by"] == "pool"
    assert view["answer"]["place"].startswith("Granada, Nicaragua")


def test_what_the_file_claims_stands_beside_the_answer(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY,))
    run = sight.run()
    finding = replace(sight.finding(run), claims=(CLAIMED,))
    result = result_view(finding, reviewed(sight, run))
    claim = result["claims"][0]
    assert set(claim) == set(get_type_hints(shapes.ClaimView))
    assert claim["conflict"] is True
    assert result["answer"]["conflicts"] == [True]
    assert claim["distance_km"] is not None
    assert claim["distance_km"] > 100


def test_a_capped_result_names_nothing_finer(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY, ("Rimini",)))
    run = sight.run()
    reasoning = reviewed(sight, run)
    finding = replace(sight.finding(run), claims=(CLAIMED,))
    capped = asyncio.run(cap_finding(finding, "country", OfflineGazetteer(atlas)))
    result = result_view(capped, reasoning)
    told = json.dumps(result)
    for secret in (*PHARMACY, "Rimini", "0541", "Garibaldi", "Emilia"):
        assert secret not in told
    assert result["answer"]["place"] == "Italy"
    assert result["clues"] == []
    assert result["text"] == []
    assert result["claims"][0]["lat"] is None
    assert result["granularity"] == "country"


def test_several_minds_are_told_one_by_one(atlas: OfflineAtlas) -> None:
    sight, other = Sight(atlas, (PHARMACY,)), Sight(atlas, (POLISH_BUS,))
    ours, theirs = sight.run(), other.run()
    result = result_view(Finding(ours, (), team=(ours, theirs)))
    team = result["team"]
    assert team is not None
    assert [one["won"] for one in team["voices"]] == [True, False]
    assert team["voices"][1]["place"].endswith("Poland")
    assert "2 tries" in team["words"]
