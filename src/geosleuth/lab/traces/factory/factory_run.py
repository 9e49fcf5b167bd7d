"""A run of the factory: its folder, its worker processes, and the samples for the store."""

import asyncio
import json
import multiprocessing
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geosleuth.agent import Trajectory, first_difference, read_trajectory, replay
from geosleuth.agent.locate import open_case
from geosleuth.agent.methods import method
from geosleuth.agent.setup import Resources
from geosleuth.atlas import Atlas
from geosleuth.geo import LatLon
from geosleuth.lab.bench.run import (
    Attempted,
    DataInfo,
    Ending,
    Job,
    LocalWorker,
    Making,
    Manifest,
    Ready,
    RunFolder,
    RunLimits,
    RunProgress,
    Worker,
    run_set,
)
from geosleuth.lab.bench.run.engine import Retry, RunListeners, RunRules
from geosleuth.lab.bench.sets.dataset import DataSet
from geosleuth.lab.score import Truth
from geosleuth.lab.traces.rows import Made, Rejected, Sample
from geosleuth.lab.traces.spotagent import Tally
from geosleuth.models.endpoints import Rests, listening
from geosleuth.photo import OpenedPhoto
from geosleuth.support.errors import BadInput, GeosleuthError, UserError
from geosleuth.support.processes import end_with_parent
from geosleuth.tools.toolset import all_tools

from .maker import FactoryMaking, Recipe
from .trial import FIRST, META, PHOTO, beside, compute_id

_NO_LIMITS = RunLimits()
_BESIDE = ("kept", "reasons", "detail", "truth", "scene", "split")
_NUMBERS = re.compile(r"(\d+)")


@dataclass(slots=True)
class _ProcessState:
    loop: asyncio.AbstractEventLoop | None = None
    ready: Ready | None = None
    refused: str | None = None


_here = _ProcessState()


@asynccontextmanager
async def process_worker(making: Making, folder: RunFolder, processes: int) -> AsyncIterator[Worker]:
    """Yield a worker that hands each job to one of so many processes; they end with it, or with this process."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(making,))

    async def work(job: Job) -> Attempted:
        place = folder.place(job.name, job.number)
        try:
            came = await asyncio.get_running_loop().run_in_executor(pool, _run_job, job, place)
        except BrokenProcessPool as error:
            raise GeosleuthError(
                "a worker process died; check that there is enough memory, then run it again"
            ) from error
        if isinstance(came, str):
            raise BadInput(came)
        return came

    try:
        yield work
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(making: Making) -> None:
    end_with_parent()
    _here.loop = asyncio.new_event_loop()
    try:
        _here.ready = _here.loop.run_until_complete(making())
    except UserError as error:
        _here.refused = str(error)


def _run_job(job: Job, place: Path) -> Attempted | str:
    """Run one job in the worker process; return the attempt, or the user error as one line."""
    if _here.loop is None or _here.ready is None:
        return _here.refused or "this process was not made ready"
    try:
        return _here.loop.run_until_complete(_here.ready.attempt(job, place))
    except UserError as error:
        return str(error)


@dataclass(frozen=True, slots=True)
class Work:
    """A run's settings: its data, its recipe and its processes, on this machine or on a Ray cluster."""

    recipe: Recipe
    data: DataSet
    info: DataInfo
    processes: int = 1
    at_once: int = 1
    cluster: str | None = None

    def manifest(self) -> Manifest:
        """Return the run's manifest; names depend only on the settings, so that the same run has the same files."""
        settings = self.recipe.settings()
        key = "".join(compute_id({**settings, "data": self.info.sha256}, str(part)) for part in range(4))
        return Manifest(data=self.info, settings=settings, name_key=key)


def _no_progress(_progress: RunProgress) -> None:
    """Ignore progress."""


def _silent(_words: str) -> None:
    """Ignore messages."""


async def run_factory(
    work: Work,
    out: Path,
    *,
    limits: RunLimits = _NO_LIMITS,
    retry: Retry | None = None,
    watch: Callable[[RunProgress], None] = _no_progress,
    say: Callable[[str], None] = _silent,
) -> Ending:
    """Make everything that the run in this folder has not made yet; with ``retry``, only what failed.

    Raises:
        UserError: the run can't start or continue; what was finished is kept.
    """
    rests = Rests()
    with RunFolder.begin(out, work.manifest(), say) as folder, listening(rests):
        async with _worker(work, folder, say) as worker:
            at_once = max(work.at_once, 2 * work.processes if work.processes > 1 else 1)
            return await run_set(
                work.data,
                folder,
                worker,
                at_once=at_once,
                rules=RunRules(limits=limits, retry=retry),
                listeners=RunListeners(watch=watch, resting=rests.host),
            )


@asynccontextmanager
async def _worker(work: Work, folder: RunFolder, say: Callable[[str], None]) -> AsyncIterator[Worker]:
    making = FactoryMaking(work.recipe)
    if work.cluster is not None:
        from geosleuth.lab.bench.run.cluster import ray_worker

        async with ray_worker(work.cluster, making, folder, at_once=work.at_once, say=say) as worker:
            yield worker
    elif work.processes > 1:
        async with process_worker(making, folder, work.processes) as processes:
            yield processes
    else:
        made = await making()
        try:
            yield LocalWorker(made.attempt, folder)
        finally:
            await made.aclose()


def read_made(run: Path) -> Iterator[Made]:
    """Yield everything that a run has finished, in the order of its scenes.

    Raises:
        BadInput: it is not a run of the factory, or a file is missing or damaged.
    """
    with RunFolder.read(run) as folder:
        source = str(folder.manifest.settings.get("kind", ""))
        for key, trajectory in _find_finished(folder):
            meta = _meta(trajectory)
            yield _sample(key, trajectory, meta, source) if meta["kept"] else _build_rejected(key, meta, source)


def compute_tally(run: Path) -> Tally:
    """Count what a run has kept, and why it rejected the rest.

    Raises:
        BadInput: it is not a run of the factory, or a file is missing or damaged.
    """
    tally = Tally()
    with RunFolder.read(run) as folder:
        for _, trajectory in _find_finished(folder):
            tally.add(_meta(trajectory))
    return tally


def read_photo(trajectory: Path) -> bytes:
    """Return the picture of a kept trajectory.

    Raises:
        BadInput: it can't be read.
    """
    original = beside(trajectory, PHOTO)
    return _read_kept_file(original if original.exists() else beside(trajectory, FIRST))


def list_kept_files(run: Path) -> Iterator[Path]:
    """Yield the files of the trajectories that a run keeps, in the order of its scenes.

    Raises:
        BadInput: it is not a run of the factory, or a file is missing or damaged.
    """
    with RunFolder.read(run) as folder:
        for _, trajectory in _find_finished(folder):
            if _meta(trajectory)["kept"]:
                yield trajectory


def _find_finished(folder: RunFolder) -> Iterator[tuple[str, Path]]:
    newest = {attempt.id: attempt for attempt in folder.tries() if attempt.outcome == "answered"}
    for key in sorted(newest, key=_natural):
        yield key, folder.trajectory(newest[key].image, newest[key].number)


def _sample(key: str, path: Path, meta: Mapping[str, Any], source: str) -> Sample:
    trajectory = read_trajectory(path)
    images = {image.handle: _read_kept_file(beside(path, f"{image.handle}.jpg")) for image in trajectory.images}
    return Sample(
        key=key,
        trajectory=trajectory,
        images=images,
        scene=meta["scene"],
        source=source,
        split=meta["split"],
        truth=_truth(meta["truth"]),
        meta={name: value for name, value in meta.items() if name not in _BESIDE},
    )


def _build_rejected(key: str, meta: Mapping[str, Any], source: str) -> Rejected:
    reasons = meta["reasons"]
    rest = {name: value for name, value in meta.items() if name not in _BESIDE}
    return Rejected(
        key=key,
        scene=meta["scene"],
        source=source,
        reason=reasons[0],
        detail=meta["detail"],
        meta={**rest, "reasons": reasons},
    )


def _truth(plain: Mapping[str, Any] | None) -> Truth | None:
    if plain is None:
        return None
    return Truth(LatLon(*plain["point"]), plain["country"], plain["region"], plain["city"])


def _meta(trajectory: Path) -> dict[str, Any]:
    path = beside(trajectory, META)
    try:
        found = json.loads(_read_kept_file(path))
    except ValueError as error:
        raise BadInput(f"{path}: not JSON; make the run again") from error
    if not isinstance(found, dict) or not {"kept", "scene", "reasons"} <= found.keys():
        raise BadInput(f"{path}: not written by the factory; make the run again")
    return found


def _read_kept_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}; make the run again") from error


def _natural(key: str) -> tuple[tuple[int, int | str], ...]:
    """Return a sort key that puts scene-9 before scene-10."""
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in _NUMBERS.split(key))


async def replay_difference(trajectory: Trajectory, photo: OpenedPhoto, atlas: Atlas) -> str | None:
    """Return in one line where a trajectory differs from its replay with live tools; None if it does not."""
    way = method(trajectory.started.method)
    case, _ = open_case([photo], way, Resources(atlas))
    toolset = way.toolset(all_tools(), trajectory.started.tools)
    again = await replay(trajectory, method=way, toolset=toolset, case=case)
    return first_difference(trajectory, again)


async def replays(trajectory: Trajectory, photo: OpenedPhoto, atlas: Atlas) -> bool:
    """Return whether the recorded steps lead to the same observations when the tools are called again."""
    return await replay_difference(trajectory, photo, atlas) is None
