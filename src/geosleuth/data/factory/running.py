"""A run of the factory: the folder, the workers, and what the run holds when it ends."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from geosleuth.bench.run import DataInfo, Ending, LocalWorker, Manifest, RunFolder, RunLimits, Standing, Worker, run_set
from geosleuth.bench.run.engine import RunListeners, RunRules
from geosleuth.bench.run.feeding import Retry
from geosleuth.bench.sets.model import DataSet
from geosleuth.policies.gates import Rests, listening

from .processes import process_worker
from .recipe import FactoryMaking, Recipe
from .timeless import id_of

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


def _nobody(_standing: Standing) -> None:
    """Nobody looks on."""


def _silent(_words: str) -> None:
    """Nobody listens."""


async def run_factory(
    work: Work,
    out: Path,
    *,
    limits: RunLimits = _NO_LIMITS,
    retry: Retry | None = None,
    watch: Callable[[Standing], None] = _nobody,
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
