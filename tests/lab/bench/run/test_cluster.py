"""Runs on a Ray cluster of three nodes: the same results as without it, whatever dies, and limits that hold for all."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from geosleuth.lab.bench.run import cluster as ray_cluster
from geosleuth.lab.bench.run.cluster import ray_worker
from geosleuth.lab.bench.run.engine import Ending, LocalWorker, RunListeners, RunRules, run_set
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.run.journal import TryRecord
from geosleuth.models import EndpointSettings
from geosleuth.support.errors import BadInput, UserError
from openai_server import Reply, Request, failure, openai_server
from ray_nodes import Nodes, ray_nodes
from served_runs import ServedMaking, ServedReady, begin, coloured_set, says

KEY = "-".join(("sk", "only", "on", "nodes", "0123456789"))
PLENTY = EndpointSettings(concurrency=64)
FEW = EndpointSettings(concurrency=4)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Nodes]:
    with ray_nodes(GEOSLEUTH_SERVER_KEY=KEY) as nodes:
        yield nodes


@pytest.fixture
def nodes(cluster: Nodes) -> Nodes:
    cluster.make_three()
    return cluster


def slowly(delay_s: float) -> Callable[[Request], Reply]:
    """The model takes its time."""

    def reply(request: Request) -> Reply:
        said = says(request)
        return Reply(said.body, delay_s=delay_s)

    return reply


@dataclass
class Marks:
    """Which tries began and ended in which process, as the processes themselves wrote it down."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir()

    def read(self, what: str) -> list[tuple[str, int]]:
        """Photo and process, in order."""
        path = self.folder / f"{what}.txt"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [(id_, int(pid)) for id_, _, pid in (line.partition(" ") for line in lines)]

    def unfinished(self) -> dict[int, set[str]]:
        """What each process has begun and not ended."""
        left: dict[int, set[str]] = {}
        ended = set(self.read("ended"))
        for id_, pid in self.read("began"):
            left.setdefault(pid, set())
            if (id_, pid) not in ended:
                left[pid].add(id_)
        return left


def run_here(url: str, folder: Path, photos: int) -> Ending:
    """The plain run to compare with."""

    async def go() -> Ending:
        ready = await ServedMaking(url, PLENTY)()
        try:
            with begin(folder, photos) as run:
                return await run_set(coloured_set(photos), run, LocalWorker(ready.attempt, run), at_once=16)
        finally:
            await ready.aclose()

    return asyncio.run(go())


@dataclass
class ClusterRun:
    """One command's work on the cluster; ``meanwhile`` goes on beside it."""

    nodes: Nodes
    making: ServedMaking
    folder: Path
    photos: int
    at_once: int = 6
    lives: int = 3
    limits: dict[str, int] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    entered: list[str] = field(default_factory=list)

    async def go(self, meanwhile: Callable[[], None] | None = None) -> Ending:
        def enter(record: TryRecord) -> None:
            self.entered.append(record.id)

        with begin(self.folder, self.photos) as run:
            async with ray_worker(
                self.nodes.address,
                self.making,
                run,
                at_once=self.at_once,
                limits_per_host=self.limits,
                lives=self.lives,
                say=self.said.append,
            ) as worker:
                beside = asyncio.create_task(asyncio.to_thread(meanwhile or (lambda: None)))
                ending = await run_set(
                    coloured_set(self.photos),
                    run,
                    worker,
                    at_once=3 * self.at_once,
                    listeners=RunListeners(ended=enter),
                    rules=RunRules(give_up=self.photos),
                )
                await beside
        return ending


def wait_for(happened: Callable[[], bool], within_s: float = 60.0) -> None:
    """Until it has happened."""
    until = time.monotonic() + within_s
    while not happened():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.02)


def content_of(path: Path) -> bytes:
    """What is in a file; nothing where it is none, or gone."""
    with suppress(OSError):
        return path.read_bytes() if path.is_file() else b""
    return b""


def results(folder: Path) -> bytes:
    return (folder / "results.jsonl").read_bytes()


@pytest.mark.slow
def test_a_node_that_is_killed_loses_nothing_and_changes_nothing(
    nodes: Nodes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    photos = 28
    marks = Marks(tmp_path / "marks")
    before: list[str] = []
    lost: set[str] = set()
    with openai_server([slowly(0.3)]) as url:
        run = ClusterRun(nodes, ServedMaking(url, FEW, marks.folder), tmp_path / "cluster", photos)

        def kill_one() -> None:
            """As soon as some are finished, and one on another node than the driver's is under way."""
            victims: list[int] = []

            def is_time() -> bool:
                victims[:] = [pid for pid, ids in marks.unfinished().items() if ids and nodes.of_process(pid)]
                return len(run.entered) >= 8 and bool(victims)

            wait_for(is_time)
            before.extend(run.entered)
            nodes.kill(nodes.of_process(victims[0]), victims[0])
            lost.update(marks.unfinished()[victims[0]])

        ending = asyncio.run(run.go(kill_one))
        keys = {request.headers["authorization"] for request in url.requests}
        at_once = url.most_at_once
        plain = run_here(url, tmp_path / "plain", photos)
    assert (ending.why, ending.progress.answered) == ("done", photos)
    assert (plain.why, plain.progress.answered) == ("done", photos)
    assert results(tmp_path / "cluster") == results(tmp_path / "plain")
    with RunFolder.read(tmp_path / "cluster") as folder:
        assert Counter(one.id for one in folder.tries()) == {f"photo-{number}": 1 for number in range(photos)}
    # What the killed process had under way was done again elsewhere; what was finished before was not.
    times = Counter(id_ for id_, _ in marks.read("began"))
    assert lost
    assert all(times[id_] >= 2 for id_ in lost), (times, run.said)
    assert all(times[id_] == 1 for id_ in before), (times, run.said)
    assert len({pid for _, pid in marks.read("began")}) >= 3
    assert any("was lost" in line for line in run.said)
    # Six photos are under way on three nodes; the host takes four calls, whoever makes them.
    assert at_once <= 4
    assert capfd.readouterr().out == "", "stdout is for results"
    # Nodes have the key from their own environment, and nothing of Ray's wrote it down.
    assert keys == {f"Bearer {KEY}"}
    assert len(list(nodes.folder.rglob("*.log"))) > 5
    assert not [path for path in nodes.folder.rglob("*") if KEY.encode() in content_of(path)]


@pytest.mark.slow
def test_without_being_given_to_others_the_photos_of_a_dead_process_fail(nodes: Nodes, tmp_path: Path) -> None:
    """The control: nobody but the driver repeats anything. The process is replaced, and the rest goes on."""
    photos = 18
    marks = Marks(tmp_path / "marks")
    with openai_server([slowly(0.3)]) as url:
        run = ClusterRun(nodes, ServedMaking(url, PLENTY, marks.folder), tmp_path / "run", photos, lives=1)

        def kill_one() -> None:
            wait_for(lambda: len(run.entered) >= 4 and any(marks.unfinished().values()))
            os.kill(next(pid for pid, ids in marks.unfinished().items() if ids), signal.SIGKILL)

        ending = asyncio.run(run.go(kill_one))
        assert ending.why == "done"
        assert 1 <= ending.progress.failed <= 2
        assert ending.progress.answered == photos - ending.progress.failed
        errors = (tmp_path / "run" / "errors.jsonl").read_text(encoding="utf-8")
        assert "its process died" in errors


@pytest.mark.slow
def test_limits_per_host_and_rests_hold_for_all_nodes_together(nodes: Nodes, tmp_path: Path) -> None:
    photos = 12
    down_until: list[float] = []

    def reply(request: Request) -> Reply:
        if len(url.requests) == 8:
            down_until.append(time.monotonic() + 1.5)
        return failure(500) if down_until and time.monotonic() < down_until[0] else slowly(0.05)(request)

    settings = EndpointSettings(
        concurrency=2, tries=8, backoff_s=0.02, backoff_max_s=0.1, breaker_failures=3, breaker_rest_s=0.5
    )
    with openai_server([reply]) as url:
        run = ClusterRun(nodes, ServedMaking(url, settings), tmp_path / "run", photos)
        ending = asyncio.run(run.go())
    assert ending.progress.answered == photos
    assert url.most_at_once == 2
    assert len(url.requests) <= photos * 2 + 10, "while the host rests, one at a time asks"


@pytest.mark.slow
def test_no_more_photos_travel_than_there_are_slots(nodes: Nodes, tmp_path: Path) -> None:
    with openai_server([slowly(0.05)]) as url:
        host = url.root.removeprefix("http://")
        run = ClusterRun(nodes, ServedMaking(url, PLENTY), tmp_path / "run", 12, at_once=3, limits={host: 50})
        ending = asyncio.run(run.go())
    assert ending.progress.answered == 12
    assert url.most_at_once <= 3


@pytest.mark.slow
def test_a_run_that_is_called_off_keeps_what_was_spent(nodes: Nodes, tmp_path: Path) -> None:
    marks = Marks(tmp_path / "marks")

    async def go(url: str) -> None:
        run = ClusterRun(nodes, ServedMaking(url, PLENTY, marks.folder), tmp_path / "run", 12)
        work = asyncio.create_task(run.go())
        await asyncio.to_thread(wait_for, lambda: len(run.entered) >= 2 and len(marks.read("began")) >= 6)
        await asyncio.sleep(0.7)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    with openai_server([slowly(0.5)]) as url:
        asyncio.run(go(url))
    with RunFolder.read(tmp_path / "run") as folder:
        tries = list(folder.tries())
    assert sum(one.outcome == "answered" for one in tries) >= 2
    cut = [one for one in tries if one.outcome == "interrupted"]
    assert cut
    assert any(one.spent.turns == 1 for one in cut)


@pytest.mark.slow
@pytest.mark.usefixtures("nodes")
def test_a_ray_of_this_machine_alone_leaves_nothing_behind(tmp_path: Path) -> None:
    def own_folders() -> set[Path]:
        return set(Path("/tmp").glob("gs-*"))  # noqa: S108

    async def go(url: str) -> Ending:
        with begin(tmp_path / "run", 6) as run:
            async with ray_worker("local", ServedMaking(url, PLENTY), run, at_once=4) as worker:
                (folder,) = own_folders() - before
                assert folder.stat().st_mode & 0o077 == 0, "photos pass through it"
                return await run_set(coloured_set(6), run, worker, at_once=4)

    before = own_folders()
    with openai_server([says]) as url:
        ending = asyncio.run(go(url))
        run_here(url, tmp_path / "plain", 6)
    assert ending.progress.answered == 6
    assert results(tmp_path / "run") == results(tmp_path / "plain")
    assert own_folders() <= before


@dataclass(frozen=True, slots=True)
class Unwilling:
    """A making that finds something to mend on its node."""

    async def __call__(self) -> ServedReady:
        raise BadInput("set GEOSLEUTH_SERVER_KEY")


@pytest.mark.slow
def test_what_must_be_mended_is_said_before_anything_is_done(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start(making: ServedMaking | Unwilling) -> None:
        with begin(tmp_path / "run", 1) as run:
            async with ray_worker(nodes.address, making, run, at_once=2):
                raise AssertionError("it can't have begun")

    with pytest.raises(UserError, match=r"^node [0-9.]+: set GEOSLEUTH_SERVER_KEY$"):
        asyncio.run(start(Unwilling()))
    monkeypatch.setattr(ray_cluster, "__version__", "99.0")
    with pytest.raises(BadInput, match=r"has geosleuth [0-9.]+, this machine 99.0; install one version"):
        asyncio.run(start(ServedMaking("http://127.0.0.1:9/v1", PLENTY)))
