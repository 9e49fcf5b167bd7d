"""Replies that are asked for once: members in front of a file that keeps what they said to which request."""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from geosleuth.answer.wire import answer_from_dict, answer_to_dict
from geosleuth.errors import BadInput
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import Usage
from geosleuth.team import Member, Reply, Request
from geosleuth.tools.similar.store import pixel_digest

_APPLICATION: Final = 0x67737279
_BUSY_SECONDS = 30.0


class ReplyStore:
    """A file of replies by request. Several processes may share it; each reply is safe as soon as it is there."""

    def __init__(self, conn: sqlite3.Connection, path: Path) -> None:
        """Made by `open_store`."""
        self._conn, self._path = conn, path
        self._digests: dict[str, str] = {}

    def get(self, key: str) -> Reply | None:
        """What was said to that request."""
        row = self._conn.execute("SELECT reply FROM reply WHERE key = ?", (key,)).fetchone()
        return None if row is None else _reply_of(json.loads(row[0]), self._path)

    def put(self, key: str, reply: Reply) -> None:
        """Keep what was said. Its trajectory is not kept."""
        told = {
            "text": reply.text,
            "answer": answer_to_dict(reply.answer),
            "tokens": reply.tokens,
            "usage": asdict(reply.usage),
            "seconds": reply.seconds,
        }
        with _explained(self._path):
            self._conn.execute("INSERT OR IGNORE INTO reply VALUES (?, ?)", (key, json.dumps(told)))

    def key(self, identity: str, request: Request) -> str:
        """What tells a request to a member from all others: who it is, the pixels, and all words."""
        asked = [
            identity,
            [self._digest(photo) for photo in request.photos],
            request.stage,
            request.words,
            request.hint,
            request.area,
            request.seed,
            request.force_answer,
        ]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()

    def _digest(self, photo: OpenedPhoto) -> str:
        handle = photo.photo.handle
        if handle not in self._digests:
            self._digests[handle] = pixel_digest(photo.photo.image).hex()
        return self._digests[handle]


@dataclass(slots=True, eq=False)
class _Asked:
    """A request under way: how many wait for its reply, and whether one of them lost patience."""

    task: asyncio.Task[Reply]
    waiting: int = 0
    given_up: bool = False


class StoredMember:
    """A member whose replies are looked up before it is asked.

    Neither failures are kept nor replies that somebody lost patience with: they are tried again, so that what comes
    of a run does not hang on what was asked before it. ``identity`` is what its replies depend on beside the request:
    model, persona, limits. ``asked`` counts the requests that really went to it.
    """

    def __init__(self, member: Member, store: ReplyStore, identity: str = "") -> None:
        self._member, self._store = member, store
        self._identity = identity or member.name
        self._under_way: dict[str, _Asked] = {}
        self._tasks: set[asyncio.Task[Reply]] = set()
        self.asked = 0

    @property
    def name(self) -> str:
        """As the member is called."""
        return self._member.name

    @property
    def hosts(self) -> frozenset[str]:
        """As the member's."""
        return self._member.hosts

    async def reply(self, request: Request) -> Reply:
        """What it said before, or says now."""
        key = self._store.key(self._identity, request)
        if (known := self._store.get(key)) is not None:
            return known
        if key not in self._under_way:
            task = asyncio.create_task(self._say(request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            self._under_way[key] = _Asked(task)
        asked = self._under_way[key]
        asked.waiting += 1
        try:
            # Who asked may lose patience; others may still wait for the same reply.
            reply = await asyncio.shield(asked.task)
        except asyncio.CancelledError:
            asked.given_up = True
            raise
        finally:
            asked.waiting -= 1
            if not asked.waiting or asked.task.done():
                asked.task.cancel()
                if self._under_way.get(key) is asked:
                    del self._under_way[key]
        if reply.failure is None and not asked.given_up:
            self._store.put(key, reply)
        return reply

    async def _say(self, request: Request) -> Reply:
        self.asked += 1
        began = asyncio.get_running_loop().time()
        reply = await self._member.reply(request)
        took = asyncio.get_running_loop().time() - began
        return replace(reply, seconds=reply.seconds or took, trajectory=None)

    async def aclose(self) -> None:
        """Call off what still goes on; the member itself stays open."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def open_store(path: Path) -> Iterator[ReplyStore]:
    """The store at that path, made where there is none.

    Raises:
        BadInput: something else is there, or it can't be written.
    """
    with _explained(path), closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as conn:
        (application,) = conn.execute("PRAGMA application_id").fetchone()
        if not application and not conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            conn.execute("PRAGMA journal_mode = WAL")
            conn.execute(f"PRAGMA application_id = {_APPLICATION}")
            conn.execute("CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID")
        elif application != _APPLICATION:
            raise BadInput(f"{path}: this is no store of replies; give another file")
        yield ReplyStore(conn, path)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BadInput(f"{path}: the replies can't be kept there: {error}; give another file") from error


def _reply_of(told: dict[str, Any], path: Path) -> Reply:
    try:
        return Reply(
            told["text"], answer_from_dict(told["answer"]), told["tokens"], Usage(**told["usage"]), told["seconds"]
        )
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path}: a stored reply is damaged; delete the file") from error
