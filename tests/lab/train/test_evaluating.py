"""An evaluation: what is kept of it, how it goes on after a stop, what it says, and the tables made of several."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.evaluation import (
    WITHIN_KM,
    Evaluation,
    EvaluationSettings,
    PlaySettings,
    band,
    compare_scenes,
    compute_parallel_figures,
    compute_scene_figures,
    evaluate,
    read_evaluation,
    slice_figures,
    summary_figures,
)
from geosleuth.lab.train.generator import Asked
from geosleuth.lab.train.play import PlayedScene, PlayedTry
from geosleuth.support.errors import BadInput
from players import NEAR, ZOOM, Scripted, plain_setting
from scripted_grpo import make_photos
from tiny_vlm import tiny_vlm_folder


def tried(km: float | None, **more: Any) -> PlayedTry:
    return PlayedTry(km, 0.5, **{"answered": km is not None, "reason": "answered", **more})


def scene(number: int, *kms: float | None, verified: float | None = None, **more: Any) -> PlayedScene:
    known: dict[str, Any] = {"needs_zoom": False, "misleading": False, "locatability": 9.0, "finest": "precise"}
    tries = tuple(tried(km) for km in kms)
    chosen = tried(verified) if len(kms) > 1 else None
    return PlayedScene(number, f"held-out-7-{number}", country="FR", tries=tries, verified=chosen, **(known | more))


def test_one_try_a_scene() -> None:
    figures = compute_scene_figures([scene(0, 0.4), scene(1, 20.0), scene(2, 5000.0), scene(3, None)])
    assert [figures["within"][name]["value"] for name in ("0.5 km", "25 km", "750 km")] == [25.0, 50.0, 50.0]
    assert figures["within"]["25 km"]["low"] == pytest.approx(15.0, abs=0.1)  # Wilson's, for 2 of 4
    assert figures["median_km"]["value"] == 2510.0
    assert (figures["located"]["value"], figures["answered"]["value"]) == (75.0, 75.0)
    assert "parallel" not in figures
    json.dumps(figures, allow_nan=False)


def test_calls_and_failures_are_counted_by_call_and_by_try() -> None:
    calls = {"zoom": 3, "geocode": 1}
    busy = tried(1.0, tools=calls, failures={"repeated": 1, "bad_arguments": 1}, calls=3, turns=4)
    idle = tried(1.0, turns=2)
    figures = compute_scene_figures([replace(scene(0, 1.0), tries=(busy,)), replace(scene(1, 1.0), tries=(idle,))])
    assert figures["failed"] == {
        "percent": 50.0,
        "strict_percent": 50.0,
        "calls": 4,
        "by": {"bad_arguments": 1, "repeated": 1},
    }
    assert (figures["called"]["value"], figures["calls"]["value"], figures["turns"]["value"]) == (50.0, 2.0, 3.0)
    assert figures["tools"] == {"zoom": 3, "geocode": 1}


def test_what_a_verifier_is_worth() -> None:
    played = [
        scene(0, 1.0, 900.0, verified=1.0),
        scene(1, 900.0, 1.0, verified=1.0),
        scene(2, 900.0, 1.0, verified=900.0),
        scene(3, None, None),
    ]
    at_2 = compute_parallel_figures(played)["2 km"]
    assert (at_2["single"], at_2["verifier"], at_2["best"]) == (37.5, 50.0, 75.0)
    assert at_2["verifier_over_single"]["value"] == 12.5
    assert at_2["best_over_verifier"]["value"] == 25.0
    assert at_2["verifier_over_single"]["low"] < 12.5 < at_2["verifier_over_single"]["high"]
    assert compute_scene_figures(played)["within"]["2 km"]["value"] == 37.5


def test_two_policies_on_the_same_scenes() -> None:
    before = [scene(number, 900.0 if number % 2 else 1.0) for number in range(40)]
    after = [scene(number, 1.0) for number in range(10, 50)]
    found = compare_scenes(before, after)
    assert found["scenes"] == 30
    at_2 = found["within"]["2 km"]
    assert at_2["value"] == 50.0
    assert at_2["low"] > 30
    assert at_2["p"] < 0.001
    assert found["within"]["0.5 km"]["value"] == 0.0
    with pytest.raises(ValueError, match="no scene in common"):
        compare_scenes(before, [scene(99, 1.0)])
    with pytest.raises(ValueError, match="differ in seed or split"):
        compare_scenes(before, [replace(scene(1, 1.0), id="held-out-8-1")])


def test_slices() -> None:
    played = [scene(0, 1.0, needs_zoom=True), scene(1, 900.0, misleading=True, finest=None), scene(2, 1.0)]
    found = slice_figures(played)
    assert {name: set(kinds) for name, kinds in found.items()} == {
        "needs zoom": {"yes", "no"},
        "misleading text": {"yes", "no"},
        "zoom or misleading": {"yes", "no"},
        "locatability": {"8-10"},
        "finest clue": {"precise", "none"},
    }
    assert found["zoom or misleading"]["yes"]["scenes"] == 2
    assert found["zoom or misleading"]["yes"]["within"]["2 km"]["value"] == 50.0
    assert [band(value) for value in (10, 8, 7.5, 4, 0)] == ["8-10", "8-10", "6-7", "4-5", "0-3"]


def evaluated(policy: Any, **words: Any) -> Evaluation:
    """An evaluation whose words are given one by one."""
    settings, playing = (
        {one.name: words.pop(one.name) for one in fields(kind) if one.name in words}
        for kind in (EvaluationSettings, PlaySettings)
    )
    return evaluate(policy, EvaluationSettings(**settings), playing=PlaySettings(**playing), **words)


class Counting(Scripted):
    """Counts what it was asked."""

    asked = 0

    def replies(self, asked: Any) -> list[Any]:
        self.asked += len(asked)
        return super().replies(asked)


def zoom_and_answer(turn: int, _asked: Asked) -> str:
    return ZOOM if turn == 0 else NEAR


@pytest.mark.usefixtures("atlas_home")
def test_an_evaluation_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    words: dict[str, Any] = {"setting": plain_setting, "at_once": 1, "folder": folder}

    def stop(done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluated(Scripted(zoom_and_answer), scenes=4, progress=stop, **words)
    with (folder / "scenes.jsonl").open("ab") as stream:
        stream.write(b'{"number": 2, "id": "cut off in the mid')
    assert len(read_evaluation(folder).scenes) == 2
    again = Counting(zoom_and_answer)
    told: list[int] = []
    found = evaluated(again, scenes=4, progress=lambda done, _: told.append(done), **words)
    assert told == [2, 3, 4]
    assert again.asked == 4  # two scenes of two turns
    assert [one.number for one in found.scenes] == [0, 1, 2, 3]
    assert found.figures["called"]["value"] == 100.0
    assert read_evaluation(folder) == found
    kept = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    assert kept["figures"] == found.figures
    assert kept["asked"]["policy"] == "hf:scripted"
    assert f"{WITHIN_KM[0]:g} km" in kept["figures"]["within"]
    with pytest.raises(BadInput, match="another seed"):
        evaluated(again, scenes=4, seed=8, **words)
    with pytest.raises(BadInput, match="another verified"):
        evaluated(again, scenes=4, verified=False, **words)
    assert evaluated(again, scenes=3, **words).figures["scenes"] == 3
    assert again.asked == 4


@pytest.mark.usefixtures("atlas_home")
def test_answers_in_words_are_measured_from_the_place_they_name_unless_strict(tmp_path: Path) -> None:
    said = iter(("Monaco; ; Monaco", "Monaco; ; Monaco", "Qwyxland; ; Qwyxhurst"))
    words: dict[str, Any] = {
        "scenes": 3, "photos": str(make_photos(tmp_path / "photos", 3)), "method": "geoagent", "at_once": 1,
        "with_tools": False,
    }  # fmt: skip
    found = evaluated(Scripted(lambda *_: next(said)), folder=tmp_path / "usual", **words)
    assert found.figures["placed"] == {"town": 2}
    assert found.figures["located"]["value"] == pytest.approx(66.6667)
    # By this figure `--keep-best within_25km` chooses.
    assert summary_figures(found.to_dict())["within_25km"] == pytest.approx(2 / 3, abs=1e-4)
    strictly = evaluated(Scripted(lambda *_: "Monaco; ; Monaco"), folder=tmp_path / "strict", strict=True, **words)
    assert (strictly.figures["placed"], strictly.figures["located"]["value"]) == ({}, 0.0)
    for folder, strict in (("usual", True), ("strict", False)):
        with pytest.raises(BadInput, match="another strict"):
            evaluated(Scripted(zoom_and_answer), folder=tmp_path / folder, strict=strict, **words)


@pytest.mark.usefixtures("atlas_home")
def test_the_detective_plays_the_same_scenes() -> None:
    model = evaluated(Scripted(zoom_and_answer), scenes=2, setting=plain_setting)
    detective = evaluated("detective", scenes=2, setting=detective_setting)
    assert [one.id for one in model.scenes] == [one.id for one in detective.scenes]
    assert detective.figures["calls"]["value"] > 1
    assert detective.figures["input_tokens"]["value"] == 0


def detective_setting() -> Any:
    from geosleuth.lab.scenes.environment import offline_setting

    return offline_setting("detective", answer_by="reply")


@pytest.mark.usefixtures("atlas_home")
def test_a_folder_of_weights_is_evaluated(tmp_path: Path) -> None:
    words: dict[str, Any] = {"scenes": 1, "setting": one_turn, "max_new_tokens": 8}
    found = evaluated(tiny_vlm_folder(), folder=tmp_path / "a", keep_trajectories=True, **words)
    assert found.asked["weights"]
    assert found.figures["output_tokens"]["value"] == 8
    assert (tmp_path / "a" / "trajectories" / "scene-0.try1.jsonl").is_file()


def one_turn() -> Any:
    setting = plain_setting()
    return replace(setting, budget=replace(setting.budget, turns=1))


def test_what_can_not_be_evaluated(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no policy 'nobody'"):
        evaluated("nobody", scenes=1)
    with pytest.raises(BadInput, match="name one"):
        evaluated("detective", scenes=1, keep_trajectories=True)
    with pytest.raises(BadInput, match="give the folder of an evaluation"):
        read_evaluation(tmp_path)
    (tmp_path / "asked.json").write_text("{}", encoding="utf-8")
    for line in ("no scene", "[]", '{"number": 3}'):
        (tmp_path / "scenes.jsonl").write_text(f"{line}\n", encoding="utf-8")
        with pytest.raises(BadInput, match="not a scene"):
            read_evaluation(tmp_path)
