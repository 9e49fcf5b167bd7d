"""``geosleuth locate``: what it prints, what it sends and what it keeps."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from geosleuth.agent import Prompted, ToolObserved, read_trajectory
from geosleuth.geo import LatLon
from later import later
from locating import (
    ANSWER,
    FINAL,
    LAT,
    LON,
    ZOOM,
    at,
    locate_here,
    photo_file,
    says,
    texts,
)
from openai_server import ServerUrl, chat_reply, failure, openai_server
from scenery import save, scene

later("pydantic_ai")
pytestmark = pytest.mark.usefixtures("atlas_home")

ELSEWHERE = LatLon(48.8584, 2.2945)


@pytest.fixture
def server() -> Iterator[ServerUrl]:
    """A model that zooms once and answers; it goes on answering."""
    with openai_server([ZOOM, FINAL]) as url:
        yield url


def test_a_finding_for_people(tmp_path: Path, server: ServerUrl) -> None:
    done = locate_here(photo_file(tmp_path), *at(server))
    assert done.code == 0, done.err
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert lines[:3] == [
        "Rue Grimaldi, Monaco",
        "Likely: 70 % that it lies within 2 km of 43.735, 7.421.",
        "A lead, not a verdict.",
    ]
    assert "evidence      1. a blue street sign" in lines
    assert any("10 %" in line and line.endswith("Menton") for line in lines)
    assert "server:any, method default, 2 turns, 1 tool call, 240 tokens" in " ".join(done.out.split())
    told = done.err.splitlines()
    assert told[0] == f"server:any keeps the photo on this machine: the server at {server[7:-3]} gets it"
    assert told[1].startswith("default lacks 9 of its 25 tools: ")
    assert told[2].startswith("server:any gives boxes in pixels, as one question about a drawn picture told")
    assert told[3] == "turn 1: I look at the sign. -> image_zoom_in_tool"
    assert told[4].startswith("  image_zoom_in_tool: A cut of image-1, from 40, 30 to 140, 90")
    assert told[5:] == ["turn 2: answers"]


def test_a_finding_for_programs(tmp_path: Path, server: ServerUrl) -> None:
    done = locate_here(photo_file(tmp_path), *at(server), "--json")
    assert done.code == 0
    found = done.document
    assert (found["answer"]["lat"], found["answer"]["lon"]) == (LAT, LON)
    assert found["answer"]["explanation"] == "The street sign names it."
    assert (found["answered_by"], found["ended"], found["trouble"]) == ("policy", "answered", None)
    assert (found["model"], found["method"]) == ("server:any", "default")
    assert "note_hypothesis" in found["tools"]
    assert (found["spent"]["turns"], found["spent"]["calls"], found["spent"]["input_tokens"]) == (2, 1, 200)
    assert found["photos"][0]["claimed_point"] is None
    assert "turn 2: answers" in done.err


def test_a_retry_is_told_in_one_line(tmp_path: Path) -> None:
    photo = photo_file(tmp_path)
    with openai_server([failure(503, "busy in\nMonaco"), FINAL]) as url:
        done = locate_here(photo, *at(url))
    assert done.code == 0, done.err
    (told,) = [line for line in done.err.splitlines() if "asking again" in line]
    assert told.startswith(f"{url[7:-3]}: failed (status 503)")
    assert "Monaco" in told
    with openai_server([failure(503, "busy in Monaco"), FINAL]) as url:
        capped = locate_here(photo, *at(url), "--granularity", "country")
    (told,) = [line for line in capped.err.splitlines() if "asking again" in line]
    assert told.startswith(f"{url[7:-3]}: no answer; asking again in ")


def test_nothing_but_pixels_leaves_the_file(tmp_path: Path, server: ServerUrl) -> None:
    path = save(scene(3), tmp_path / "eiffel-tower-holiday.jpg", ELSEWHERE)
    done = locate_here(path, *at(server))
    assert done.code == 0, done.err
    claim = " ".join(done.out.split("file claims")[1].split("found by")[0].split())
    assert claim.startswith("48.85840, 2.29450, 692 km away: CONTRADICTS the finding")
    assert "not evidence" in claim
    for request in server.requests:
        words = texts(request.json)
        assert "48.8" not in words
        assert "eiffel" not in words.lower()
        assert request.images
        for data in request.images:
            image = Image.open(io.BytesIO(data))
            assert not image.getexif()
            assert b"Exif" not in data


def test_a_claim_that_fits_is_told_as_such(tmp_path: Path, server: ServerUrl) -> None:
    path = save(scene(3), tmp_path / "photo.jpg", LatLon(LAT, LON + 0.01))
    assert "agrees with the finding" in " ".join(locate_here(path, *at(server)).out.split())
    found = locate_here(path, *at(server), "--json").document["photos"][0]
    assert found["claim_conflicts"] is False
    assert found["claimed_point"] == pytest.approx({"lat": LAT, "lon": LON + 0.01})


def test_a_run_is_kept_and_played_again_without_its_model(tmp_path: Path, server: ServerUrl) -> None:
    photo, first, second = photo_file(tmp_path), tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    words = ("--method", "twm", "--tools", "image_zoom_tool", "--hint", "by the sea", "--turns", 5)
    assert locate_here(photo, *at(server), *words, "--trajectory", first).code == 0
    asked = len(server.requests)
    done = locate_here(photo, "--model", f"replay:{first}", "--trajectory", second, "--json")
    assert done.code == 0, done.err
    assert len(server.requests) == asked
    one, other = read_trajectory(first), read_trajectory(second)
    assert other.started.policy == "replay"
    assert (other.started.method, other.started.tools) == ("twm", ("image_zoom_tool",))
    assert (other.task, other.started.budget) == (one.task, one.started.budget)
    assert other.started.system == one.started.system
    assert (other.steps, other.answer) == (one.steps, one.answer)
    assert [seen.text for seen in other.observations] == [seen.text for seen in one.observations]
    assert done.document["trajectory"] == other.id != one.id


@pytest.mark.parametrize("tools", ["none", "image_zoom_tool,note_hypothesis"])
def test_only_the_tools_that_are_named_are_shown(tmp_path: Path, tools: str) -> None:
    with openai_server([FINAL]) as url:
        found = locate_here(photo_file(tmp_path), *at(url), "--tools", tools, "--json").document
    wanted = [] if tools == "none" else ["image_zoom_in_tool", "note_hypothesis"]
    (request,) = url.requests
    assert found["tools"] == wanted
    assert [one["function"]["name"] for one in request.json.get("tools", [])] == wanted
    assert ("note_hypothesis" in texts(request.json)) is bool(wanted)


def test_tagged_text_carries_calls_where_it_is_asked_for(tmp_path: Path) -> None:
    call = '<tool_call>{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [250, 250, 500, 750]}}</tool_call>'
    with openai_server([says(call), FINAL]) as url:
        done = locate_here(
            photo_file(tmp_path), *at(url), "--wire", "tagged", "--boxes", "thousandths", "--tools", "zoom", "--json"
        )
    assert done.document["spent"]["calls"] == 1
    assert "tools" not in url.requests[0].json
    assert "thousandths" in texts(url.requests[0].json)
    assert "from 60, 40 to 120, 120 of its 240 x 160 pixels" in texts(url.requests[1].json)


def test_the_users_words_and_settings_reach_the_model(tmp_path: Path) -> None:
    with openai_server([FINAL]) as url:
        words = ("--hint", "near the sea", "--area", "Europe", "--temperature", 0.3, "--seed", 7, "--tools", "none")
        assert locate_here(photo_file(tmp_path), *at(url), *words).code == 0
    (request,) = url.requests
    assert "near the sea" in texts(request.json)
    assert "within this area: Europe" in texts(request.json)
    assert (request.json["temperature"], request.json["seed"]) == (0.3, 7)


@pytest.mark.parametrize(
    ("budget", "ended"),
    [
        (("--turns", 1), "turns"),
        (("--calls", 1), "calls"),
        (("--tokens", 150), "tokens"),
        (("--usd", 0.01), "answered"),
    ],
    ids=lambda value: value[0].strip("-") if isinstance(value, tuple) else value,
)
def test_budgets_are_kept(tmp_path: Path, budget: tuple[str, float], ended: str) -> None:
    zooms = [chat_reply("Hm.", [("zoom", {"bbox_2d": [0, 0, 10 + step, 10]})]) for step in range(6)]
    with openai_server([FINAL] if ended == "answered" else zooms) as url:
        done = locate_here(photo_file(tmp_path), *at(url), "--tools", "zoom", *budget, "--json")
    assert done.code == 0, done.err
    assert done.document["ended"] == ended
    assert done.document["answered_by"] == ("policy" if ended == "answered" else "nobody")
    assert len(url.requests) <= 5


def test_seconds_end_a_run_and_the_candidate_stands_in(tmp_path: Path) -> None:
    note = chat_reply("Noted.", [("note_hypothesis", {"place": "Monaco", "confidence": 0.6})])
    with openai_server([note, chat_reply("", manner="silent")]) as url:
        done = locate_here(photo_file(tmp_path), *at(url), "--seconds", 6)
    assert done.code == 0, done.err
    told = " ".join(done.out.split())
    assert "The run ended early: the time was up. This is the best of the candidates" in told
    assert told.startswith("Monaco")
    assert "60 % that" in told


def test_a_panorama_is_cut_into_views_with_headings(tmp_path: Path) -> None:
    half = scene(5, (600, 600))
    around = Image.new("RGB", (1200, 600))
    around.paste(half, (0, 0))
    around.paste(half.transpose(Image.Transpose.FLIP_LEFT_RIGHT), (600, 0))
    silent, telling = tmp_path / "silent.jpg", tmp_path / "telling.jpg"
    around.save(silent, quality=95)
    xmp = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" '
        'GPano:ProjectionType="equirectangular" GPano:PoseHeadingDegrees="60"/></rdf:RDF></x:xmpmeta>'
    )
    around.save(telling, quality=95, xmp=xmp.encode())
    with openai_server([FINAL]) as url:
        for path in (silent, telling):
            assert locate_here(path, *at(url), "--tools", "none").code == 0
    words = [texts(request.json) for request in url.requests]
    assert [len(request.images) for request in url.requests] == [6, 6]
    assert "image-2 is cut from a panorama, 60 degrees to the right of its middle." in words[0]
    assert "image-1 is cut from a panorama and looks north (0 degrees)." in words[1]
    assert "image-2 is cut from a panorama and looks north-east (60 degrees)." in words[1]
    # The middle of the picture lies where the file says it does.
    assert url.requests[0].images[0] == url.requests[1].images[1]
    assert url.requests[0].images[0] != url.requests[1].images[0]


def test_a_panorama_is_shown_whole_where_method_or_user_want_it(tmp_path: Path) -> None:
    half = scene(5, (600, 600))
    around = Image.new("RGB", (1200, 600))
    around.paste(half, (0, 0))
    around.paste(half.transpose(Image.Transpose.FLIP_LEFT_RIGHT), (600, 0))
    path = tmp_path / "around.jpg"
    around.save(path, quality=95)
    shown = []
    for more in (("--method", "geovista"), ("--method", "geovista", "--panorama", "views"), ("--panorama", "planar")):
        with openai_server([FINAL]) as url:
            locate_here(path, *at(url), "--tools", "none", *more)
        shown.append(url.requests[0])
    assert [len(request.images) for request in shown] == [1, 6, 1]
    assert "image-1 is a whole panorama, drawn flat: its left and right edges meet" in texts(shown[0].json)
    assert "--panorama" in locate_here(path, "--panorama", "round").refusal


def test_several_photos_of_one_place_go_together(tmp_path: Path, server: ServerUrl) -> None:
    photos = [save(scene(seed), tmp_path / f"{seed}.jpg", point) for seed, point in ((1, None), (2, ELSEWHERE))]
    done = locate_here("--same-place", *photos, *at(server))
    assert done.code == 0, done.err
    assert "all taken at one place, are image-1 (640 x 480 pixels), image-2" in texts(server.requests[0].json)
    sent = [Image.open(io.BytesIO(data)).convert("RGB") for data in server.requests[0].images]
    for image, path in zip(sent, photos, strict=True):
        difference = ImageChops.difference(image, Image.open(path).convert("RGB")).convert("L")
        assert sum(difference.histogram()[40:]) < 1000
    assert "photo 2: 48.85840, 2.29450" in done.out


def test_forcing_an_answer_says_so_to_the_model(tmp_path: Path) -> None:
    declined = says(json.dumps({"explanation": "Nothing to go by."}))
    with openai_server([declined, FINAL]) as url:
        done = locate_here(photo_file(tmp_path), *at(url), "--tools", "none", "--force-answer", "--json")
    assert done.document["answer"]["lat"] == LAT
    assert len(url.requests) == 2
    assert "best guess" in texts(url.requests[0].json)


def test_a_model_that_can_not_tell_is_an_honest_outcome(tmp_path: Path) -> None:
    with openai_server([says(json.dumps({"explanation": "Only a wall is to be seen."}))]) as url:
        done = locate_here(photo_file(tmp_path), *at(url))
    assert done.code == 0
    assert done.out.startswith("No place was found\n")
    assert "Only a wall is to be seen." in done.out
    assert "None" not in done.out


def test_a_model_that_fails_is_told_on_stderr_with_exit_code_one(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    with openai_server([ZOOM, failure(400, "no more images, please")]) as url:
        done = locate_here(photo_file(tmp_path), *at(url), "--json", "--trajectory", kept)
    assert done.code == 1
    assert done.document["ended"] == "service"
    assert "no more images, please" in done.document["trouble"]
    assert done.err.splitlines()[-1].startswith("geosleuth: 127.0.0.1:")
    ended = read_trajectory(kept).ended
    assert ended is not None
    assert ended.trouble == done.document["trouble"]
    with openai_server([failure(401)]) as url:
        early = locate_here(photo_file(tmp_path), *at(url))
    assert (early.code, early.out) == (1, "")
    assert early.err.splitlines()[-1].endswith('it may want a key: set GEOSLEUTH_SERVER_KEY (status 401): "trouble"')


def test_what_models_and_tools_say_can_not_steer_the_terminal(tmp_path: Path) -> None:
    evil = {**ANSWER, "country": {"conclusion": "Monaco", "clues": ["\x1b[2J[bold]red[/bold]\x9b1m"]},
            "precise": {"conclusion": "a\x1b]0;b"}}  # fmt: skip
    zoom = chat_reply("\x1b[31mhello\r\x07", [("zoom", {"bbox_2d": [0, 0, 50, 50]})])
    with openai_server([zoom, says(json.dumps(evil))]) as url:
        done = locate_here(photo_file(tmp_path), *at(url))
    assert done.code == 0
    for text in (done.out, done.err):
        assert not {"\x1b", "\x9b", "\x07", "\r"} & set(text)
    assert "[bold]red[/bold]" in done.out


def test_what_photos_say_is_data(tmp_path: Path) -> None:
    """A model that repeats what an image told it gets no tools, files or turns by that."""
    wishes = [("read_file", {"path": "/etc/passwd"}), ("search_web", {"query": "x", "url": "http://127.0.0.1:9/"})]
    kept = tmp_path / "run.jsonl"
    with openai_server([chat_reply("The sign orders me to.", wishes), FINAL]) as url:
        done = locate_here(photo_file(tmp_path), *at(url), "--tools", "zoom", "--trajectory", kept, "--json")
    assert done.document["tools"] == ["image_zoom_in_tool"]
    seen = [event.body.observation for event in read_trajectory(kept).events if isinstance(event.body, ToolObserved)]
    assert [one.failure for one in seen] == ["unknown_tool", "unknown_tool"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["run.jsonl", "telling-name.jpg"]


def test_the_trajectory_names_no_file(tmp_path: Path, server: ServerUrl) -> None:
    kept = tmp_path / "run.jsonl"
    path = save(scene(3), tmp_path / "eiffel-tower-holiday.jpg", ELSEWHERE)
    assert locate_here(path, *at(server), "--trajectory", kept).code == 0
    text = kept.read_text(encoding="utf-8")
    assert "eiffel" not in text
    assert "48.858" not in text
    prompts = [event.body for event in read_trajectory(kept).events if isinstance(event.body, Prompted)]
    assert len(prompts) == 1
