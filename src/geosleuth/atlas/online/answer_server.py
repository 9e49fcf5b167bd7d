"""A process that sends the requests of all workers on this machine to online services, and records every answer.

    with serving_answers(settings, Path("answers.sqlite")) as server:
        ...  # workers use OnlineSettings(record=Recording(path, shared=True))
        print(server.counts())

A request is sent once, however many workers make it at the same time, and never again once it was answered. Requests
are paced here for all workers together. Failures are retried within the settings' limits, counted, and never recorded
as answers. API keys are read from this process's environment and sent to the services only.
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

from geosleuth.support.errors import BadInput, ServiceFault, UserError
from geosleuth.support.files import lock_file

from .access import OnlineSettings
from .cache import question_key
from .http import OnlineClient, ServiceRequest
from .record import AnswerRecord, Recorded
from .shared_record import MAX_BYTES, announcement

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_START_S, _END_S = 60.0, 5.0
_MAX_WAITING_CONNECTIONS = 1024
_ABANDONED = "was not waited for"


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The reply to a worker: the recorded answer or fault, and whether the fault may pass."""

    recorded: Recorded
    retryable: bool = False


class AnswerServer:
    """Answers workers' questions from a record, and sends those that it lacks to the services.

    Attributes:
        counts: the number of questions that workers asked ("asked"), that the record answered ("kept"), that waited for
            the same question of another worker ("joined"), and that failed ("failed"); of requests that were sent
            ("sent"); and of answers that workers reported as unusable ("refused").
    """

    def __init__(self, settings: OnlineSettings, record: Path, token: str) -> None:
        """Serve clients that send the token."""
        self._client = OnlineClient(replace(settings, record=None))
        self._record, self._token = AnswerRecord(record), token
        self._under_way: dict[bytes, asyncio.Task[ServerAnswer]] = {}
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
            question = ServiceRequest.from_wire(request["question"], self._client.settings)
            key = question_key(question.method, question.url, question.params, question.body)
            pending = asyncio.ensure_future(self.answer(key, question, request.get("bad")))
            disconnected = asyncio.ensure_future(reader.read(1))
            await asyncio.wait({pending, disconnected}, return_when=asyncio.FIRST_COMPLETED)
            disconnected.cancel()
            if not pending.done():
                # The worker timed out. Wait for the answer and record it anyway: the request may cost money.
                await asyncio.to_thread(self._record.keep_failure, key, _ABANDONED)
            answer = await pending
        except UserError as error:
            return {"unusable": str(error)}
        body = None if answer.recorded.body is None else b64encode(answer.recorded.body).decode()
        return {"body": body, "trouble": answer.recorded.trouble, "retryable": answer.retryable}

    async def answer(self, key: bytes, question: ServiceRequest, bad: str | None = None) -> ServerAnswer:
        """Return the recorded answer, or send the question to its service.

        Args:
            key: the question's key, see `question_key`.
            question: the question.
            bad: the SHA-256 of a recorded answer whose body reports a failure; if the record still holds it, the
                question is sent again.

        Raises:
            UserError: the settings do not allow the question.
        """
        self.counts["asked"] += 1
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._look_up(key, question, bad))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        else:
            self.counts["joined"] += 1
        return await asyncio.shield(task)

    async def _look_up(self, key: bytes, question: ServiceRequest, bad: str | None) -> ServerAnswer:
        recorded = await asyncio.to_thread(self._record.get, key)
        if recorded is not None and not await self._drop_bad(key, recorded, bad):
            self.counts["kept"] += 1
            return ServerAnswer(recorded)
        try:
            received = Recorded(await self._client.fetch(question))
        except ServiceFault as fault:
            self.counts["failed"] += 1
            if fault.retryable:
                await asyncio.to_thread(self._record.keep_failure, key, fault.trouble)
                return ServerAnswer(Recorded(trouble=fault.trouble), retryable=True)
            received = Recorded(trouble=fault.trouble)
        finally:
            self.counts["sent"] = self._client.sent
        if question.credentials.are_leaked(received.body):
            return ServerAnswer(received)
        return ServerAnswer(await asyncio.to_thread(self._record.keep, key, received))

    async def _drop_bad(self, key: bytes, recorded: Recorded, bad: str | None) -> bool:
        """Drop a recorded answer that a worker reported as bad, up to the allowed number of tries."""
        if bad is None or recorded.body is None or sha256(recorded.body).hexdigest() != bad:
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
    """A handle to the server's process, for the process that started it."""

    def __init__(self, record: Path, pipe: "Connection[Any, Any]") -> None:
        self._record, self._pipe = AnswerRecord(record), pipe

    def counts(self) -> dict[str, int]:
        """Return the server's counts, and as "inexact" the number of questions that failed once and worked later."""
        self._pipe.send("counts")
        counts: dict[str, int] = self._pipe.recv()
        return {**counts, "inexact": self._record.count_inexact()}


@contextmanager
def serving_answers(settings: OnlineSettings, record: Path) -> Iterator[ServingProcess]:
    """Run the server of a record in its own process, which ends with the block or with this process.

    Raises:
        BadInput: another process on this machine serves this record, or it can't be written.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run_server, args=(settings, record, theirs), daemon=True, name="answer-server")
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


def _run_server(settings: OnlineSettings, record: Path, pipe: "Connection[Any, Any]") -> None:
    # The process that started this one handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    path = announcement(record)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
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
        path.unlink(missing_ok=True)
        os.close(handle)


async def _serve(settings: OnlineSettings, record: Path, handle: int, pipe: "Connection[Any, Any]") -> None:
    token = secrets.token_urlsafe(32)
    server = AnswerServer(settings, record, token)
    listener = await asyncio.start_server(
        server.handle, "127.0.0.1", 0, limit=MAX_BYTES, backlog=_MAX_WAITING_CONNECTIONS
    )
    port = listener.sockets[0].getsockname()[1]
    # Overwrite the announcement of a server that was killed, rather than replace the file: the lock is on this file.
    os.truncate(handle, 0)
    os.pwrite(handle, json.dumps({"port": port, "token": token, "pid": os.getpid()}).encode(), 0)
    pipe.send(None)
    await asyncio.to_thread(_send_counts_until_closed, pipe, server)
    listener.close()
    await server.aclose()


def _send_counts_until_closed(pipe: "Connection[Any, Any]", server: AnswerServer) -> None:
    """Send the counts on request, until the other end is closed or its process has died."""
    with suppress(EOFError, OSError):
        while True:
            pipe.recv()
            pipe.send(dict(server.counts))
