"""Whoever looks is asked for boxes in its own scale; a trajectory has them in pixels, whatever the scale was."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factory_runs import hand_work
from factory_scenes import SOEST, opened, scene_of
from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.traces import Sample
from geosleuth.lab.traces.factory import read_made, run_factory
from geosleuth.lab.traces.geovista import ModelProposer, assemble
from geosleuth.lab.traces.spotagent import in_pixels, read_lettering, synthesise
from geosleuth.models.box_probe import SIZE, SQUARE
from geosleuth.photo import Album, BoxScale, Photo, scale_box
from openai_server import Reply, Request, chat_reply, openai_server
from scripted import ScriptedPolicy, call, calls, says

SIGN = (1300, 550, 1360, 580)
CLOSE = says(f"<answer>\nCountry: Germany\nCity: Soest\nLatitude: {SOEST.lat}\nLongitude: {SOEST.lon}\n</answer>")
SCALES: list[BoxScale] = ["pixels", "thousandths", "fractions"]


def view_size() -> tuple[int, int]:
    photo = opened(*scene_of()).photo
    return Album().add(photo).size


@pytest.mark.parametrize("scale", SCALES)
def test_an_observer_is_asked_in_its_scale_and_the_caller_reads_pixels(atlas: OfflineAtlas, scale: BoxScale) -> None:
    box = scale_box(SIGN, view_size(), scale)
    observer = ScriptedPolicy([says(f'Lettering:\n- town sign {box}: "Soest"'), says("Buildings: brick.")])
    why = "Seen: a sign. Missing: the rest. Tool: zoom."
    caller = ScriptedPolicy([calls(call("image_zoom_in_tool", bbox_2d=list(SIGN)), thinking=why), CLOSE])
    asyncio.run(synthesise(opened(*scene_of()), observer, caller, atlas=atlas, boxes=scale))
    asked, told = observer.seen[0].system, caller.seen[0].messages[0].text  # type: ignore[union-attr]
    assert f"The box is left, top, right, bottom in {scale} of this picture" in asked
    assert (scale == "fractions") == ("[0.412, 0.3, 0.52, 0.34]" in asked)
    (read,) = read_lettering("image-1", told.partition("The observer on image-1:")[2])
    assert read.lines == ("Soest",)
    assert all(abs(one - other) <= 2 for one, other in zip(read.box, SIGN, strict=True))


def test_a_box_that_is_none_is_left_out_with_its_words_kept() -> None:
    view = Album().add(Photo(opened(*scene_of()).photo.image))
    text = '- shop front [ 2000, 10, 2100, 40 ]: "Bar [1]"\n- town sign [ 500, 500, 600,600 ]: "Soest"'
    found = in_pixels(text, view, "thousandths")
    assert '- shop front : "Bar [1]"' in found
    assert [one.lines for one in read_lettering("image-1", found)] == [("Soest",)]
    assert in_pixels(text, view, "pixels") == text


@pytest.mark.parametrize("scale", SCALES)
def test_a_proposer_is_asked_in_its_scale_and_its_zooms_are_in_pixels(atlas: OfflineAtlas, scale: BoxScale) -> None:
    box = scale_box(SIGN, view_size(), scale)
    regions = json.dumps({"regions": [{"box": box, "why": "A sign, too small."}]})
    model = ScriptedPolicy([says(regions), says("nothing to ask"), says('<answer>{"country": "Germany"}</answer>')])
    proposer = ModelProposer(model, scale)
    run = asyncio.run(assemble(opened(*scene_of()), proposer, atlas=atlas)).trajectory
    assert f"The box is in {scale} of this picture" in model.seen[0].messages[0].text  # type: ignore[union-attr]
    arguments: Any = run.steps[0].calls[0].arguments
    assert all(abs(one - other) <= 2 for one, other in zip(arguments["bbox_2d"], SIGN, strict=True))
    assert run.observations[0].failure is None


def test_a_served_observer_is_asked_once_in_what_it_gives_boxes(tmp_path: Path) -> None:
    """The server's model has a name that says nothing, and gives thousandths."""
    asked: list[str] = []

    def reply(request: Request) -> Reply:
        words = json.dumps(request.json["messages"])
        if "one bright square" in words:
            return chat_reply(json.dumps({"bbox_2d": scale_box(SQUARE, SIZE, "thousandths")}))
        if request.images:
            asked.append(words)
            return chat_reply('Buildings: brick.\nLettering:\n- town sign [500, 500, 600, 600]: "Soest"')
        asked.append(words)
        return chat_reply(CLOSE.text)

    with openai_server([reply]) as url:
        url.tells_itself = True
        work = hand_work(tmp_path / "set", 2)
        recipe = replace(work.recipe, observer="server:policy", caller="server:mind", base_url=url)
        asyncio.run(run_factory(replace(work, recipe=recipe), tmp_path / "run"))
        probes = sum(b"one bright square" in request.body for request in url.requests)
    assert probes == 1
    samples = [made for made in read_made(tmp_path / "run") if isinstance(made, Sample)]
    assert len(samples) == 2
    assert sum("in thousandths of this picture's width" in words for words in asked) == 2
    width, height = view_size()
    mine = f"[{round(width / 2)}, {round(height / 2)}, {round(0.6 * width)}, {round(0.6 * height)}]"
    assert all(mine in sample.trajectory.steps[0].thinking for sample in samples)
