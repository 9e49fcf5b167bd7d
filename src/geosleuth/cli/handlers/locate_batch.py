"""Many photos, one finding each: what is finished is kept and not done again."""

import asyncio
import hashlib
import json
import shlex
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from geosleuth import __version__
from geosleuth.agent import Trajectory, read_trajectory
from geosleuth.answer.formats import LocatedAnswer
from geosleuth.answer.formats.geojson import document as public_document
from geosleuth.answer.formats.geojson import dump
from geosleuth.answer.granularity import cap_text
from geosleuth.atlas import OfflineAtlas
from geosleuth.cli.preparation import ask_consent, offline_atlas
from geosleuth.geo import LatLon, coordinates
from geosleuth.models.endpoints import MAX_CONSECUTIVE_FAILURES, InARow, announcing_retries
from geosleuth.photo import Claims, open_photo
from geosleuth.photo.nature import NotAPhoto, leave_out_others
from geosleuth.photo.neighbours import Moment, Neighbour, nearest_in_time
from geosleuth.photo.runtime import give_back_memory
from geosleuth.pipeline.outputs import INDEX, PAGE, PlacedPhoto, build_entries, write_entries
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.result import check_claim, format_claim_check, result_document
from geosleuth.pipeline.run import run_plan
from geosleuth.pipeline.team import files_beside
from geosleuth.report import SummaryRow, summary_html, summary_row
from geosleuth.server.review import LIST, FindingFiles, Listed, compute_relative_path, write_list
from geosleuth.support.console import (
    EXIT_INTERRUPTED,
    EXIT_SOME_FAILED,
    cancel_on_ctrl_c,
    progress,
    quiet_libraries,
    show,
    show_json,
    talk,
    this_command,
)
from geosleuth.support.errors import BadInput, GeosleuthError, install_command
from geosleuth.support.files import compute_sha256, make_folder, write_text_atomically
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import one_line

from .finding_files import build_photo_label, build_report, names_left_out, write_copies, write_sidecars

_RESUME = "resume"


@dataclass(frozen=True, slots=True)
class FinishedPhoto:
    """One photo of a batch, finished: its row, and its entry in the files, where it has a finding.

    ``by_model`` is set where it failed though nothing is wrong with the photo, ``kept`` where an earlier run found it,
    ``neighbour`` where another photo of the batch that lies near in time has a place.
    """

    row: SummaryRow
    entries: tuple[LocatedAnswer, ...] = ()
    document: dict[str, Any] | None = None
    path: Path = Path()
    by_model: bool = False
    kept: bool = False
    moment: Moment | None = None
    neighbour: Neighbour | None = None


def locate_batch(
    paths: Sequence[Path], request: LocateRequest, *, as_json: bool, jobs: int | None, named: Collection[Path] = ()
) -> None:
    """Work on every photo, say how far it is on stderr, print a table, write what was asked for.

    Screenshots, documents and drawings are left out, unless they are ``named`` one by one.
    """
    if request.trajectory is not None:
        raise BadInput("--trajectory is for one photo; for a batch use --out DIR/, which keeps a trajectory each")
    with quiet_libraries(), names_left_out(paths, request.granularity):
        plan = make_plan(request, paths, batch=True)
        if request.model is not None and request.model.startswith("replay:"):
            raise BadInput("a recording is of one photo; it can't stand in for a batch")
        if plan.outputs.folder is not None:
            make_folder(plan.outputs.folder)
        ask_consent(plan, yes=request.yes)
        batch = _Batch(plan, hash_settings(request), jobs or plan.usual_jobs, named)
        try:
            done = asyncio.run(batch.work(paths))
        except asyncio.CancelledError:
            talk(f"stopped; {_describe_resuming(plan)}")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        _write_outputs(done, plan, yes=request.yes)
    if as_json:
        untried = {"not_tried": len(paths) - len(done)} if batch.given_up else {}
        show_json({"photos": [_build_document(item) for item in done], "failed": _count_failed(done), **untried})
    else:
        _show(done)
    if batch.given_up:
        left = plural(len(paths) - len(done), "photo was", "photos were")
        talk(
            f"stopped: {MAX_CONSECUTIVE_FAILURES} times in a row {batch.given_up}; {left} not tried; "
            f"fix it; {_describe_resuming(plan)}"
        )
    if _count_failed(done):
        raise typer.Exit(EXIT_SOME_FAILED)


def _describe_resuming(plan: Plan) -> str:
    if plan.outputs.folder is None:
        return "nothing is kept; add --out DIR/ to keep findings, so that the same command can go on later"
    return "what is finished is kept; run the same command again to go on"


def hash_settings(request: LocateRequest) -> str:
    """Return a short hash of all that a finding depends on beside the photo; another hash means a new run."""
    files = {"out", "overwrite", "trajectory", "yes", "write_exif", "sidecars"}
    settings = {name: value for name, value in asdict(request).items() if name not in files}
    return hashlib.sha256(json.dumps([__version__, settings], default=str, sort_keys=True).encode()).hexdigest()[:16]


class _Batch:
    """A few photos at a time, with no more of them in memory than are worked on.

    ``given_up`` says what went wrong time and again, where the rest was not tried for that reason.
    """

    def __init__(self, plan: Plan, settings: str, jobs: int, named: Collection[Path]) -> None:
        self._plan, self._settings, self._jobs, self._named = plan, settings, jobs, named
        self._files = FindingFiles(plan.outputs.folder) if plan.outputs.folder is not None else None
        self._under_way: dict[str, asyncio.Lock] = {}
        self._in_a_row = InARow()
        self.given_up = ""

    async def work(self, paths: Sequence[Path]) -> list[FinishedPhoto]:
        plan = self._plan
        async with AsyncExitStack() as held:
            plan = self._plan = await plan.load(held, talk)
            atlas = offline_atlas(needed=True)
            advance = held.enter_context(_progress(len(paths), exact=plan.granularity == "exact"))
            held.enter_context(cancel_on_ctrl_c())
            held.enter_context(plan.announcing(talk))
            done: list[FinishedPhoto | None] = [None] * len(paths)
            waiting = iter(enumerate(paths))

            async def worker() -> None:
                for number, path in waiting:
                    item = replace(await self._one(number, path, atlas), path=path)
                    give_back_memory()
                    done[number] = item
                    advance(str(path) if plan.granularity == "exact" else item.row.name, item)
                    self._watch(item)
                    if self.given_up:
                        return

            async with asyncio.TaskGroup() as group:
                for _ in range(self._jobs):
                    group.create_task(worker())
        return _with_neighbours([item for item in done if item is not None])

    def _watch(self, photo: FinishedPhoto) -> None:
        """Give up where a model fails again and again in the same way; a photo it never saw says nothing about it."""
        if not photo.entries and not photo.by_model:
            return
        if self._in_a_row.is_enough(photo.row.note if photo.by_model else ""):
            self.given_up = photo.row.note

    async def _one(self, number: int, path: Path, atlas: OfflineAtlas) -> FinishedPhoto:
        name = path.name if self._plan.granularity == "exact" else build_photo_label(number)
        try:
            sha256 = await asyncio.to_thread(compute_sha256, path)
            async with self._under_way.setdefault(sha256, asyncio.Lock()):
                return self._load_finished(sha256, path, name) or await self._locate_photo(sha256, path, name, atlas)
        except NotAPhoto as error:
            note = str(error).removeprefix(f"{path}: ")
            return FinishedPhoto(SummaryRow(name, "unlocated", note=note), document={"nature": error.nature})
        except BadInput as error:
            # What is wrong with a file is said of the file alone, and may always be told; its name may not.
            return FinishedPhoto(SummaryRow(name, "failed", note=str(error).removeprefix(f"{path}: ")))
        except Exception as error:  # noqa: BLE001  (one photo's trouble is not the batch's)
            known = isinstance(error, GeosleuthError)
            note = str(error) if known else f"{type(error).__name__}: {error}"
            return FinishedPhoto(SummaryRow(name, "failed", note=cap_text(note, self._plan.granularity)), by_model=True)

    async def _locate_photo(self, sha256: str, path: Path, name: str, atlas: OfflineAtlas) -> FinishedPhoto:
        plan = self._plan
        photo = await asyncio.to_thread(open_photo, path)
        if path not in self._named:
            photo = await asyncio.to_thread(leave_out_others, photo, path)
        similar = plan.searches.find_similar([photo])
        kept = self._file(sha256, ".jsonl", name)
        if kept is not None:
            for old in (kept, *files_beside(kept, plan.several)):
                old.unlink(missing_ok=True)
        finding = await run_plan(plan, [photo], atlas, similar=similar, keep_in=kept)
        page = self._file(sha256, ".html", name)
        checked = await check_claim(finding, plan, atlas)
        if page is not None:
            write_text_atomically(page, await build_report(finding, atlas, checked=checked))
        row = summary_row(name, finding, report=page.name if page else None)
        if row.status == "failed":
            return FinishedPhoto(replace(row, note=row.note or "the model failed"), by_model=True)
        document = result_document(finding, checked)
        if checked is not None:
            claim = format_claim_check(checked)[0].removesuffix(".")
            row = replace(row, note="; ".join(filter(None, (row.note, claim))))
        entries = self._build_entries(finding.trajectory, sha256, path)
        moment = _moment(photo.claims)
        self._write_finding(self._file(sha256, ".json", name), row, document, entries[0], moment)
        return FinishedPhoto(row, entries, document, moment=moment)

    def _build_entries(self, trajectory: Trajectory, sha256: str, path: Path) -> tuple[LocatedAnswer, ...]:
        return tuple(build_entries(trajectory, [(sha256, path)], self._plan.granularity))

    def _file(self, sha256: str, ending: str, name: str) -> Path | None:
        told = name if self._plan.granularity == "exact" else ""
        return None if self._files is None else self._files.path(sha256, ending, told)

    def _write_finding(
        self, path: Path | None, row: SummaryRow, document: dict[str, Any], entry: LocatedAnswer, moment: Moment | None
    ) -> None:
        """Write the finding for programs, and under a key of its own what a later run goes on from.

        It comes last of all, so that it is there only if everything else is.
        """
        if path is None:
            return
        plain = asdict(replace(row, thumbnail=None, name=""))
        plain["thumbnail"] = b64encode(row.thumbnail).decode() if row.thumbnail else None
        check = {"check": document["check"]} if "check" in document else {}
        resume: dict[str, Any] = {"settings": self._settings, "row": plain, "document": document}
        if moment is not None and self._plan.granularity == "exact":
            at = moment.point and [moment.point.lat, moment.point.lon]
            resume["moment"] = [moment.taken_at.isoformat(), moment.camera, at]
        write_text_atomically(path, dump({**public_document(entry), **check, _RESUME: resume}))

    def _load_finished(self, sha256: str, path: Path, name: str) -> FinishedPhoto | None:
        """Return the finding of an earlier run with the same settings; None if missing or incomplete."""
        kept, trajectory = self._file(sha256, ".json", name), self._file(sha256, ".jsonl", name)
        if kept is None or trajectory is None or not kept.is_file():
            return None
        try:
            resume = json.loads(kept.read_text(encoding="utf-8"))[_RESUME]
            if resume["settings"] != self._settings:
                return None
            plain, document = resume["row"], resume["document"]
            point = LatLon(**plain["point"]) if plain["point"] else None
            small = b64decode(plain["thumbnail"]) if plain["thumbnail"] else None
            row = SummaryRow(**{**plain, "name": name, "point": point, "thumbnail": small})
            taken, camera, at = resume.get("moment") or (None, "", None)
            moment = Moment(datetime.fromisoformat(taken), camera, LatLon(*at) if at else None) if taken else None
            entries = self._build_entries(read_trajectory(trajectory), sha256, path)
            return FinishedPhoto(row, entries, document, kept=True, moment=moment)
        except (BadInput, OSError, ValueError, KeyError, TypeError):
            return None


def _moment(claims: Claims) -> Moment | None:
    if claims.taken_at is None:
        return None
    camera = " ".join(filter(None, (claims.camera_make, claims.camera_model)))
    return Moment(claims.taken_at, camera, claims.own_point)


def _with_neighbours(done: Sequence[FinishedPhoto]) -> list[FinishedPhoto]:
    """Return the photos with the neighbours in time of those that have no place of their own."""
    found = nearest_in_time({str(item.path): item.moment for item in done if item.moment is not None})
    return [replace(item, neighbour=found.get(str(item.path))) for item in done]


@contextmanager
def _progress(total: int, *, exact: bool) -> Iterator[Callable[[str, FinishedPhoto], None]]:
    """A bar at a terminal, else a line for each photo; trouble is a line either way."""
    count = iter(range(1, total + 1))
    with progress("locating", total) as bar, announcing_retries(bar.say, exact=exact):

        def advance(name: str, photo: FinishedPhoto) -> None:
            row = photo.row
            outcome = row.note if row.status == "failed" else row.place or row.note or "no place found"
            line = f"{name}: {outcome}{' (kept from before)' if photo.kept else ''}"
            if not bar.is_drawn:
                bar.say(f"{next(count)}/{total} {line}")
            elif row.status == "failed":
                bar.say(f"failed: {line}")
            bar.advance()

        yield advance


def _count_failed(done: Sequence[FinishedPhoto]) -> int:
    return sum(1 for item in done if item.row.status == "failed")


def _write_outputs(done: Sequence[FinishedPhoto], plan: Plan, *, yes: bool) -> None:
    entries = [entry for item in done for entry in item.entries]
    pages = [path for path in plan.outputs.files if path.name.lower().endswith(PAGE)]
    if plan.outputs.folder is not None:
        write_text_atomically(plan.outputs.folder / INDEX, summary_html([item.row for item in done]))
        talk(f"wrote {plan.outputs.folder / INDEX}")
        _write_list(plan.outputs.folder, done, exact=plan.granularity == "exact")
    for path in plan.outputs.files:
        if path in pages:
            write_text_atomically(path, summary_html([replace(item.row, report=None) for item in done]))
        else:
            write_entries(path, entries)
        talk(f"wrote {path}")
    placed = [PlacedPhoto(item.path, entry, item.row.name) for item in done for entry in item.entries]
    write_sidecars(placed, plan.outputs)
    write_copies(placed, plan.outputs, yes=yes)


def _build_document(photo: FinishedPhoto) -> dict[str, Any]:
    row = {"name": photo.row.name, "status": photo.row.status, "note": photo.row.note or None, **(photo.document or {})}
    if (near := photo.neighbour) is not None:
        row["nearest_in_time"] = {
            "name": Path(near.name).name,
            "seconds_later": near.later.total_seconds(),
            "lat": near.point.lat,
            "lon": near.point.lon,
            "radius_km": near.radius_km,
        }
    return row


def _write_list(folder: Path, done: Sequence[FinishedPhoto], *, exact: bool) -> None:
    """Write the list that ``geosleuth review`` reads; nothing where names and places are hidden."""
    if not exact:
        (folder / LIST).unlink(missing_ok=True)
        return
    write_list(folder, [_build_listed(folder, item) for item in done if item.entries])
    missing = [module for module in ("fastapi", "uvicorn") if find_spec(module) is None]
    talk("to confirm, correct or reject the findings:")
    if missing:
        talk(f"  {install_command('serve')}    # once: the page needs an extra")
    talk(f"  {this_command()} review {shlex.quote(str(folder))}")


def _build_listed(folder: Path, photo: FinishedPhoto) -> Listed:
    row = photo.row
    return Listed(
        sha256=photo.entries[0].context.sha256 or "",
        path=compute_relative_path(folder, photo.path),
        status=row.status,
        place=row.place,
        lat=row.point.lat if row.point else None,
        lon=row.point.lon if row.point else None,
        radius_km=row.radius_km,
        probability=row.probability,
        conflicts=row.conflicts,
        area=row.area,
        lead=replace(photo.neighbour, name=Path(photo.neighbour.name).name).words if photo.neighbour else "",
        lead_minutes=photo.neighbour.minutes if photo.neighbour else None,
    )


def _show(done: Sequence[FinishedPhoto]) -> None:
    from rich.table import Table
    from rich.text import Text

    from geosleuth.answer.answer import is_doubtful, percent_words, radius_words

    table = Table(box=None, pad_edge=False)
    checked = any("check" in (item.document or {}) for item in done)
    for heading in ("photo", "place", "how sure", "point", *(("check",) if checked else ())):
        table.add_column(heading, overflow="fold")
    for item in done:
        row = item.row
        sure = "" if row.probability is None else percent_words(row.probability)
        sure += f", {radius_words(row.radius_km)}" if sure and row.radius_km is not None and not row.wide else ""
        point = "" if row.point is None or row.wide else coordinates(row.point, row.radius_km)
        place = row.place or {"failed": f"failed: {row.note}", "unlocated": row.note or "no place found"}.get(
            row.status, ""
        )
        place += " (the file claims another place)" if row.conflicts else ""
        verdict = (item.document or {}).get("check", {}).get("verdict", "")
        table.add_row(*(Text(one_line(" ".join(text.split()))) for text in (row.name, place, sure, point, verdict)))
    show(table)
    located = [item.row for item in done if item.row.status == "located"]
    doubtful = sum(is_doubtful(row.probability) for row in located)
    doubts = f", {doubtful} doubtful" if doubtful else ""
    kept = sum(1 for item in done if item.kept)
    before = f", {kept} kept from before" if kept else ""
    talk(
        f"{len(located) - doubtful} of {len(done)} found{doubts}, {_count_failed(done)} failed{before}; "
        "leads, not verdicts"
    )
