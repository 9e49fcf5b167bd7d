"""One model in memory: loads it from a folder and draws replies. All of it blocks; `weights` keeps it off the loop.

Nothing is ever fetched: files come from the folder alone, and code that a model brings along is not run.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from geosleuth.errors import BadInput, ServiceFault, require
from geosleuth.photo.runtime import no_probing

from .model import Conversation, Sampling
from .weights_chat import Chat, ChatMessage, find_abilities

Device = Literal["auto", "cpu", "cuda", "mps"] | str
Dtype = Literal["auto", "float32", "bfloat16", "float16"]

_TAGS = re.compile(r"</?(?:think|tool_call|tool_response|answer)>")
_LOCAL_ONLY = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True, slots=True)
class Generated:
    """A reply as text, what it took, and whether it was cut before its end."""

    text: str
    input_tokens: int
    output_tokens: int
    cut: bool


class Engine:
    """A loaded model. Not for use by two threads at once."""

    def __init__(self, folder: Path, *, device: Device = "auto", dtype: Dtype = "auto") -> None:
        """Load the model.

        Raises:
            BadInput: it is no model for images and text, it is damaged, or this machine lacks the device.
            MissingExtra: torch or transformers is not installed.
        """
        # Read when the hub's library is first imported: a second lock on a door that is not used anyway.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        self._name = folder.name
        with no_probing():  # transformers imports its parts, and what goes with it, only when they are asked for
            self._torch = require("torch", extra="weights")
            self._transformers = require("transformers", extra="weights")
            self._device = self._chosen_device(device)
            config = self._config(folder)
            with self._troubles(folder), self._quiet():
                self._processor = load_processor(folder)
                self._model = self._load_model(folder, config, dtype)
        self._tokenizer = self._processor.tokenizer
        self._chat = Chat(self._abilities(folder), self._steering_tokens())
        self._dropped = {
            number
            for token, number in zip(self._tokenizer.all_special_tokens, self._tokenizer.all_special_ids, strict=True)
            if not _TAGS.fullmatch(token)
        }
        limit = getattr(config.get_text_config(), "max_position_embeddings", None)
        self._positions = limit if isinstance(limit, int) and limit > 0 else None

    def reply(
        self, conversation: Conversation, *, max_new_tokens: int, seconds: float | None, stopped: Callable[[], bool]
    ) -> Generated:
        """Draw one reply. It is cut after ``max_new_tokens`` or ``seconds``, or when ``stopped`` says so.

        Raises:
            ServiceFault: the conversation is longer than the model can take, or memory is short.
        """
        inputs = self._inputs(*self._chat.write(conversation))
        given = int(inputs["input_ids"].shape[1])
        room = max_new_tokens if self._positions is None else min(max_new_tokens, self._positions - given)
        if room < 1:
            raise ServiceFault(
                self._name, f"the conversation has {given} tokens and the model takes no more than {self._positions}"
            )
        ids = self._generate(inputs, conversation.sampling, room, seconds, stopped)[given:]
        ended = bool(ids) and ids[-1] in self._end_ids()
        text = self._tokenizer.decode([number for number in ids if number not in self._dropped])
        opened = "<think>" if self._thinking_is_open(inputs["input_ids"][0]) else ""
        return Generated(opened + text, given, len(ids), not ended)

    def _inputs(self, messages: list[ChatMessage], tools: list[dict[str, Any]] | None) -> Any:
        encoded = self._processor.apply_chat_template(
            messages, tools=tools, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        return encoded.to(self._model.device, dtype=self._model.dtype)

    def _generate(
        self, inputs: Any, sampling: Sampling, room: int, seconds: float | None, stopped: Callable[[], bool]
    ) -> list[int]:
        torch = self._torch
        until = None if seconds is None else time.monotonic() + seconds

        def stop(*_: Any, **__: Any) -> bool:
            return stopped() or (until is not None and time.monotonic() > until)

        devices = [] if self._device in ("cpu", "mps") else [self._model.device]
        try:
            with torch.inference_mode(), torch.random.fork_rng(devices, enabled=sampling.seed is not None):
                if sampling.seed is not None:
                    torch.manual_seed(sampling.seed)
                drawn = self._model.generate(
                    **inputs,
                    max_new_tokens=room,
                    stopping_criteria=[_Stop(torch, stop)],
                    **_drawing(sampling),
                )
        except (torch.OutOfMemoryError, MemoryError) as error:
            raise ServiceFault(self._name, f"the model ran out of memory on {self._device}") from error
        return [int(number) for number in drawn[0]]

    def _thinking_is_open(self, prompt: Any) -> bool:
        # Templates of thinking models open the tag themselves, so that the reply starts within it.
        return bool(self._tokenizer.decode(prompt[-8:]).rstrip().endswith("<think>"))

    def _end_ids(self) -> set[int]:
        ends = self._model.generation_config.eos_token_id
        return set(ends) if isinstance(ends, list) else {ends}

    def _chosen_device(self, device: Device) -> str:
        torch = self._torch
        here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
        if device == "auto":
            return next(name for name, there in here.items() if there)
        if not here.get(device.partition(":")[0], False):
            have = ", ".join(name for name, there in here.items() if there)
            raise BadInput(f"this machine has no device {device!r}; it has: {have}")
        return device

    def _config(self, folder: Path) -> Any:
        with self._troubles(folder), self._quiet():
            config = self._transformers.AutoConfig.from_pretrained(folder, **_LOCAL_ONLY)
        from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

        if config.model_type not in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
            raise BadInput(
                f"{folder} holds a model of type {config.model_type!r}, which is not made for images and text; "
                "use a vision-language model"
            )
        return config

    def _load_model(self, folder: Path, config: Any, dtype: Dtype) -> Any:
        wanted: Any = dtype if dtype == "auto" else getattr(self._torch, dtype)
        if dtype == "auto" and self._device == "cpu" and config.dtype == self._torch.float16:
            # Half precision without the hardware for it is slow where it works at all.
            wanted = self._torch.float32
        model, info = self._transformers.AutoModelForImageTextToText.from_pretrained(
            folder, config=config, dtype=wanted, use_safetensors=True, output_loading_info=True, **_LOCAL_ONLY
        )
        if missing := sorted(info["missing_keys"]):
            raise BadInput(f"{folder} lacks {len(missing)} of the model's weights, such as {missing[0]}")
        return model.to(self._device).eval()

    def _abilities(self, folder: Path) -> Any:
        if not self._processor.chat_template:
            raise BadInput(f"{folder} brings no chat template; get the instruction-tuned version of the model")
        return find_abilities(
            lambda messages, tools: str(
                self._processor.apply_chat_template(messages, tools=tools, add_generation_prompt=True, tokenize=False)
            )
        )

    def _steering_tokens(self) -> set[str]:
        own = (getattr(self._processor, f"{kind}_token", None) for kind in ("image", "video", "audio", "boi", "eoi"))
        special = {token for token in self._tokenizer.all_special_tokens if not _TAGS.fullmatch(token)}
        return special | {token for token in own if isinstance(token, str)}

    @contextmanager
    def _troubles(self, folder: Path) -> Iterator[None]:
        """What goes wrong while loading is the folder's fault, and said in one line."""
        from safetensors import SafetensorError

        try:
            yield
        except (SafetensorError, RuntimeError, OSError, ValueError, TypeError, KeyError, ImportError) as error:
            first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise BadInput(f"{folder} can't be loaded: {first[:200]}") from error

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """No progress bars across our own output."""
        bars = self._transformers.utils.logging
        shown = bars.is_progress_bar_enabled()
        bars.disable_progress_bar()
        try:
            yield
        finally:
            if shown:
                bars.enable_progress_bar()


class _Stop:
    """Asked after every token whether to stop."""

    def __init__(self, torch: Any, stop: Callable[[], bool]) -> None:
        self._torch = torch
        self._stop = stop

    def __call__(self, input_ids: Any, *_: Any, **__: Any) -> Any:
        return self._torch.full((input_ids.shape[0],), self._stop(), device=input_ids.device, dtype=self._torch.bool)


def _drawing(sampling: Sampling) -> dict[str, Any]:
    """How to draw, in the library's words; what is not said is left to the model's own generation_config."""
    if sampling.temperature is not None and sampling.temperature <= 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    given = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k}
    said = {name: value for name, value in given.items() if value is not None}
    return {"do_sample": True, **said} if said else {}


def load_processor(folder: Path) -> Any:
    """The processor of a folder; where torchvision is absent, one that does without videos, which nobody needs here."""
    transformers: Any = require("transformers", extra="weights")
    if find_spec("torchvision") is not None:
        return transformers.AutoProcessor.from_pretrained(folder, **_LOCAL_ONLY)
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    config = transformers.AutoConfig.from_pretrained(folder, **_LOCAL_ONLY)
    kind: Any = PROCESSOR_MAPPING.get(type(config), None)
    if kind is None or "video_processor" not in kind.get_attributes():
        return transformers.AutoProcessor.from_pretrained(folder, **_LOCAL_ONLY)

    class WithoutVideos(kind):  # type: ignore[misc]
        @classmethod
        def get_attributes(cls) -> list[str]:
            return [name for name in super().get_attributes() if name != "video_processor"]

    return WithoutVideos.from_pretrained(folder, **_LOCAL_ONLY)
