"""One attempt at a photo of a benchmark run: what ``geosleuth locate`` does, with nothing but pixels to go by."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from geosleuth.agent import Spent, read_trajectory
from geosleuth.agent.locate import Finding, album_photos
from geosleuth.answer import Answer, render
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.lab.baselines import is_baseline
from geosleuth.lab.baselines.nearest import NearestPolicy
from geosleuth.lab.bench.masking import blank
from geosleuth.lab.bench.records import read_records
from geosleuth.lab.bench.run.engine import sum_spent
from geosleuth.lab.bench.run.folder import RunFolder, list_try_files
from geosleuth.lab.bench.run.journal import Attempted, Job
from geosleuth.lab.bench.sets import DatasetBox
from geosleuth.models import Policy, Step, Usage
from geosleuth.models.protocol import ReplayPolicy
from geosleuth.photo import Claims, OpenedPhoto, first_view, open_photo
from geosleuth.photo.runtime import give_back_memory
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.run import NoAnswer, run_plan
from geosleuth.pipeline.team import spent_together
from geosleuth.support.errors import BadInput, GeosleuthError, ServiceFault, UserError

if TYPE_CHECKING:
    from PIL.Image import Image

PREFIX = "replay:"

_BROKEN = ("service", "cancelled", "error")
_LARGE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Recordings:
    """Recorded replies for the photos of a data set, by the data set's own ids.

    ``calls_tools`` says whether tools may be called again on the way.
    """

    sha256: str
    calls_tools: bool
    said: Mapping[str, str | Path] = field(repr=False)

    def steps(self, photo_id: str) -> Sequence[Step] | None:
        """The steps, turn by turn; None where there is no recording of this photo."""
        said = self.said.get(photo_id)
        if isinstance(said, Path):
            # Nothing is paid for a second time.
            return [replace(step, usage=Usage()) for step in read_trajectory(said).steps]
        return None if said is None else (Step(text=said),)


def is_recording(model: str | None) -> bool:
    """Return whether a model's name asks for recorded answers to be played."""
    return model is not None and model.startswith(PREFIX)


def open_recordings(model: str) -> Recordings:
    """Read ``replay:RECORDS`` (.jsonl or .csv, one reply a photo) or ``replay:RUN/`` (the folder of an earlier run).

    Raises:
        BadInput: there is no such file or folder, or it can't be read.
    """
    name = model.removeprefix(PREFIX).strip()
    if not name:
        raise BadInput(f"{PREFIX} lacks the recording; write {PREFIX}RECORDS.jsonl or {PREFIX}RUN/")
    path = Path(name).expanduser()
    if not path.exists():
        raise BadInput(f"{path}: there is no such file or folder; {PREFIX} takes a file of records or a run's folder")
    return _recorded_run(path) if path.is_dir() else _recorded_replies(path)


def _recorded_replies(path: Path) -> Recordings:
    digest = hashlib.sha256()
    replies: dict[str, str | Path] = {}
    for record in read_records(path, fingerprint=digest.update):
        reply = record.reply if record.reply is not None else render(record.answer) if record.answer else ""
        # Of records with one id the first counts: a data set has one photo of that id.
        replies.setdefault(record.id, reply)
    return Recordings(digest.hexdigest(), calls_tools=False, said=replies)


def _recorded_run(path: Path) -> Recordings:
    """Return the newest answered try at each photo of an earlier run; its trajectory is read when it is needed."""
    folder = RunFolder.read(path)
    digest = hashlib.sha256()
    files: dict[str, str | Path] = {}
    for attempt in folder.tries():
        if attempt.outcome == "answered":
            files[attempt.id] = file = folder.trajectory(attempt.image, attempt.number)
            digest.update(f"{attempt.id}\0{file.name}\n".encode("utf-8", "backslashreplace"))
    return Recordings(digest.hexdigest(), calls_tools=True, said=files)


class ReplayOfSet(ReplayPolicy):
    """Stands for all recordings of a set where one policy must be named; each photo gets a replay of its own."""

    def __init__(self) -> None:
        super().__init__(())


def bench_plan(request: LocateRequest) -> Plan:
    """The plan that every photo of a run is worked on by.

    Raises:
        UserError: the user must fix something first; nothing has been written or sent.
    """
    if request.base_url is not None and is_recording(request.model):
        raise BadInput("a recording has no address; leave out --base-url")
    if request.model is not None and is_baseline(request.model) and request.tools is None:
        # A baseline calls none, and the atlas takes half a minute to build.
        request = replace(request, tools="none")
    plan = make_plan(request, (), batch=True, thinker=ReplayOfSet() if is_recording(request.model) else None)
    # A paper's own form counts: a reply without coordinates is unlocated, and the model is not asked for odds.
    return replace(plan, completes=False)


@dataclass(frozen=True, slots=True)
class BenchMaking:
    """Makes the attempt of a run from the command's words, in this process or in one on another machine."""

    request: LocateRequest = field(repr=False)

    async def __call__(self) -> "BenchReady":
        """Load all that tries need.

        Raises:
            UserError: the user must fix something on this machine first.
        """
        return await make_attempt(bench_plan(self.request), load_recordings(self.request))


def load_recordings(request: LocateRequest) -> Recordings | None:
    """Return the recordings to play; None where a model or detective answers.

    Raises:
        BadInput: they can't be read.
    """
    return open_recordings(request.model or "") if is_recording(request.model) else None


def open_atlas(*, needed: bool) -> OfflineAtlas:
    """Open the atlas on this machine, its base built where it is needed."""
    if needed:
        ensure_base()
    return OfflineAtlas()


async def make_attempt(
    plan: Plan, recordings: Recordings | None, *, atlas_opener: Callable[..., OfflineAtlas] = open_atlas
) -> "BenchReady":
    """Load the models, and open the atlas: ``atlas_opener`` may say how far its building is."""
    held = AsyncExitStack()
    try:
        plan = await plan.load(held)
        # Single replies call no tools, and the atlas takes half a minute to build.
        asked = recordings is None or recordings.calls_tools
        atlas = atlas_opener(needed=plan.needs_atlas and asked)
    except BaseException:
        await held.aclose()
        raise
    return BenchReady(BenchAttempt(plan, atlas, recordings), held)


@dataclass(frozen=True, slots=True)
class BenchReady:
    """An attempt, and what must be closed after it."""

    attempt: "BenchAttempt"
    held: AsyncExitStack

    async def aclose(self) -> None:
        """Let go of models, connections and tools."""
        await self.held.aclose()


@dataclass(frozen=True, slots=True)
class BenchAttempt:
    """Makes one try by the plan."""

    plan: Plan
    atlas: OfflineAtlas
    recordings: Recordings | None = None

    async def __call__(self, job: Job, keep_in: Path) -> Attempted:
        """Open the photo, drop all that its file claims, work on it, and say what came of it.

        Raises:
            UserError: the run can't go on: a file can't be written, or a tool can't work as it is set up.
        """
        try:
            photo = await asyncio.to_thread(self.open_job_photo, job)
            plan = self.build_plan(job)
            own = [photo]
            if job.hide and plan.searches.index is not None:
                # The index may hold the photo as it was before anything was hidden.
                own.append(await asyncio.to_thread(strip_photo, job.content))
            looks_up = any(isinstance(thinker, NearestPolicy) for thinker in plan.thinkers)
            if looks_up and (job.hide or photo.photo.kind == "panorama"):
                plan = _excluding(plan, await asyncio.to_thread(_list_gallery_views, job.content))
        except BadInput as error:
            return _build_failure(str(error), Spent())
        try:
            finding = await run_plan(
                plan,
                [photo],
                self.atlas,
                similar=plan.searches.find_similar(own),
                keep_in=keep_in,
            )
        except UserError:
            raise
        except NoAnswer as none:
            return build_unanswered(none.finding)
        except GeosleuthError as error:
            # No model came to an end, but what was used until then was used.
            spent = await asyncio.to_thread(lambda: sum_spent(list_try_files(keep_in)))
            return _build_failure(str(error), spent, host=error.host if isinstance(error, ServiceFault) else None)
        finally:
            if len(job.content) > _LARGE_BYTES:
                give_back_memory()
        return build_attempt(finding)

    def open_job_photo(self, job: Job) -> OpenedPhoto:
        """Return the photo of a job.

        Raises:
            BadInput: it can't be opened.
        """
        return strip_photo(job.content, job.hide)

    def build_plan(self, job: Job) -> Plan:
        """Return the plan of a job.

        Raises:
            BadInput: there is no recording of its photo.
        """
        if self.recordings is None:
            return self.plan
        steps = self.recordings.steps(job.id)
        if not steps:
            raise BadInput("there is no recording of this photo; leave it out with --only or record it")
        # With one turn more it would be reminded to answer, and a recording that can't is no model that failed.
        budget = replace(self.plan.budget, turns=len(steps))
        return replace(self.plan, policy=ReplayPolicy(steps), budget=budget)


def strip_photo(content: bytes, hide: Sequence[DatasetBox] = ()) -> OpenedPhoto:
    """Return a photo without its file's metadata and with some boxes hidden.

    Raises:
        BadInput: it can't be opened.
    """
    opened = open_photo(content)
    photo = blank(opened.photo, hide) if hide else opened.photo
    claims = opened.claims
    return OpenedPhoto(photo, Claims(claims.format, claims.file_bytes, claims.sha256, claims.size_px))


def _excluding(plan: Plan, own: "Sequence[Sequence[Image]]") -> Plan:
    """Return the plan for one photo, with its own pictures excluded from a gallery that may hold them."""

    def without(policy: Policy) -> Policy:
        return policy.excluding(own) if isinstance(policy, NearestPolicy) else policy

    several = plan.several
    if several is not None and several.team is not None:
        seats = tuple(replace(seat, policy=without(seat.policy)) for seat in several.team.seats)
        several = replace(several, team=replace(several.team, seats=seats))
    return replace(plan, policy=without(plan.policy), several=several)


def _list_gallery_views(content: bytes) -> "list[list[Image]]":
    """Return the pictures that a gallery may hold of a photo.

    The whole, and a panorama cut into views from either beginning.

    The maker of the gallery may have known where north is; the baseline that answers doesn't.

    Raises:
        BadInput: it can't be opened.
    """
    opened = open_photo(content)
    ways = [[opened.photo]]
    if opened.photo.kind == "panorama":
        ways += [[photo for photo, _ in album_photos(item)] for item in (opened, strip_photo(content))]
    return [[first_view(photo).image for photo in way] for way in ways]


def build_attempt(finding: Finding) -> Attempted:
    """Return the result of a try from its finding; a failed model is an error, not a wrong answer."""
    trajectory = finding.trajectory
    answered, ended = trajectory.answered, trajectory.ended
    reason = ended.reason if ended else "error"
    trouble = ended.trouble if ended else "broken off"
    broken = reason in _BROKEN
    return Attempted(
        outcome="failed" if broken else "answered",
        answer=finding.answer,
        by=answered.by if answered else "nobody",
        reason=reason,
        spent=spent_together(finding),
        trouble=trouble,
        host=trouble.partition(": ")[0] if reason == "service" and trouble else None,
    )


def build_unanswered(finding: Finding) -> Attempted:
    """Return the result of tries none of which answered: an error only if one of them broke."""
    broken = next(
        (item for item in finding.team if item.ended is None or item.ended.reason in _BROKEN), finding.trajectory
    )
    return replace(build_attempt(replace(finding, trajectory=broken)), answer=Answer(), by="nobody")


def _build_failure(trouble: str, spent: Spent, *, host: str | None = None) -> Attempted:
    return Attempted("failed", Answer(), "nobody", "service" if host else "error", spent, trouble, host)
