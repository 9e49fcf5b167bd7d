"""Implementation of the ``trajectory`` commands; imported on demand."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from geosleuth.agent import (
    Answered,
    Ended,
    Event,
    Hypothesis,
    Method,
    Noted,
    Prompted,
    Resumed,
    Said,
    Spent,
    Started,
    ToolObserved,
    Trajectory,
    event_to_dict,
    first_difference,
    read_trajectory,
    rebuild_album,
    replay,
)
from geosleuth.agent.exports import export, image_path, record_line, write_images
from geosleuth.agent.exports.dialect import plain_json
from geosleuth.agent.locate import list_album_photos
from geosleuth.agent.methods import METHODS
from geosleuth.agent.policy_card import method_of_run
from geosleuth.agent.replay import first_view_pixels
from geosleuth.answer import Answer, answer_to_dict
from geosleuth.cli.preparation import offline_atlas
from geosleuth.geo import coordinates
from geosleuth.photo import Album, OpenedPhoto, Photo, open_photo
from geosleuth.support.console import show_json, show_result, table_view, talk
from geosleuth.support.errors import BadInput
from geosleuth.support.files import refuse_to_replace, replacing
from geosleuth.support.text import one_line, printable
from geosleuth.tools import Case, Observation, ToolCall, Toolset, image_info
from geosleuth.tools.toolset import all_tools

_CHARACTERS = 280
_INDENT = 2
_BY = {"task": "the task", "loop": "the loop says", "person": "a person says"}
_ANSWERED_BY = {"policy": "answer", "pool": "answer, from the pool", "nobody": "no answer"}


def run_document(trajectory: Trajectory) -> dict[str, Any]:
    """Return the outcome of a run: the answer, the end, the pool and the spending; events are in the file itself."""
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
        "pool": [event_to_dict(Event(0, 0.0, Noted(item)))["hypothesis"] for item in trajectory.pool],
        "spent": event_to_dict(Event(0, 0.0, Ended("answered", trajectory.spent)))["spent"],
    }


def run_view(trajectory: Trajectory, *, whole: bool) -> RenderableType:
    """Return the timeline of a run, then its pool and spending."""
    parts: list[RenderableType] = []
    for event in trajectory.events:
        parts += _render_event(event, None if whole else _CHARACTERS)
    if trajectory.ended is None:
        parts.append(Text("It ends here unfinished, or is still running.", style="bold red"))
    if trajectory.pool:
        parts += [Text(""), _pool(trajectory.pool)]
    return Group(*parts, Text(""), Text(_spent(trajectory.spent)))


def _render_event(event: Event, most: int | None) -> Iterator[RenderableType]:
    at = f"{event.at_s:.1f} s"
    match event.body:
        case Started() as started:
            yield from _beginning(started, most)
        case Resumed(policy=policy, tools=tools):
            yield _head(f"resumed with {policy}, {_format_count(len(tools), 'tool')}", at, "bold")
        case Prompted(prompt=prompt, by=by):
            yield _head(_BY[by], at, "bold cyan")
            shown = f"[{', '.join(prompt.images)}]\n" if prompt.images else ""
            yield _render_indented(f"{shown}{prompt.text}", most)
        case Said() as said:
            yield from _turn(said, at, most)
        case ToolObserved(observation=seen):
            yield _render_observation(seen, most)
        case Noted(hypothesis=one):
            yield _render_indented(f"** {one.id}: {one.place}{_sure(one)} ({one.fate})", most, "magenta")
        case Answered(answer=answer, by=by):
            yield _head(_ANSWERED_BY[by], at, "bold")
            yield _render_indented(_format_answer(answer), most)
        case Ended(reason=reason, trouble=trouble):
            yield _head(f"ended: {reason}" + (f", {trouble}" if trouble else ""), at, "bold")


def _beginning(started: Started, most: int | None) -> Iterator[RenderableType]:
    yield _head(f"method {started.method}, {started.policy}", f"wire {started.wire}", "bold")
    for image in started.task.images:
        yield _render_indented(image.caption.removesuffix(":"), most)
    for name, value in (("hint", started.task.hint), ("area", started.task.area)):
        if value:
            yield _render_indented(f"{name}: {value}", most)
    yield _render_indented(f"tools: {', '.join(started.tools) or 'none'}", most, "dim")
    limits = event_to_dict(Event(0, 0.0, started))["budget"]
    yield _render_indented("budget: " + ", ".join(f"{key} {value:g}" for key, value in limits.items()), most, "dim")


def _turn(said: Said, at: str, most: int | None) -> Iterator[RenderableType]:
    step, usage = said.step, said.step.usage
    tokens = f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens"
    yield _head(f"turn {said.turn}", f"{at}, {tokens}" + (f", {step.model}" if step.model else ""), "bold green")
    if step.thinking:
        yield _render_indented(step.thinking, most, "italic dim")
    if step.text:
        yield _render_indented(step.text, most)
    for call in step.calls:
        yield _render_indented(f"-> {_call(call)}", most, "yellow")
    if not (step.thinking or step.text or step.calls):
        yield _render_indented("(says nothing)", most, "dim")


def _render_observation(seen: Observation, most: int | None) -> RenderableType:
    what = f"{seen.failure}: {seen.text}" if seen.failure else seen.text
    shown = f" [{', '.join(image.handle for image in seen.images)}]" if seen.images else ""
    return _render_indented(f"<- {seen.name}{shown}: {what}", most, "red" if seen.failure else "")


def _sure(hypothesis: Hypothesis) -> str:
    return "" if hypothesis.confidence is None else f", {hypothesis.confidence:.0%}"


def _head(title: str, aside: str, style: str) -> Text:
    return Text.assemble((one_line(title), style), (f"  {one_line(aside)}", "dim"))


def _render_indented(text: str, most: int | None, style: str = "") -> RenderableType:
    # What models, photos and pages say may hold anything, terminal commands too.
    words = printable(text.strip())
    if most is not None:
        words = " ".join(words.split())
        words = words if len(words) <= most else f"{words[:most]} [… {len(words) - most:,} characters more]"
    return Padding(Text(words, style=style), (0, 0, 0, _INDENT), expand=False)


def _call(call: ToolCall) -> str:
    return f"{call.name} {call.arguments if isinstance(call.arguments, str) else plain_json(call.arguments)}"


def _format_answer(answer: Answer) -> str:
    parts = [str(answer.address), "" if answer.point is None else coordinates(answer.point, answer.radius_km)]
    if answer.probability is not None:
        within = "" if answer.radius_km is None else f" within {answer.radius_km:g} km"
        parts.append(f"{answer.probability:.0%}{within}")
    parts.append(answer.explanation or "")
    return "\n".join(part for part in parts if part) or "(nothing)"


def _pool(pool: Sequence[Hypothesis]) -> RenderableType:
    rows = [
        (
            item.id, item.place, "" if item.point is None else coordinates(item.point, item.radius_km),
            "" if item.confidence is None else f"{item.confidence:.0%}", "; ".join(item.evidence_for),
            "; ".join(item.evidence_against), item.fate,
        )
        for item in pool
    ]  # fmt: skip
    heads = ("", "place", "where", "sure", "for", "against", "fate")
    return table_view(heads, ((Text(one_line(cell)) for cell in row) for row in rows), title="candidates")


def _spent(spent: Spent) -> str:
    usage = spent.usage
    cost = "price not known" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
    strictly = spent.failed_calls + spent.mended_calls
    failed = f"{spent.failed_calls} failed"
    if spent.mended_calls:
        failed += f", {strictly} by the papers' strict count"
    return (
        f"spent: {_format_count(spent.turns, 'turn')}, {_format_count(spent.calls, 'call')} ({failed}, "
        f"{spent.withheld_calls} withheld), {usage.input_tokens:,} + {usage.output_tokens:,} tokens, "
        f"{spent.seconds:.1f} s, {cost}" + "".join(f"; {one_line(str(use))}" for use in spent.services)
    )


def _format_count(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def show_run(file: Path, *, whole: bool, as_json: bool) -> None:
    """Print a run for people, or what came of it for programs."""
    trajectory = read_trajectory(file)
    show_result(run_document(trajectory), run_view(trajectory, whole=whole), as_json=as_json)
    if trajectory.torn:
        talk("the file ends in the middle of a line, as its writer was killed; that line is left out")


def export_runs(
    files: Sequence[Path],
    dialect: str,
    out: Path,
    photos: Sequence[Path],
    images: Path | None,
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write one record per run, with one run in memory at a time; nothing is written unless all can be."""
    if photos and len(files) > 1:
        raise BadInput("photos belong to one run: export each run with its own photos")
    if images is not None and not photos:
        raise BadInput("--images needs the photos of the run: --photo PHOTO")
    if any(file.exists() and out.exists() and file.samefile(out) for file in files):
        raise BadInput(f"{out}: is one of the trajectories; choose another name")
    refuse_to_replace([out], overwrite=overwrite)
    with replacing(out) as neighbour, neighbour.open("wb") as stream:
        for file in files:
            trajectory = read_trajectory(file)
            try:
                stream.write(record_line(export(trajectory, dialect)))
            except BadInput as error:
                raise BadInput(f"{file}: {error}") from error
            if photos:
                _export_images(trajectory, photos, out.parent if images is None else images)
    if as_json:
        show_json({"records": len(files), "file": str(out)})
    talk(f"wrote {len(files)} {'record' if len(files) == 1 else 'records'} to {out}")


def _export_images(trajectory: Trajectory, photos: Sequence[Path], folder: Path) -> None:
    rebuilt = rebuild_album(
        trajectory,
        list_album_photos(map(open_photo, photos), trajectory.task),
        max_pixels=first_view_pixels(trajectory),
    )
    missing = write_images(trajectory, rebuilt, folder)
    home = (folder / image_path(trajectory.id, "image-1")).parent
    talk(f"wrote {len({image.handle for image in trajectory.images}) - len(missing)} images to {home}")
    if missing:
        talk(f"not written, since no photo shows them: {', '.join(missing)}")


def replay_run(file: Path, photos: Sequence[Path], *, as_json: bool) -> None:
    """Check that the loop, or the loop and its tools, repeat what was recorded."""
    events, difference, _ = replay_trajectory(read_trajectory(file), [open_photo(path) for path in photos])
    if as_json:
        tools = "live" if photos else "recorded"
        show_json({"same": difference is None, "events": events, "tools": tools, "difference": difference})
    elif difference is None:
        sys.stdout.write(f"the same: {events} events\n")
    else:
        sys.stdout.write(f"not the same: {difference}\n")
    if difference is not None:
        raise typer.Exit(1)


def replay_trajectory(trajectory: Trajectory, photos: Sequence[OpenedPhoto]) -> tuple[int, str | None, Album | None]:
    """Return how many events a replay has, the first that differs from the recording, and the pictures of the run.

    Photos let tools work; without them there are no pictures.

    Raises:
        BadInput: the method is not there any more, or these are not the photos of the run.
    """
    method = _load_method(trajectory)
    toolset, case = _live(trajectory, method, list_album_photos(photos, trajectory.task)) if photos else (None, None)
    again = asyncio.run(replay(trajectory, method=method, toolset=toolset, case=case))
    return len(again.events), first_difference(trajectory, again), None if case is None else case.album


def _live(trajectory: Trajectory, method: Method, photos: Sequence[Photo]) -> tuple[Toolset, Case]:
    """Return the tools of a run and a case as it was when the run began."""
    album = Album(method.first_view_pixels)
    for photo in photos:
        album.add(photo)
    case = Case(album, offline_atlas(), method.box_scale)
    if tuple(image_info(case, album[handle]) for handle in album.handles) != trajectory.task.images:
        sizes = ", ".join(f"{image.size[0]} x {image.size[1]}" for image in trajectory.task.images)
        raise BadInput(f"these are not the photos of this run, which were shown with {sizes} pixels, in this order")
    return method.toolset(all_tools(), trajectory.started.tools), case


def _load_method(trajectory: Trajectory) -> Method:
    """Return the method of a run, asking for boxes as it did then."""
    started = trajectory.started
    method = method_of_run(started)
    if method is None:
        raise BadInput(
            f"this run was made with the method {started.method[:40]!r}, which can't be replayed here; "
            f"there are: {', '.join(METHODS)}"
        )
    return method
