"""Runs on many machines, through Ray: tries run on the nodes, the run's folder stays here.

The run's folder, its journal and its budget stay with the driver: a node gets a photo, and returns the result with its
files. So if a node is lost, what was finished is on the driver's disk, and the rest goes to another node. Ray
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
import time
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
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

from .cluster_nodes import GateHolder, NodeRefused, NodeResult, NodeWorker
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
# Maximum processes that may die over one photo before it counts as failed.
MAX_DEATHS_PER_PHOTO = 3
_START_S = 120.0
_TEND_S = 2.0
_CALL_OFF_S = 5.0
_NO_LIMITS: Mapping[str, int] = MappingProxyType({})


@dataclass(slots=True, eq=False)
class NodeProcess:
    """A process on a node: how many tries it is running, and by what name it holds slots of hosts."""

    actor: Any
    node: str = ""
    holder: str = ""
    under_way: int = 0


def live_nodes(ray: Any) -> list[dict[str, Any]]:
    """Return what Ray says of each machine that takes work."""
    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]


async def check_versions(ray: Any, nodes: list[dict[str, Any]], within_s: float) -> None:
    """Check that every node has this version of geosleuth.

    Raises:
        BadInput: one has another version or none, or has no core free to reply.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # A nested function is sent whole: the node may not have any of our modules.
    def find_version() -> str:
        try:
            import geosleuth
        except ImportError:
            return "none"
        return geosleuth.__version__

    asked = [
        ray.remote(find_version)
        .options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False), num_cpus=0)
        .remote()
        for node in nodes
    ]
    for node, ref in zip(nodes, asked, strict=True):
        name = node.get("NodeManagerAddress") or node["NodeID"][:8]
        try:
            found = await asyncio.wait_for(_await_ref(ref), within_s)
        except TimeoutError:
            raise BadInput(f"node {name} did not answer within {within_s:.0f} s; check its load") from None
        except ray.exceptions.RayError as error:
            raise BadInput(f"node {name} can't be reached ({type(error).__name__}); check it") from error
        if found != __version__:
            raise BadInput(
                f"node {name} has geosleuth {found}, this machine {__version__}; install one version everywhere"
            )


def start_keeper(ray: Any, limits_per_host: dict[str, int]) -> Any:
    """Start the one process that holds the gates; it stays on the driver's own node, which the run needs anyway."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    keeper = ray.remote(GateHolder).options(
        num_cpus=0, max_restarts=-1, max_task_retries=-1, max_concurrency=100_000, scheduling_strategy=here
    )
    return keeper.remote(limits_per_host)


async def _await_ref(ref: Any) -> Any:
    return await ref


def quiet_environment() -> None:
    """Disable Ray's statistics and warnings; call it before Ray is imported."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)


def close_environment() -> None:
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
    """Return the token of this process; Ray remembers the first that it sees."""
    return secrets.token_hex(32)


@contextmanager
def join_cluster(address: str) -> Iterator[Any]:
    """Connect to a cluster and yield the module ray; what was started ends with the block. Takes seconds: use a thread.

    Raises:
        UserError: Ray is not installed, or there is no cluster at this address that this Python can join.
    """
    check_address(address)
    _check_listening(address)
    quiet_environment()
    if address == LOCAL:
        close_environment()
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
    """Check the port first: Ray takes minutes to report that nothing is listening."""
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
        # One level further down: Ray opens its own folder to all users.
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
    with _silence_function(require("ray._private.node", extra="lab").Node, "start_api_server"):
        yield


@contextmanager
def _not_on_stdout() -> Iterator[None]:
    """Keep Ray's messages about nodes off stdout, which it uses regardless of its logging settings.

    Stdout is for results; lost nodes are reported in our own words.
    """
    with _silence_function(require("ray._private.worker", extra="lab"), "print_to_stdstream"):
        yield


@contextmanager
def _silence_function(holder: Any, name: str) -> Iterator[None]:
    """Replace a function of Ray by a no-op; skip it if this version lacks it."""
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
    lives: int = MAX_DEATHS_PER_PHOTO,
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
        ray = await held.enter_async_context(_in_thread(join_cluster(address)))
        worker = RayWorker(ray, making, folder, at_once=at_once, gpus=gpus, lives=lives, say=say)
        held.push_async_callback(worker.aclose)
        await worker.start(dict(limits_per_host))
        yield worker


class RayWorker:
    """A `Worker` that gives each try to a free process. No photo is sent before its process is free for it.

    Ray spreads the processes over the nodes, and starts those that died again, elsewhere if their node is gone.
    """

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
        self._takes = 1
        self._started = 0
        self._begun = False
        self._processes: list[NodeProcess] = []
        self._free: list[NodeProcess] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._change = asyncio.Event()
        self._trouble: UserError | None = None

    async def start(self, limits_per_host: dict[str, int]) -> None:
        """Start processes, and wait for them.

        Raises:
            UserError: a node can't work.
        """
        nodes = await asyncio.to_thread(live_nodes, self._ray)
        if not nodes:
            raise BadInput("the cluster has no node with a free core; start one with: ray start --address=...")
        await check_versions(self._ray, nodes, _START_S)
        self._keeper = start_keeper(self._ray, limits_per_host)
        starting = self._staff(nodes)
        self._takes = math.ceil(self._at_once / len(starting))
        await asyncio.wait(starting, timeout=_START_S)
        self._begun = True
        if self._trouble is not None:
            raise self._trouble
        if not self._free:
            raise BadInput(f"no process could start within {_START_S:.0f} s; check that cores of the cluster are free")
        self._begin(self._tend())

    async def __call__(self, job: Job) -> Attempted:
        """Run one try; its files are in the run's folder when this returns.

        Raises:
            UserError: the run can't continue.
        """
        errors = self._ray.exceptions
        for _ in range(self._lives):
            process = await self._free_process()
            try:
                worked = await self._run_job(process, job)
            except errors.RayTaskError:
                raise
            except errors.RayError as error:
                self._lost(process, error)
                continue
            finally:
                process.under_way -= 1
                self._notify_change()
            if isinstance(worked, NodeRefused):
                raise UserError(f"node {process.node}: {worked.message}")
            if worked.attempted is not None:
                await asyncio.to_thread(self._write_kept_files, job, worked.files)
                return worked.attempted
        trouble = (
            f"the processes that worked on it died, {self._lives} times" if self._lives > 1 else "its process died"
        )
        return Attempted("failed", Answer(), "nobody", "error", Spent(), trouble)

    async def aclose(self) -> None:
        """End all processes of this run on the cluster."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        closing = [asyncio.ensure_future(_await_ref(process.actor.aclose.remote())) for process in self._free]
        if closing:
            await asyncio.wait(closing, timeout=_CALL_OFF_S)
            for item in closing:
                item.cancel()
            await asyncio.gather(*closing, return_exceptions=True)
        for actor in [*(process.actor for process in self._processes), self._keeper]:
            if actor is not None:
                with suppress(Exception):
                    self._ray.kill(actor)

    async def _run_job(self, process: NodeProcess, job: Job) -> NodeResult | NodeRefused:
        ref = process.actor.work.remote(job)
        answer: asyncio.Future[NodeResult | NodeRefused] = asyncio.ensure_future(_await_ref(ref))
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            # Its cost is worth knowing, if it can be read quickly.
            process.actor.call_off.remote(job.name, job.number)
            with suppress(Exception):
                worked = await asyncio.wait_for(answer, _CALL_OFF_S)
                if isinstance(worked, NodeResult):
                    self._write_kept_files(job, worked.files)
            raise

    def _write_kept_files(self, job: Job, files: Mapping[str, bytes]) -> None:
        own = self._folder.place(job.name, job.number)
        for name, content in files.items():
            if os.path.basename(name) != name or not name.startswith(f"{job.name}.{job.number}."):  # noqa: PTH119
                raise UserError(f"a node sent a file of another try: {name[:80]!r}")
            _write_kept_file(own.with_name(name), content)

    async def _free_process(self) -> NodeProcess:
        while True:
            process = min(self._free, key=lambda item: item.under_way, default=None)
            if process is not None and process.under_way < self._takes:
                process.under_way += 1
                return process
            if self._trouble is not None:
                raise self._trouble
            await self._change.wait()

    def _notify_change(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    def _lost(self, process: NodeProcess, error: Exception) -> None:
        """Release the host slots of a lost process, and wait for Ray to restart it."""
        if process in self._free:
            self._free.remove(process)
            self._keeper.release.remote(process.holder)
            self._say(f"a process on node {process.node} was lost ({type(error).__name__}); its photos go to others")
            self._begin(self._make_ready(process))

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _staff(self, nodes: list[dict[str, Any]]) -> list[asyncio.Task[None]]:
        wanted = min(self._at_once, sum(int(node["Resources"]["CPU"]) for node in nodes))
        # Some slots more than its tries: they are cancelled beside those in progress.
        remote = self._ray.remote(NodeWorker).options(
            scheduling_strategy="SPREAD",
            num_cpus=1,
            num_gpus=self._gpus,
            max_restarts=-1,
            max_concurrency=self._at_once + 8,
        )
        new = [NodeProcess(remote.remote(self._making, self._keeper)) for _ in range(self._started, wanted)]
        self._started += len(new)
        self._processes += new
        return [self._begin(self._make_ready(process)) for process in new]

    async def _make_ready(self, process: NodeProcess) -> None:
        """Wait until a process has loaded everything, however long Ray takes to start it."""
        errors = self._ray.exceptions
        while True:
            try:
                found = await _await_ref(process.actor.ready.remote())
            except errors.RayTaskError as error:
                found = NodeRefused(
                    f"a process can't start: {type(error).__name__}: {' '.join(str(error).split())[-300:]}"
                )
            except errors.RayError:
                await asyncio.sleep(_TEND_S)
                continue
            break
        if isinstance(found, NodeRefused):
            self._processes.remove(process)
            self._ray.kill(process.actor)
            self._say(found.message)
            if not self._begun or not self._free:
                self._trouble = BadInput(found.message)
        else:
            process.node, process.holder = found
            self._free.append(process)
        self._notify_change()

    async def _tend(self) -> None:
        """Add joining nodes, notice that none is left, and forward which hosts rest."""
        known: set[str] = set()
        worked_s = time.monotonic()
        while True:
            await asyncio.sleep(_TEND_S)
            self._staff(await asyncio.to_thread(live_nodes, self._ray))
            worked_s = time.monotonic() if self._free else worked_s
            if time.monotonic() - worked_s > _START_S:
                self._trouble = BadInput("no working node of the cluster is left; start one and run the command again")
                self._notify_change()
            with suppress(self._ray.exceptions.RayError):
                resting = set(await _await_ref(self._keeper.resting.remote()))
                for host in resting - known:
                    tell_listeners(HostNews(host, "resting"))
                for host in known - resting:
                    tell_listeners(HostNews(host, "back"))
                known = resting


@asynccontextmanager
async def _in_thread(slow: AbstractContextManager[Any]) -> AsyncIterator[Any]:
    """Enter and leave a slow context manager in a thread; it is always left once entered."""
    entering = asyncio.ensure_future(asyncio.to_thread(slow.__enter__))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.wait((entering,))
        if entering.exception() is None:
            await asyncio.to_thread(slow.__exit__, None, None, None)


def _write_kept_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error
