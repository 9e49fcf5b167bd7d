"""What the loop adds to a turn when 200 trajectories run at once, beside a plain pydantic-ai Agent in the same run.

    python benchmarks/loop.py [--trajectories N] [--turns N] [--repeats N] [--json] [--check]

Both play the same script: a model that takes 200 to 600 ms a reply and calls two tools of 20 to 80 ms each, turn after
turn, then answers. A turn is timed from outside, from one request to the model to the next; the overhead is what is
left when the time inside the model and inside the tools is taken off. "Late" takes off only the time that both were
told to take, so that it holds late timers too. Ours also keeps the candidate pool and writes every event to a file as
it happens; the Agent of pydantic-ai, with its `FunctionModel`, writes nothing. With 200 at once one core may be full,
and turns then wait for each other, so times are compared with 20; CPU time compares at any number. Last comes the same
without any waiting, for the work alone. Of the repeats, which take turns, the one with the lowest 95th percentile is
shown for each library: whatever else the machine does only adds. `--check` exits with 1 where ours is over the figure
we promise.

Last, the share of prompt tokens that a server which keeps prompts (a prefix cache) need not read again: what the
requests of a run have in common with the longest beginning of an earlier one, tools and system text included. Runs of
12 turns cut out of a photo in every turn, search in every second and draw two maps in every third. Text counts four
characters a token, pictures 750 pixels. `--cache` prints this alone.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from geosleuth.agent import Budget, Context, Method, TrajectoryWriter, read_trajectory, run
from geosleuth.agent.methods import method as method_named
from geosleuth.agent.setup import AgentSetup
from geosleuth.answer import parse_lenient
from geosleuth.models import Conversation, Step, Usage
from geosleuth.models.protocol import ReplayPolicy
from geosleuth.models.tagged import system_text
from geosleuth.models.tagged import turns as tagged_turns
from geosleuth.photo import Album, Photo
from geosleuth.tools import Case, Output, ToolCall, Toolset, tool
from geosleuth.tools.image_tools import image_zoom_in_tool

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas

PROMISED_P95_MS = 5.0
FEW = 20
ANSWER = '{"lat": 43.7384, "lon": 7.4246, "city": "Monaco", "country": "Monaco", "probability": 0.7}'
THOUGHT = "The lettering is French, the kerbs are painted, the slope falls towards the sea. " * 6
FOUND = "A passage of text such as a search brings back, with names and numbers in it. " * 24
DOCUMENTS = [{"title": f"Page {n}", "url": f"https://example.org/{n}", "snippet": FOUND[:200]} for n in range(10)]


@dataclass(slots=True)
class Turn:
    """What one turn of the script does: how long the reply takes, and how long each call."""

    reply_s: float
    calls_s: tuple[float, float] | None

    @property
    def planned_s(self) -> float:
        """How long it takes if nothing is added; the two calls run at once."""
        return self.reply_s + max(self.calls_s or (0.0,))


@dataclass(slots=True)
class Clocked:
    """When model and tools were at work in one trajectory, turn by turn, and when it was done."""

    script: Sequence[Turn]
    replies: list[tuple[float, float]] = field(default_factory=list)
    calls: list[list[tuple[float, float]]] = field(default_factory=list)
    done: float = 0.0

    def overheads_ms(self) -> list[float]:
        """What each turn took beyond the time inside the model and the tools, which work at once."""
        inside = [
            end - begin + (max(one[1] for one in calls) - min(one[0] for one in calls) if calls else 0.0)
            for (begin, end), calls in zip(self.replies, self.calls, strict=True)
        ]
        return [(turn - work) * 1000 for turn, work in zip(self._turns(), inside, strict=True)]

    def late_ms(self) -> list[float]:
        """What each turn took beyond its plan."""
        return [(turn - planned.planned_s) * 1000 for turn, planned in zip(self._turns(), self.script, strict=True)]

    def _turns(self) -> list[float]:
        asked = [begin for begin, _ in self.replies]
        return [end - begin for begin, end in zip(asked, [*asked[1:], self.done], strict=True)]


CLOCK: ContextVar[Clocked] = ContextVar("clock")


def scripts(trajectories: int, turns: int, *, waiting: bool) -> list[list[Turn]]:
    """One script a trajectory, the same in every run."""
    rng = random.Random(20_260_101)

    def seconds(low: float, high: float) -> float:
        drawn = rng.uniform(low, high)
        return drawn if waiting else 0.0

    return [
        [
            Turn(seconds(0.2, 0.6), None if turn == turns - 1 else (seconds(0.02, 0.08), seconds(0.02, 0.08)))
            for turn in range(turns)
        ]
        for _ in range(trajectories)
    ]


async def pause(seconds: float) -> None:
    """Wait as long as was planned; not at all where nothing was."""
    if seconds:
        await asyncio.sleep(seconds)


async def be_a_tool(seconds: float) -> None:
    """Work as long as a call was planned to, on the clock."""
    begin = time.perf_counter()
    await pause(seconds)
    CLOCK.get().calls[-1].append((begin, time.perf_counter()))


@tool("search_web")
async def search_web(case: Case, query: str, seconds: float) -> Output:  # noqa: ARG001
    """Search.

    Args:
        query: what.
        seconds: how long to take.
    """
    await be_a_tool(seconds)
    return Output(FOUND, {"documents": DOCUMENTS}, sources=("example.org",))


@tool("note_hypothesis")
async def note_hypothesis(case: Case, place: str, confidence: float, seconds: float) -> Output:  # noqa: ARG001
    """Note a place.

    Args:
        place: where.
        confidence: how sure.
        seconds: how long to take.
    """
    await be_a_tool(seconds)
    noted = {"place": place, "confidence": confidence, "evidence_for": ["lettering"], "evidence_against": []}
    return Output(f"Noted: {place}.", {"hypothesis": noted})


def arguments(number: int, calls_s: tuple[float, float]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the two calls of a turn say."""
    return (
        {"query": f"rue {number} monaco", "seconds": calls_s[0]},
        {"place": f"Quartier {number % 3}, Monaco", "confidence": 0.3 + number / 100, "seconds": calls_s[1]},
    )


def steps_of(script: Sequence[Turn]) -> list[Step]:
    """The script as our policies say it."""
    steps = []
    for number, turn in enumerate(script):
        usage = Usage(1500 + 600 * number, 120, seconds=turn.reply_s)
        if turn.calls_s is None:
            steps.append(Step(ANSWER, THOUGHT, usage=usage))
            continue
        search, note = arguments(number, turn.calls_s)
        wanted = (ToolCall(f"a{number}", "search_web", search), ToolCall(f"b{number}", "note_hypothesis", note))
        steps.append(Step("", THOUGHT, wanted, usage, "calls"))
    return steps


class Timed:
    """A policy with a clock in front of it."""

    def __init__(self, clocked: Clocked) -> None:
        self._inner = ReplayPolicy(steps_of(clocked.script), latency="recorded")
        self._clocked = clocked
        self.name = "replay"
        self.hosts: frozenset[str] = frozenset()

    async def step(self, conversation: Conversation) -> Step:
        """The recorded step, with the time it took kept."""
        begin = time.perf_counter()
        step = await self._inner.step(conversation)
        self._clocked.replies.append((begin, time.perf_counter()))
        self._clocked.calls.append([])
        return step

    async def aclose(self) -> None:
        """Nothing is held."""


def method_of(turns: int) -> Method:
    """A method that shows all that is shown by default: trimmed results."""
    return Method(
        name="benchmark",
        summary="",
        paper=None,
        tools=("search_web", "note_hypothesis"),
        budget=Budget(turns=turns + 2),
        wire="native",
        context=Context("trimmed", result_tokens=300, images=4),
        system=lambda _task, _tools: "Find the place.",
        prompt=lambda _task, _tools: "Where is this?",
        read_answer=parse_lenient,
        reminder="Answer.",
    )


def our_runs(all_scripts: list[list[Turn]], folder: Path) -> list[tuple[Clocked, Callable[[], Awaitable[object]]]]:
    """Every trajectory as ours runs it, each with a file of its own."""
    from PIL import Image

    photo = Photo(Image.new("RGB", (64, 48)))
    toolset = Toolset([search_web, note_hypothesis])
    method = method_of(len(all_scripts[0]))

    def prepare(number: int, clocked: Clocked) -> Callable[[], Awaitable[object]]:
        async def go() -> None:
            CLOCK.set(clocked)
            album = Album()
            album.add(photo)
            # No tool of this benchmark asks the atlas.
            case = Case(album, cast("Atlas", None))
            with TrajectoryWriter(folder / f"{number}.jsonl") as store:
                found = await run(case, AgentSetup(method=method, policy=Timed(clocked), toolset=toolset), store=store)
            clocked.done = time.perf_counter()
            if found.ended is None or found.ended.reason != "answered":
                raise RuntimeError(f"trajectory {number} did not answer")

        return go

    clocks = [Clocked(script) for script in all_scripts]
    return [(clocked, prepare(number, clocked)) for number, clocked in enumerate(clocks)]


def agent_runs(all_scripts: list[list[Turn]]) -> list[tuple[Clocked, Callable[[], Awaitable[object]]]]:
    """Every trajectory as a plain pydantic-ai Agent runs it, with the same script and tools that do the same."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    agent = Agent(instructions="Find the place.")

    @agent.tool_plain(name="search_web")
    async def search(query: str, seconds: float) -> dict[str, Any]:  # noqa: ARG001
        await be_a_tool(seconds)
        return {"text": FOUND, "documents": DOCUMENTS}

    @agent.tool_plain(name="note_hypothesis")
    async def note(place: str, confidence: float, seconds: float) -> dict[str, Any]:
        await be_a_tool(seconds)
        return {"text": f"Noted: {place}.", "place": place, "confidence": confidence}

    def prepare(clocked: Clocked) -> Callable[[], Awaitable[object]]:
        async def reply(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
            begin = time.perf_counter()
            number = len(clocked.replies)
            turn = clocked.script[number]
            await pause(turn.reply_s)
            clocked.replies.append((begin, time.perf_counter()))
            clocked.calls.append([])
            thought = ThinkingPart(THOUGHT)
            if turn.calls_s is None:
                return ModelResponse(parts=[thought, TextPart(ANSWER)])
            search_arguments, note_arguments = arguments(number, turn.calls_s)
            return ModelResponse(
                parts=[
                    thought,
                    ToolCallPart("search_web", search_arguments, f"a{number}"),
                    ToolCallPart("note_hypothesis", note_arguments, f"b{number}"),
                ]
            )

        async def go() -> None:
            CLOCK.set(clocked)
            await agent.run("Where is this?", model=FunctionModel(reply))
            clocked.done = time.perf_counter()

        return go

    return [(clocked, prepare(clocked)) for clocked in map(Clocked, all_scripts)]


def measure_runs(runs: list[tuple[Clocked, Callable[[], Awaitable[object]]]]) -> dict[str, float]:
    """All trajectories at once: overhead a turn, and CPU time."""

    async def together() -> None:
        await asyncio.gather(*(go() for _, go in runs))

    cpu, begin = time.process_time(), time.perf_counter()
    asyncio.run(together())
    wall_s, cpu_s = time.perf_counter() - begin, time.process_time() - cpu
    overheads = sorted(value for clocked, _ in runs for value in clocked.overheads_ms())
    late = sorted(value for clocked, _ in runs for value in clocked.late_ms())
    turns = len(overheads)
    return {
        "turns": turns,
        "p50_ms": statistics.median(overheads),
        "p95_ms": overheads[int(0.95 * turns)],
        "late_p95_ms": late[int(0.95 * turns)],
        "cpu_ms_per_turn": cpu_s * 1000 / turns,
        "turns_per_s": turns / wall_s,
    }


CACHE_METHODS = ("default", "twm", "geovista")
CACHE_TURNS = 12


@tool("static_map_query")
async def draw_map(case: Case, lat: float, lon: float) -> Output:  # noqa: ARG001
    """Draw a map.

    Args:
        lat: degrees north.
        lon: degrees east.
    """
    from PIL import Image

    return Output("A map.", images=(Photo(Image.new("RGB", (640, 640), (200, 220, 200))),))


class Reader:
    """Plays a script of cuts, searches and maps, and keeps each request as pieces of text and pictures."""

    name = "reader"
    hosts: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.requests: list[list[tuple[str, float]]] = []
        self.shown: set[str] = set()
        self.named: set[str] = set()

    async def step(self, conversation: Conversation) -> Step:
        """Keep what is shown, and say the next step."""
        pieces = [(letter, 0.25) for letter in system_text(conversation)]
        for side, parts in tagged_turns(conversation):
            pieces += [(letter, 0.25) for letter in f"<{side}>"]
            for part in parts:
                if isinstance(part, str):
                    pieces += [(letter, 0.25) for letter in part]
                else:
                    pieces.append((part.handle, part.size[0] * part.size[1] / 750))
                    self.shown.add(part.handle)
        self.requests.append(pieces)
        turn = len(self.requests)
        if turn == CACHE_TURNS or not conversation.may_call:
            return Step(ANSWER, THOUGHT)
        box = [40 * turn, 30 * turn, 40 * turn + 400, 30 * turn + 300]
        wanted = [ToolCall("", "image_zoom_in_tool", {"bbox_2d": box})]
        if turn % 2:
            wanted.append(ToolCall("", "search_web", {"query": f"rue {turn} monaco", "seconds": 0}))
        if turn % 3 == 0:
            wanted += [ToolCall("", "static_map_query", {"lat": turn, "lon": east}) for east in (0, 1)]
        return Step("", THOUGHT, tuple(wanted), Usage(1000, 120), "calls")

    async def aclose(self) -> None:
        """Nothing is held."""

    def share(self) -> float:
        """The share of all prompt tokens that an earlier request began with."""
        whole = kept = 0.0
        for number, request in enumerate(self.requests):
            whole += sum(tokens for _, tokens in request)
            best = max((common(request, before) for before in self.requests[:number]), default=0)
            kept += sum(tokens for _, tokens in request[:best])
        return kept / whole


def common(request: list[tuple[str, float]], before: list[tuple[str, float]]) -> int:
    """How many pieces two requests begin with alike."""
    pairs = zip(request, before, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(request), len(before)))


def cache_shares() -> dict[str, dict[str, float]]:
    """For each method: the share of reusable prompt tokens, and pictures that were brought and never shown."""
    from PIL import Image

    found = {}
    for name in CACHE_METHODS:
        album, reader = Album(), Reader()
        album.add(Photo(Image.new("RGB", (1600, 1200))))
        method = replace(method_named(name), budget=Budget(turns=CACHE_TURNS + 2), shown_as={})
        CLOCK.set(Clocked((), calls=[[]]))
        setup = AgentSetup(method=method, policy=reader, toolset=Toolset([image_zoom_in_tool, search_web, draw_map]))
        ran = asyncio.run(run(Case(album, cast("Atlas", None)), setup))
        brought = {image.handle for one in ran.observations for image in one.images}
        found[name] = {"reusable": reader.share(), "brought": len(brought), "never_shown": len(brought - reader.shown)}
    return found


def show_shares(shares: dict[str, dict[str, float]]) -> None:
    """The same for a person."""
    for name, found in shares.items():
        print(
            f"{name + ', 12 turns':<36}{found['reusable']:>8.1%} of prompt tokens reusable; of {found['brought']:.0f} "
            f"pictures {found['never_shown']:.0f} never shown"
        )


def measure(trajectories: int, turns: int, repeats: int) -> dict[str, Any]:
    """Every figure of one run, with the machine it was taken on."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for label, count, waiting in (
            ("warm-up", FEW, False),
            ("at once", trajectories, True),
            ("few", FEW, True),
            ("at full speed", trajectories, False),
        ):
            all_scripts = scripts(count, turns, waiting=waiting)
            ours, theirs = [], []
            for repeat in range(repeats):
                place = folder / f"{label} {repeat}"
                place.mkdir()
                ours.append(measure_runs(our_runs(all_scripts, place)))
                theirs.append(measure_runs(agent_runs(all_scripts)))
            figures[label] = {
                library: min(measured, key=lambda one: one["p95_ms"])
                for library, measured in (("geosleuth", ours), ("pydantic-ai", theirs))
            }
        written = read_trajectory(folder / "at once 0" / "0.jsonl")
        figures["events"] = len(written.events)
        figures["file_bytes"] = (folder / "at once 0" / "0.jsonl").stat().st_size
    del figures["warm-up"]
    p95 = figures["at once"]["geosleuth"]["p95_ms"]
    return {
        "machine": {
            "arch": platform.machine(),
            "cpus": os.cpu_count(),
            "system": platform.system(),
            "python": platform.python_version(),
            "pydantic-ai": version("pydantic-ai-slim"),
        },
        "trajectories": trajectories,
        "turns": turns,
        "repeats": repeats,
        **figures,
        "prefix_cache": cache_shares(),
        "promised_p95_ms": PROMISED_P95_MS,
        "promise_kept": p95 <= PROMISED_P95_MS,
    }


def show(result: dict[str, Any]) -> None:
    """The figures for a person."""
    machine = result["machine"]
    print(
        f"{machine['system']} {machine['arch']}, {machine['cpus']} CPUs; Python {machine['python']}, "
        f"pydantic-ai {machine['pydantic-ai']}"
    )
    print(
        f"{result['trajectories']} trajectories at once, {result['turns']} turns each, best of {result['repeats']}; "
        f"ours in files of {result['events']} events, {result['file_bytes'] / 1000:.0f} kB"
    )
    print(f"{'overhead a turn, ms':<36}{'p50':>9}{'p95':>9}{'late p95':>10}{'CPU':>8}{'turns/s':>10}")
    counts = {"at once": result["trajectories"], "few": FEW, "at full speed": result["trajectories"]}
    for label, count in counts.items():
        for library, figures in result[label].items():
            timed = f"{figures['p50_ms']:>9.2f}{figures['p95_ms']:>9.2f}{figures['late_p95_ms']:>10.2f}"
            shown = f"{library}, {count} {'at full speed' if label == 'at full speed' else 'at once'}"
            print(
                f"{shown:<36}{' ' * 28 if label == 'at full speed' else timed}{figures['cpu_ms_per_turn']:>8.3f}"
                f"{figures['turns_per_s']:>10.0f}"
            )
    ours, theirs = (result["few"][library] for library in ("geosleuth", "pydantic-ai"))
    times = {key: theirs[key] / ours[key] for key in ("p50_ms", "p95_ms", "cpu_ms_per_turn")}
    print(
        f"{FEW} at once: a plain Agent takes {times['p50_ms']:.1f} times our p50, {times['p95_ms']:.1f} times our p95, "
        f"{times['cpu_ms_per_turn']:.1f} times our CPU time"
    )
    show_shares(result["prefix_cache"])
    verdict = "kept" if result["promise_kept"] else "NOT kept"
    print(f"promise of {result['promised_p95_ms']:g} ms a turn at the 95th percentile: {verdict}")


def main() -> int:
    """Measure, print, and say by the exit code whether the promise was kept where that was asked."""
    parser = argparse.ArgumentParser(description="The loop's overhead a turn, beside a plain pydantic-ai Agent.")
    parser.add_argument("--trajectories", type=int, default=200)
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON document only")
    parser.add_argument("--check", action="store_true", help="exit with 1 where the promise is not kept")
    parser.add_argument("--cache", action="store_true", help="print the share of reusable prompt tokens alone")
    options = parser.parse_args()
    if options.cache:
        shares = cache_shares()
        print(json.dumps(shares, indent=2)) if options.json else show_shares(shares)
        return 0
    if options.trajectories < 1 or options.turns < 2 or options.repeats < 1:
        parser.error("--trajectories and --repeats must be at least 1, and --turns at least 2")
    result = measure(options.trajectories, options.turns, options.repeats)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 1 if options.check and not result["promise_kept"] else 0


if __name__ == "__main__":
    sys.exit(main())
