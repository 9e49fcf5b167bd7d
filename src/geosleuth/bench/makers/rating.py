"""Looking at every photo of a set, some at a time and in its order, with few of them in memory."""

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from geosleuth.bench.giving_up import GIVE_UP
from geosleuth.bench.sets.model import Item
from geosleuth.errors import BadInput, GeosleuthError, ServiceFault
from geosleuth.photo import Photo, open_photo
from geosleuth.policies import Policy, Usage

from .duplicates import PRINT_VERSION, print_of
from .looks import Look, Unread, heuristic_look, look
from .memory import Memory

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Seen(Generic[Made]):
    """A photo and what came of it: something, or words about what went wrong.

    There ``by_service`` blames a model, and ``wasted`` is what a reply that can't be read has used.
    """

    item: Item
    found: Made | None
    trouble: str | None = None
    by_service: bool = False
    wasted: Usage = field(default_factory=lambda: Usage(tries=0))


class NoPhoto(BadInput):
    """A file is not there or holds no photo."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A photo's file: known by the hash of its content, and opened only where somebody must look."""

    sha256: str
    where: str
    content: bytes = field(repr=False)

    def photo(self) -> Photo:
        """Open it.

        Raises:
            NoPhoto: it is none.
        """
        try:
            return open_photo(self.content).photo
        except BadInput as error:
            raise NoPhoto(f"{self.where}: {str(error).removeprefix('the photo: ')}") from error


Looking = Callable[[Sight], Awaitable[Made]]


class GivenUp(GeosleuthError):
    """A model failed time and again; what was done until then is kept."""


async def in_order(
    items: Iterable[Given], work: Callable[[Given], Awaitable[Made]], *, at_once: int
) -> AsyncGenerator[Made]:
    """Work on things, so many at once; what came of them in their order. None is begun long before it is wanted.

    Close it (`contextlib.aclosing`) where it is left before its end: what is under way is called off then.
    """
    slots = asyncio.Semaphore(at_once)
    waiting: deque[asyncio.Task[Made]] = deque()

    async def one(item: Given) -> Made:
        async with slots:
            return await work(item)

    try:
        for item in items:
            waiting.append(asyncio.create_task(one(item)))
            # Twice as many as work, so that one that takes long does not keep the others from beginning.
            if len(waiting) >= 2 * at_once:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def each(items: Iterable[Item], looking: Looking[Made], *, at_once: int) -> AsyncGenerator[Seen[Made]]:
    """Look at photos, so many at once; what came of them in their order. Close it as `in_order`.

    Photos with the same content are looked at one after the other, so that memory serves all but the first. A photo
    that can't be opened, a reply that can't be read and a service that fails are told of and are not the end.

    Raises:
        UserError: what looks at photos must be mended first.
        GivenUp: a service failed at `GIVE_UP` photos in a row.
    """
    # A lock is gone when nobody holds or awaits it.
    under_way = WeakValueDictionary[str, asyncio.Lock]()

    async def one(item: Item) -> Seen[Made]:
        try:
            sight = await asyncio.to_thread(_seen, item)
            lock = under_way.setdefault(sight.sha256, asyncio.Lock())
            async with lock:
                return Seen(item, await looking(sight))
        except Unread as error:
            return Seen(item, None, str(error), wasted=error.usage)
        except (NoPhoto, ServiceFault) as error:
            return Seen(item, None, str(error), by_service=isinstance(error, ServiceFault))

    failed = 0
    async with aclosing(in_order(items, one, at_once=at_once)) as done:
        async for seen in done:
            failed = failed + 1 if seen.by_service else 0
            yield seen
            if failed >= GIVE_UP:
                raise GivenUp(f"{GIVE_UP} photos in a row failed: {seen.trouble}")


def _seen(item: Item) -> Sight:
    try:
        content = item.picture.read()
    except BadInput as error:
        raise NoPhoto(str(error)) from error
    return Sight(hashlib.sha256(content).hexdigest(), item.picture.where, content)


def by_model(policy: Policy, memory: Memory, *, again: bool = False) -> Looking[Look]:
    """Ask a model, unless it was asked before."""

    async def looking(sight: Sight) -> Look:
        return await look(sight.photo, sight.sha256, policy, memory, again=again)

    return looking


def by_heuristic(memory: Memory) -> Looking[Look]:
    """Let code look."""

    async def looking(sight: Sight) -> Look:
        return await asyncio.to_thread(lambda: heuristic_look(sight.photo(), sight.sha256, memory))

    return looking


def printing(memory: Memory) -> Looking[bytes]:
    """Take the print of a photo, unless it is known."""

    def taken(sight: Sight) -> bytes:
        kept = memory.find(PRINT_VERSION, "", sight.sha256)
        if kept is None:
            kept = print_of(sight.photo().image)
            memory.keep(PRINT_VERSION, "", sight.sha256, kept, paid=False)
        return kept

    async def looking(sight: Sight) -> bytes:
        return await asyncio.to_thread(taken, sight)

    return looking
