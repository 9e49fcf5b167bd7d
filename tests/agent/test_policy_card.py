"""A policy's card: it survives its file, and what is asked for otherwise is refused with what to pass."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent.methods import METHODS, method
from geosleuth.agent.policy_card import FILE, PolicyCard, card_beside, read_card
from geosleuth.support.errors import BadInput

PRESETS = [name for name in METHODS if name != "detective"]


def card_of(name: str, **more: Any) -> PolicyCard:
    way = method(name, box_scale="thousandths")
    return replace(PolicyCard.from_method(replace(way, wire="native"), way.tools), **more)


@pytest.mark.parametrize("name", PRESETS)
def test_a_card_survives_its_file_and_gives_back_the_method(tmp_path: Path, name: str) -> None:
    card = card_of(name)
    card.write(tmp_path)
    assert read_card(tmp_path) == read_card(tmp_path / FILE) == card_beside(tmp_path) == card
    played = card.build_method()
    assert (played.name, played.wire, played.tools, played.box_scale) == (name, "native", card.tools, "thousandths")
    assert PolicyCard.from_method(played, played.tools) == card
    assert card_beside(tmp_path, "none") is None
    assert [one.name for one in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"method": "twm"}, "trained with --method spotagent, not twm; leave --method out"),
        (
            {"tools": ["search_web"]},
            r"trained with --tools image_zoom_in_tool,search_web,maps_geocode, not search_web;",
        ),
        ({"tools": ["+nearby"]}, r"--tools .*maps_geocode, not .*nearby; leave --tools out"),
        ({"tools": []}, "not none; leave --tools out, or --policy-card none"),
        ({"wire": "tagged"}, "trained with --wire native, not tagged; leave --wire out"),
    ],
)
def test_other_words_than_those_of_training_are_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words) as refused:
        card_of("spotagent").build_method(**asked)
    assert "\n" not in str(refused.value)


def test_what_is_asked_as_it_was_trained_is_no_mismatch() -> None:
    card = card_of("spotagent", turns=3)
    tools = ["maps_geocode", "search_web", "image_zoom_in_tool"]
    played = card.build_method(method=" SpotAgent ", tools=tools, wire="native")
    assert played.budget.turns == 3
    pixels = card.build_method(boxes="pixels")
    assert pixels.box_scale == "pixels"
    assert "in pixels of that image" in pixels.system(_task(), pixels.tools)


def _task() -> Any:
    from geosleuth.agent.events import Task

    return Task(())


def test_a_folder_of_words_belongs_to_the_policy(tmp_path: Path) -> None:
    (tmp_path / "system.txt").write_text("Look at the kerbs. {{own}}")
    plain, own = card_of("twm"), method("twm", box_scale="thousandths")
    with pytest.raises(BadInput, match="with other words; leave --prompts out"):
        plain.build_method(prompts=tmp_path)
    from geosleuth.agent.policy_card import with_folder

    worded = PolicyCard.from_method(with_folder(own, tmp_path), own.tools)
    assert worded.build_method(prompts=tmp_path).system(_task(), ()).startswith("Look at the kerbs.")
    with pytest.raises(BadInput, match="with other words; pass their folder with --prompts"):
        worded.build_method()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "geosleuth-policy-card/2"}', json.dumps({"method": "twm"}), "[" * 100_000],
)
def test_a_damaged_card_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(BadInput, match=r"is no policy card; pass the policy_card\.json"):
        card_beside(tmp_path)


def test_runs_in_the_users_words_make_a_card_of_these_words(tmp_path: Path) -> None:
    from geosleuth.agent import Started
    from geosleuth.agent.policy_card import card_of_run, with_folder

    (tmp_path / "system.txt").write_text("Mind the kerbs. {{boxes}}")
    way = with_folder(method("spotagent", box_scale="thousandths"), tmp_path)
    began = Started(
        _task(), way.name, "someone", way.tools, way.budget, way.system(_task(), way.tools), prompts=way.prompts_sha256
    )
    card = card_of_run(began, "native", tmp_path)
    assert card is not None
    assert card.box_scale == "thousandths"
    assert card.build_method(prompts=tmp_path).system(_task(), card.tools).startswith("Mind the kerbs. A box is")
    with pytest.raises(BadInput, match=r"made with other words; name their folder as rollout\.prompts"):
        card_of_run(began, "native")
    ours = method("spotagent")
    plain = replace(began, system=ours.system(_task(), ours.tools), prompts=None)
    with pytest.raises(BadInput, match=r"made with other words; leave rollout\.prompts out"):
        card_of_run(plain, "native", tmp_path)
