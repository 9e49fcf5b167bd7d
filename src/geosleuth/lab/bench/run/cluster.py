"""Runs on many machines, through Ray: tries run on the nodes, the run's folder stays here.

The run's folder, its journal and its budget stay with the driver: a node gets a photo, and returns the result with its
files. So whatever happens to a node, what was finished is on the driver's disk, and the rest goes to another node. Ray
itself repeats nothing: only the driver knows what is finished.
"""

import asyncio
import logging
import math
import os
import secrets
import shutil
import socket
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from geosleuth import __version__
from geosleuth.agent import Spent
from geosleuth.answer import Answer
from geosleuth.models.endpoints import HostNews, tell_listeners
from geosleuth.support.errors import BadInput, UserError, require

from .cluster_nodes import GateHolder, NodeResult, NodeWorker, Refused
from .folder import RunFolder
from .journal import Attempted, Job, Making

LOCAL = "local"
_CONNECT_S = 10.0
_QUIET = {
    # Ray sends usage statistics to its makers unless disabled.
    "RAY_USAGE_STATS_ENABLED": "0",
    # Otherwise Ray warns that it will stop hiding GPUs from processes that requested none.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
# Nodes then know this machine as 127.0.0.1; the variable is named after systems where this is the default.
_ON_LOOPBACK = ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
LIVES = 3
"""How many processes may die over one photo before it counts as failed."""
_START_S = 120.0
_TEND_S = 2.0
_CALL_OFF_S = 5.0
_NEWS_S = 20.0
_HUSH_S = 2.0
_NO_LIMITS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster that takes work."""

    id: str
    name: str
    cpus: int


@dataclass(slots=True, eq=False)
class NodeProcess:
    """A process on a node: how many tries it is running, and its capacity."""

    node: Node
    actor: Any
    holder: str
    takes: int
    under_way: int = 0


def nodes_of(ray: Any) -> list[Node]:
    """Return the live machines with a free core."""
    return [
        Node(one["NodeID"], one.get("NodeManagerAddress") or one["NodeID"][:8], int(one["Resources"].get("CPU", 0)))
        for one in ray.nodes()
        if one["Alive"] and one["Resources"].get("CPU", 0) >= 1
    ]


async def check_versions(ray: Any, nodes: list[Node], within_s: float) -> None:
    """Check that every node has this version of geosleuth.

    Raises:
        BadInput: one has another version or none, or has no core free to reply.
    """

    # A nested function is sent whole: the node may not have any of our modules.
    def installed() -> str:
        try:
            import geosleuth
        except ImportError:
            return "none"
        return geosleuth.__version__

    asked = [_on(ray.remote(installed), node, num_cpus=0).remote() for node in nodes]
    for node, ref in zip(nodes, asked, strict=True):
        try:
            found = await asyncio.wait_for(_awaited(ref), within_s)
        except TimeoutError:
            raise BadInput(f"node {node.name} did not answer within {within_s:.0f} s; check its load") from None
        except ray.exceptions.RayError as error:
            raise BadInput(f"node {node.name} can't be reached ({type(error).__name__}); check it") from error
        if found != __version__:
            raise BadInput(
                f"node {node.name} has geosleuth {found}, this machine {__version__}; install one version everywhere"
            )


def start_keeper(ray: Any, limits_per_host: dict[str, int]) -> Any:
    """Start the one process that holds the gates; it stays on the driver's own node, which the run needs anyway."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    keeper = ray.remote(GateHolder).options(
        num_cpus=0, max_restarts=-1, max_concurrency=100_000, scheduling_strategy=here
    )
    return keeper.remote(limits_per_host)


def start_process(ray: Any, node: Node, making: Making, keeper: Any, *, takes: int, gpus: float) -> NodeProcess:
    """Start a process on a node; it is not ready yet."""
    holder = uuid.uuid4().hex
    # At least one slot more than its tries: they are cancelled beside those in progress.
    made = _on(ray.remote(NodeWorker), node, num_cpus=1, num_gpus=gpus, max_restarts=0, max_concurrency=takes + 8)
    return NodeProcess(node, made.remote(making, keeper, holder), holder, takes)


async def make_ready(process: NodeProcess) -> Refused | None:
    """Wait until a process has loaded everything; return its refusal, if any."""
    found: Refused | None = await process.actor.ready.remote()
    return found


def shares(nodes: list[Node], at_once: int) -> dict[str, list[int]]:
    """Return how many processes each node gets, and how many tries each takes: in total ``at_once`` or a few more."""
    processes = {node.id: min(node.cpus, math.ceil(at_once / len(nodes))) for node in nodes}
    takes = math.ceil(at_once / sum(processes.values()))
    return {node.id: [takes] * processes[node.id] for node in nodes}


def _on(remote: Any, node: Node, **options: Any) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return remote.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False), **options)


async def _awaited(ref: Any) -> Any:
    return await ref


def quiet_environment() -> None:
    """Disable Ray's statistics and warnings; call it before Ray is imported."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)


def closed_environment() -> None:
    """Make a Ray that this process starts listen on loopback only, and require this process's token.

    By default, newer versions of Ray put a token into the user's home, which changes how every later Ray there starts.
    Call it before Ray is imported.
    """
    os.environ.setdefault(*_ON_LOOPBACK)
    if "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", _token())


@cache
def _token() -> str:
    """Return the token of this process: Ray remembers the first that it has seen."""
    return secrets.token_hex(32)


@contextmanager
def joined(address: str) -> Iterator[Any]:
    """Connect to a cluster and yield the module ray; what was started ends with the block. Takes seconds: use a thread.

    Raises:
        UserError: Ray is not installed, or there is no cluster at this address that this Python can join.
    """
    check_address(address)
    _check_listening(address)
    quiet_environment()
    if address == LOCAL:
        closed_environment()
    ray: Any = require("ray", extra="lab")
    if ray.is_initialized():
        yield ray
        return
    # Short, because socket paths may have only about a hundred characters; and private, since photos pass
    # through it.
    folder = tempfile.mkdtemp(prefix="gs-", dir=_short_folder()) if address == LOCAL else None
    try:
        with _not_on_stdout():
            _init(ray, address, folder)
            try:
                yield ray
            finally:
                ray.shutdown()
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def check_address(address: str) -> None:
    """Check the address of a cluster.

    Raises:
        BadInput: it is not one.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if address not in (LOCAL, "auto") and not (host and colon and port.isdecimal()):
        raise BadInput(
            f"{address[:80]!r} is not the address of a cluster; give local, auto, HOST:PORT or ray://HOST:PORT"
        )


def _check_listening(address: str) -> None:
    """Check the port first: Ray takes minutes to report that nobody is there."""
    if address in (LOCAL, "auto"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S):
            return
    except (OSError, OverflowError) as error:
        raise BadInput(
            f"nothing listens at {address}: {error}; check that the cluster runs and that this is its head's port"
        ) from error


def _init(ray: Any, address: str, folder: str | None) -> None:
    options: dict[str, Any] = {}
    if folder is not None:
        # One level further down: Ray opens its own folder to everybody.
        options = {"include_dashboard": False, "_temp_dir": os.path.join(folder, "r")}  # noqa: PTH118  # Ray wants text
    try:
        with without_api_server():
            ray.init(
                address=address,
                namespace=f"geosleuth-{uuid.uuid4().hex}",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **options,
            )
    except (ImportError, ConnectionError, ValueError, RuntimeError, AssertionError, TimeoutError, OSError) as error:
        ray.shutdown()
        said = " ".join(str(error).split())[:200]
        raise BadInput(f"the Ray cluster {address!r} can't be joined: {said}; {_advice(address)}") from error


def _advice(address: str) -> str:
    if address == LOCAL:
        return "check for free space in /dev/shm and in the folder for temporary files"
    if address == "auto":
        return "start one here with: ray start --head, or give its address"
    if address.startswith("ray://"):
        return "it needs the same Ray and Python on both sides, and 'ray[client]' installed"
    return "run this on a machine of the cluster; if it requires a token, set RAY_AUTH_MODE=token here too"


@contextmanager
def without_api_server() -> Iterator[None]:
    """Start Ray in this block without the dashboard server, which its head would start in any case.

    Even with the dashboard and all statistics off, it asks cloud providers' metadata services where it runs. A run
    that stays on this machine must not contact anybody.
    """
    with _silenced(require("ray._private.node", extra="lab").Node, "start_api_server"):
        yield


@contextmanager
def _not_on_stdout() -> Iterator[None]:
    """Keep Ray's messages about nodes off stdout, which it uses whatever its logging settings.

    Stdout is for results; lost nodes are reported in our own words.
    """
    with _silenced(require("ray._private.worker", extra="lab"), "print_to_stdstream"):
        yield


@contextmanager
def _silenced(holder: Any, name: str) -> Iterator[None]:
    """Replace a function of Ray's by one that does nothing; skip it if a version does not have it."""
    usual = getattr(holder, name, None)
    if usual is None:
        yield
        return

    def nothing(*_given: Any, **_options: Any) -> None:
        """Do nothing."""

    setattr(holder, name, nothing)
    try:
        yield
    finally:
        setattr(holder, name, usual)


def _short_folder() -> str | None:
    return "/tmp" if sys.platform != "win32" and os.access("/tmp", os.W_OK) else None  # noqa: S108  # made with mkdtemp


def _no_messages(_words: str) -> None:
    """Ignore messages."""


@asynccontextmanager
async def ray_worker(
    address: str,
    making: Making,
    folder: RunFolder,
    *,
    at_once: int,
    limits_per_host: Mapping[str, int] = _NO_LIMITS,
    gpus: float = 0.0,
    lives: int = LIVES,
    say: Callable[[str], None] = _no_messages,
) -> AsyncIterator["RayWorker"]:
    """Yield a worker whose tries run on the nodes of a Ray cluster.

    Args:
        address: "local" starts a Ray on this machine and ends it; "auto" joins the cluster that this machine is part
            of; HOST:PORT or ray://HOST:PORT the cluster there.
        making: makes the attempt, once in each process; it is sent to the nodes and must hold no key. Nodes take keys
            from their own environment.
        folder: the run.
        at_once: the most tries in progress, over all nodes.
        limits_per_host: the most requests to a host at once, over all nodes; other hosts use the limits of the
            clients' settings.
        gpus: the share of a GPU that each process gets.
        lives: how many processes may die over one photo before it counts as failed.
        say: receives messages about nodes that join, leave or can't be used.

    Raises:
        UserError: the cluster can't be joined, or a node has another geosleuth or is not set up correctly.
    """
    check_address(address)
    async with AsyncExitStack() as held:
        ray = await held.enter_async_context(_in_thread(joined(address)))
        worker = RayWorker(ray, making, folder, at_once=at_once, gpus=gpus, lives=lives, say=say)
        held.push_async_callback(worker.aclose)
        await worker.start(dict(limits_per_host))
        yield worker


class RayWorker:
    """A `Worker` that gives each try to a free process. No photo is sent before its process is free for it."""

    def __init__(
        self,
        ray: Any,
        making: Making,
        folder: RunFolder,
        *,
        at_once: int,
        gpus: float,
        lives: int,
        say: Callable[[str], None],
    ) -> None:
        """Use `ray_worker` to create one."""
        self._ray, self._making, self._folder = ray, making, folder
        self._at_once, self._gpus, self._lives, self._say = at_once, gpus, lives, say
        self._keeper: Any = None
        self._processes: list[NodeProcess] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._shares: dict[str, list[int]] = {}
        self._left_out: dict[str, str] = {}
        self._not_started = ""
        self._closing = False
        self._change = asyncio.Event()
        self._trouble: UserError | None = None

    @property
    def slots(self) -> int:
        """Return how many tries can be in progress now."""
        return sum(process.takes for process in self._processes)

    async def start(self, limits_per_host: dict[str, int]) -> None:
        """Start a process on every node, and wait for them.

        Raises:
            UserError: a node can't work.
        """
        nodes = await asyncio.to_thread(nodes_of, self._ray)
        if not nodes:
            raise BadInput("the cluster has no node with a free core; start one with: ray start --address=...")
        await check_versions(self._ray, nodes, _START_S)
        self._keeper = start_keeper(self._ray, limits_per_host)
        for node in nodes:
            self._staff(node, shares(nodes, self._at_once)[node.id])
        started, late = await asyncio.wait(self._starting, timeout=_START_S)
        for task in started:
            task.result()
        if self._left_out:
            raise BadInput(next(iter(self._left_out.values())))
        if not self._processes and not late:
            raise BadInput(f"no node of the cluster could start; {self._not_started}")
        self._tasks = [asyncio.create_task(self._tend()), asyncio.create_task(self._pass_on_news())]

    async def __call__(self, job: Job) -> Attempted:
        """Run one try; its files are in the run's folder when this returns.

        Raises:
            UserError: the run can't continue.
        """
        errors = self._ray.exceptions
        for _ in range(self._lives):
            process = await self._free_process()
            try:
                worked = await self._worked(process, job)
            except errors.RayTaskError:
                raise
            except errors.RayError as error:
                self._lost(process, error)
                continue
            finally:
                process.under_way -= 1
                self._changed()
            if isinstance(worked, Refused):
                raise UserError(f"node {process.node.name}: {worked.message}")
            if worked.attempted is not None:
                await asyncio.to_thread(self._keep, job, worked.files)
                return worked.attempted
        trouble = (
            f"the processes that worked on it died, {self._lives} times" if self._lives > 1 else "its process died"
        )
        return Attempted("failed", Answer(), "nobody", "error", Spent(), trouble)

    async def aclose(self) -> None:
        """End all processes of this run on the cluster."""
        self._closing = True
        tasks = [*self._tasks, *self._starting]
        if self._tasks:
            # Ray's client logs a lot about calls that nobody awaits, so this one is awaited to its end.
            self._keeper.stop_news.remote()
            await asyncio.wait(self._tasks[-1:], timeout=_HUSH_S)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        closing = [asyncio.ensure_future(_awaited(process.actor.aclose.remote())) for process in self._processes]
        if closing:
            await asyncio.wait(closing, timeout=_CALL_OFF_S)
            for one in closing:
                one.cancel()
            await asyncio.gather(*closing, return_exceptions=True)
        for actor in [*(process.actor for process in self._processes), self._keeper]:
            self._kill(actor)
        self._processes.clear()

    async def _worked(self, process: NodeProcess, job: Job) -> NodeResult | Refused:
        ref = process.actor.work.remote(job)
        answer: asyncio.Future[NodeResult | Refused] = asyncio.ensure_future(_awaited(ref))
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            # Its cost is worth knowing, if it can be read quickly.
            process.actor.call_off.remote(job.name, job.number)
            with suppress(Exception):
                worked = await asyncio.wait_for(answer, _CALL_OFF_S)
                if isinstance(worked, NodeResult):
                    self._keep(job, worked.files)
            raise

    def _keep(self, job: Job, files: Mapping[str, bytes]) -> None:
        """Write the files that a node kept of a try; the journal makes them count."""
        own = self._folder.place(job.name, job.number)
        for name, content in files.items():
            if os.path.basename(name) != name or not name.startswith(f"{job.name}.{job.number}."):  # noqa: PTH119
                raise UserError(f"a node sent a file of another try: {name[:80]!r}")
            _write(own.with_name(name), content)

    async def _free_process(self) -> NodeProcess:
        while True:
            free = [process for process in self._processes if process.under_way < process.takes]
            if free:
                process = min(free, key=lambda one: one.under_way / one.takes)
                process.under_way += 1
                return process
            if self._trouble is not None:
                raise self._trouble
            await self._change.wait()

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    def _lost(self, process: NodeProcess, error: Exception) -> None:
        """Drop a process that is gone or unreachable: it must neither continue nor keep slots of hosts."""
        if process not in self._processes:
            return
        self._processes.remove(process)
        self._kill(process.actor)
        self._keeper.release.remote(process.holder)
        self._say(f"a process on node {process.node.name} was lost ({type(error).__name__}); its photos go to others")
        self._changed()

    def _kill(self, actor: Any) -> None:
        if actor is not None:
            with suppress(Exception):
                self._ray.kill(actor)

    def _staff(self, node: Node, takes: list[int]) -> None:
        self._shares[node.id] = takes
        present = sum(process.node.id == node.id for process in self._processes)
        for one in takes[present:]:
            task = asyncio.create_task(self._start_on(node, one))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _start_on(self, node: Node, takes: int) -> None:
        process = start_process(self._ray, node, self._making, self._keeper, takes=takes, gpus=self._gpus)
        try:
            refused = await make_ready(process)
        except self._ray.exceptions.RayTaskError as error:
            self._kill(process.actor)
            if not self._tasks:
                raise
            self._leave_out(node, type(error).__name__)
            return
        except self._ray.exceptions.RayError as error:
            self._kill(process.actor)
            self._not_started = f"node {node.name}: {' '.join(str(error).split())[-300:]}"
            return
        except asyncio.CancelledError:
            self._kill(process.actor)
            raise
        if refused is not None:
            self._kill(process.actor)
            self._leave_out(node, refused.message)
            return
        self._processes.append(process)
        self._trouble = None
        self._changed()

    def _leave_out(self, node: Node, why: str) -> None:
        self._left_out[node.id] = f"node {node.name}: {why}"
        if self._tasks:
            self._say(f"node {node.name} is left out: {why}")

    async def _tend(self) -> None:
        """Replace lost processes, and start some on nodes that join."""
        while True:
            await asyncio.sleep(_TEND_S)
            nodes = await asyncio.to_thread(nodes_of, self._ray)
            if self._starting:
                continue
            for node in nodes:
                if node.id in self._left_out:
                    continue
                if node.id not in self._shares:
                    self._say(f"node {node.name} has joined")
                usual = max(self._shares.values(), key=len)
                self._staff(node, self._shares.get(node.id, usual[: node.cpus]))
            if not self._starting and not self._processes:
                self._trouble = BadInput("no working node of the cluster is left; start one and run the command again")
                self._changed()

    async def _pass_on_news(self) -> None:
        """Forward what the gate keeper learns about hosts."""
        newest = 0
        while not self._closing:
            try:
                found: list[tuple[int, HostNews]] = await self._keeper.news.remote(newest, _NEWS_S)
            except self._ray.exceptions.RayError:
                # It was restarted and counts from zero.
                newest = 0
                await asyncio.sleep(_TEND_S)
                continue
            for number, news in found:
                newest = number
                tell_listeners(news)


@asynccontextmanager
async def _in_thread(slow: AbstractContextManager[Any]) -> AsyncIterator[Any]:
    """Enter and leave a slow context manager in a thread; what was entered is always left."""
    entering = asyncio.ensure_future(asyncio.to_thread(slow.__enter__))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.wait((entering,))
        if entering.exception() is None:
            await asyncio.to_thread(slow.__exit__, None, None, None)


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error
