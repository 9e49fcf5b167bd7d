"""Implementation of ``geosleuth locate`` for videos."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from geosleuth.answer.answer import percent_words, radius_words
from geosleuth.answer.formats import LocatedAnswer
from geosleuth.answer.formats.geojson import dump
from geosleuth.atlas import OfflineAtlas
from geosleuth.cli.preparation import ask_consent, offline_atlas
from geosleuth.models.endpoints import announcing_retries
from geosleuth.photo.video import Clip, ShownPlace, clock, places_shown, read_clip
from geosleuth.pipeline.outputs import INDEX, PAGE, build_entries, check_new_file, write_entries
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.video import VideoPlace, VideoResult, locate_places
from geosleuth.report import small_jpeg, summary_html, summary_row
from geosleuth.report.card import card
from geosleuth.report.chain import telling
from geosleuth.support.console import (
    EXIT_INTERRUPTED,
    cancel_on_ctrl_c,
    progress,
    quiet_libraries,
    show_result,
    table_view,
    talk,
)
from geosleuth.support.errors import BadInput, GeosleuthError
from geosleuth.support.files import make_folder, write_text_atomically
from geosleuth.support.text.numbers import plural

from .finding_files import build_report, names_left_out

if TYPE_CHECKING:
    from rich.console import RenderableType


def locate_video(paths: Sequence[Path], request: LocateRequest, *, as_json: bool) -> None:
    """Find the places that a clip shows, say what happens on stderr, print them, write what was asked for.

    Raises:
        UserError: the user must fix something first; nothing has been sent.
        GeosleuthError: the model failed, after what was found until then has been printed.
    """
    if len(paths) != 1:
        raise BadInput("a video is located by itself; give one, without photos beside it")
    (path,) = paths
    if request.write_exif or request.sidecars:
        raise BadInput("--write-exif and --sidecars are for photos; use --out for what is found in a video")
    if odd := next((name for name in request.out if name.lower().endswith(".xmp")), None):
        raise BadInput(f"{odd}: holds one photo's finding; a video has several places; use .json, .geojson or .html")
    with quiet_libraries(), names_left_out(paths, request.granularity):
        plan = make_plan(replace(request, trajectory=None), paths, batch=True)
        ask_consent(plan, yes=request.yes)
        clip, shown = _analyze_video(path)
        if request.trajectory is not None:
            for number in range(1, len(shown) + 1):
                check_new_file(place_file(request.trajectory, number), overwrite=request.overwrite)
        talk(
            f"{clock(clip.seconds)} long, {plural(len(clip.scenes), 'scene', 'scenes')}, "
            f"{plural(len(shown), 'place', 'places')} by the look of it{''.join(f'; {note}' for note in clip.notes)}"
        )
        try:
            result = asyncio.run(_locate_places(plan, clip, shown, path, request.trajectory))
        except asyncio.CancelledError:
            talk("stopped")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        show_result(result.to_dict(), places_card(result, plan), as_json=as_json)
    if trouble := next(filter(None, map(_trouble, result.places)), None):
        raise GeosleuthError(trouble)


def place_file(trajectory: Path, number: int) -> Path:
    """Return where the steps of one place are kept: walk.jsonl becomes walk-1.jsonl and so on."""
    return trajectory.with_name(f"{trajectory.stem}-{number}{trajectory.suffix}")


def _analyze_video(path: Path) -> tuple[Clip, list[ShownPlace]]:
    with progress("", measure="time") as bar:

        def far(what: str, seconds: float) -> None:
            bar.update(0, None, f"{what}, at {clock(seconds)}")

        clip = read_clip(path, progress=far)
    with progress("", 100) as bar:
        return clip, places_shown(clip, progress=lambda what, share: bar.update(round(100 * share), 100, what))


async def _locate_places(
    plan: Plan, clip: Clip, shown: Sequence[ShownPlace], path: Path, trajectory: Path | None
) -> VideoResult:
    folder = plan.outputs.folder
    if folder is not None:
        make_folder(folder)
        trajectory = trajectory or folder / "place.jsonl"

    def choose_file(number: int) -> Path | None:
        file = None if trajectory is None else place_file(trajectory, number)
        if file is not None:
            file.unlink(missing_ok=True)
        return file

    async with AsyncExitStack() as held:
        plan = await plan.load(held, talk)
        atlas = offline_atlas(needed=plan.needs_atlas)
        tell = held.enter_context(telling(plan.granularity))
        held.enter_context(cancel_on_ctrl_c())
        held.enter_context(announcing_retries(talk, exact=plan.granularity == "exact"))
        places = await locate_places(plan, shown, atlas, keep_in=choose_file, sinks=(tell,), say=talk)
        result = VideoResult(clip, tuple(places))
        await _write_video_files(result, plan, path, atlas)
        return result


async def _write_video_files(result: VideoResult, plan: Plan, path: Path, atlas: OfflineAtlas) -> None:
    exact = plan.granularity == "exact"
    for file in plan.outputs.files:
        if file.name.lower().endswith(PAGE):
            write_text_atomically(file, _page(result, path.name, exact=exact))
        elif file.name.lower().endswith(".json"):
            write_text_atomically(file, dump(result.to_dict()))
        else:
            write_entries(
                file, [entry for place in result.places for entry in _build_place_entries(place, result.clip, path)]
            )
        talk(f"wrote {file}")
    folder = plan.outputs.folder
    if folder is not None:
        for number, place in enumerate(result.places, 1):
            lines = [frame.words for frame in place.frames] if exact else []
            page = await build_report(place.result, atlas, checked=place.result.checked, frames=lines)
            write_text_atomically(folder / f"place-{number}.html", page)
        write_text_atomically(folder / "video.json", dump(result.to_dict()))
        write_text_atomically(folder / INDEX, _page(result, path.name, exact=exact, linked=True))
        talk(f"wrote {folder / INDEX}")


def _build_place_entries(place: VideoPlace, clip: Clip, path: Path) -> list[LocatedAnswer]:
    start, end = place.spans[0][0], place.spans[-1][1]
    name = path.with_name(f"{path.name} {clock(start)}–{clock(end)}")
    return build_entries(place.result.trajectory, [(clip.sha256, name)], place.result.granularity)


def _page(result: VideoResult, name: str, *, exact: bool, linked: bool = False) -> str:
    """Return one page with a row for each place: when, where, and which second told what."""
    rows = []
    for number, place in enumerate(result.places, 1):
        best = max(place.frames, key=lambda frame: (len(frame.told), frame.frame.telling))
        row = summary_row(
            place.when,
            place.result,
            report=f"place-{number}.html" if linked else None,
            thumbnail=small_jpeg(best.frame.open_photo().photo.image) if exact else None,
        )
        rows.append(replace(row, told=tuple(frame.words for frame in place.frames) if exact else ()))
    places = plural(len(rows), "place", "places")
    return summary_html(rows, title=f"{places} in {name if exact else 'a video'}", what="Seconds")


def places_card(result: VideoResult, plan: Plan) -> "RenderableType":
    """Return all places for the terminal: several of them first as a table, then each with what its seconds told."""
    from rich.console import Group
    from rich.text import Text

    rows = [summary_row(place.when, place.result) for place in result.places]
    heads = ("", "Seconds", "Place", ">How sure", ">Within")
    lines = [
        (
            str(number),
            row.name,
            row.place or "no place found",
            "" if row.probability is None else percent_words(row.probability),
            "" if row.radius_km is None or row.wide else radius_words(row.radius_km),
        )
        for number, row in enumerate(rows, 1)
    ]
    parts: list[RenderableType] = [table_view(heads, lines)] if len(rows) > 1 else []
    for number, place in enumerate(result.places, 1):
        parts.append(Text(f"Place {number} of {len(result.places)}: {place.when}", style="bold"))
        if plan.granularity == "exact":
            parts += [Text(f"  {frame.words}") for frame in place.frames]
        parts += [Text(""), card(place.result), Text("")]
    return Group(*parts)


def _trouble(place: VideoPlace) -> str | None:
    ended = place.result.trajectory.ended
    if ended is None or ended.reason != "service":
        return None
    return (ended.trouble if place.result.granularity == "exact" else None) or "the model failed"
