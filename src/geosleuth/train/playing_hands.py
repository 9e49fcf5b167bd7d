"""Hands that hold scenes: they draw, carry out tools and write conversations, and ask afar for every reply.

A hand is a process, or a thread of this one, at the end of a pipe. It is told ("scene", number) and ("reply", ticket,
reply); it sends ("asked", ticket, messages, tools, new pictures, sampling), ("over",) for every try that ends,
("played", scene) and, where something breaks, ("broke", error).
"""

import asyncio
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from geosleuth.errors import ServiceFault, UserError
from geosleuth.policies import Conversation, Step, Usage
from geosleuth.policies.detective import Detective
from geosleuth.policies.tagged import next_call_number, read_reply
from geosleuth.policies.weights_chat import Chat, ChatMessage
from geosleuth.policies.weights_engine import Generated

from .playing_scenes import SceneTable, Stage
from .replying import ChatWords, Refused

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from PIL.Image import Image

    from geosleuth.policies.model import Finish

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PATIENCE_S = 2.0


@dataclass(eq=False, slots=True)
class Hand:
    """One hand, as seen from the other end of its pipe; ``pictures`` are those that it has sent and still needs."""

    pipe: "Connection[Any, Any]"
    runs: "BaseProcess | threading.Thread"
    scenes: int = 0
    pictures: dict[str, "Image"] = field(default_factory=dict)


def end_hands(hands: Iterable[Hand]) -> None:
    """End them all; what they were at is lost."""
    for hand in hands:
        with suppress(OSError):
            hand.pipe.send(None)
    until = time.monotonic() + _PATIENCE_S
    for hand in hands:
        hand.runs.join(max(0.0, until - time.monotonic()))
        if not isinstance(hand.runs, threading.Thread) and hand.runs.is_alive():
            hand.runs.terminate()
            hand.runs.join(_PATIENCE_S)
        hand.pipe.close()


def start_hands(stage: Stage, words: ChatWords | None, workers: int) -> list[Hand]:
    """So many processes, or one thread of this process where there are to be none.

    Without words of a model the detective plays, and nothing is asked.
    """
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    if workers < 1:
        ours, theirs = context.Pipe()
        thread = threading.Thread(target=serve, args=(theirs, stage, words), daemon=True, name="hand")
        thread.start()
        return [Hand(ours, thread)]
    hands = []
    with _one_thread_each():
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve_apart, args=(theirs, stage, words), daemon=True)
            process.start()
            theirs.close()
            hands.append(Hand(ours, process))
    return hands


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that are started meanwhile keep to one core each; numpy reads this when it is imported."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve_apart(pipe: "Connection[Any, Any]", stage: Stage, words: ChatWords | None) -> None:
    # Whoever gathers decides what Ctrl-C means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(pipe, stage, words)


def serve(pipe: "Connection[Any, Any]", stage: Stage, words: ChatWords | None) -> None:
    """Play what is asked for until nobody asks any more."""
    try:
        asyncio.run(_Serving(pipe, SceneTable(stage), words).work())
    except Exception as error:  # noqa: BLE001  (whoever gathers raises it)
        with suppress(OSError):
            pipe.send(("broke", _portable(error)))


def _portable(error: Exception) -> Exception:
    """An error that survives the pipe; some can't be made again from what pickle keeps of them."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (made here, a moment ago)
    except Exception:  # noqa: BLE001  (whatever it is, its words are what counts)
        return (
            UserError(str(error)) if isinstance(error, UserError) else RuntimeError(f"{type(error).__name__}: {error}")
        )
    return error


class _Serving:
    """The work of one hand."""

    def __init__(self, pipe: "Connection[Any, Any]", table: SceneTable, words: ChatWords | None) -> None:
        self._pipe, self._table, self._words = pipe, table, words
        self._waiting: dict[int, asyncio.Future[Generated | Refused]] = {}
        self._tickets = 0

    async def work(self) -> None:
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[Any] = asyncio.Queue()

        def listen() -> None:
            with suppress(EOFError, OSError, RuntimeError):
                while (came := self._pipe.recv()) is not None:
                    loop.call_soon_threadsafe(heard.put_nowait, came)
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(heard.put_nowait, None)

        threading.Thread(target=listen, daemon=True, name="hand-listens").start()
        tasks: set[asyncio.Task[None]] = set()
        while (came := await heard.get()) is not None:
            if came[0] == "reply":
                # A try whose time ran out meanwhile waits no more.
                if not (future := self._waiting.pop(came[1])).done():
                    future.set_result(came[2])
                continue
            task = asyncio.create_task(self._scene(came[1]))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _scene(self, number: int) -> None:
        try:
            policy = Detective() if self._words is None else _Afar(self, self._words, number)
            played = await self._table.play(number, policy, lambda: self.send("over"))
            self.send("played", played)
        except Exception as error:  # noqa: BLE001  (whoever gathers raises it)
            self.send("broke", _portable(error))

    def send(self, *what: Any) -> None:
        # Nobody at the other end: the work is being called off, and this hand will hear of it.
        with suppress(OSError):
            self._pipe.send(what)

    async def asked(
        self,
        messages: list[ChatMessage],
        tools: list[dict[str, Any]] | None,
        pictures: dict[str, "Image"],
        conversation: Conversation,
    ) -> Generated | Refused:
        self._tickets += 1
        ticket = self._tickets
        future: asyncio.Future[Generated | Refused] = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = future
        self.send("asked", ticket, messages, tools, pictures, conversation.sampling)
        return await future


class _Afar:
    """A policy whose replies are drawn at the other end of the pipe; read as `policies.weights` reads them."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, serving: _Serving, words: ChatWords, number: int) -> None:
        self._serving, self._words, self._number = serving, words, number
        self._chat = Chat(words.abilities, words.forbidden)
        # Pictures by their identity, which holds while they are kept here: each of them travels once.
        self._sent: dict[int, tuple[str, Image]] = {}

    @property
    def name(self) -> str:
        return f"hf:{self._words.name}"

    async def step(self, conversation: Conversation) -> Step:
        begun = time.perf_counter()
        messages, tools = self._chat.write(conversation)
        reply = await self._serving.asked(*self._packed(messages, tools), conversation)
        if isinstance(reply, Refused):
            raise ServiceFault(self._words.name, reply.trouble)
        read = read_reply(reply.text, first_id=next_call_number(conversation))
        finish: Finish = "length" if reply.cut else "calls" if read.calls else "stop"
        usage = Usage(reply.input_tokens, reply.output_tokens, cost_usd=0.0, seconds=time.perf_counter() - begun)
        return Step(read.text, read.thinking, read.calls, usage, finish, self._words.name)

    async def aclose(self) -> None:
        """Nothing is held."""

    def _packed(
        self, messages: list[ChatMessage], tools: list[dict[str, Any]] | None
    ) -> tuple[list[ChatMessage], list[dict[str, Any]] | None, dict[str, "Image"]]:
        """The messages with keys in place of pictures, and the pictures that were not sent before."""
        new: dict[str, Image] = {}
        for message in messages:
            if isinstance(message["content"], str):
                continue
            for part in message["content"]:
                if part["type"] != "image":
                    continue
                picture = part["image"]
                if id(picture) not in self._sent:
                    key = f"{self._number}/{len(self._sent)}"
                    self._sent[id(picture)] = (key, picture)
                    new[key] = self._words.shrink(picture) if self._words.shrink else picture
                part["image"] = self._sent[id(picture)][0]
        return messages, tools, new
