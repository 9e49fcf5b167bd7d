"""Working through a data set: so many photos at once, each try kept, and a stop that loses nothing."""

import asyncio
import hashlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from geosleuth.agent import Event, Spent, TrajectoryReader, compute_spent
from geosleuth.answer import Answer
from geosleuth.answer.answer import answer_from_dict
from geosleuth.lab.bench.placed import PlaceText, find_measured_point, place_nothing
from geosleuth.lab.bench.sets.dataset import DataSet, Item
from geosleuth.lab.score import Truth
from geosleuth.models.endpoints import MAX_CONSECUTIVE_FAILURES, InARow
from geosleuth.support.errors import BadInput, GeosleuthError
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import one_line

from .folder import RunFolder
from .journal import Attempt, Attempted, Job, Known, TryRecord, Worker
from .results import Errors, RunProgress, RunSummary, write_results

if TYPE_CHECKING:
    from geosleuth.geo import LatLon

# A team's members are written after the team's own trajectory, which includes what they used.
_MEMBER_FILE = re.compile(r".*\.run[0-9]+\.jsonl")

Retry = Literal["errors"]
JobOf = Callable[[Item, str, int, bytes], Job]
LimitName = Literal["tokens", "usd", "seconds", "photos"]
_ENOUGH_TO_JUDGE = 5
Why = Literal["done", "tokens", "usd", "seconds", "photos", "stopped", "given up"]
"""Why a run ended: nothing is left to do; a limit was reached; it was stopped; a model kept failing."""
_WATCH_EVERY_S = 0.1
_TICK_S = 1.0


def cut_off_record(folder: RunFolder, id: str, number: int, sha256: str | None = None) -> TryRecord | None:  # noqa: A002
    """Return the journal record of a try that was cut off; None if it left nothing behind."""
    name = folder.build_name(id)
    files = folder.list_files(name, number)
    if not files:
        return None
    spent, began, ended = _read_usages(files)
    return TryRecord(
        image=name,
        id=id,
        number=number,
        outcome="interrupted",
        reason="cancelled",
        by="nobody",
        answer=Answer(),
        spent=spent,
        began=began,
        ended=ended,
        sha256=sha256,
    )


def sum_spent(files: Iterable[Path]) -> Spent:
    """Return what a try used according to its files, by all members, as far as they can be read."""
    return _read_usages(files)[0]


def _read_usages(files: Iterable[Path]) -> tuple[Spent, datetime, datetime]:
    usages = [_read_usage(file) for file in files if not _MEMBER_FILE.fullmatch(file.name)]
    now = datetime.now(UTC)
    return (
        sum((used for used, _, _ in usages), Spent()),
        min((since for _, since, _ in usages), default=now),
        max((until for _, _, until in usages), default=now),
    )


def _read_usage(file: Path) -> tuple[Spent, datetime, datetime]:
    """Return usage, start and end as far as a file can be read."""
    events: list[Event] = []
    began = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    with suppress(BadInput), TrajectoryReader(file) as reader:
        began = reader.created
        for event in reader:
            events.append(event)  # noqa: PERF402  (what came before the damage is kept)
    spent = compute_spent(events)
    return spent, began, began + timedelta(seconds=events[-1].at_s if events else 0.0)


@dataclass(frozen=True, slots=True)
class Todo:
    """The next photo.

    ``job`` is None if its file can't be read, and ``trouble`` says why, or if the only work is to record ``cut_off``:
    tries that the journal does not know yet. ``again`` says that it was finished before, with an error.
    """

    id: str
    name: str
    number: int
    truth: Truth = field(repr=False)
    job: Job | None = None
    sha256: str | None = None
    trouble: str | None = None
    cut_off: tuple[TryRecord, ...] = ()
    again: bool = False


def plain_job(_item: Item, name: str, number: int, content: bytes) -> Job:
    """Return a job for a photo without a mask."""
    return Job(name, _item.id, number, content)


class Feed:
    """Hands out a data set's photos in its order; each is read in a thread, when the engine takes it.

    ``measured`` receives every answer that was there already with its truth, as it is passed.
    """

    def __init__(self, data: DataSet, folder: RunFolder, rules: "RunRules", job_of: JobOf) -> None:
        """Prepare the feed; nothing is read yet."""
        self._data, self._folder, self._rules, self._job_of = data, folder, rules, job_of
        self._strays = folder.strays()
        self.measured: deque[tuple[LatLon | None, LatLon]] = deque()
        self._names: set[str] = set()
        self._todos = self._read_jobs()
        self._turn = asyncio.Lock()
        self._stopped = False

    async def next(self) -> Todo | None:
        """Return the next photo; None if there is none left, or it was stopped.

        Raises:
            UserError: the data set can't be read further.
        """
        async with self._turn:
            return None if self._stopped else await asyncio.to_thread(next, self._todos, None)

    def stop(self) -> None:
        """Hand out no more photos."""
        self._stopped = True

    def _read_jobs(self) -> Iterator[Todo]:
        for item in self._data:
            if self._stopped:
                return
            if (todo := self._todo(item)) is not None:
                yield todo

    def _todo(self, item: Item) -> Todo | None:
        name = self._folder.build_name(item.id)
        if name in self._names:
            raise BadInput(f"two photos of the data set have the id {item.id[:80]!r}; give each its own")
        self._names.add(name)
        known = self._folder.index.find_known(name)
        strays = self._strays.pop(name, [])
        cut_off = tuple(
            record for number in strays if (record := cut_off_record(self._folder, item.id, number)) is not None
        )
        number = max([known.tries if known else 0, *strays]) + 1
        if not self._is_due(known):
            self._measure(item, known)
            return Todo(item.id, name, number, item.truth, cut_off=cut_off) if cut_off else None
        again = known is not None and known.state == "failed"
        try:
            content = item.picture.read()
        except BadInput as error:
            trouble = str(error).removeprefix(f"{item.picture.where}: ")
            return Todo(item.id, name, number, item.truth, trouble=trouble, cut_off=cut_off, again=again)
        sha256 = hashlib.sha256(content).hexdigest()
        job = self._job_of(item, name, number, content)
        return Todo(item.id, name, number, item.truth, job, sha256, cut_off=cut_off, again=again)

    def _is_due(self, known: Known | None) -> bool:
        if self._rules.retry == "errors":
            return known is not None and known.state == "failed"
        return known is None or known.state == "interrupted"

    def _measure(self, item: Item, known: Known | None) -> None:
        if known is not None and known.state in ("located", "unlocated"):
            answer = answer_from_dict(self._folder.read_plain_try(known)["answer"])
            self.measured.append((find_measured_point(answer, self._rules.place)[0], item.truth.point))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """The most that a run may use, from its first photo on, however often it is continued; None is no limit.

    ``tokens`` counts input and output, ``usd`` money, ``seconds`` the working time, ``photos`` how many are finished.
    ``tokens_per_photo`` and ``usd_per_photo`` are the most that one photo may use, if its own budget says so: until a
    few photos have shown what one uses, so much is reserved for each.
    """

    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    photos: int | None = None
    tokens_per_photo: int | None = None
    usd_per_photo: float | None = None


@dataclass(frozen=True, slots=True)
class SoFar:
    """The state of a run when one more photo is about to start.

    ``tries`` have ended and spent ``spent``; ``under_way`` have begun; ``seconds`` is the time on the run's clock.
    ``finished`` and ``first_tries_under_way`` count photos, without those that are tried again.
    """

    spent: Spent
    tries: int
    under_way: int
    seconds: float
    finished: int
    first_tries_under_way: int


def in_the_way(limits: RunLimits, so_far: SoFar, *, again: bool = False) -> LimitName | None:
    """Return the limit that one more photo might exceed; None if it may start.

    What is in progress is assumed to use the average of tries so far. If nothing is known of that, neither from tries
    nor from a photo's own budget, the first photo runs alone.
    """
    usage = so_far.spent.usage
    tokens = usage.input_tokens + usage.output_tokens
    if limits.tokens is not None and not _fits(limits.tokens, tokens, limits.tokens_per_photo, so_far):
        return "tokens"
    if limits.usd is not None and (
        usage.cost_usd is None or not _fits(limits.usd, usage.cost_usd, limits.usd_per_photo, so_far)
    ):
        return "usd"
    if limits.seconds is not None:
        usual = so_far.spent.seconds / so_far.tries if so_far.tries else 0.0
        if so_far.seconds >= limits.seconds or so_far.seconds + usual > limits.seconds:
            return "seconds"
    if limits.photos is not None and not again and so_far.finished + so_far.first_tries_under_way >= limits.photos:
        return "photos"
    return None


def _fits(limit: float, used: float, cap: float | None, so_far: SoFar) -> bool:
    if used >= limit:
        return False
    if so_far.tries >= _ENOUGH_TO_JUDGE or (cap is None and so_far.tries):
        each = used / so_far.tries
    elif cap is not None:
        each = cap
    else:
        return so_far.under_way == 0
    return used + each * (so_far.under_way + 1) <= limit


def limit_words(limits: RunLimits, name: LimitName, spent: Spent) -> str:
    """Describe a limit and what was used of it."""
    usage = spent.usage
    match name:
        case "tokens":
            return f"{limits.tokens:,} tokens ({usage.input_tokens + usage.output_tokens:,} used)"
        case "usd" if usage.cost_usd is None:
            return f"{limits.usd:g} USD can't be enforced: the price of this model is unknown"
        case "usd":
            return f"{limits.usd:g} USD ({usage.cost_usd:.4f} used)"
        case "seconds":
            return f"{limits.seconds:g} seconds"
        case "photos":
            return f"{limits.photos:,} photos"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command that worked on a run ended: a keyword, a message, its progress, and exact figures."""

    why: Why
    words: str
    progress: RunProgress
    summary: RunSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRules:
    """Limits of a run, and the photos that it covers.

    Attributes:
        limits: the most the whole run may use.
        retry: "errors" works only on photos whose newest try failed.
        give_up: how often in a row a model may fail in the same way before the run stops.
        place: places answers in words for the run's figures; the answers stay as they are.
    """

    limits: RunLimits = RunLimits()
    retry: Retry | None = None
    give_up: int = MAX_CONSECUTIVE_FAILURES
    place: PlaceText = place_nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class RunListeners:
    """Listeners of a run.

    Attributes:
        watch: receives the progress, a few times a second at most, and once at the beginning and at the end.
        ended: receives every try once it is safe in the journal.
        resting: returns the host that is not asked at the moment.
    """

    watch: Callable[[RunProgress], None] = lambda _progress: None
    ended: Callable[[TryRecord], None] = lambda _record: None
    resting: Callable[[], str | None] = lambda: None


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

    Photos start in the data set's order. At most ``at_once`` are in progress, each read when it starts; memory grows
    only by a few bytes per photo.

    Args:
        data: the photos.
        folder: the run, begun with a manifest of these data.
        worker: runs the tries.
        at_once: how many at a time.
        rules: when it stops, and what it works on.
        listeners: receive events.
        job_of: makes the job of a photo from its name, number and content; called in a thread.

    Raises:
        UserError: the run can't continue until something is fixed. Tries in progress were finished and recorded.
        asyncio.CancelledError: it was cancelled. What was finished is recorded, and the results are written.
    """
    engine = _Engine(data, folder, worker, at_once, rules, listeners, job_of)
    try:
        await engine.work()
    except BaseException:
        # Report what stopped the run, not that the results could not be written either.
        with suppress(GeosleuthError):
            write_results(folder, data, why="stopped", words=engine.words("stopped"), place=rules.place)
        raise
    why = engine.why
    words = engine.words(why)
    summary = await asyncio.to_thread(write_results, folder, data, why=why, words=words, place=rules.place)
    progress = engine.progress()
    listeners.watch(progress)
    return Ending(why, words, progress, summary)


class _Engine:
    """Work of one command on a run."""

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
            raise ValueError("at_once must be at least 1")
        self._folder, self._worker, self._at_once = folder, worker, at_once
        self._rules, self._listeners = rules, listeners
        self._feed = Feed(data, folder, rules, job_of)
        self._index = folder.index
        self._earlier_s = self._index.seconds
        self._due = self._index.count("failed") if rules.retry == "errors" else self._missing
        self._errors = Errors()
        self._began_s = time.monotonic()
        self._watched_s = 0.0
        self._under_way = self._first_tries = self._ended_here = 0
        self._cut: list[tuple[Todo, Job]] = []
        self._change = asyncio.Event()
        self._in_a_row = InARow(rules.give_up)
        self._error: Exception | None = None
        self._trouble = ""
        self.why: Why = "done"

    async def work(self) -> None:
        self._listeners.watch(self.progress())
        ticking = asyncio.create_task(self._tick())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._at_once):
                    group.create_task(self._process_photos())
        finally:
            ticking.cancel()
            self._feed.stop()
            await self._folder.flush()
            await self._enter_cut()
        if self._error is not None:
            raise self._error

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began_s

    async def _tick(self) -> None:
        """Update the progress while no photo ends, so that the clock and resting hosts are shown."""
        while True:
            await asyncio.sleep(_TICK_S)
            self._show(_TICK_S)

    def _show(self, every_s: float) -> None:
        if self._seconds - self._watched_s >= every_s:
            self._watched_s = self._seconds
            self._listeners.watch(self.progress())

    async def _process_photos(self) -> None:
        """Process photos until none is left; runs as one of ``at_once`` tasks."""
        try:
            while (todo := await self._feed.next()) is not None:
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
        """Return whether a photo may start within the run's limits, given the usage of photos in progress."""
        while not self._stopping:
            limit = in_the_way(self._rules.limits, self._so_far(), again=todo.again)
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
        self._feed.stop()
        self._notify_change()

    def _notify_change(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    def _so_far(self) -> SoFar:
        return SoFar(
            spent=self._index.spent,
            tries=self._index.tries,
            under_way=self._under_way,
            seconds=self._earlier_s + self._seconds,
            finished=self._index.count("located", "unlocated", "failed"),
            first_tries_under_way=self._first_tries,
        )

    async def _one(self, todo: Todo) -> None:
        began = datetime.now(UTC)
        self._under_way += 1
        self._first_tries += not todo.again
        try:
            attempted = await self._attempt_photo(todo)
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
            self._under_way -= 1
            self._first_tries -= not todo.again
            self._notify_change()

    async def _attempt_photo(self, todo: Todo) -> Attempted:
        job = todo.job
        if job is None:
            return Attempted("failed", Answer(), "nobody", "error", Spent(), todo.trouble)
        try:
            return await self._worker(job)
        except asyncio.CancelledError as error:
            self._cut.append((todo, job))
            if (task := asyncio.current_task()) is None or not task.cancelling():
                # A task that ends like this would be taken for cancelled, and the error would go unnoticed.
                raise RuntimeError("a try cancelled itself") from error
            raise
        except BaseException:
            self._cut.append((todo, job))
            raise

    async def _enter(self, record: TryRecord, todo: Todo | None) -> None:
        await self._folder.record(record)
        if todo is not None and record.outcome != "interrupted":
            self._ended_here += 1
            if record.outcome == "answered":
                point, _ = await asyncio.to_thread(find_measured_point, record.answer, self._rules.place)
                self._errors.add(point, todo.truth.point)
            self._count_failures(record)
        self._listeners.ended(record)
        self._show(_WATCH_EVERY_S)

    def _count_failures(self, record: TryRecord) -> None:
        """Stop if a model fails repeatedly in the same way; a bad photo does not count."""
        by_model = record.outcome == "failed" and (record.reason == "service" or record.host is not None)
        if record.outcome == "failed" and not by_model:
            return
        if self._in_a_row.is_enough(f"{record.host}: {record.trouble}" if by_model else ""):
            self._trouble = record.trouble or "the model failed"
            self._stop("given up")

    async def _enter_cut(self) -> None:
        """Record interrupted tries at once, if the disk allows; otherwise the next command does."""
        for todo, job in self._cut:
            with suppress(GeosleuthError):
                record = cut_off_record(self._folder, todo.id, job.number, todo.sha256)
                if record is not None:
                    await self._enter(record, None)
        self._cut.clear()

    @property
    def _missing(self) -> int:
        return max(0, self._folder.manifest.data.count - self._index.count("located", "unlocated", "failed"))

    def progress(self) -> RunProgress:
        while self._feed.measured:
            self._errors.add(*self._feed.measured.popleft())
        spent, total = self._index.spent, self._folder.manifest.data.count
        answered, failed = self._index.count("located", "unlocated"), self._index.count("failed")
        rate = self._ended_here / self._seconds if self._ended_here else None
        return RunProgress(
            total=total,
            done=answered + failed,
            answered=answered,
            unlocated=self._index.count("unlocated"),
            failed=failed,
            missing=max(0, total - answered - failed),
            measured=self._errors.measured,
            within_25km=self._errors.within(25.0),
            tokens=spent.usage.input_tokens + spent.usage.output_tokens,
            usd=spent.usage.cost_usd,
            seconds=self._earlier_s + self._seconds,
            rate=rate,
            eta_s=max(0, self._due - self._ended_here) / rate if rate else None,
            under_way=self._under_way,
            resting=self._listeners.resting(),
        )

    def words(self, why: Why) -> str:
        """Describe the ending for people."""
        progress = self.progress()
        left = plural(progress.missing, "photo is", "photos are")
        still = f"; {left} missing" if progress.missing else ""
        match why:
            case "done" if progress.missing == 0:
                failed = f", {progress.failed} of them failed" if progress.failed else ""
                return f"all {plural(progress.total, 'photo', 'photos')} are done{failed}"
            case "done" if self._rules.retry == "errors":
                return f"every photo that had failed was tried again{still}"
            case "done":
                return f"every photo of the data set was tried{still}"
            case "given up":
                often = f"{self._rules.give_up} times in a row"
                return f"stopped: {often} {one_line(self._trouble)}{still}; fix that and go on"
            case "stopped":
                return f"stopped{still}; what is finished is kept"
            case limit:
                reached = limit_words(self._rules.limits, limit, self._index.spent)
                return f"stopped at the run's limit of {reached}{still}; raise the limit to go on"


class LocalWorker:
    """A `Worker` whose attempts write directly into the run's folder."""

    def __init__(self, attempt: Attempt, folder: RunFolder) -> None:
        """Take the attempt, and the run's folder."""
        self._attempt, self._folder = attempt, folder

    async def __call__(self, job: Job) -> Attempted:
        """Run one try.

        Raises:
            UserError: the run can't continue.
        """
        return await self._attempt(job, self._folder.place(job.name, job.number))
