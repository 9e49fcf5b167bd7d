"""One process a machine that asks online services for all workers of a run, and keeps every answer for good.

    with serving_answers(settings, Path("answers.sqlite")) as server:
        ...  # workers ask with OnlineSettings(record=Recording(path, shared=True))
        print(server.counts())

A question is sent once, however many workers ask it at the same time; what was answered is never sent again. Services
are paced here, for all workers together. Failures are tried again within the settings' limits, counted, and never kept
as answers. Keys of services are read from this process's environment and travel to the services alone.
"""

import asyncio
import hmac
import json
import os
import secrets
import signal
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geosleuth.errors import BadInput, ServiceFault, UserError
from geosleuth.files import lock_file

from .access import OnlineSettings
from .cache import question_key
from .http import OnlineClient, Question
from .record import AnswerRecord, Recorded
from .shared_record import MOST_BYTES, announcement

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_START_S, _END_S = 60.0, 5.0
_WAITING = 1024
_LEFT = "was not waited for"


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker is told: an answer, or what went wrong and whether that may pass."""

    came: Recorded
    retryable: bool = False


class AnswerServer:
    """Answers questions from a record, and asks services what it does not hold.

    Attributes:
        counts: how many questions workers asked ("asked"), the record answered ("kept"), joined one that was under way
            ("joined"), requests that went out ("sent"), questions that failed ("failed"), and answers that could not be
            used ("refused").
    """

    def __init__(self, settings: OnlineSettings, record: Path, token: str) -> None:
        """Serve whoever shows the token."""
        self._client = OnlineClient(replace(settings, record=None))
        self._record, self._token = AnswerRecord(record), token
        self._under_way: dict[bytes, asyncio.Task[Told]] = {}
        self._refused: Counter[bytes] = Counter()
        self.counts: Counter[str] = Counter()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of a worker."""
        with suppress(OSError, asyncio.LimitOverrunError, ValueError):
            reply = await self._reply(reader)
            if reply is not None:
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
        writer.close()

    async def _reply(self, reader: asyncio.StreamReader) -> dict[str, Any] | None:
        request = json.loads(await reader.readline())
        if not hmac.compare_digest(str(request.get("token")).encode(), self._token.encode()):
            return None
        try:
            question = Question.from_wire(request["question"], self._client.settings)
            key = question_key(question.method, question.url, question.params, question.body)
            answer = asyncio.ensure_future(self.answer(key, question, request.get("bad")))
            left = asyncio.ensure_future(reader.read(1))
            await asyncio.wait({answer, left}, return_when=asyncio.FIRST_COMPLETED)
            left.cancel()
            if not answer.done():
                # The worker's time ran out. The answer is still wanted: it is paid for.
                await asyncio.to_thread(self._record.keep_failure, key, _LEFT)
            told = await answer
        except UserError as error:
            return {"unusable": str(error)}
        body = None if told.came.body is None else b64encode(told.came.body).decode()
        return {"body": body, "trouble": told.came.trouble, "retryable": told.retryable}

    async def answer(self, key: bytes, question: Question, bad: str | None = None) -> Told:
        """Return what the record holds, or what the service says now.

        Args:
            key: what the question is known by.
            question: the question.
            bad: the checksum of an answer that said itself that the service failed; it is asked for again.

        Raises:
            UserError: the question may not be asked.
        """
        self.counts["asked"] += 1
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._found(key, question, bad))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        else:
            self.counts["joined"] += 1
        return await asyncio.shield(task)

    async def _found(self, key: bytes, question: Question, bad: str | None) -> Told:
        kept = await asyncio.to_thread(self._record.get, key)
        if kept is not None and not await self._drop_bad(key, kept, bad):
            self.counts["kept"] += 1
            return Told(kept)
        try:
            came = Recorded(await self._client.fetch(question))
        except ServiceFault as fault:
            self.counts["failed"] += 1
            if fault.retryable:
                await asyncio.to_thread(self._record.keep_failure, key, fault.trouble)
                return Told(Recorded(trouble=fault.trouble), retryable=True)
            came = Recorded(trouble=fault.trouble)
        finally:
            self.counts["sent"] = self._client.sent
        if came.body is not None and any(secret.is_in(came.body) for secret in question.credentials.secrets):
            return Told(came)
        return Told(await asyncio.to_thread(self._record.keep, key, came))

    async def _drop_bad(self, key: bytes, kept: Recorded, bad: str | None) -> bool:
        """Drop an answer that could not be used, unless that has been done often enough."""
        if bad is None or kept.body is None or sha256(kept.body).hexdigest() != bad:
            return False
        if self._refused[key] + 1 >= self._client.settings.tries:
            return False
        self._refused[key] += 1
        self.counts["refused"] += 1
        await asyncio.to_thread(self._record.drop, key)
        await asyncio.sleep(self._client.backoff_s(self._refused[key]))
        return True

    async def aclose(self) -> None:
        """Close all connections to services."""
        await self._client.aclose()


class ServingProcess:
    """The process of a server, seen from the one that started it."""

    def __init__(self, record: Path, pipe: "Connection[Any, Any]") -> None:
        self._record, self._pipe = AnswerRecord(record), pipe

    def counts(self) -> dict[str, int]:
        """Return the server's counts, and under "inexact" how many questions failed for somebody and worked later."""
        self._pipe.send("counts")
        found: dict[str, int] = self._pipe.recv()
        return {**found, "inexact": self._record.count_inexact()}


@contextmanager
def serving_answers(settings: OnlineSettings, record: Path) -> Iterator[ServingProcess]:
    """Run the server of a record in a process of its own, which ends with the block or with this process.

    Raises:
        BadInput: another process of this machine serves this record, or it can't be written there.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(settings, record, theirs), daemon=True, name="answer-server")
    process.start()
    theirs.close()
    try:
        trouble = ours.recv() if ours.poll(_START_S) else "did not start in time"
        if trouble is not None:
            raise BadInput(f"{record}: the server of recorded answers can't be used: {trouble}")
        yield ServingProcess(record, ours)
    except EOFError as error:
        raise BadInput(f"{record}: the server of recorded answers ended early") from error
    finally:
        ours.close()
        process.join(_END_S)
        if process.is_alive():
            process.terminate()
            process.join(_END_S)


def _run(settings: OnlineSettings, record: Path, pipe: "Connection[Any, Any]") -> None:
    # The process that started this one handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    place = announcement(record)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(place, os.O_CREAT | os.O_RDWR, 0o600)
        taken = lock_file(handle) is False
    except OSError as error:
        pipe.send(error.strerror or str(error))
        return
    if taken:
        pipe.send("another run on this machine serves it; wait for it, or record into another file")
        return
    try:
        asyncio.run(_serve(settings, record, handle, pipe))
    finally:
        place.unlink(missing_ok=True)
        os.close(handle)


async def _serve(settings: OnlineSettings, record: Path, handle: int, pipe: "Connection[Any, Any]") -> None:
    token = secrets.token_urlsafe(32)
    server = AnswerServer(settings, record, token)
    listener = await asyncio.start_server(server.handle, "127.0.0.1", 0, limit=MOST_BYTES, backlog=_WAITING)
    port = listener.sockets[0].getsockname()[1]
    # What a server that was killed had announced is written over, not replaced: the lock is on this very file.
    os.truncate(handle, 0)
    os.pwrite(handle, json.dumps({"port": port, "token": token, "pid": os.getpid()}).encode(), 0)
    pipe.send(None)
    await asyncio.to_thread(_until_closed, pipe, server)
    listener.close()
    await server.aclose()


def _until_closed(pipe: "Connection[Any, Any]", server: AnswerServer) -> None:
    """Tell counts until the other end is closed, or its process has died."""
    with suppress(EOFError, OSError):
        while True:
            pipe.recv()
            pipe.send(dict(server.counts))
