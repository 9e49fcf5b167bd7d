"""The task in Inspect AI itself: ``inspect_ai.eval`` and the command ``inspect eval``, with its own stand-in models."""

import asyncio
import base64
import gc
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import (
    ChatMessage,
    ChatMessageTool,
    ContentImage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from PIL import Image, ImageDraw, TiffImagePlugin

from geosleuth.lab.inspect.tasks import TRUTH_KEY, locate
from geosleuth.support.errors import BadInput
from openai_server import Line, chat_reply, openai_server

pytestmark = [
    pytest.mark.usefixtures("atlas_home", "quiet_inspect"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

MARKER = "zzyzxville"
LAT, LON = 43.7391, 7.4277
ANSWER = {"lat": 43.74, "lon": 7.43, "country": "Monaco", "city": "Monaco"}


@pytest.fixture
def quiet_inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inspect keeps nothing outside of the test's folder, and draws nothing."""
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    yield
    # Inspect leaves its streams open; here nobody minds, in some later test it would look like that test's fault.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def degrees(value: float) -> tuple[TiffImagePlugin.IFDRational, ...]:
    return tuple(TiffImagePlugin.IFDRational(round(part * 10_000), 10_000) for part in (value, 0.0, 0.0))


@pytest.fixture
def data(tmp_path: Path) -> str:
    """Photos whose names, folder, metadata and labels all tell the place."""
    folder = tmp_path / f"photos of {MARKER}"
    folder.mkdir()
    rows = ["image,lat,lon,country,city,note"]
    for number in range(2):
        image = Image.new("RGB", (320, 240), (200, 200, 90 * number))
        ImageDraw.Draw(image).text((20, 100), "BOULANGERIE", fill=(0, 0, 0))
        exif = Image.Exif()
        exif[0x010E] = f"seen in {MARKER}"
        exif[0x013B] = MARKER
        exif.get_ifd(0x8825).update({1: "N", 2: degrees(LAT), 3: "E", 4: degrees(LON)})
        name = f"{MARKER}-{number}.jpg"
        image.save(folder / name, exif=exif, comment=MARKER.encode())
        rows.append(f"{name},{LAT},{LON},Monaco,{MARKER},{MARKER} by night")
    table = folder / f"{MARKER}.csv"
    table.write_text("\n".join(rows) + "\n")
    return f"table:{table}"


Said = Callable[[list[ChatMessage], list[ToolInfo], ToolChoice, GenerateConfig], ModelOutput]


def mock(said: Said) -> Model:
    """Inspect's stand-in; without a usage it would count tokens with tables that it fetches."""

    def counted(*given: Any) -> ModelOutput:
        output = said(*given)
        output.usage = output.usage or ModelUsage(input_tokens=100, output_tokens=20, total_tokens=120)
        return output

    return get_model("mockllm/model", custom_outputs=counted, memoize=False)


def looks_then_answers(
    messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
) -> ModelOutput:
    """A stand-in for a model: it zooms in, and answers once it has seen what came of it."""
    del choice, config
    if not any(isinstance(message, ChatMessageTool) for message in messages):
        zoom = next(one for one in tools if "zoom" in one.name)
        handle = re.search(r"(\S+) \(320 x 240 pixels\):", "\n".join(message.text for message in messages))
        assert handle is not None
        given = {"bbox_2d": [10, 80, 160, 140]} | (
            {"image": handle[1]} if "image" in zoom.parameters.properties else {}
        )
        return ModelOutput.for_tool_call("mockllm/model", zoom.name, given, content="I look closer.")
    return ModelOutput.from_content("mockllm/model", json.dumps(ANSWER))


def run(data: str, said: Said, logs: Path, **more: Any) -> EvalLog:
    [log] = inspect_eval(locate(data, **more), model=mock(said), log_dir=str(logs), display="none")
    assert log.status == "success", log.error
    return log


def samples_of(log: EvalLog) -> list[EvalSample]:
    # As it is on disk: images are kept apart there, and put back on reading.
    return read_eval_log(log.location, resolve_attachments=True).samples or []


def test_a_tool_is_called_and_the_answer_scored(data: str, tmp_path: Path) -> None:
    log = run(data, looks_then_answers, tmp_path / "logs")
    assert log.results is not None
    [found] = log.results.scores
    figures = {name: one.value for name, one in found.metrics.items()}
    assert figures["within_1_km"] == 100.0
    assert figures["within_0.5_km"] == 100.0
    assert figures["median_km"] == pytest.approx(0.21, abs=0.03)
    assert figures["geoscore"] > 4990
    assert figures["country_named_right"] == 100.0
    assert figures["city_named_right"] == 0.0
    assert (figures["located"], figures["unlocated"]) == (2, 0)
    for sample in samples_of(log):
        assert sample.store["geosleuth_ended"] == {"reason": "answered", "turns": 2, "calls": 1}
        roles = [message.role for message in sample.messages]
        assert roles == ["system", "user", "assistant", "tool", "assistant"]
        zoomed = sample.messages[3]
        assert isinstance(zoomed, ChatMessageTool)
        assert zoomed.error is None, zoomed
        assert any(isinstance(part, ContentImage) for part in zoomed.content)
        events = [event for event in sample.events if event.event == "info" and event.source == "geosleuth"]
        assert [set(event.data) >= {"tool"} for event in events if isinstance(event.data, dict)] == [True, False]
        assert sum(event.event == "model" for event in sample.events) == 2


def seen_by_the_model(sample: EvalSample) -> str:
    """Every word of a sample's that a model was, or could have been, shown."""
    shown: list[Any] = [sample.input, sample.messages]
    for event in sample.events:
        if event.event == "model":
            shown += [event.input, event.tools, event.output, event.call]
        elif event.event == "info":
            shown.append(event.data)
    text = repr(shown)
    assert "data:image/jpeg;base64," in text
    return text


def test_nothing_that_a_data_set_knows_reaches_the_model(data: str, tmp_path: Path) -> None:
    seen: list[str] = []

    def watched(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        seen.append(repr([message.model_dump() for message in messages]) + repr(tools))
        return looks_then_answers(messages, tools, choice, config)

    log = run(data, watched, tmp_path / "logs")
    samples = samples_of(log)
    assert len(samples) == 2
    for sample in samples:
        # The scorer's own copy is there, or this test would prove nothing.
        assert MARKER in json.dumps(sample.metadata)
        assert re.fullmatch(r"[0-9a-f]{16}", str(sample.id))
        assert sample.files is None
        for text in (seen_by_the_model(sample), repr(sample.store), repr(sample.output)):
            assert MARKER not in text
            assert str(LAT) not in text
    assert len(seen) == 4
    for text in seen:
        assert MARKER not in text
        assert str(LAT) not in text
        for sample in samples:
            assert str(sample.id) not in text
    for picture in re.findall(r"base64,([A-Za-z0-9+/=]+)", "".join(seen)):
        content = base64.b64decode(picture)
        assert MARKER.encode() not in content
        assert b"Exif" not in content


def test_names_of_samples_stay_the_same_so_that_a_retry_finds_them(data: str) -> None:
    first, second = ([one.id for one in locate(data).dataset] for _ in range(2))
    assert first == second
    assert len(set(first)) == 2


@pytest.mark.slow
def test_method_tools_and_turns_are_ours(data: str, tmp_path: Path) -> None:
    asked: list[tuple[list[str], ToolChoice]] = []

    def restless(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        del messages, config
        asked.append(([one.name for one in tools], choice))
        return ModelOutput.for_tool_call("mockllm/model", "maps_geocode", {"address": f"Paris {len(asked)}"})

    log = run(data, restless, tmp_path / "logs", tools=["maps_geocode"], turns=3, limit=1)
    [sample] = samples_of(log)
    assert len(asked) == 3
    # Where no call is allowed any more, Inspect leaves the tools out for providers that take it.
    assert asked == [(["maps_geocode"], "auto"), (["maps_geocode"], "auto"), ([], "none")]
    assert sample.store["geosleuth_ended"]["turns"] == 3
    assert log.results is not None
    assert log.results.scores[0].metrics["unlocated"].value == 1


@pytest.mark.slow
def test_the_tagged_wire_works_too(data: str, tmp_path: Path) -> None:
    def tagged(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        del choice, config
        assert tools == []
        if len(messages) == 2:
            call = json.dumps({"name": "maps_geocode", "arguments": {"address": "Monaco"}})
            return ModelOutput.from_content("mockllm/model", f"<think>hm</think><tool_call>{call}</tool_call>")
        assert "<tool_response>" in messages[-1].text
        return ModelOutput.from_content("mockllm/model", json.dumps(ANSWER))

    log = run(data, tagged, tmp_path / "logs", wire="tagged", tools="maps_geocode", limit=1)
    [sample] = samples_of(log)
    assert sample.store["geosleuth_ended"] == {"reason": "answered", "turns": 2, "calls": 1}


def test_a_model_that_fails_is_an_error_and_no_wrong_answer(data: str, tmp_path: Path) -> None:
    def fails(*_: object) -> ModelOutput:
        raise ValueError("the model broke")

    [log] = inspect_eval(
        locate(data), model=mock(fails), log_dir=str(tmp_path / "logs"), display="none", fail_on_error=False
    )
    assert log.samples is not None
    assert all(sample.error is not None and "the model broke" in sample.error.message for sample in log.samples)
    assert not any(sample.scores for sample in log.samples)


def test_a_limit_of_inspects_ends_a_sample_and_the_best_candidate_is_scored(data: str, tmp_path: Path) -> None:
    def spends(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        output = looks_then_answers(messages, tools, choice, config)
        output.usage = ModelUsage(input_tokens=900, output_tokens=100, total_tokens=1000)
        return output

    [log] = inspect_eval(
        locate(data, limit=1), model=mock(spends), log_dir=str(tmp_path / "logs"), display="none", token_limit=500
    )
    assert log.status == "success", log.error
    [sample] = log.samples or []
    assert sample.limit is not None
    assert sample.scores is not None
    assert sample.scores["place"].explanation == "no place was given"
    assert sample.metadata[TRUTH_KEY]["lat"] == LAT


@pytest.mark.slow
def test_our_own_time_limit_cuts_a_slow_model_off(data: str, tmp_path: Path) -> None:
    async def slow(*_: object) -> ModelOutput:
        await asyncio.sleep(60)
        raise AssertionError("it was not cut off")

    model = get_model("mockllm/model", custom_outputs=slow, memoize=False)
    [log] = inspect_eval(
        locate(data, limit=1, seconds=0.5), model=model, log_dir=str(tmp_path / "logs"), display="none"
    )
    assert log.status == "success", log.error
    [sample] = log.samples or []
    assert sample.store["geosleuth_ended"]["reason"] == "seconds"
    assert sample.scores is not None


def test_words_that_make_no_sense_are_refused(data: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="bench run"):
        locate(data, method="detective")
    with pytest.raises(BadInput, match="no tool"):
        locate(data, tools="hammer")
    with pytest.raises(BadInput, match="no such file or folder"):
        locate(str(tmp_path / "nowhere"))
    with pytest.raises(BadInput, match="-T data="):
        locate()


needs_entry_point = pytest.mark.skipif(
    not entry_points(group="inspect_ai", name="geosleuth"),
    reason="this installation is older than its entry point for Inspect; install the package again",
)


@pytest.mark.slow
@needs_entry_point
def test_the_task_is_found_by_its_name(data: str, tmp_path: Path) -> None:
    words = {"data": data, "tools": "image_zoom_in_tool,read_text", "turns": 2}
    model, logs = mock(looks_then_answers), str(tmp_path / "logs")
    [log] = inspect_eval("geosleuth/locate", task_args=words, model=model, log_dir=logs, display="none")
    assert (log.status, log.eval.task, len(log.samples or [])) == ("success", "geosleuth/locate", 2)
    assert log.results is not None
    assert log.results.scores[0].metrics["within_1_km"].value == 100.0


@pytest.mark.slow
@needs_entry_point
def test_the_command_finds_the_task_by_its_name_and_asks_a_real_server(data: str, tmp_path: Path) -> None:
    pytest.importorskip("openai")
    logs = tmp_path / "cli-logs"
    script: list[Line] = [chat_reply(json.dumps(ANSWER))]
    with openai_server(script) as url:
        done = subprocess.run(
            [
                *(Path(sys.executable).with_name("inspect"), "eval", "geosleuth/locate"),
                *("-T", f"data={data}", "-T", "tools=image_zoom_in_tool,read_text", "-T", "turns=2"),
                *("--model", "openai-api/local/any", "--log-dir", logs, "--display", "plain"),
            ],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1", "LOCAL_BASE_URL": url, "LOCAL_API_KEY": "made-up"},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(url.requests) == 2
        for request in url.requests:
            assert len(request.images) == 1
            assert MARKER not in request.body.decode()
            assert len(request.json["tools"]) == 2
    [path] = logs.glob("*.eval")
    log = read_eval_log(str(path))
    assert (log.status, log.eval.task, len(log.samples or [])) == ("success", "geosleuth/locate", 2)
    assert log.results is not None
    assert log.results.scores[0].metrics["within_1_km"].value == 100.0
    assert "geoscore" in done.stdout
