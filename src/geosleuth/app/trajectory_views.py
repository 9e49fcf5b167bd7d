"""A run as a timeline for people, and what came of it as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from geosleuth.agent import (
    Answered,
    Ended,
    Event,
    Hypothesis,
    Noted,
    Prompted,
    Resumed,
    Said,
    Spent,
    Started,
    ToolObserved,
    Trajectory,
    event_to_dict,
)
from geosleuth.agent.exports.talk import plain_json
from geosleuth.answer import Answer, answer_to_dict
from geosleuth.bench.plain import one_line, printable
from geosleuth.geo import coordinates
from geosleuth.tools import Observation, ToolCall

_CHARACTERS = 280
_INDENT = 2
_BY = {"task": "the task", "loop": "told by the loop", "person": "a person says"}
_ANSWERED_BY = {"policy": "answer", "pool": "answer, from the pool", "nobody": "no answer"}


def run_document(trajectory: Trajectory) -> dict[str, Any]:
    """What came of a run: the answer, the end, the pool and the spending; the events are in the file itself."""
    counted: dict[str, int] = {}
    for event in trajectory.events:
        kind = event_to_dict(event)["kind"]
        counted[kind] = counted.get(kind, 0) + 1
    ended = trajectory.ended
    return {
        "id": trajectory.id,
        "created": trajectory.created.isoformat(),
        "geosleuth": trajectory.geosleuth,
        "method": trajectory.started.method,
        "policy": trajectory.started.policy,
        "torn": trajectory.torn,
        "events": counted,
        "answer": None if trajectory.answer is None else answer_to_dict(trajectory.answer),
        "answered_by": trajectory.answered.by if trajectory.answered else None,
        "ended": None if ended is None else {"reason": ended.reason, "trouble": ended.trouble},
        "pool": [event_to_dict(Event(0, 0.0, Noted(one)))["hypothesis"] for one in trajectory.pool],
        "spent": event_to_dict(Event(0, 0.0, Ended("answered", trajectory.spent)))["spent"],
    }


def run_view(trajectory: Trajectory, *, whole: bool) -> RenderableType:
    """The timeline of a run, then its pool and what it spent."""
    parts: list[RenderableType] = []
    for event in trajectory.events:
        parts += _told(event, None if whole else _CHARACTERS)
    if trajectory.ended is None:
        parts.append(Text("It broke off here, or still goes on.", style="bold red"))
    if trajectory.pool:
        parts += [Text(""), _pool(trajectory.pool)]
    return Group(*parts, Text(""), Text(_spent(trajectory.spent)))


def _told(event: Event, most: int | None) -> Iterator[RenderableType]:
    at = f"{event.at_s:.1f} s"
    match event.body:
        case Started() as started:
            yield from _beginning(started, most)
        case Resumed(policy=policy, tools=tools):
            yield _head(f"resumed with {policy}, {_counted(len(tools), 'tool')}", at, "bold")
        case Prompted(prompt=prompt, by=by):
            yield _head(_BY[by], at, "bold cyan")
            shown = f"[{', '.join(prompt.images)}]\n" if prompt.images else ""
            yield _indented(f"{shown}{prompt.text}", most)
        case Said() as said:
            yield from _turn(said, at, most)
        case ToolObserved(observation=seen):
            yield _seen(seen, most)
        case Noted(hypothesis=one):
            yield _indented(f"** {one.id}: {one.place}{_sure(one)} ({one.fate})", most, "magenta")
        case Answered(answer=answer, by=by):
            yield _head(_ANSWERED_BY[by], at, "bold")
            yield _indented(_answer(answer), most)
        case Ended(reason=reason, trouble=trouble):
            yield _head(f"ended: {reason}" + (f", {trouble}" if trouble else ""), at, "bold")


def _beginning(started: Started, most: int | None) -> Iterator[RenderableType]:
    yield _head(f"method {started.method}, {started.policy}", f"wire {started.wire}", "bold")
    for image in started.task.images:
        yield _indented(image.caption.removesuffix(":"), most)
    for name, value in (("hint", started.task.hint), ("area", started.task.area)):
        if value:
            yield _indented(f"{name}: {value}", most)
    yield _indented(f"tools: {', '.join(started.tools) or 'none'}", most, "dim")
    limits = event_to_dict(Event(0, 0.0, started))["budget"]
    yield _indented("budget: " + ", ".join(f"{key} {value:g}" for key, value in limits.items()), most, "dim")


def _turn(said: Said, at: str, most: int | None) -> Iterator[RenderableType]:
    step, usage = said.step, said.step.usage
    tokens = f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens"
    yield _head(f"turn {said.turn}", f"{at}, {tokens}" + (f", {step.model}" if step.model else ""), "bold green")
    if step.thinking:
        yield _indented(step.thinking, most, "italic dim")
    if step.text:
        yield _indented(step.text, most)
    for call in step.calls:
        yield _indented(f"-> {_call(call)}", most, "yellow")
    if not (step.thinking or step.text or step.calls):
        yield _indented("(says nothing)", most, "dim")


def _seen(seen: Observation, most: int | None) -> RenderableType:
    what = f"{seen.failure}: {seen.text}" if seen.failure else seen.text
    shown = f" [{', '.join(image.handle for image in seen.images)}]" if seen.images else ""
    return _indented(f"<- {seen.name}{shown}: {what}", most, "red" if seen.failure else "")


def _sure(one: Hypothesis) -> str:
    return "" if one.confidence is None else f", {one.confidence:.0%}"


def _head(title: str, aside: str, style: str) -> Text:
    return Text.assemble((one_line(title), style), (f"  {one_line(aside)}", "dim"))


def _indented(text: str, most: int | None, style: str = "") -> RenderableType:
    # What models, photos and pages say may hold anything, terminal commands too.
    words = printable(text.strip())
    if most is not None:
        words = " ".join(words.split())
        words = words if len(words) <= most else f"{words[:most]} [… {len(words) - most:,} characters more]"
    return Padding(Text(words, style=style), (0, 0, 0, _INDENT), expand=False)


def _call(call: ToolCall) -> str:
    return f"{call.name} {call.arguments if isinstance(call.arguments, str) else plain_json(call.arguments)}"


def _answer(answer: Answer) -> str:
    parts = [str(answer.address), "" if answer.point is None else coordinates(answer.point, answer.radius_km)]
    if answer.probability is not None:
        within = "" if answer.radius_km is None else f" within {answer.radius_km:g} km"
        parts.append(f"{answer.probability:.0%}{within}")
    parts.append(answer.explanation or "")
    return "\n".join(part for part in parts if part) or "(nothing)"


def _pool(pool: Sequence[Hypothesis]) -> RenderableType:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title="candidates", title_justify="left")
    for name in ("", "place", "where", "sure", "for", "against", "fate"):
        table.add_column(name, overflow="fold")
    for one in pool:
        cells = (
            one.id,
            one.place,
            "" if one.point is None else coordinates(one.point, one.radius_km),
            "" if one.confidence is None else f"{one.confidence:.0%}",
            "; ".join(one.evidence_for),
            "; ".join(one.evidence_against),
            one.fate,
        )
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    return table


def _spent(spent: Spent) -> str:
    usage = spent.usage
    cost = "price not known" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
    return (
        f"spent: {_counted(spent.turns, 'turn')}, {_counted(spent.calls, 'call')} ({spent.failed_calls} failed, "
        f"{spent.withheld_calls} withheld), {usage.input_tokens:,} + {usage.output_tokens:,} tokens, "
        f"{spent.seconds:.1f} s, {cost}"
    )


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
