"""Environments in processes of their own, so that all cores serve tools while the model waits.

TRL resets one environment after the other, and makes one call after the other. Both are known beforehand: the rows of a
batch, and the calls of all replies of a turn. So all of them are sent out at once, and TRL picks up what is ready.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import wraps
from itertools import count
from multiprocessing import get_context, parent_process
from typing import Any, ClassVar

from geosleuth.photo.runtime import usable_cores
from geosleuth.policies import Step

from .rollouts import Ended, Ground, Remembered, RolloutEnvironment

MOST_WORKERS = 12
_FEWEST_CORES = 4

MakeGround = Callable[[], Ground]
"""Made anew in every process, so it must be a function of a module, or a partial of one."""

Dress = Callable[[Any], Any]
"""Changes the class of environments; likewise."""


def usual_workers() -> int:
    """How many processes serve environments where nobody says: one a core but the first; 0 where cores are few."""
    # Processes that train together share a machine's cores.
    cores = usable_cores() // max(1, int(os.environ.get("LOCAL_WORLD_SIZE") or 1))
    return 0 if cores < _FEWEST_CORES else min(MOST_WORKERS, cores - 1)


class Crew:
    """Processes that hold environments; each works off what it is given in order.

    Attributes:
        ahead: knows the calls of the turn that is under way.
    """

    def __init__(self, make: MakeGround, workers: int, dress: Dress | None = None) -> None:
        """Start nothing before the first task."""
        self.ahead: Ahead | None = None
        context = get_context("spawn")
        given = (make, dress)
        self._workers = [
            ProcessPoolExecutor(1, mp_context=context, initializer=_open, initargs=given) for _ in range(workers)
        ]

    def worker(self, number: int, of: int) -> ProcessPoolExecutor:
        """Who serves a reply of a batch of so many: neighbours, which are about one photo, share a process."""
        return self._workers[number * len(self._workers) // of]

    def close(self) -> None:
        """Send everybody home."""
        for worker in self._workers:
            worker.shutdown(wait=False, cancel_futures=True)


class RemoteEnvironment:
    """Stands for an environment in another process; `remote_environment` gives it the tools."""

    _crew: ClassVar[Crew]
    _numbers: ClassVar[Iterator[int]]
    _tools: ClassVar[frozenset[str]]

    def __init__(self) -> None:
        self._number = next(self._numbers)
        self._worker = self._crew.worker(0, 1)
        self._waiting: deque[Future[Any]] = deque()

    def reset(self, **columns: Any) -> list[dict[str, Any]]:
        """Begin a new rollout."""
        if not self._waiting:
            self._begin(columns, self._worker)
        parts: list[dict[str, Any]] = self._waiting.popleft().result()
        return parts

    def _begin(self, columns: Mapping[str, Any], worker: ProcessPoolExecutor) -> None:
        self._worker = worker
        # What a stopped batch left behind.
        self._waiting.clear()
        self._waiting.append(worker.submit(_reset, self._number, dict(columns)))

    def _send(self, name: str, arguments: Mapping[str, Any]) -> None:
        self._waiting.append(self._worker.submit(_call, self._number, name, dict(arguments)))

    def _called(self, name: str, arguments: Mapping[str, Any]) -> Any:
        if not self._waiting and self._crew.ahead is not None:
            self._crew.ahead.send()
        if not self._waiting:
            self._send(name, arguments)
        return self._waiting.popleft().result()

    def _ending(self, step: Step | None) -> Callable[[], Ended]:
        return self._worker.submit(_end, self._number, step).result


def remote_environment(environment: type[RolloutEnvironment], tools: Sequence[str], crew: Crew) -> type:
    """A class for TRL's ``environment_factory`` with the same tools, carried out by the crew."""

    def remote(name: str) -> Callable[..., Any]:
        @wraps(getattr(environment, name))
        def method(self: RemoteEnvironment, /, **arguments: Any) -> Any:
            return self._called(name, arguments)

        return method

    members: dict[str, Any] = {name: remote(name) for name in tools}
    own = {"_crew": crew, "_numbers": count(), "_tools": frozenset(tools)}
    return type("Rollout", (RemoteEnvironment,), members | own)


def send_resets(environments: Sequence[RemoteEnvironment], rows: Sequence[Mapping[str, Any]], crew: Crew) -> None:
    """Begin all rollouts of a batch at once."""
    for number, (environment, row) in enumerate(zip(environments, rows, strict=True)):
        environment._begin(row, crew.worker(number, len(rows)))  # noqa: SLF001


class Ahead:
    """Sends out all calls of a turn when the first of them is made.

    ``talks`` are TRL's own lists of messages, one a reply, to which it adds as the turns go by: where the last message
    has calls, these are the ones of this turn. Those that TRL would not carry out are left to it.
    """

    def __init__(self, environments: Sequence[RemoteEnvironment], talks: Sequence[Sequence[Mapping[str, Any]]]) -> None:
        """Nothing is sent yet."""
        self._environments, self._talks = environments, talks
        self._sent: dict[int, Mapping[str, Any]] = {}

    def send(self) -> None:
        """Send what is new."""
        for environment, talk in zip(self._environments, self._talks, strict=True):
            last = talk[-1]
            if id(last) in self._sent:
                continue
            self._sent[id(last)] = last
            for call in last.get("tool_calls") or ():
                made = call.get("function") or {}
                known = call.get("type") == "function" and made.get("name") in environment._tools  # noqa: SLF001
                if known and isinstance(made.get("arguments"), Mapping):
                    environment._send(made["name"], made["arguments"])  # noqa: SLF001


_kind: type[RolloutEnvironment] | None = None
_held: dict[int, RolloutEnvironment] = {}


def _open(make: MakeGround, dress: Dress | None) -> None:
    global _kind  # noqa: PLW0603  (what this process is for)
    threading.Thread(target=_leave_with_parent, name="leave-with-parent", daemon=True).start()
    ground = make()
    kind = Ground(ground.setting, Remembered(ground.pose)).environment()
    _kind = kind if dress is None else dress(kind)


def _leave_with_parent() -> None:
    """Whoever is killed can't send anybody home."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _reset(number: int, columns: dict[str, Any]) -> list[dict[str, Any]]:
    if _kind is None:
        raise RuntimeError("this process was not opened")
    if number not in _held:
        _held[number] = _kind()
    return _held[number].reset(**columns)


def _call(number: int, name: str, arguments: dict[str, Any]) -> Any:
    return getattr(_held[number], name)(**arguments)


def _end(number: int, step: Step | None) -> Ended:
    return _held[number]._end(step)  # noqa: SLF001
