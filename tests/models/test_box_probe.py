"""In what a served model gives boxes: one question about a drawn picture tells, and the answer is kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent.methods import method
from geosleuth.agent.policy_card import PolicyCard
from geosleuth.models.box_probe import QUESTION, SQUARE, _draw_probe, detect_scale
from in_process import Done, whole_command
from later import later
from openai_server import Line, Reply, Request, chat_reply, failure, openai_server
from scenery import save, scene

later("pydantic_ai")

PIXELS, THOUSANDTHS, FRACTIONS = "[400, 300, 560, 420]", "[625, 625, 875, 875]", "[0.625, 0.625, 0.875, 0.875]"
ANSWER = chat_reply(json.dumps({"lat": 43.7, "lon": 7.27}))


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        (f'{{"bbox_2d": {PIXELS}}}', "pixels"),
        (f'```json\n[{{"bbox_2d": {THOUSANDTHS}, "label": "square"}}]\n```', "thousandths"),
        ("<|box_start|>(625,620),(880,875)<|box_end|>", "thousandths"),  # Qwen's older form
        ("<|begin_of_box|>[[630,622,872,878]]<|end_of_box|>", "thousandths"),  # GLM-V's
        ("<box>[[624, 625, 875, 876]]</box>", "thousandths"),  # InternVL's
        ("<bbox>622 626 877 874</bbox>", "thousandths"),  # Seed's
        ('[{"box_2d": [624, 626, 874, 876], "label": "yellow square"}]', "thousandths"),  # Gemini's: y before x
        (f"It is at {FRACTIONS}.", "fractions"),
        ("First I thought of [0, 0, 100, 100], but it is [402, 298, 561, 423].", "pixels"),
        ("It is in the lower right.", None),
        ("[10, 10, 20, 20]", None),
        ("[1, 2, 3]", None),
        ("[nan, 1e999, 3, 4]", None),
        ("", None),
    ],
)
def test_a_box_in_any_form_tells_its_scale(text: str, scale: str | None) -> None:
    assert detect_scale(text, _draw_probe()) == scale


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    save(scene(1, (96, 72)), tmp_path / "photo.jpg", None)
    return tmp_path / "photo.jpg"


def talking(said: Line, *, models: Any = None) -> list[Line]:
    """A server that replies to the drawn picture, and to questions for its list of models."""

    def reply(request: Request) -> Reply:
        if request.path.endswith("/models"):
            return failure(404) if models is None else Reply(json.dumps({"data": models}).encode())
        if QUESTION[:60].encode() not in request.body:
            return ANSWER
        return said(request) if callable(said) else said

    return [reply]


def locate(photo: Path, url: str, *more: object, home: Path, model: str = "server:policy") -> Done:
    words = ("locate", photo, "--model", model, "--base-url", url, *more)
    return whole_command(*words, GEOSLEUTH_HOME=str(home), COLUMNS="200")


def asked_in(request: Request) -> str:
    return next(
        one for one in ("pixels", "thousandths", "fractions") if f"on one image, in {one} of" in request.body.decode()
    )


@pytest.mark.parametrize(
    ("said", "scale"), [(PIXELS, "pixels"), (THOUSANDTHS, "thousandths"), (FRACTIONS, "fractions")]
)
def test_a_model_that_is_served_under_any_name_is_asked_once(
    atlas_home: Path, photo: Path, said: str, scale: str
) -> None:
    with openai_server(talking(chat_reply(said))) as url:
        url.tells_itself = True
        for run in range(2):
            done = locate(photo, url, home=atlas_home)
            assert done.returncode == 0, done.stderr
            assert (f"gives boxes in {scale}" in done.stderr) == (run == 0)
            assert asked_in(url.requests[-1]) == scale
        probes = [one for one in url.requests if QUESTION[:60].encode() in one.body]
        assert len(probes) == 1
        assert len(probes[0].images) == 1
        # Another model at the same address is another question.
        assert locate(photo, url, home=atlas_home, model="server:other").returncode == 0
        assert sum(QUESTION[:60].encode() in one.body for one in url.requests) == 2
    kept = [json.loads(one.read_text()) for one in (atlas_home / "cache" / "box-scales").iterdir()]
    assert {one["model"] for one in kept} == {f"{url} policy", f"{url} other"}


def test_an_unreadable_answer_is_said_and_the_name_decides(atlas_home: Path, photo: Path) -> None:
    with openai_server(talking(chat_reply("In the lower right."))) as url:
        url.tells_itself = True
        done = locate(photo, url, home=atlas_home, model="server:Qwen3-VL-8B")
        assert "gave no box that can be read; it is asked for thousandths, by its name; --boxes says" in done.stderr
        assert asked_in(url.requests[-1]) == "thousandths"
        before = len(url.requests)
        again = locate(photo, url, home=atlas_home, model="server:Qwen3-VL-8B")
        assert "gave no box" not in again.stderr
        assert asked_in(url.requests[-1]) == "thousandths"
        assert not any(QUESTION[:60].encode() in one.body for one in url.requests[before:])


def test_nobody_is_asked_who_need_not_be(atlas_home: Path, photo: Path) -> None:
    with openai_server(talking(failure(500))) as url:
        url.tells_itself = True
        for more in (("--boxes", "fractions"), ("--tools", "none"), ("--method", "geoagent")):
            done = locate(photo, url, *more, home=atlas_home)
            assert done.returncode == 0, done.stderr
            assert not any(QUESTION[:60].encode() in one.body for one in url.requests)
        assert locate(photo, url, "--offline", home=atlas_home).returncode == 2


def test_a_host_that_nobody_agreed_to_is_not_asked(atlas_home: Path, photo: Path) -> None:
    """The tests' own guard fails where a socket reaches for another host."""
    done = locate(photo, "https://models.example/v1", home=atlas_home)
    assert "add --yes to allow it" in done.stderr


@pytest.mark.parametrize("listed", ["policy_card", "root"])
def test_a_server_that_knows_the_card_is_believed(atlas_home: Path, photo: Path, tmp_path: Path, listed: str) -> None:
    way = method("twm", box_scale="fractions")
    card = PolicyCard.from_method(way, ("image_zoom_in_tool", "poi_keyword_search"), turns=2)
    card.write(tmp_path)
    plain = json.loads((tmp_path / "policy_card.json").read_text())
    entry = {"id": "policy", listed: plain if listed == "policy_card" else str(tmp_path)}
    with openai_server(talking(failure(500), models=[{"id": "other"}, entry])) as url:
        url.tells_itself = True
        assert locate(photo, url, home=atlas_home).returncode == 0
        asked = url.requests[-1]
        assert [one["function"]["name"] for one in asked.json["tools"]] == ["image_zoom_tool", "poi_keyword_search"]
        assert asked_in(asked) == "fractions"
        refused = locate(photo, url, "--method", "spotagent", home=atlas_home)
        assert (refused.returncode, "trained with --method twm, not spotagent" in refused.stderr) == (2, True)
        # Whoever names none plays it otherwise.
        done = locate(photo, url, "--policy-card", "none", "--boxes", "pixels", home=atlas_home)
        assert (done.returncode, asked_in(url.requests[-1])) == (0, "pixels")


@pytest.mark.parametrize("models", ["nonsense", [{"id": "policy", "root": 3}], [3], [{"id": "policy", "root": "/no"}]])
def test_a_list_that_says_nothing_of_use_is_none(atlas_home: Path, photo: Path, models: Any) -> None:
    with openai_server(talking(chat_reply(PIXELS), models=models)) as url:
        url.tells_itself = True
        done = locate(photo, url, home=atlas_home)
        assert (done.returncode, asked_in(url.requests[-1])) == (0, "pixels")


def test_the_square_is_where_it_is_said_to_be() -> None:
    image = _draw_probe().image
    inside = image.crop(SQUARE).getcolors()
    assert inside is not None
    assert len(inside) == 1
    assert image.getpixel((SQUARE[0] - 1, SQUARE[1])) != image.getpixel((SQUARE[0], SQUARE[1]))
