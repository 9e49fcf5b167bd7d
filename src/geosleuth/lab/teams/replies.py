"""Replies that are kept in a file, so that no member is asked the same thing twice, by this run or a later one."""

import asyncio
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from geosleuth.answer.answer import answer_from_dict, answer_to_dict
from geosleuth.lab.bench.memory import Memory, open_memory
from geosleuth.models import Usage
from geosleuth.photo import OpenedPhoto
from geosleuth.support.errors import BadInput
from geosleuth.teams import Member, Reply, Request
from geosleuth.tools.similar.index_file import pixel_digest

_QUESTION: Final = "team"


class ReplyStore:
    """Replies by request, in a file that several processes may share; each reply is stored at once."""

    def __init__(self, memory: Memory) -> None:
        """Use `open_store` to create one."""
        self._memory = memory
        self._digests: dict[str, str] = {}

    def get(self, key: str) -> Reply | None:
        """Return the stored reply to that request.

        Raises:
            BadInput: it is damaged.
        """
        said = self._memory.find(_QUESTION, "", key)
        if said is None:
            return None
        try:
            kept = json.loads(said)
            answer, usage = answer_from_dict(kept["answer"]), Usage(**kept["usage"])
            return Reply(kept["text"], answer, kept["tokens"], usage, kept["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{self._memory.path}: a stored reply is damaged; delete the file") from error

    def put(self, key: str, reply: Reply) -> None:
        """Store a reply, without its trajectory."""
        document: dict[str, Any] = {
            "text": reply.text,
            "answer": answer_to_dict(reply.answer),
            "tokens": reply.tokens,
            "usage": asdict(reply.usage),
            "seconds": reply.seconds,
        }
        self._memory.keep(_QUESTION, "", key, json.dumps(document).encode())

    def key(self, identity: str, request: Request) -> str:
        """Return a key that identifies a request to a member: identity, pixels and all words."""
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


class StoredMember:
    """A member whose replies are looked up in a store before it is asked.

    Failures, and replies that the caller did not wait for, are not stored but tried again, so that a run's result does
    not depend on earlier ones. ``identity`` is what its replies depend on beside the request: model, persona, limits.
    ``asked`` counts the requests that reached the member.
    """

    def __init__(self, member: Member, store: ReplyStore, identity: str = "") -> None:
        self.name, self.hosts = member.name, member.hosts
        self._member, self._store = member, store
        self._identity = identity or member.name
        self._busy: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.asked = 0

    async def reply(self, request: Request) -> Reply:
        """Return the stored reply, or ask."""
        key = self._store.key(self._identity, request)
        async with self._busy[key]:
            if (known := self._store.get(key)) is not None:
                return known
            self.asked += 1
            began = asyncio.get_running_loop().time()
            reply = await self._member.reply(request)
            took = asyncio.get_running_loop().time() - began
            reply = replace(reply, seconds=reply.seconds or took, trajectory=None)
            if reply.failure is None:
                self._store.put(key, reply)
            return reply

    async def aclose(self) -> None:
        """Do nothing: the member itself stays open."""


@contextmanager
def open_store(path: Path) -> Iterator[ReplyStore]:
    """Open the store at that path; create it if there is none.

    Raises:
        BadInput: the file is something else, or can't be written.
    """
    with open_memory(path) as memory:
        yield ReplyStore(memory)
