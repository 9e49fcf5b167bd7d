"""A model from a folder of this machine as a policy: photos stay here, and nothing is fetched."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from .model import Conversation, Finish, Step, Usage
from .tagged import next_call_number, read_reply
from .weights_folder import check_folder, check_installed

if TYPE_CHECKING:
    from .weights_engine import Device, Dtype, Engine, Generated


class WeightsPolicy:
    """Any image-text-to-text model that ``transformers`` can open, from a folder as such models are published.

    Loading and drawing happen in a thread of their own, one reply at a time; other replies wait their turn. A step
    that is cancelled stops at the next token. On the native wire the model's chat template shows the tools; a
    template that knows no tools gets the tagged text instead.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        device: "Device" = "auto",
        dtype: "Dtype" = "auto",
        max_new_tokens: int = 2048,
        reply_seconds: float | None = 600.0,
    ) -> None:
        """Look the folder through; the model itself is loaded by the first step, or by `load`.

        Args:
            directory: the folder, with config.json and safetensors.
            device: where to run: "auto" takes a GPU where there is one.
            dtype: the precision; "auto" is the one that the weights were saved in.
            max_new_tokens: how long a reply may get where the conversation does not say.
            reply_seconds: how long a reply may take; it is then cut, as at its length limit.

        Raises:
            BadInput: the folder does not hold a model that can be used.
            MissingExtra: torch or transformers is not installed.
        """
        self._folder = Path(directory).expanduser().absolute()
        check_folder(self._folder)
        check_installed()
        self._device: Device = device
        self._dtype: Dtype = dtype
        self._max_new_tokens = max_new_tokens
        self._reply_seconds = reply_seconds
        self._engine: Engine | None = None
        self._closed = threading.Event()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="weights")

    @property
    def name(self) -> str:
        """The folder's name, after "hf:"."""
        return f"hf:{self._folder.name}"

    @property
    def hosts(self) -> frozenset[str]:
        """None: the model runs here."""
        return frozenset()

    async def load(self) -> None:
        """Load the model now, so that what is wrong with it shows before a run begins.

        Raises:
            BadInput: it is no model for images and text, it is damaged, or this machine lacks the device.
        """
        await asyncio.wrap_future(self._worker.submit(self._loaded))

    async def step(self, conversation: Conversation) -> Step:
        """The next step.

        Raises:
            BadInput: the model can't be loaded, see `load`.
            ServiceFault: the conversation is longer than the model can take, or memory is short.
        """
        cancelled = threading.Event()
        drawing = self._worker.submit(self._draw, conversation, cancelled)
        try:
            drawn, seconds = await asyncio.wrap_future(drawing)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        reply = read_reply(drawn.text, first_id=next_call_number(conversation))
        finish: Finish = "length" if drawn.cut else "calls" if reply.calls else "stop"
        return Step(
            reply.text,
            reply.thinking,
            reply.calls,
            Usage(drawn.input_tokens, drawn.output_tokens, cost_usd=0.0, seconds=seconds),
            finish,
            self._folder.name,
        )

    async def aclose(self) -> None:
        """Stop what is being drawn and let go of the memory; the policy can't be used afterwards."""
        self._closed.set()
        await asyncio.to_thread(self._worker.shutdown, wait=True, cancel_futures=True)
        self._engine = None

    def _loaded(self) -> "Engine":
        if self._engine is None:
            from .weights_engine import Engine

            self._engine = Engine(self._folder, device=self._device, dtype=self._dtype)
        return self._engine

    def _draw(self, conversation: Conversation, cancelled: threading.Event) -> tuple["Generated", float]:
        engine = self._loaded()
        started = time.perf_counter()
        drawn = engine.reply(
            conversation,
            max_new_tokens=conversation.sampling.max_tokens or self._max_new_tokens,
            seconds=self._reply_seconds,
            stopped=lambda: cancelled.is_set() or self._closed.is_set(),
        )
        return drawn, time.perf_counter() - started
