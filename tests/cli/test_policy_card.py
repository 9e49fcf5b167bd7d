"""A served policy is played as its card says, whichever command plays it; what it did not learn is refused."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent.methods import method
from geosleuth.agent.policy_card import PolicyCard
from geosleuth.agent.prompt_files import read_prompts
from geosleuth.geo import LatLon
from in_process import Done, whole_command
from later import later
from openai_server import ServerUrl, chat_reply, openai_server
from scenery import save, scene

later("pydantic_ai")

PLACE = LatLon(43.7, 7.27)
TOOLS = ("image_zoom_in_tool", "maps_geocode")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    save(scene(1, (96, 72)), tmp_path / "photos" / "1.jpg", PLACE)
    (tmp_path / "photos" / "set.csv").write_text(f"id,image,lat,lon\none,1.jpg,{PLACE.lat},{PLACE.lon}\n")
    return tmp_path / "photos"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    (tmp_path / "card").mkdir()
    way = replace(method("spotagent", box_scale="thousandths"), wire="native")
    PolicyCard.from_method(way, TOOLS, turns=3).write(tmp_path / "card")
    return tmp_path / "card" / "policy_card.json"


@pytest.fixture
def server() -> Iterator[ServerUrl]:
    with openai_server([chat_reply(f"<answer>Latitude: {PLACE.lat}\nLongitude: {PLACE.lon}</answer>")]) as url:
        yield url


def commands(photos: Path, url: str, out: Path) -> dict[str, tuple[Any, ...]]:
    at = ("--model", "server:policy", "--base-url", url)
    return {
        "locate": ("locate", photos / "1.jpg", *at),
        "bench": ("bench", "run", "--data", photos / "set.csv", *at, "--out", out / "run"),
    }


def geosleuth(*words: object, home: Path) -> Done:
    return whole_command(*words, GEOSLEUTH_HOME=str(home), COLUMNS="200")


@pytest.mark.parametrize("name", ["locate", "bench"])
def test_a_served_policy_is_shown_what_it_learned(
    atlas_home: Path, photos: Path, card: Path, server: ServerUrl, tmp_path: Path, name: str
) -> None:
    words = commands(photos, server, tmp_path)[name]
    done = geosleuth(*words, "--policy-card", card, home=atlas_home)
    assert done.returncode == 0, done.stderr
    asked = server.requests[-1].json
    assert [one["function"]["name"] for one in asked["tools"]] == list(TOOLS)
    system = asked["messages"][0]["content"]
    assert "<tools>" not in system
    assert "say what evidence" in system or "No call without a reason" in system
    assert "thousandths of its width and height" in system
    if name == "bench":
        settings = json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"]
        assert (settings["method"], settings["wire"], settings["budget"]["turns"]) == ("spotagent", "native", 3)
        assert str(tmp_path) not in json.dumps(settings)


@pytest.mark.parametrize(
    ("name", "more", "refused"),
    [
        ("locate", ("--method", "twm"), "trained with --method spotagent, not twm; leave --method out"),
        ("bench", ("--tools", "maps_geocode"), "with --tools image_zoom_in_tool,maps_geocode, not maps_geocode"),
        ("bench", ("--wire", "tagged"), "trained with --wire native, not tagged"),
        ("locate", ("--prompts", "."), "no words for the method spotagent"),
    ],
)
def test_a_mismatch_is_one_line_that_says_what_to_pass(
    atlas_home: Path, photos: Path, card: Path, server: ServerUrl, tmp_path: Path, name: str,
    more: tuple[str, str], refused: str,
) -> None:  # fmt: skip
    words = commands(photos, server, tmp_path)[name]
    done = geosleuth(*words, "--policy-card", card, *more, home=atlas_home)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert refused in done.stderr
    assert server.requests == []


def test_a_policy_is_played_otherwise_by_name_alone(
    atlas_home: Path, photos: Path, card: Path, server: ServerUrl, tmp_path: Path
) -> None:
    words = commands(photos, server, tmp_path)["locate"]
    done = geosleuth(*words, "--policy-card", card, "--boxes", "pixels", home=atlas_home)
    assert done.returncode == 0
    assert "in pixels of that image" in server.requests[-1].json["messages"][0]["content"]
    done = geosleuth(*words, "--policy-card", "none", "--method", "twm", "--tools", "none", home=atlas_home)
    assert done.returncode == 0
    assert "tools" not in server.requests[-1].json
    done = geosleuth("locate", photos / "1.jpg", "--policy-card", card, home=atlas_home)
    assert "name the model with --model" in done.stderr


def test_an_agent_of_a_team_is_shown_what_it_learned(
    atlas_home: Path, photos: Path, card: Path, server: ServerUrl, tmp_path: Path
) -> None:
    agent = f'{{name: policy, model: "server:policy", base_url: "{server}", policy_card: "{card}"'
    team = tmp_path / "team.yaml"
    team.write_text(f"society: none\nsettings: {{answerers: 1, reviewers: 0, rounds: 0}}\nagents:\n  - {agent}}}\n")
    done = geosleuth("locate", photos / "1.jpg", "--team", team, home=atlas_home)
    assert done.returncode == 0, done.stderr
    asked = server.requests[0].json
    assert [one["function"]["name"] for one in asked["tools"]] == list(TOOLS)
    assert "No call without a reason" in asked["messages"][0]["content"]
    team.write_text(team.read_text().replace("policy_card:", "method: twm, policy_card:"))
    refused = geosleuth("locate", photos / "1.jpg", "--team", team, home=atlas_home)
    assert "trained with --method spotagent, not twm" in refused.stderr
    team.write_text(team.read_text().replace("method: twm, ", ""))
    refused = geosleuth("locate", photos / "1.jpg", "--team", team, "--wire", "tagged", home=atlas_home)
    assert "trained with --wire native, not tagged" in refused.stderr


def test_a_team_is_asked_in_words_of_the_users_own(
    atlas_home: Path, photos: Path, server: ServerUrl, tmp_path: Path
) -> None:
    team, words = tmp_path / "team.yaml", tmp_path / "words"
    words.mkdir()
    (words / "system.txt").write_text("Mind the kerbs. {{own}}")
    (words / "review.txt").write_text("What of this?\n{{answer}}")
    (words / "summary.txt").write_text("They said:\n{{comments}}\nto you, who said:\n{{answer}}")
    (words / "discussion.txt").write_text("Talk.\n{{opinions}}\n{{own}}")
    agents = "".join(f'  - {{name: agent {at}, model: "server:policy", base_url: "{server}"}}\n' for at in (1, 2))
    team.write_text(f"society: none\nsettings: {{answerers: 2, reviewers: 1, rounds: 1}}\nagents:\n{agents}")
    far = chat_reply('{"location": {"city": "Oslo", "lat": 59.9, "lon": 10.7}, "explanation": "Fjord"}')
    near = chat_reply('{"location": {"city": "Nice", "lat": 43.7, "lon": 7.27}, "explanation": "Palms"}')
    with openai_server([near, far, near, far, near, far]) as url:
        team.write_text(team.read_text().replace(server, url))
        done = geosleuth("locate", photos / "1.jpg", "--team", team, "--prompts", words, home=atlas_home)
        assert done.returncode == 0, done.stderr
        asked = [request.json["messages"] for request in url.requests]
        bench = ("bench", "run", "--data", photos / "set.csv", "--team", team, "--prompts", words)
        done = geosleuth(*bench, "--out", tmp_path / "run", home=atlas_home)
        assert done.returncode == 0, done.stderr
    settings = json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"]
    assert settings["prompts"].split(",") == 2 * [read_prompts(words, "smilegeo").sha256]
    assert str(tmp_path) not in json.dumps(settings)
    first = [text_of(messages[-1]) for messages in asked]
    assert sum(messages[0]["content"].startswith("Mind the kerbs. You are asked") for messages in asked) == 2
    reviews = [text for text in first if "What of this?" in text]
    assert len(reviews) == 2
    assert all("> Palms" in text or "> Fjord" in text for text in reviews)
    assert all("Lines that begin with > and locations" in text and "Check it against" not in text for text in reviews)
    assert any("They said:\nComment 1" in text for text in first)
    assert any("Talk.\nOpinion 1:" in text and "Several people are trying to agree" in text for text in first)
    (words / "review.txt").write_text("{{comments}}")
    refused = geosleuth("locate", photos / "1.jpg", "--team", team, "--prompts", words, home=atlas_home)
    assert "there is no {{comments}} here; known are {{own}}, {{answer}}" in refused.stderr.replace("\n", " ")


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
