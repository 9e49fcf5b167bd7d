"""Handing a run's tries to the processes of a Ray cluster.

The run's folder, its journal and its budget stay with the driver: a node gets a photo, and gives back what came of it
with the files it kept. So whatever happens to a node, what was finished is on the driver's disk; what was not is given
to somebody else. Ray itself repeats nothing: only the driver knows what is finished.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from geosleuth.agent import Spent
from geosleuth.answer import Answer
from geosleuth.bench.run.folder import RunFolder
from geosleuth.bench.run.model import Attempted, Job, Making
from geosleuth.errors import BadInput, UserError
from geosleuth.policies.gates import HostNews, tell_listeners

from .hands import Hand, Node, check_versions, make_ready, nodes_of, shares, start_hand, start_keeper
from .joining import check_address, joined
from .node import Refused, Worked

LIVES = 3
"""How many processes may die over one photo before it counts as failed."""
_START_S = 120.0
_TEND_S = 2.0
_CALL_OFF_S = 5.0
_NEWS_S = 20.0
_HUSH_S = 2.0
_NO_LIMITS: Mapping[str, int] = MappingProxyType({})


def _nobody(_words: str) -> None:
    """Nobody listens."""


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
    say: Callable[[str], None] = _nobody,
) -> AsyncIterator["RayWorker"]:
    """A worker whose tries are made on the nodes of a Ray cluster.

    Args:
        address: "local" starts a Ray of this machine alone and ends it; "auto" joins the cluster that this machine is
            part of; HOST:PORT or ray://HOST:PORT the cluster there.
        making: makes the attempt, once in each process; it is sent to the nodes and must hold no key. Nodes take keys
            from their own environment.
        folder: the run.
        at_once: how many tries are under way at most, all nodes together.
        limits_per_host: how many requests a host gets at once, all nodes together; for others, what those who ask
            have in their settings.
        gpus: how much of a GPU each process gets.
        lives: how many processes may die over one photo before it counts as failed.
        say: hears of nodes that come, go or can't be used.

    Raises:
        UserError: the cluster can't be joined, a node has another geosleuth, or can't work as it is set up.
    """
    check_address(address)
    async with AsyncExitStack() as held:
        ray = await held.enter_async_context(_in_thread(joined(address)))
        worker = RayWorker(ray, making, folder, at_once=at_once, gpus=gpus, lives=lives, say=say)
        held.push_async_callback(worker.aclose)
        await worker.start(dict(limits_per_host))
        yield worker


class RayWorker:
    """A `Worker`: takes a try to a process that is free. No photo travels before its process is free for it."""

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
        """Made by `ray_worker`."""
        self._ray, self._making, self._folder = ray, making, folder
        self._at_once, self._gpus, self._lives, self._say = at_once, gpus, lives, say
        self._keeper: Any = None
        self._hands: list[Hand] = []
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
        """How many tries can be under way now."""
        return sum(hand.takes for hand in self._hands)

    async def start(self, limits_per_host: dict[str, int]) -> None:
        """Start a process on every node, and wait for them.

        Raises:
            UserError: a node can't work.
        """
        nodes = await asyncio.to_thread(nodes_of, self._ray)
        if not nodes:
            raise BadInput("the cluster has no node with a core to work with; start one with: ray start --address=...")
        await check_versions(self._ray, nodes, _START_S)
        self._keeper = start_keeper(self._ray, limits_per_host)
        for node in nodes:
            self._staff(node, shares(nodes, self._at_once)[node.id])
        started, late = await asyncio.wait(self._starting, timeout=_START_S)
        for task in started:
            task.result()
        if self._left_out:
            raise BadInput(next(iter(self._left_out.values())))
        if not self._hands and not late:
            raise BadInput(f"no node of the cluster could start to work; {self._not_started}")
        self._tasks = [asyncio.create_task(self._tend()), asyncio.create_task(self._pass_on_news())]

    async def __call__(self, job: Job) -> Attempted:
        """Have one try made; its files are in the run's folder when this returns.

        Raises:
            UserError: the run can't go on.
        """
        errors = self._ray.exceptions
        for _ in range(self._lives):
            hand = await self._free_hand()
            try:
                worked = await self._worked(hand, job)
            except errors.RayTaskError:
                raise
            except errors.RayError as error:
                self._lost(hand, error)
                continue
            finally:
                hand.under_way -= 1
                self._changed()
            if isinstance(worked, Refused):
                raise UserError(f"node {hand.node.name}: {worked.message}")
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
            # Ray's client says a lot about calls that nobody waits for; so this one is ended and not just left.
            self._keeper.hush.remote()
            await asyncio.wait(self._tasks[-1:], timeout=_HUSH_S)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        closing = [asyncio.ensure_future(_awaited(hand.actor.aclose.remote())) for hand in self._hands]
        if closing:
            await asyncio.wait(closing, timeout=_CALL_OFF_S)
            for one in closing:
                one.cancel()
            await asyncio.gather(*closing, return_exceptions=True)
        for actor in [*(hand.actor for hand in self._hands), self._keeper]:
            self._kill(actor)
        self._hands.clear()

    async def _worked(self, hand: Hand, job: Job) -> Worked | Refused:
        ref = hand.actor.work.remote(job)
        answer: asyncio.Future[Worked | Refused] = asyncio.ensure_future(_awaited(ref))
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            # What it has spent is worth knowing, if that can be had quickly.
            hand.actor.call_off.remote(job.name, job.number)
            with suppress(Exception):
                worked = await asyncio.wait_for(answer, _CALL_OFF_S)
                if isinstance(worked, Worked):
                    self._keep(job, worked.files)
            raise

    def _keep(self, job: Job, files: Mapping[str, bytes]) -> None:
        """Write what a node kept of a try; the journal makes it safe before it counts."""
        own = self._folder.place(job.name, job.number)
        for name, content in files.items():
            if os.path.basename(name) != name or not name.startswith(f"{job.name}.{job.number}."):  # noqa: PTH119
                raise UserError(f"a node sent a file that is none of this try's: {name[:80]!r}")
            _write(own.with_name(name), content)

    async def _free_hand(self) -> Hand:
        while True:
            free = [hand for hand in self._hands if hand.under_way < hand.takes]
            if free:
                hand = min(free, key=lambda one: one.under_way / one.takes)
                hand.under_way += 1
                return hand
            if self._trouble is not None:
                raise self._trouble
            await self._change.wait()

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    def _lost(self, hand: Hand, error: Exception) -> None:
        """A process is gone, or can't be reached: it must not go on either, nor keep slots of hosts."""
        if hand not in self._hands:
            return
        self._hands.remove(hand)
        self._kill(hand.actor)
        self._keeper.bury.remote(hand.holder)
        self._say(f"a process on node {hand.node.name} was lost ({type(error).__name__}); its photos go to others")
        self._changed()

    def _kill(self, actor: Any) -> None:
        if actor is not None:
            with suppress(Exception):
                self._ray.kill(actor)

    def _staff(self, node: Node, takes: list[int]) -> None:
        self._shares[node.id] = takes
        present = sum(hand.node.id == node.id for hand in self._hands)
        for one in takes[present:]:
            task = asyncio.create_task(self._start_on(node, one))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _start_on(self, node: Node, takes: int) -> None:
        hand = start_hand(self._ray, node, self._making, self._keeper, takes=takes, gpus=self._gpus)
        try:
            refused = await make_ready(hand)
        except self._ray.exceptions.RayTaskError as error:
            self._kill(hand.actor)
            if not self._tasks:
                raise
            self._leave_out(node, type(error).__name__)
            return
        except self._ray.exceptions.RayError as error:
            self._kill(hand.actor)
            self._not_started = f"node {node.name}: {' '.join(str(error).split())[-300:]}"
            return
        except asyncio.CancelledError:
            self._kill(hand.actor)
            raise
        if refused is not None:
            self._kill(hand.actor)
            self._leave_out(node, refused.message)
            return
        self._hands.append(hand)
        self._trouble = None
        self._changed()

    def _leave_out(self, node: Node, why: str) -> None:
        self._left_out[node.id] = f"node {node.name}: {why}"
        if self._tasks:
            self._say(f"node {node.name} is left out: {why}")

    async def _tend(self) -> None:
        """Put new processes in the place of those that were lost, and on nodes that join."""
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
            if not self._starting and not self._hands:
                self._trouble = BadInput("no node of the cluster is left that could work; start one and go on")
                self._changed()

    async def _pass_on_news(self) -> None:
        """What the keeper learns about hosts is for whoever listens here."""
        newest = 0
        while not self._closing:
            try:
                found: list[tuple[int, HostNews]] = await self._keeper.news.remote(newest, _NEWS_S)
            except self._ray.exceptions.RayError:
                # It is started anew, and counts from the beginning.
                newest = 0
                await asyncio.sleep(_TEND_S)
                continue
            for number, news in found:
                newest = number
                tell_listeners(news)


@asynccontextmanager
async def _in_thread(slow: AbstractContextManager[Any]) -> AsyncIterator[Any]:
    """Enter and leave what takes its time without holding everybody up; what was entered is left in any case."""
    entering = asyncio.ensure_future(asyncio.to_thread(slow.__enter__))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.wait((entering,))
        if entering.exception() is None:
            await asyncio.to_thread(slow.__exit__, None, None, None)


async def _awaited(ref: Any) -> Any:
    return await ref


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error
