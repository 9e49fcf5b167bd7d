"""GeoAgent's records: honest levels from what can be seen, and people's notes in the same form."""

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from factory_scenes import opened, plain_picture, scene_of, without
from geosleuth.lab.scenes import Mark, Scene, SceneClue
from geosleuth.lab.traces.annotations import ByModel, ByRules, Note, compute_note_key, import_notes, read_notes
from geosleuth.lab.traces.geoagent import (
    LEVELS,
    GeoAgentRecord,
    build_record,
    honest_address,
    keep_visible_clues,
    run_record,
)
from geosleuth.lab.traces.rows import Made, Rejected, Sample
from geosleuth.lab.traces.spotagent import judge_assembled
from geosleuth.support.errors import BadInput
from scripted import ScriptedPolicy, says

FIRST_VIEW_PX = 1632
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


def written(scene: Scene, seed: int = 0, view_width: int = FIRST_VIEW_PX) -> GeoAgentRecord:
    legible = keep_visible_clues(scene, scene_of()[1], view_width)
    return build_record(legible, honest_address(legible), random.Random(seed))


def test_what_only_a_zoom_would_show_is_not_in_a_record() -> None:
    scene, marks = scene_of()
    record = written(scene)
    assert record.conclusions == ("Germany", "", "")
    assert "Soest" not in record.reply()
    assert record.precise["Uncertainty"] == "high"
    assert record.precise["Reasoning"]
    assert not record.precise["Clues"]
    assert {clue.id for clue in keep_visible_clues(scene, marks, FIRST_VIEW_PX).clues} == {"a", "c", "d"}


def test_a_record_tells_what_an_eye_can_see() -> None:
    scene, marks = scene_of()
    sun = SceneClue("e", "sun", "country", "Shadows are long: the sun stands 12 degrees high, 140 degrees from north.")
    plants = SceneClue("f", "vegetation", "country", "Plants (broadleaf) fit the climate: oceanic.")
    pole = SceneClue("g", "pole", "country", "Poles of wood stand along the street.")
    full = replace(scene, clues=(*scene.clues, sun, plants, pole))
    drawn = (*marks, Mark("e", (0, 0, 90, 90)), Mark("f", (0, 900, 90, 1200)))
    legible = keep_visible_clues(full, drawn, FIRST_VIEW_PX)
    said = build_record(legible, honest_address(legible), random.Random(0)).reply()
    assert "broadleaf trees" in said
    assert not [word for word in ("degrees", "climate", "oceanic", "Poles") if word in said]


def test_the_side_of_the_road_weighs_only_where_it_is_seen() -> None:
    scene, marks = scene_of()
    bare = without(scene, "a", "b", "c")
    sided = [replace(bare, look=replace(bare.look, drives_on=side)) for side in SIDES]

    def doubts(seen: Sequence[Mark]) -> set[str | None]:
        return {honest_address(keep_visible_clues(one, seen, FIRST_VIEW_PX)).country.uncertainty for one in sided}

    assert len(doubts(marks)) == 2
    assert len(doubts([mark for mark in marks if mark.clue != "d"])) == 1


def test_a_record_is_a_run_of_the_method_and_reads_back() -> None:
    scene, marks = scene_of()
    finding = asyncio.run(run_record(opened(scene, marks), written(scene), by="scene truth"))
    assert judge_assembled(finding.trajectory).is_accepted
    answer = finding.answer
    assert answer.address.country.conclusion == "Germany"
    assert answer.address.region.conclusion in (None, "")
    assert any("Bäckerei Lindemann" in clue for clue in answer.address.country.clues)


def test_a_scene_that_tells_nothing_is_said_to_tell_nothing() -> None:
    scene, marks = scene_of()
    bare = without(scene, "a", "b", "c", "d")
    record = written(bare)
    assert record.conclusions == ("", "", "")
    assert all(level["Uncertainty"] == "high" for level in (record.country, record.region, record.precise))
    finding = asyncio.run(run_record(opened(bare, marks), record, by="scene truth"))
    assert judge_assembled(finding.trajectory).is_accepted
    assert finding.answer.address.country.conclusion in (None, "")


def test_a_shop_that_only_a_map_knows_tells_no_town() -> None:
    scene, _ = scene_of()
    shop = replace(
        scene.clues[0], sort="business", level="precise", lines=("Qvixo",), says="The map knows one in Soest."
    )
    record = written(replace(scene, clues=(shop, scene.clues[3])))
    assert record.conclusions == ("", "", "")
    assert "Soest" not in record.reply()
    assert "would fit as well" in record.country["Reasoning"]


def test_with_the_town_named_all_levels_are_told() -> None:
    scene, _ = scene_of()
    sign = replace(scene.clues[1], visibility="plain")
    record = written(replace(scene, clues=(scene.clues[0], sign)), view_width=3264)
    assert record.conclusions == ("Germany", "North Rhine-Westphalia", "Soest")
    assert record.country["Uncertainty"] == "low"


def test_wording_varies_with_the_seed_and_hangs_on_it() -> None:
    scene, _ = scene_of()
    said = [written(scene, seed).reply() for seed in range(12)]
    assert len(set(said)) > 3
    assert said == [written(scene, seed).reply() for seed in range(12)]
    assert {json.loads(one)["FinalAnswer"] for one in said} == {"Germany"}


NOTES = """file,country,region,city,notes,lat,lon
a.jpg,Deutschland,North Rhine-Westphalia,Soest,"German bakery sign. The dialling code is of this region. \
The town sign says Soest.",51.57,8.1
b.jpg,DE,,,"Looks like Germany, not sure.",,
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(plain_picture(*scene_of(size=(640, 480))))
    (tmp_path / "notes.csv").write_text(NOTES, encoding="utf-8")
    return tmp_path / "notes.csv"


async def collected(notes: list[Note], normaliser: ByRules | ByModel) -> list[Made]:
    return [made async for made in import_notes(notes, normaliser)]


def test_notes_are_sorted_into_levels_and_not_reworded(notes: Path) -> None:
    made = asyncio.run(collected(list(read_notes(notes)), ByRules()))
    first, second = made
    assert isinstance(first, Sample)
    assert isinstance(second, Sample)
    reply = json.loads(first.trajectory.steps[0].text)
    levels = [reply["ChainOfThought"][name] for name in LEVELS]
    assert [level["Conclusion"] for level in levels] == ["Germany", "North Rhine-Westphalia", "Soest"]
    assert [level["Clues"] for level in levels] == [
        ["German bakery sign"], ["The dialling code is of this region"], ["The town sign says Soest"],
    ]  # fmt: skip
    assert first.truth is not None
    assert first.source == "imported"
    assert "a.jpg" not in first.key
    doubtful = json.loads(second.trajectory.steps[0].text)["ChainOfThought"]
    assert doubtful[LEVELS[0]]["Uncertainty"] == "high"
    assert doubtful[LEVELS[2]]["Conclusion"] == ""
    assert second.truth is None


def test_what_is_known_is_not_made_again(notes: Path) -> None:
    read = list(read_notes(notes))

    async def rest() -> list[Made]:
        return [
            made async for made in import_notes(read, ByRules(), is_known=lambda key: key == compute_note_key(read[0]))
        ]

    assert [one.key for one in asyncio.run(rest())] == [compute_note_key(read[1])]


def test_a_model_words_the_notes_and_can_not_change_the_place(notes: Path) -> None:
    read = list(read_notes(notes))
    level = {"Clues": ["a bakery"], "Reasoning": "The sign is German.", "Uncertainty": "low"}
    good = {LEVELS[0]: {**level, "Conclusion": "Germany"}, LEVELS[1]: {**level, "Conclusion": ""}, LEVELS[2]: level}
    wrong = {**good, LEVELS[0]: {**level, "Conclusion": "Austria"}}
    model = ScriptedPolicy([says(json.dumps(good)), says(json.dumps(wrong))])
    first, second = asyncio.run(collected(read, ByModel(model)))
    assert isinstance(first, Sample)
    reply = json.loads(first.trajectory.steps[0].text)
    assert reply["FinalAnswer"] == "Germany; North Rhine-Westphalia; Soest"
    assert isinstance(second, Rejected)
    assert "Austria" in second.detail
    assert not any(conversation.messages[0].images for conversation in model.seen)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("row", "trouble"),
    [
        ("a.jpg,,,,x,,", "the country is missing"),
        (",Germany,,,x,,", "the photo is missing"),
        ("a.jpg,Atlantis,,,x,,", "not a known country"),
        ("../../etc/passwd,Germany,,,x,,", "lies outside"),
        ("a.jpg,Germany,,,x,95,8", "are not coordinates"),
    ],
)
def test_a_row_that_can_not_be_used_is_named(notes: Path, row: str, trouble: str) -> None:
    notes.write_text(f"file,country,region,city,notes,lat,lon\n{row}\n", encoding="utf-8")
    with pytest.raises(BadInput, match=trouble) as caught:
        list(read_notes(notes))
    assert "notes.csv, row" in str(caught.value)


def test_a_photo_that_is_none_is_rejected_and_the_rest_goes_on(notes: Path) -> None:
    (notes.parent / "a.jpg").write_bytes(b"no picture")
    first, second = asyncio.run(collected(list(read_notes(notes)), ByRules()))
    assert isinstance(first, Rejected)
    assert first.reason == "unusable_note"
    assert isinstance(second, Sample)
