"""A run of the factory: its folder, its worker processes, and the samples that it hands to the store."""

import asyncio
import json
import multiprocessing
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from typing import Any

from geosleuth.agent import Trajectory, first_difference, read_trajectory, replay
from geosleuth.agent.locate import open_case
from geosleuth.agent.methods import method
from geosleuth.agent.setup import Resources
from geosleuth.atlas import Atlas
from geosleuth.bench.run import (
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
from geosleuth.bench.run.engine import Retry, RunListeners, RunRules
from geosleuth.bench.sets.model import DataSet
from geosleuth.data.rows import Made, Rejected, Sample
from geosleuth.data.spotagent import Tally
from geosleuth.errors import BadInput, GeosleuthError, UserError
from geosleuth.geo import LatLon
from geosleuth.photo import OpenedPhoto
from geosleuth.policies.endpoints import Rests, listening
from geosleuth.score import Truth
from geosleuth.tools.toolset import all_tools

from .maker import FactoryMaking, Recipe
from .trial import FIRST, META, PHOTO, beside, id_of


@dataclass(slots=True)
class _Here:
    """What one of the processes holds."""

    loop: asyncio.AbstractEventLoop | None = None
    ready: Ready | None = None
    refused: str | None = None


_here = _Here()


class ProcessWorker:
    """A `Worker` that hands each try to a process that is free."""

    def __init__(self, pool: ProcessPoolExecutor, folder: RunFolder) -> None:
        """Made by `process_worker`."""
        self._pool, self._folder = pool, folder

    async def __call__(self, job: Job) -> Attempted:
        """Make one try.

        Raises:
            UserError: the run can't go on.
        """
        place = self._folder.place(job.name, job.number)
        try:
            came = await asyncio.get_running_loop().run_in_executor(self._pool, _work, job, place)
        except BrokenProcessPool as error:
            raise GeosleuthError(
                "a process that made trajectories died; is there enough memory? run it again"
            ) from error
        if isinstance(came, str):
            raise BadInput(came)
        return came


@asynccontextmanager
async def process_worker(making: Making, folder: RunFolder, processes: int) -> AsyncIterator[ProcessWorker]:
    """A worker with so many processes; they end with it, and with this process should that be killed."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(making,))
    try:
        yield ProcessWorker(pool, folder)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(making: Making) -> None:
    """In the new process: load everything once."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _here.loop = asyncio.new_event_loop()
    try:
        _here.ready = _here.loop.run_until_complete(making())
    except UserError as error:
        _here.refused = str(error)


def _end_with_parent() -> None:
    """A parent that was killed can't tell its children, and they would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _work(job: Job, place: Path) -> Attempted | str:
    """In the new process: one try, or in one line what the user must mend."""
    if _here.loop is None or _here.ready is None:
        return _here.refused or "this process was not made ready"
    try:
        return _here.loop.run_until_complete(_here.ready.attempt(job, place))
    except UserError as error:
        return str(error)


_NO_LIMITS = RunLimits()


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be made of what, and where: in so many processes of this machine, or on a Ray cluster."""

    recipe: Recipe
    data: DataSet
    info: DataInfo
    processes: int = 1
    at_once: int = 1
    cluster: str | None = None

    def manifest(self) -> Manifest:
        """What the run is made of; names in it hang on the settings alone, so that the same run has the same files."""
        settings = self.recipe.settings()
        key = "".join(id_of({**settings, "data": self.info.sha256}, str(part)) for part in range(4))
        return Manifest(data=self.info, settings=settings, name_key=key)


def _nobody(_progress: RunProgress) -> None:
    """Nobody looks on."""


def _silent(_words: str) -> None:
    """Nobody listens."""


async def run_factory(
    work: Work,
    out: Path,
    *,
    limits: RunLimits = _NO_LIMITS,
    retry: Retry | None = None,
    watch: Callable[[RunProgress], None] = _nobody,
    say: Callable[[str], None] = _silent,
) -> Ending:
    """Make everything that the run in this folder has not made yet; with ``retry``, what failed and nothing else.

    Raises:
        UserError: the run can't begin or go on; what was finished is kept.
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
        from geosleuth.bench.run.cluster import ray_worker

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


_BESIDE = ("kept", "reasons", "detail", "truth", "scene", "split")
_NUMBERS = re.compile(r"(\d+)")


def made_in(run: Path) -> Iterator[Made]:
    """Everything that a run has finished, in the order of its scenes, one at a time.

    Raises:
        BadInput: it is no run of the factory, or a file of it is missing or damaged.
    """
    with RunFolder.read(run) as folder:
        source = str(folder.manifest.settings.get("kind", ""))
        for key, trajectory in _finished(folder):
            meta = _meta(trajectory)
            yield _sample(key, trajectory, meta, source) if meta["kept"] else _rejected(key, meta, source)


def tally_in(run: Path) -> Tally:
    """What a run has kept, and why it has not kept the rest.

    Raises:
        BadInput: it is no run of the factory, or a file of it is missing or damaged.
    """
    tally = Tally()
    with RunFolder.read(run) as folder:
        for _, trajectory in _finished(folder):
            tally.add(_meta(trajectory))
    return tally


def photo_of(trajectory: Path) -> bytes:
    """The picture that a kept trajectory is about, as it was looked at.

    Raises:
        BadInput: it can't be read.
    """
    original = beside(trajectory, PHOTO)
    return _read(original if original.exists() else beside(trajectory, FIRST))


def kept_files(run: Path) -> Iterator[Path]:
    """The files of the trajectories that a run keeps, in the order of its scenes.

    Raises:
        BadInput: it is no run of the factory, or a file of it is missing or damaged.
    """
    with RunFolder.read(run) as folder:
        for _, trajectory in _finished(folder):
            if _meta(trajectory)["kept"]:
                yield trajectory


def _finished(folder: RunFolder) -> Iterator[tuple[str, Path]]:
    newest = {one.id: one for one in folder.tries() if one.outcome == "answered"}
    for key in sorted(newest, key=_natural):
        yield key, folder.trajectory(newest[key].image, newest[key].number)


def _sample(key: str, path: Path, meta: Mapping[str, Any], source: str) -> Sample:
    trajectory = read_trajectory(path)
    images = {image.handle: _read(beside(path, f"{image.handle}.jpg")) for image in trajectory.images}
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


def _rejected(key: str, meta: Mapping[str, Any], source: str) -> Rejected:
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
        found = json.loads(_read(path))
    except ValueError as error:
        raise BadInput(f"{path}: this is not JSON; make the run again") from error
    if not isinstance(found, dict) or not {"kept", "scene", "reasons"} <= found.keys():
        raise BadInput(f"{path}: this is not what the factory writes; make the run again")
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}; make the run again") from error


def _natural(key: str) -> tuple[tuple[int, int | str], ...]:
    """A key by which scene-9 comes before scene-10."""
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in _NUMBERS.split(key))


async def replay_difference(trajectory: Trajectory, photo: OpenedPhoto, atlas: Atlas) -> str | None:
    """Where a trajectory parts from its own replay with live tools, in one line; None where it does not."""
    way = method(trajectory.started.method)
    case, _ = open_case([photo], way, Resources(atlas))
    toolset = way.toolset(all_tools(), trajectory.started.tools)
    again = await replay(trajectory, method=way, toolset=toolset, case=case)
    return first_difference(trajectory, again)


async def replays(trajectory: Trajectory, photo: OpenedPhoto, atlas: Atlas) -> bool:
    """Whether the recorded steps lead to the very same observations once more, the tools being called for real."""
    return await replay_difference(trajectory, photo, atlas) is None
