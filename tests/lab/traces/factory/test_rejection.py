"""What is kept and what is not, and how it is counted."""

import asyncio
from typing import Any

import pytest

from factory_scenes import SOEST, opened, scene_of
from geosleuth.agent import Trajectory
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import distance_km
from geosleuth.lab.traces.spotagent import Tally, judge, judge_assembled, synthesise, tally_markdown, tally_to_dict
from geosleuth.models import Step
from geosleuth.support.errors import ServiceFault
from scripted import ScriptedPolicy, call, calls, says

WHY = "1. Seen: a shop.\n2. Missing: the town.\n3. Tool: the map, for names."


def answer(lat: float = SOEST.lat, lon: float = SOEST.lon) -> Step:
    return says(f"<answer>\nCountry: Germany\nCity: Soest\nLatitude: {lat}\nLongitude: {lon}\n</answer>")


def run(atlas: OfflineAtlas, *script: Step | Exception) -> Trajectory:
    observer = ScriptedPolicy([], then=says("Buildings: brick."))
    caller = ScriptedPolicy(script, then=says("I can't say."))
    return asyncio.run(synthesise(opened(*scene_of()), observer, caller, atlas=atlas)).trajectory


def asks(name: str, thinking: str = WHY, **arguments: Any) -> Step:
    return calls(call(name, **arguments), thinking=thinking)


def test_valid_calls_and_a_near_answer_are_kept(atlas: OfflineAtlas) -> None:
    verdict = judge(run(atlas, asks("maps_geocode", address="Soest"), answer()), SOEST)
    assert verdict.is_accepted
    assert verdict.reasons == ()
    assert verdict.error_km == pytest.approx(0, abs=0.01)


def test_a_search_that_finds_nothing_did_its_work(atlas: OfflineAtlas) -> None:
    assert judge(run(atlas, asks("maps_geocode", address="Xqzwv Blorp"), answer()), SOEST).is_accepted


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([asks("map_lookup", address="Soest"), answer()], "invalid_call"),
        ([asks("maps_geocode"), answer()], "invalid_call"),
        ([asks("image_zoom_in_tool", bbox_2d=[9000, 9000, 9100, 9100]), answer()], "invalid_call"),
        ([asks("maps_geocode", address="Soest"), asks("maps_geocode", address="Soest"), answer()], "failed_call"),
        ([asks("maps_geocode", thinking="I ask.", address="Soest"), answer()], "no_reasons"),
        ([answer(52.52, 13.4)], "far_answer"),
        ([says("I can't say.")], "no_answer"),
        ([ServiceFault("example.org", "it is down")], "broken"),
    ],
)
def test_whatever_speaks_against_it_is_named(atlas: OfflineAtlas, script: list[Step | Exception], reason: str) -> None:
    verdict = judge(run(atlas, *script), SOEST)
    assert not verdict.is_accepted
    assert verdict.reasons[0] == reason
    assert verdict.detail


def test_more_than_five_kilometres_are_too_far_by_the_ruler_of_all_reports(atlas: OfflineAtlas) -> None:
    degree_km = 111.19492664
    near, far = (run(atlas, answer(SOEST.lat + km / degree_km)) for km in (4.99, 5.01))
    assert judge(near, SOEST).is_accepted
    assert judge(far, SOEST).reasons == ("far_answer",)
    assert judge(far, SOEST, within_km=6).is_accepted
    measured = judge(far, SOEST).error_km
    assert measured is not None
    assert far.answer is not None
    assert far.answer.point is not None
    assert measured == pytest.approx(distance_km(far.answer.point, SOEST, "geodesic"), abs=1e-6)
    assert judge(far, SOEST, within_km=measured).is_accepted


def test_an_assembly_is_kept_however_wrong_its_answer_is(atlas: OfflineAtlas) -> None:
    assert judge_assembled(run(atlas, answer(-33.0, 151.0))).is_accepted
    assert judge_assembled(run(atlas, asks("maps_geocode"), answer())).reasons == ("invalid_call",)


def test_statistics_add_up() -> None:
    metas = [
        {"kept": True, "reasons": [], "finest": "precise", "slips": {"missed": 2}, "tools": ["zoom", "zoom", "map"]},
        {"kept": False, "reasons": ["far_answer"], "finest": "country", "slips": {"missed": 0}},
        {"kept": False, "reasons": ["invalid_call", "far_answer"], "finest": None, "slips": {"bad_call": 1}},
    ]
    tally = Tally()
    for meta in metas:
        tally.add(meta)
    told = tally_to_dict(tally)
    assert (told["made"], told["kept"], told["kept_share"]) == (3, 1, pytest.approx(1 / 3, abs=1e-6))
    assert told["rejected"]["far_answer"] == 1
    assert told["rejected_also_for"]["far_answer"] == 2
    assert sum(told["rejected"].values()) + told["kept"] == told["made"]
    assert told["by_finest_clue"] == {
        "country": {"made": 1, "kept": 0}, "nothing": {"made": 1, "kept": 0}, "precise": {"made": 1, "kept": 1},
    }  # fmt: skip
    assert told["by_slip"]["missed"] == {"made": 1, "kept": 1}
    assert told["by_slip"]["none"]["made"] == 1
    assert told["calls_kept"] == {"map": 1, "zoom": 2}
    assert "| kept | 1 | 33.3 % |" in tally_markdown(tally)
