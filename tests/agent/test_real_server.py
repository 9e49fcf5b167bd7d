"""The whole loop over HTTP: a real server around a tiny model, and servers that fail."""

import asyncio
import base64
import io
import json
import socket
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from PIL import Image, ImageChops, ImageStat

from asked import QUICK
from geosleuth.agent import Budget
from geosleuth.agent.locate import Finding, locate
from geosleuth.agent.methods import METHODS, method
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.answer import FORMAT
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import LatLon
from geosleuth.models import EndpointSettings, Policy, Sampling, Step, Wire, make_policy
from geosleuth.photo import open_photo
from geosleuth.tools import ToolCall
from geosleuth.tools.toolset import all_tools
from later import later
from openai_server import Reply, chat_reply, failure, openai_server
from tiny_server import MODEL_NAME, Line, TinyServer, tiny_server

later("pydantic_ai")

SPOT = LatLon(43.7354, 7.4211)
FULL = json.dumps(
    {
        "format": FORMAT, "lat": SPOT.lat, "lon": SPOT.lon, "country": {"conclusion": "Monaco"},
        "precise": {"conclusion": "Monaco"}, "probability": 0.7, "radius_km": 2.0, "explanation": "The sign.",
    }
)  # fmt: skip
WORDS = '<answer>The sign is in Monaco. {"country": "Monaco", "city": "Monaco"}</answer>'
POINT = json.dumps({"lat": SPOT.lat, "lon": SPOT.lon, "city": "Monaco", "country": "Monaco"})
# On the photo, and then on the cut of it, which is shown eight times as large.
FIRST_BOX, SECOND_BOX = [40, 30, 140, 90], [200, 120, 600, 360]
IN_ORIGINAL = [(0, 0, 240, 160), (40, 30, 140, 90), (65, 45, 115, 75)]
SIZES = [(240, 160), (800, 480), (400, 240)]


@pytest.fixture(scope="module")
def tiny_model() -> None:
    """Made and loaded before any test's own time runs."""
    with tiny_server():
        pass


def photo_file(folder: Path) -> Path:
    """A small photo in which no two places look alike."""
    across = Image.linear_gradient("L").rotate(90).resize((240, 160))
    down = Image.linear_gradient("L").resize((240, 160))
    path = folder / "photo.png"
    Image.merge("RGB", (across, down, ImageChops.multiply(across, down))).save(path)
    return path


def zoom(name: str, box: list[int], image: str) -> Step:
    return Step("I look closer.", calls=(ToolCall("", name, {"bbox_2d": box, "image": image}),))


def work(
    policy: Policy,
    photo: Path,
    preset: str = "default",
    *,
    tools: Iterable[str] = ("image_zoom_in_tool",),
    wire: Wire | None = None,
    budget: Budget | None = None,
    atlas: OfflineAtlas | None = None,
) -> Finding:
    how = method(preset)

    async def located() -> Finding:
        try:
            return await locate(
                [open_photo(photo)],
                AgentSetup(
                    method=how,
                    policy=policy,
                    toolset=how.toolset(all_tools(), tools),
                    budget=budget,
                    sampling=Sampling(max_tokens=300),
                    wire=wire,
                ),
                Resources(atlas or OfflineAtlas()),
            )
        finally:
            await policy.aclose()

    return asyncio.run(located())


def pictures(request: dict[str, Any]) -> list[tuple[str, Image.Image]]:
    """The images that the server was sent, each with the text just before it."""
    found: list[tuple[str, Image.Image]] = []
    before = ""
    for message in request["messages"]:
        parts = message["content"] if isinstance(message["content"], list) else []
        for part in parts:
            if part["type"] == "text":
                before = part["text"]
            else:
                data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                found.append((before, Image.open(io.BytesIO(data))))
    return found


def look_alike(sent: Image.Image, expected: Image.Image) -> bool:
    return max(ImageStat.Stat(ImageChops.difference(sent.convert("RGB"), expected)).mean) < 3


def roles(request: dict[str, Any]) -> list[str]:
    return [message["role"] for message in request["messages"]]


@pytest.mark.parametrize(
    ("preset", "wire", "zooming", "final"),
    [
        ("default", "native", "image_zoom_in_tool", FULL),
        ("default", "tagged", "image_zoom_in_tool", FULL),
        pytest.param("geovista", "tagged", "image_zoom_in_tool", WORDS, marks=pytest.mark.slow),
        pytest.param("geovista", "native", "image_zoom_in_tool", WORDS, marks=pytest.mark.slow),
        ("twm", "native", "image_zoom_tool", POINT),
        pytest.param("twm", "tagged", "image_zoom_tool", POINT, marks=pytest.mark.slow),
    ],
    ids=lambda value: value if value in get_args(Wire) or value in METHODS else "",
)
@pytest.mark.usefixtures("tiny_model")
def test_a_photo_its_crop_and_the_crop_of_the_crop_reach_the_model(
    tmp_path: Path, preset: str, wire: Wire, zooming: str, final: str
) -> None:
    photo = photo_file(tmp_path)
    script: list[Line] = [zoom(zooming, FIRST_BOX, "image-1"), zoom(zooming, SECOND_BOX, "image-2"), final]
    with tiny_server(script=script) as url:
        policy = make_policy(f"server:{MODEL_NAME}", base_url=url)
        found = work(policy, photo, preset, wire=wire)
    trajectory = found.trajectory
    assert trajectory.ended is not None
    assert trajectory.ended.reason == "answered", trajectory.ended
    assert found.answer.address.country.conclusion == "Monaco"
    assert found.answer.point == (None if preset == "geovista" else SPOT)
    assert [one.failure for one in trajectory.observations] == [None, None]
    assert [image.box_in_original for image in trajectory.images] == IN_ORIGINAL
    check_what_the_server_got(url, photo, wire)
    assert trajectory.spent.usage.input_tokens > 0
    assert trajectory.spent.usage.output_tokens > 0
    assert [step.model for step in trajectory.steps] == [MODEL_NAME] * 3


def check_what_the_server_got(url: TinyServer, photo: Path, wire: Wire) -> None:
    first, second, third = url.requests
    # On the native wire tools are declared and results have a role of their own; tagged text knows neither.
    assert ("tools" in first) is (wire == "native")
    assert ("tool" in roles(second)) is (wire == "native")
    assert [len(pictures(one)) for one in (first, second, third)] == [1, 2, 3]
    original = open_photo(photo).photo.image
    shown = pictures(third)
    assert [image.size for _, image in shown] == SIZES
    for (caption, image), box, size, number in zip(shown, IN_ORIGINAL, SIZES, (1, 2, 3), strict=True):
        assert f"image-{number} ({size[0]} x {size[1]} pixels)" in caption
        assert look_alike(image, original.crop(box).resize(size))
        assert not image.info.keys() & {"exif", "xmp", "comment"}
    other = original.crop(IN_ORIGINAL[1]).resize(SIZES[2])
    assert not look_alike(shown[2][1], other)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_model")
def test_a_model_that_talks_noise_ends_in_its_budget_with_nobodys_answer(tmp_path: Path) -> None:
    with tiny_server() as url:
        policy = make_policy(f"server:{MODEL_NAME}", base_url=url)
        found = work(policy, photo_file(tmp_path), "twm", budget=Budget(turns=4))
    assert found.trajectory.ended is not None
    assert found.trajectory.ended.reason in ("stuck", "turns")
    assert found.trajectory.answered is not None
    assert found.trajectory.answered.by == "nobody"
    assert 1 <= len(url.requests) <= 4


# What goes wrong, and the words of the one line about it.
TROUBLES: dict[str, tuple[Reply, str]] = {
    "too often": (failure(429), "is asked too often (status 429)"),
    "broken": (failure(500, "out of memory"), 'failed (status 500): "out of memory"'),
    "cut reply": (chat_reply(FULL, manner="cut"), "its answer was cut short"),
    "cut JSON": (Reply(b'{"choices": [{"message": {"content": "Mon'), "no model's reply"),
    "endless": (chat_reply(FULL, manner="endless"), "did not answer"),
    "silent": (chat_reply(FULL, manner="silent"), "did not answer"),
    "empty": (chat_reply(""), "the model said nothing"),
    "hang-up": (Reply(manner="hang_up"), "its answer was cut short"),
    "refused": (failure(401), "refused the request"),
}
NOTE = chat_reply(
    "Noted.", [("note_hypothesis", {"place": "Monaco", "confidence": 0.6, "evidence_for": ["a blue street sign"]})]
)
IMPATIENT = replace(QUICK, try_s=0.5, total_s=2.0)
# What the loop may add to the time that the server is given; the machine may be busy.
SLACK_S = 20.0


def ended_by_the_service(found: Finding, expected: str) -> None:
    ended = found.trajectory.ended
    assert ended is not None
    assert ended.reason == "service"
    assert ended.trouble is not None
    assert expected in ended.trouble
    assert "127.0.0.1" in ended.trouble
    assert "\n" not in ended.trouble


@pytest.mark.parametrize("kind", TROUBLES)
def test_a_server_that_fails_ends_the_run_with_one_line(tmp_path: Path, kind: str) -> None:
    reply, expected = TROUBLES[kind]
    began = time.monotonic()
    with openai_server([reply]) as url:
        found = work(policy_at(url), photo_file(tmp_path))
    assert time.monotonic() - began < IMPATIENT.total_s + SLACK_S
    ended_by_the_service(found, expected)
    assert found.trajectory.answered is not None
    assert found.trajectory.answered.by == "nobody"
    assert not found.answer.located
    assert len(found.trajectory.steps) == 0


def policy_at(url: str, settings: EndpointSettings = IMPATIENT) -> Policy:
    return make_policy("server:any", base_url=url, settings=settings)


@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize("kind", ["too often", "cut JSON", "endless", "empty"])
def test_a_server_that_fails_later_leaves_the_best_candidate(tmp_path: Path, kind: str) -> None:
    reply, expected = TROUBLES[kind]
    with openai_server([NOTE, reply]) as url:
        found = work(policy_at(url), photo_file(tmp_path), tools=["note_hypothesis"])
    ended_by_the_service(found, expected)
    assert found.trajectory.answered is not None
    assert found.trajectory.answered.by == "pool"
    assert found.answer.address.country.conclusion == "Monaco"
    assert found.answer.point is not None
    assert found.answer.probability == 0.6


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    ended_by_the_service(work(policy_at(address), photo_file(tmp_path)), "can't be reached; is the server running?")


@pytest.mark.parametrize("manner", ["endless", "silent"])
def test_the_time_of_the_run_cuts_off_a_server_that_takes_for_ever(tmp_path: Path, manner: Any) -> None:
    patient = EndpointSettings()
    began = time.monotonic()
    with openai_server([chat_reply(FULL, manner=manner)]) as url:
        found = work(policy_at(url, patient), photo_file(tmp_path), budget=Budget(turns=3, seconds=1.0))
    assert time.monotonic() - began < 1.0 + SLACK_S
    assert found.trajectory.ended is not None
    assert found.trajectory.ended.reason == "seconds"
