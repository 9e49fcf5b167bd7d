"""Calls carried out: good ones, bad ones, slow ones, and many at once."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from geosleuth.atlas import OfflineAtlas
from geosleuth.photo import Album, Photo, open_photo
from geosleuth.support.errors import BadInput, DataFault, MissingExtra, Offline, ServiceFault
from geosleuth.tools import Case, Length, Output, ToolCall, Toolset, tool


@pytest.fixture
def case(tmp_path: Path) -> Case:
    album = Album()
    album.add(picture(tmp_path, "photo", (400, 300)))
    return Case(album, OfflineAtlas())


def picture(folder: Path, name: str, size: tuple[int, int]) -> Photo:
    path = folder / f"{name}.png"
    Image.effect_noise(size, 60).convert("RGB").save(path)
    return open_photo(path).photo


@tool("echo", aliases=("say",))
async def echo(case: Case, text: str) -> Output:
    """Say the same.

    Args:
        case: the case.
        text: what to say.
    """
    del case
    return Output(text, {"said": text}, sources=("here",))


@tool("cut")
async def cut(case: Case, bbox_2d: Annotated[list[float], Length(4)], wait_s: float = 0.0) -> Output:
    """Cut a part out.

    Args:
        case: the case.
        bbox_2d: left, top, right, bottom.
        wait_s: how long to wait first.
    """
    await asyncio.sleep(wait_s)
    return Output("a cut", images=(case.album.preview("image-1", bbox_2d),), sources=("photo",))


@tool("sleep")
async def sleep(case: Case, seconds: float) -> Output:
    """Do nothing for a while.

    Args:
        case: the case.
        seconds: how long.
    """
    del case
    await asyncio.sleep(seconds)
    return Output("slept")


def run(tools: Toolset, case: Case, *calls: tuple[str, Any], seconds: float = 60.0) -> tuple[Any, ...]:
    numbered = [ToolCall(f"call-{number}", name, given_) for number, (name, given_) in enumerate(calls, 1)]
    return asyncio.run(tools.run(numbered, case, seconds=seconds))


def test_an_observation_says_who_was_asked_what_came_and_from_where(case: Case) -> None:
    (seen,) = run(Toolset([echo]), case, ("say", {"text": "gare"}))
    assert (seen.call_id, seen.name, seen.text, seen.data) == ("call-1", "echo", "gare", {"said": "gare"})
    assert seen.sources == ("here",)
    assert seen.failure is None
    assert 0 <= seen.seconds < 10


def test_every_bad_call_is_an_observation_and_the_good_ones_are_done(case: Case) -> None:
    seen = run(
        Toolset([echo, cut]),
        case,
        ("teleport", {}),
        ("echo", '{"text": "cut off'),
        ("echo", {"txt": "a"}),
        ("cut", {"bbox_2d": [900, 900, 950, 950]}),
        ("echo", {"text": "fine"}),
        ("sh\ud83d" + "x" * 500, "rm -rf"),
    )
    assert [one.failure for one in seen] == [
        "unknown_tool", "bad_arguments", "bad_arguments", "refused", None, "unknown_tool",
    ]  # fmt: skip
    assert seen[0].text == "there is no tool 'teleport'; there are: echo, cut"
    assert seen[1].text == 'the arguments are not valid JSON; write one object: {"text": <a string>}'
    assert seen[2].text == "text is missing; it must be a string: what to say."
    assert "lies outside the image" in seen[3].text
    assert "within 0 to 400 across and 0 to 300 down" in seen[3].text
    assert len(seen[5].name) == 60
    for one in seen:
        f"{one.name} {one.text}".encode()
    assert case.album.handles == ("image-1",)


def test_unknown_arguments_are_ignored_and_said_so(case: Case) -> None:
    (seen,) = run(Toolset([echo]), case, ("echo", {"text": "gare", "language": "fr", "depth": [1]}))
    assert seen.failure is None
    assert seen.text == "gare\n(not arguments of echo, ignored: language, depth)"
    assert seen.data == {"said": "gare"}


def test_one_slow_call_is_stopped_and_the_others_are_not(case: Case) -> None:
    started = time.perf_counter()
    slow, quick = run(Toolset([sleep, echo]), case, ("sleep", {"seconds": 30}), ("echo", {"text": "a"}), seconds=0.1)
    assert time.perf_counter() - started < 5
    assert (slow.failure, slow.text) == ("timeout", "sleep took longer than 0.1 s")
    assert slow.seconds >= 0.1
    assert quick.failure is None


def test_independent_calls_run_at_once(case: Case) -> None:
    everyone_is_here = asyncio.Barrier(20)

    @tool("meet")
    async def meet(case: Case) -> Output:
        """Wait for the others."""
        del case
        await everyone_is_here.wait()
        return Output("met")

    seen = run(Toolset([meet]), case, *[("meet", {})] * 20, seconds=20)
    assert [one.text for one in seen] == ["met"] * 20


def test_handles_follow_the_order_of_the_calls_not_of_their_ends(case: Case, tmp_path: Path) -> None:
    chart = picture(tmp_path, "chart", (64, 64))

    @tool("chart")
    async def draw(case: Case) -> Output:
        """Draw a map."""
        del case
        return Output("a map", images=(chart,))

    seen = run(
        Toolset([cut, draw]),
        case,
        ("cut", {"bbox_2d": [0, 0, 100, 100], "wait_s": 0.2}),
        ("chart", {}),
        ("cut", {"bbox_2d": [100, 50, 200, 150], "wait_s": 0.1}),
        ("cut", {"bbox_2d": [100, 50, 300, 150]}),
    )
    shown = [one.images[0] for one in seen]
    assert [image.handle for image in shown] == ["image-2", "image-3", "image-4", "image-5"]
    assert [image.photo for image in shown] == [1, 2, 1, 1]
    assert shown[2].box_in_original == (100, 50, 200, 150)
    assert shown[2].size == case.album["image-4"].size == (800, 800)
    assert shown[1].caption == "image-3 (64 x 64 pixels):"


def test_a_bug_comes_out_as_it_is_and_the_others_are_stopped_first(case: Case) -> None:
    ends: list[str] = []

    @tool("broken")
    async def broken(case: Case) -> Output:
        """Fail."""
        del case
        await asyncio.sleep(0.01)
        raise ZeroDivisionError("a bug")

    @tool("patient")
    async def patient(case: Case) -> Output:
        """Wait long."""
        del case
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.05)
            ends.append("tidied up")
        return Output("never")

    started = time.perf_counter()
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run(Toolset([broken, patient]), case, ("patient", {}), ("broken", {}), ("patient", {}))
    assert ends == ["tidied up"] * 2
    assert time.perf_counter() - started < 10


def test_calling_off_a_run_calls_off_its_calls(case: Case) -> None:
    ends: list[str] = []

    @tool("patient")
    async def patient(case: Case) -> Output:
        """Wait long."""
        del case
        try:
            await asyncio.sleep(30)
        finally:
            ends.append("stopped")
        return Output("never")

    async def impatient() -> None:
        async with asyncio.timeout(0.05):
            await Toolset([patient]).run([ToolCall("a", "patient"), ToolCall("b", "patient")], case)

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert ends == ["stopped"] * 2


@pytest.mark.parametrize(
    ("trouble", "failure"),
    [
        (BadInput("no such place"), "refused"),
        (MissingExtra("libzim", "atlas"), "refused"),
        (ServiceFault("maps.example", "is busy", retryable=True), "service"),
        (Offline("maps.example", "nobody listens there"), "service"),
    ],
)
def test_failures_that_a_model_can_act_on_are_told_in_their_own_words(
    case: Case, trouble: Exception, failure: str
) -> None:
    (seen,) = run(Toolset([failing(trouble)]), case, ("fail", {}))
    assert (seen.failure, seen.text) == (failure, str(trouble))


@pytest.mark.parametrize("trouble", [DataFault("a table is damaged"), TimeoutError("not ours"), RuntimeError("a bug")])
def test_failures_that_nobody_at_the_model_can_mend_are_not_hidden(case: Case, trouble: Exception) -> None:
    with pytest.raises(type(trouble), match=str(trouble)):
        run(Toolset([failing(trouble)]), case, ("fail", {}))


def failing(trouble: Exception) -> Any:
    @tool("fail")
    async def fail(case: Case) -> Output:
        """Fail."""
        del case
        raise trouble

    return fail


def test_a_subset_is_chosen_by_name_or_alias_and_keeps_the_order() -> None:
    everything = Toolset([echo, cut, sleep])
    assert everything.select(["sleep", " say ", "echo"]).names == ("echo", "sleep")
    assert everything.select([]).names == ()
    with pytest.raises(BadInput, match="there is no tool 'fly'; there are: echo, cut, sleep"):
        everything.select(["fly"])


def test_two_tools_of_one_name_are_refused() -> None:
    @tool("other", aliases=("echo",))
    async def other(case: Case) -> Output:
        """Clash."""
        return Output(str(case))

    with pytest.raises(ValueError, match="two tools answer to 'echo'"):
        Toolset([echo, other])


@given(name=st.text(st.characters()), arguments=st.text(st.characters()) | st.dictionaries(st.text(), st.integers()))
def test_whatever_is_called_there_is_one_observation_that_can_be_stored(name: str, arguments: Any) -> None:
    (seen,) = run(Toolset([echo]), Case(Album(), OfflineAtlas()), (name, arguments))
    assert seen.failure in ("unknown_tool", "bad_arguments", None)
    f"{seen.name} {seen.text}".encode()


def test_what_a_call_says_is_never_carried_out(case: Case, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    code = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    seen = run(
        Toolset([echo]),
        case,
        ("echo", {"text": code}),
        ("echo", code),
        (code, {}),
        ("echo.__globals__", {}),
        ("__init__", {}),
        ("run", {}),
    )
    assert seen[0].text == code
    assert [one.failure for one in seen[1:]] == ["bad_arguments", *["unknown_tool"] * 4]
    assert not trap.exists()
