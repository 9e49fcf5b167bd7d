"""A model from a folder of this machine as a policy, and what can be known of the folder before it is loaded."""

import asyncio
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geosleuth.support.errors import BadInput, MissingExtra
from geosleuth.support.files import read_json

from .box_scale import knows_box_scale
from .protocol import Conversation, Finish, Step, Usage
from .tagged import next_call_number, read_reply
from .training_mark import find_learned_tests

if TYPE_CHECKING:
    from .weights_engine import Device, Dtype, Engine, Generated

_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_MAX_HEADER_BYTES = 100_000_000


def check_installed() -> None:
    """Make sure that local models can run here.

    Raises:
        MissingExtra: the libraries are not installed.
    """
    for module in ("torch", "transformers"):
        if find_spec(module) is None:
            raise MissingExtra(module, "weights")


def check_folder(folder: Path) -> dict[str, Any]:
    """Look through a folder as models are published: config.json and safetensors. Returns the configuration.

    Raises:
        BadInput: the folder is not there, holds no such model, only weights in a format that can run code when it is
            opened, or weights that are cut short or damaged.
    """
    if not folder.exists():
        raise BadInput(f"there is no folder {folder}; give the folder of a model, with its config.json")
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder; give the folder of a model, with its config.json")
    config = _config(folder)
    files = _weight_files(folder)
    for file in files:
        check_safetensors(file)
    return config


def _config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    try:
        config = read_json(path)
    except FileNotFoundError:
        raise BadInput(f"{folder} holds no config.json, so it is not the folder of a model") from None
    except PermissionError:
        raise BadInput(f"{path} may not be read; change its permissions") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} is not valid JSON; get the model again") from error
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise BadInput(f"{path} names no model_type; get the model again")
    return config


def _weight_files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            names = sorted(set(read_json(index)["weight_map"].values()))
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise BadInput(f"{index} can't be read; get the model again") from error
        missing = [name for name in names if Path(name).name != name or not (folder / name).is_file()]
        if missing:
            raise BadInput(f"{folder} lacks {len(missing)} of {len(names)} weight files, such as {missing[0]}")
        return [folder / name for name in names]
    files = sorted(folder.glob("*.safetensors"))
    if files:
        return files
    if any(next(folder.glob(pattern), None) for pattern in _PICKLES):
        raise BadInput(
            f"{folder} holds its weights as pickle files, which can run code when opened; "
            "get the model as safetensors or convert it"
        )
    raise BadInput(f"{folder} holds no weights (*.safetensors)")


def check_safetensors(file: Path) -> None:
    """Check that a file of weights is complete: its header says where each tensor ends.

    Raises:
        BadInput: it is damaged or may not be read.
    """
    damaged = BadInput(f"{file} is damaged or was not fetched in full; get it again")
    try:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(_MAX_HEADER_BYTES, size - 8):
                raise damaged
            header = json.loads(stream.read(length))
        end = max((entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"), default=0)
    except PermissionError:
        raise BadInput(f"{file} may not be read; change its permissions") from None
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise damaged from error
    if 8 + length + end != size:
        raise damaged


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
        text_only: bool = False,
    ) -> None:
        """Look the folder through; the model itself is loaded by the first step, or by `load`.

        Args:
            directory: the folder, with config.json and safetensors.
            device: where to run: "auto" takes a GPU where there is one.
            dtype: the precision; "auto" is the one that the weights were saved in.
            max_new_tokens: how long a reply may get where the conversation does not say.
            reply_seconds: how long a reply may take; it is then cut, as at its length limit.
            text_only: whether a model that sees no images will do; it is shown text alone and calls no tools.

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
        self._text_only = text_only
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

    @property
    def trained_on_test(self) -> tuple[str, ...]:
        """The data sets whose test photos it was trained on, as its folder says."""
        return find_learned_tests(self._folder)

    @property
    def probe_key(self) -> str | None:
        """The key under which the scale of its boxes is stored; None where the configuration says it."""
        return None if knows_box_scale(self._folder) else f"hf:{self._folder}"

    async def load(self) -> None:
        """Load the model now, so that what is wrong with it shows before a run begins.

        Raises:
            BadInput: it is no model for images and text, it is damaged, or this machine lacks the device.
        """
        await asyncio.wrap_future(self._worker.submit(self._load_engine))

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

    def _load_engine(self) -> "Engine":
        if self._engine is None:
            from .weights_engine import Engine

            self._engine = Engine(self._folder, device=self._device, dtype=self._dtype, text_only=self._text_only)
        return self._engine

    def _draw(self, conversation: Conversation, cancelled: threading.Event) -> tuple["Generated", float]:
        engine = self._load_engine()
        started = time.perf_counter()
        drawn = engine.reply(
            conversation,
            max_new_tokens=conversation.sampling.longest(thinks=False) or self._max_new_tokens,
            seconds=self._reply_seconds,
            stopped=lambda: cancelled.is_set() or self._closed.is_set(),
        )
        return drawn, time.perf_counter() - started
