"""Working through a data set: so many photos at once, each try kept, and a stop that loses nothing."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from geosleuth.agent import Spent
from geosleuth.answer import Answer
from geosleuth.bench.giving_up import GIVE_UP, InARow
from geosleuth.bench.run.standing import DoneHere
from geosleuth.bench.sets.model import DataSet
from geosleuth.errors import BadInput, GeosleuthError
from geosleuth.text import one_line
from geosleuth.text.numbers import plural

from .cut_off import cut_off_record
from .feeding import Feed, JobOf, Retry, Todo, plain_job
from .folder import RunFolder
from .journal import TryRecord
from .limits import LimitName, RunLimits, SoFar, in_the_way, limit_words
from .model import Attempted, Job, Worker
from .results import RunSummary, write_results
from .standing import Clock, Errors, Standing, standing_of

Why = Literal["done", "tokens", "usd", "seconds", "photos", "stopped", "given up"]
"""Why a run ended: nothing is left to do; a limit was reached; somebody stopped it; a model kept failing."""

_NO_LIMITS = RunLimits()
_WATCH_EVERY_S = 0.1
_TICK_S = 1.0


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command that worked on a run ended, in a word and for people, where it stands now, and in exact figures."""

    why: Why
    words: str
    standing: Standing
    summary: RunSummary


def _nobody(_standing: Standing) -> None:
    """Nobody looks on."""


def _nothing(_record: TryRecord) -> None:
    """Nobody listens."""


def _no_rest() -> None:
    """No host rests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRules:
    """When a run stops, and what it works on.

    Attributes:
        limits: what the whole run may use.
        retry: "errors" works on photos whose newest try failed, and on nothing else.
        give_up: how often in a row a model may fail in the same way before the rest is left.
    """

    limits: RunLimits = _NO_LIMITS
    retry: Retry | None = None
    give_up: int = GIVE_UP


@dataclass(frozen=True, slots=True, kw_only=True)
class RunListeners:
    """Who follows a run.

    Attributes:
        watch: gets where the run stands, some times a second at most, and once at the beginning and at the end.
        ended: gets every try once it is safe in the journal.
        resting: asked for the host that nobody asks at the moment.
    """

    watch: Callable[[Standing], None] = _nobody
    ended: Callable[[TryRecord], None] = _nothing
    resting: Callable[[], str | None] = _no_rest


_ALL = RunRules()
_ALONE = RunListeners()


async def run_set(
    data: DataSet,
    folder: RunFolder,
    worker: Worker,
    *,
    at_once: int,
    rules: RunRules = _ALL,
    listeners: RunListeners = _ALONE,
    job_of: JobOf = plain_job,
) -> Ending:
    """Work on every photo of a data set that a run has not finished, and write its results.

    Photos begin in the data set's order. No more than ``at_once`` are under way, and as many wait with their files
    read; memory does not grow with the data set but for a few bytes a photo.

    Args:
        data: the photos.
        folder: the run, begun with a manifest of these data.
        worker: who makes the tries.
        at_once: how many at a time.
        rules: when it stops, and what it works on.
        listeners: who follows.
        job_of: makes a try of a photo, its name, its number and its content; called in a thread.

    Raises:
        UserError: something must be mended before the run can go on. What was under way has been finished and entered.
        asyncio.CancelledError: it was called off. What was finished is entered, and the results are written.
    """
    engine = _Engine(data, folder, worker, at_once, rules, listeners, job_of)
    try:
        await engine.work()
    except BaseException:
        # What stopped the run is what must be heard of, not that a full disk takes no results either.
        with suppress(GeosleuthError):
            write_results(folder, data, why="stopped", words=engine.words("stopped"))
        raise
    why = engine.why
    words = engine.words(why)
    summary = write_results(folder, data, why=why, words=words)
    standing = engine.standing()
    listeners.watch(standing)
    return Ending(why, words, standing, summary)


class _Engine:
    """One command's work on a run."""

    def __init__(
        self,
        data: DataSet,
        folder: RunFolder,
        worker: Worker,
        at_once: int,
        rules: RunRules,
        listeners: RunListeners,
        job_of: JobOf,
    ) -> None:
        if at_once < 1:
            raise ValueError("at least one photo at a time")
        self._data, self._folder, self._worker, self._at_once = data, folder, worker, at_once
        self._limits, self._retry, self._give_up = rules.limits, rules.retry, rules.give_up
        self._watch, self._told, self._resting = listeners.watch, listeners.ended, listeners.resting
        self._job_of = job_of
        self._index = folder.index
        self._earlier_s = self._index.seconds
        self._due = self._index.count("failed") if rules.retry == "errors" else self._missing
        self._errors = Errors()
        self._clock = Clock()
        self._watched_s = 0.0
        self._under_way = self._first_tries = self._ended_here = 0
        self._names: set[str] = set()
        self._cut: list[tuple[Todo, Job]] = []
        self._change = asyncio.Event()
        self._in_a_row = InARow(rules.give_up)
        self._error: Exception | None = None
        self._feed: Feed | None = None
        self._trouble = ""
        self.why: Why = "done"

    async def work(self) -> None:
        self._watch(self.standing())
        feed = self._feed = Feed(self._data, self._folder, ahead=self._at_once, retry=self._retry, job_of=self._job_of)
        ticking = asyncio.create_task(self._tick())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._at_once):
                    group.create_task(self._hand(feed))
        finally:
            ticking.cancel()
            await feed.close()
            await self._folder.flush()
            await self._enter_cut()
        if self._error is not None:
            raise self._error

    async def _tick(self) -> None:
        """Whoever looks on sees the time go by, too, and that a host rests, while no photo ends."""
        while True:
            await asyncio.sleep(_TICK_S)
            self._show(_TICK_S)

    def _show(self, every_s: float) -> None:
        if self._clock.seconds - self._watched_s >= every_s:
            self._watched_s = self._clock.seconds
            self._watch(self.standing())

    async def _hand(self, feed: Feed) -> None:
        """One of so many at once: takes the next photo as long as there is one."""
        try:
            while (todo := await feed.next()) is not None:
                for record in todo.cut_off:
                    await self._enter(record, None)
                if todo.job is None and todo.trouble is None:
                    continue
                if not await self._may_begin(todo):
                    return
                await self._one(todo)
        except Exception as error:  # noqa: BLE001  (raised when what is under way has ended)
            self._error = self._error or error
            self._stop("stopped")

    async def _may_begin(self, todo: Todo) -> bool:
        """Whether a photo may begin within the run's limits, once what is under way has shown what it uses."""
        while not self._stopping:
            limit = in_the_way(self._limits, self._so_far(), again=todo.again)
            if limit is None:
                return True
            if not self._under_way:
                self._stop(limit)
                break
            await self._change.wait()
        return False

    @property
    def _stopping(self) -> bool:
        return self.why != "done"

    def _stop(self, why: Why) -> None:
        if not self._stopping:
            self.why = why
        if self._feed is not None:
            self._feed.stop()
        self._changed()

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    def _so_far(self) -> SoFar:
        return SoFar(
            spent=self._index.spent,
            tries=self._index.tries,
            under_way=self._under_way,
            seconds=self._earlier_s + self._clock.seconds,
            finished=self._index.count("located", "unlocated", "failed"),
            first_tries_under_way=self._first_tries,
        )

    async def _one(self, todo: Todo) -> None:
        began = datetime.now(UTC)
        known = self._index.of(todo.name)
        if todo.name in self._names or (known is not None and known.tries >= todo.number):
            raise BadInput(f"two photos of the data set are called {todo.id[:80]!r}; give each an id of its own")
        self._names.add(todo.name)
        self._under_way += 1
        self._first_tries += not todo.again
        try:
            attempted = await self._attempted(todo)
            record = TryRecord(
                image=todo.name,
                id=todo.id,
                number=todo.number,
                outcome=attempted.outcome,
                reason=attempted.reason,
                by=attempted.by,
                answer=attempted.answer,
                spent=attempted.spent,
                began=began,
                ended=datetime.now(UTC),
                sha256=todo.sha256,
                trouble=attempted.trouble,
                host=attempted.host,
            )
            await self._enter(record, todo)
        finally:
            self._names.discard(todo.name)
            self._under_way -= 1
            self._first_tries -= not todo.again
            self._changed()

    async def _attempted(self, todo: Todo) -> Attempted:
        job = todo.job
        if job is None:
            return Attempted("failed", Answer(), "nobody", "error", Spent(), todo.trouble)
        try:
            return await self._worker(job)
        except asyncio.CancelledError as error:
            self._cut.append((todo, job))
            if (task := asyncio.current_task()) is None or not task.cancelling():
                # A task that ends like this is taken for one that was called off, and nobody would hear of it.
                raise RuntimeError("a try called itself off") from error
            raise
        except BaseException:
            self._cut.append((todo, job))
            raise

    async def _enter(self, record: TryRecord, todo: Todo | None) -> None:
        await self._folder.record(record)
        if todo is not None and record.outcome != "interrupted":
            self._ended_here += 1
            if record.outcome == "answered":
                self._errors.add(record.answer.point, todo.truth.point)
            self._count_failures(record)
        self._told(record)
        self._show(_WATCH_EVERY_S)

    def _count_failures(self, record: TryRecord) -> None:
        """Give up where a model fails again and again in the same way; a bad photo says nothing about it."""
        by_model = record.outcome == "failed" and (record.reason == "service" or record.host is not None)
        if record.outcome == "failed" and not by_model:
            return
        if self._in_a_row.is_enough(f"{record.host}: {record.trouble}" if by_model else ""):
            self._trouble = record.trouble or "the model failed"
            self._stop("given up")

    async def _enter_cut(self) -> None:
        """What was cut off is entered at once, where the disk still takes it; otherwise the next command does that."""
        for todo, job in self._cut:
            with suppress(GeosleuthError):
                record = cut_off_record(self._folder, todo.id, job.number, todo.sha256)
                if record is not None:
                    await self._enter(record, None)
        self._cut.clear()

    @property
    def _missing(self) -> int:
        return max(0, self._folder.manifest.data.count - self._index.count("located", "unlocated", "failed"))

    def standing(self) -> Standing:
        while self._feed is not None and self._feed.measured:
            self._errors.add(*self._feed.measured.popleft())
        return standing_of(
            self._index,
            self._errors,
            total=self._folder.manifest.data.count,
            seconds=self._earlier_s + self._clock.seconds,
            here=DoneHere(
                ended=self._ended_here,
                seconds=self._clock.seconds,
                to_do=max(0, self._due - self._ended_here),
                under_way=self._under_way,
            ),
            resting=self._resting(),
        )

    def words(self, why: Why) -> str:
        """How it ended, for people."""
        standing = self.standing()
        left = plural(standing.missing, "photo is", "photos are")
        still = f"; {left} missing" if standing.missing else ""
        match why:
            case "done" if standing.missing == 0:
                failed = f", {standing.failed} of them failed" if standing.failed else ""
                return f"all {plural(standing.total, 'photo', 'photos')} are done{failed}"
            case "done" if self._retry == "errors":
                return f"every photo that had failed was tried again{still}"
            case "done":
                return f"the data set was gone through{still}"
            case "given up":
                return f"stopped: {self._give_up} times in a row {one_line(self._trouble)}{still}; mend it, then go on"
            case "stopped":
                return f"stopped{still}; what is finished is kept"
            case limit:
                return _limit_words(self._limits, limit, self._index.spent, still)


def _limit_words(limits: RunLimits, limit: LimitName, spent: Spent, still: str) -> str:
    return f"stopped at the run's limit of {limit_words(limits, limit, spent)}{still}; raise the limit to go on"
