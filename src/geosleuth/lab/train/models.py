"""Models to train: opened from a folder with their chat template, tuned, and saved as a policy's folder.

GRPO in an environment needs a template that writes calls and their results, and TRL must know how to read a call that
the model wrote: from the template, which it compares with those it knows, or from what the tokenizer itself says of
it. The template of Qwen2.5-VL has no calls. That of Qwen3-VL fits it too, as both families mark turns alike.
"""

import json
import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from geosleuth.models.box_scale import KEY
from geosleuth.models.weights import check_folder
from geosleuth.models.weights_engine import load_processor
from geosleuth.photo.runtime import no_probing, stay_offline
from geosleuth.support.errors import BadInput, require

from .recipe import ModelPart

REMEDY = "set model.chat_template: qwen3_vl"
_SUFFIX = ".jinja"
_MAX_BYTES = 1_000_000
_PROBE = [{"role": "user", "content": [{"type": "text", "text": "Where is this?"}]}]

# What published models bring, by the kind of model and TRL's name.
_OWN: Mapping[str, str] = MappingProxyType(
    {"qwen2_5_vl": "qwen2_5_vl", "qwen3_vl": "qwen3_vl", "qwen3_vl_moe": "qwen3_vl"}
)

_VISION = re.compile(r"(^|\.)(visual|vision_tower|vision_model|vision_encoder|vision|multi_modal_projector)(\.|$)")
_LOCAL_ONLY = {"local_files_only": True, "trust_remote_code": False}
_VIDEO_FILE = "video_preprocessor_config.json"


def template_text(name: str) -> str:
    """Return the text of a chat template: one of TRL's by its name, or a file.

    Raises:
        BadInput: there is no such template.
        MissingExtra: TRL is not installed.
    """
    if name.endswith(_SUFFIX):
        path = Path(name)
    else:
        with no_probing():
            trl: Any = require("trl", extra="train")
        path = Path(trl.__file__).parent / "chat_templates" / f"{name}{_SUFFIX}"
        if not re.fullmatch(r"[A-Za-z0-9_]+", name) or not path.is_file():
            raise BadInput(f"model.chat_template: there is no {name[:60]!r}; give qwen3_vl, or a file *{_SUFFIX}")
    try:
        with path.open("rb") as stream:
            text = stream.read(_MAX_BYTES + 1).decode("utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"model.chat_template: {path} can't be read; give qwen3_vl, or a file *{_SUFFIX}") from error
    if not text.strip() or len(text) > _MAX_BYTES:
        raise BadInput(f"model.chat_template: {path} is no chat template; give qwen3_vl, or another file *{_SUFFIX}")
    return text


def set_template(processor: Any, name: str) -> None:
    """Give a processor another chat template; it is saved with the processor.

    Raises:
        BadInput: there is no such template, or it can't show a chat.
        MissingExtra: TRL is not installed.
    """
    text = template_text(name)
    if text == processor.chat_template:
        return
    tokenizer = processor.tokenizer
    processor.chat_template = tokenizer.chat_template = text
    if not name.endswith(_SUFFIX):
        # How replies are read goes with the old template; TRL knows how with its own.
        tokenizer.response_template = tokenizer.response_schema = None
    try:
        processor.apply_chat_template(_PROBE, add_generation_prompt=True, tokenize=False)
    except Exception as error:  # templates raise what they like
        raise BadInput(f"model.chat_template: {name} can't show a chat: {_first_line(error)}") from error


def check_for_grpo(processor: Any, *, tools: bool) -> None:
    """Check that TRL's GRPO can work with a processor's chat template.

    Args:
        processor: or any object that has a template, and can apply it.
        tools: whether the environment has any.

    Raises:
        BadInput: it can't; the message says what to set.
        MissingExtra: TRL is not installed.
    """
    with no_probing():
        trl: Any = require("trl.chat_template_utils", extra="train")
        if not _works(trl.supports_tool_calling, processor):
            raise BadInput(
                f"the model's chat template does not write tool calls, and TRL's GRPO needs one that does; {REMEDY}"
            )
        if not tools:
            return
        tokenizer = getattr(processor, "tokenizer", processor)
        own = any(getattr(tokenizer, name, None) is not None for name in ("response_template", "response_schema"))
        if not own and not _works(trl.add_response_schema, processor):
            raise BadInput(f"TRL does not know how calls are written in the model's chat template; {REMEDY}")
        if isinstance(processor, _Bare) or _works(trl.is_chat_template_prefix_preserving, processor):
            return
        if not _works(trl.get_training_chat_template, processor):
            raise BadInput(f"the model's chat template rewrites earlier turns, and TRL has no other for it; {REMEDY}")


def check_unseen(part: ModelPart, kind: str, *, tools: bool) -> str | None:
    """Return the same for a model that is not here, by the template that published models of its kind bring.

    Returns:
        The name of the template that was tried; None if the model's own template is unknown.

    Raises:
        BadInput: TRL can't work with it; the message says what to set.
        MissingExtra: TRL is not installed.
    """
    name = part.chat_template or _OWN.get(kind)
    if name is not None:
        check_for_grpo(_Bare(template_text(name)), tools=tools)
    return name


class _Bare:
    """Bare template without a processor."""

    def __init__(self, chat_template: str) -> None:
        self.chat_template = chat_template

    def apply_chat_template(self, messages: Sequence[Mapping[str, Any]], **_: Any) -> str:
        rendering: Any = require("transformers.utils.chat_template_utils", extra="train")
        (text,), _marks = rendering.render_jinja_template([list(messages)], chat_template=self.chat_template)
        return str(text)


def _works(do: Any, processor: Any) -> bool:
    """Return whether one of TRL's checks passes."""
    with suppress(Exception):  # templates raise what they like
        return bool(do(processor))
    return False


def _first_line(error: Exception) -> str:
    return next((line.strip()[:160] for line in str(error).splitlines() if line.strip()), type(error).__name__)


def has_gpu() -> bool:
    """Return whether passes can run on a GPU here."""
    torch = require("torch", extra="train")
    return bool(torch.cuda.is_available())


@contextmanager
def quietly() -> Iterator[None]:
    """Silence progress bars of transformers and its warning about tied weights."""
    with no_probing():
        bars: Any = require("transformers", extra="train").utils.logging
    shown, heard = bars.is_progress_bar_enabled(), logging.getLogger("transformers.trainer")
    bars.disable_progress_bar()
    heard.addFilter(_no_tied_alarm)
    try:
        yield
    finally:
        heard.removeFilter(_no_tied_alarm)
        if shown:
            bars.enable_progress_bar()


def _no_tied_alarm(record: logging.LogRecord) -> bool:
    """Drop the warning about a missing head: checkpoints store it once, as the tied embedding."""
    return "missing keys in the checkpoint model loaded: ['lm_head.weight']" not in record.getMessage()


def load_model(part: ModelPart, *, gpu: bool | None = None) -> tuple[Any, Any]:
    """Load a model and its processor from a local folder; nothing is downloaded.

    Weights that are tuned are held in float32 for passes in any type: small steps would be lost in bfloat16.
    Those that adapters leave alone are held in ``part.dtype`` on a GPU. On a CPU all is float32.

    Args:
        part: what to open, and what of it is tuned.
        gpu: whether it will run on one; None looks.

    Raises:
        BadInput: the folder holds no model for images and text, or one that is damaged.
        MissingExtra: torch or transformers is not installed.
    """
    folder = Path(part.path)
    check_folder(folder)
    stay_offline()
    # Cheap checks come first.
    processor = open_processor(part)
    with no_probing(), quietly(), _one_line_errors(folder):
        torch = require("torch", extra="train")
        transformers: Any = require("transformers", extra="train")
        on_gpu = has_gpu() if gpu is None else gpu
        half = part.tuned == "lora" and part.dtype == "bfloat16" and on_gpu
        model, loading = transformers.AutoModelForImageTextToText.from_pretrained(
            folder,
            dtype=torch.bfloat16 if half else torch.float32,
            use_safetensors=True,
            output_loading_info=True,
            **_LOCAL_ONLY,
        )
        if missing := sorted(loading["missing_keys"]):
            raise BadInput(f"{folder} lacks {len(missing)} of the model's weights, such as {missing[0]}")
    if part.freeze_vision:
        freeze_vision(model)
    if part.boxes != "auto":
        setattr(model.config, KEY, part.boxes)
    return model, processor


def open_processor(part: ModelPart) -> Any:
    """Load only the processor of a model, with the recipe's chat template and pixel limit.

    Raises:
        BadInput: the folder holds none, or the template can't be used.
        MissingExtra: torch or transformers is not installed.
    """
    folder = Path(part.path)
    stay_offline()
    with no_probing(), quietly(), _one_line_errors(folder):
        processor = load_processor(folder)
    if part.chat_template is not None:
        set_template(processor, part.chat_template)
    if part.max_pixels is not None:
        limit_pixels(processor, part.max_pixels)
    return processor


def limit_pixels(processor: Any, most: int) -> None:
    """Limit the pixels at which pictures are shown to the model.

    Raises:
        BadInput: this kind of processor counts otherwise.
    """
    images = processor.image_processor
    if "Qwen" not in type(images).__name__:
        raise BadInput(f"{type(images).__name__} knows no limit of pixels; leave model.max_pixels out")
    # What is called an edge there is a number of pixels.
    least = min(int(images.size["shortest_edge"]), most)
    images.size = type(images.size)(**(dict(images.size) | {"longest_edge": most, "shortest_edge": least}))


def freeze_vision(model: Any) -> None:
    """Freeze the vision tower of a model.

    Raises:
        BadInput: its weights are not recognised.
    """
    frozen = 0
    for name, weights in model.named_parameters():
        if _VISION.search(name):
            weights.requires_grad = False
            frozen += 1
    if not frozen:
        raise BadInput(f"{type(model).__name__}: the vision weights are not recognised; leave model.freeze_vision out")


def adapters(part: ModelPart) -> Any:
    """Return the `peft.LoraConfig` for TRL's ``peft_config``; None if all weights are tuned.

    Raises:
        MissingExtra: peft is not installed.
    """
    if part.tuned == "full":
        return None
    with no_probing():
        peft: Any = require("peft", extra="train")
    return peft.LoraConfig(
        r=part.rank,
        lora_alpha=part.alpha,
        lora_dropout=0.0,
        target_modules=list(part.targets),
        # A pattern over whole names of layers.
        exclude_modules=rf".*{_VISION.pattern}.*" if part.freeze_vision else None,
        task_type="CAUSAL_LM",
    )


def save_policy(model: Any, processor: Any, folder: Path) -> Path:
    """Save a model as a plain folder of weights with adapters merged; the model itself is unchanged.

    The folder is complete or absent: it is written under another name and renamed at the end.

    Args:
        model: with or without adapters.
        processor: saved along, with its chat template.
        folder: where to; what is there is replaced.

    Raises:
        BadInput: it can't be written there.
    """
    partial = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        plain = model.get_base_model() if _has_adapters(model) else model
        with quietly():
            plain.save_pretrained(partial, state_dict=merge_weights(model))
        processor.save_pretrained(partial)
        _fix_processor(processor, partial)
        check_folder(partial)
        _put_in_place(partial, folder)
    except OSError as error:
        raise BadInput(f"{folder}: can't be written: {error.strerror or error}") from error
    return folder


def copy_policy(policy: Path, folder: Path) -> None:
    """Copy a policy's folder; the copy is complete or absent, and replaces what is there.

    Raises:
        BadInput: it can't be written there.
    """
    partial = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        shutil.copytree(policy, partial)
        _put_in_place(partial, folder)
    except OSError as error:
        raise BadInput(f"{folder}: can't be written: {error.strerror or error}") from error


def _put_in_place(partial: Path, folder: Path) -> None:
    _onto_disk(partial)
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.replace(old)
    partial.replace(folder)
    shutil.rmtree(old, ignore_errors=True)


def save_trained(trainer: Any, part: ModelPart, folder: Path) -> None:
    """Save a trainer's model as a policy; if several processes train, all of them must call this.

    Where weights are spread over devices (FSDP, DeepSpeed), they are gathered into files first and put together on the
    CPU of the first process.

    Raises:
        BadInput: it can't be written there.
    """
    accelerator = trainer.accelerator
    if not (trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled):
        if accelerator.is_main_process:
            save_policy(accelerator.unwrap_model(trainer.model), trainer.processing_class, folder)
    else:
        save_gathered(trainer, part, folder)
    accelerator.wait_for_everyone()


def save_gathered(trainer: Any, part: ModelPart, folder: Path) -> None:
    """Save as `save_trained` does, from files that `transformers` gathers."""
    gathered = folder.with_name(f".{folder.name}.gathered")
    if trainer.accelerator.is_main_process:
        # Of a run that was killed meanwhile.
        shutil.rmtree(gathered, ignore_errors=True)
    trainer.accelerator.wait_for_everyone()
    if trainer.is_fsdp_enabled:
        # Where checkpoints are in pieces, transformers would save nothing here.
        trainer.accelerator.state.fsdp_plugin.set_state_dict_type("FULL_STATE_DICT")
    trainer.save_model(str(gathered))
    if not trainer.accelerator.is_main_process:
        return
    save_policy(load_saved_model(part, gathered), trainer.processing_class, folder)
    shutil.rmtree(gathered, ignore_errors=True)


def load_saved_model(part: ModelPart, folder: Path) -> Any:
    """Return a model from a folder that a trainer saved: its adapters on the model they belong to, or all weights.

    Raises:
        BadInput: the folder, or the model under the adapters, can't be loaded.
        MissingExtra: torch, transformers or peft is not installed.
    """
    if part.tuned == "lora":
        plain, _ = load_model(part, gpu=False)
        with no_probing():
            peft: Any = require("peft", extra="train")
            return peft.PeftModel.from_pretrained(plain, folder)
    model, _ = load_model(replace(part, path=str(folder)), gpu=False)
    return model


def merge_weights(model: Any) -> dict[str, Any]:
    """Return a model's weights with adapters merged, under their names without adapters; nothing is changed."""
    if not _has_adapters(model):
        return dict(model.state_dict())
    layers: Any = require("peft.tuners.lora", extra="train").LoraLayer
    base = model.get_base_model()
    weights = {
        name.replace(".base_layer.", "."): value
        for name, value in base.state_dict().items()
        if not re.search(r"\.lora_[A-Za-z]+(_[A-Za-z]+)?\.", name)
    }
    for name, layer in base.named_modules():
        if isinstance(layer, layers):
            own = f"{name}.weight"
            added = sum(layer.get_delta_weight(adapter).float() for adapter in layer.active_adapters)
            weights[own] = (weights[own].float() + added).to(weights[own].dtype).detach()
    return weights


def _onto_disk(folder: Path) -> None:
    """Flush a policy to disk: a run counts as finished once it is there, also after a power cut."""
    for path in folder.iterdir():
        with path.open("rb") as stream:
            os.fsync(stream.fileno())


def _has_adapters(model: Any) -> bool:
    return hasattr(model, "peft_config") and hasattr(model, "get_base_model")


def _fix_processor(processor: Any, folder: Path) -> None:
    """Set the processor's published name, and copy its video settings, which are not loaded here."""
    published = next(kind.__name__ for kind in type(processor).__mro__ if kind.__module__.startswith("transformers."))
    for path in sorted(folder.glob("*.json")):
        config = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(config, dict) and config.get("processor_class") not in (None, published):
            path.write_text(
                json.dumps(config | {"processor_class": published}, indent=2, ensure_ascii=False) + "\n",
                encoding="utf-8",
            )
    source = Path(getattr(processor.tokenizer, "name_or_path", "") or "") / _VIDEO_FILE
    if source.is_file() and not (folder / _VIDEO_FILE).exists():
        shutil.copyfile(source, folder / _VIDEO_FILE)


@contextmanager
def _one_line_errors(folder: Path) -> Iterator[None]:
    """Report errors while opening a model as one line about its folder."""
    try:
        yield
    except (RuntimeError, OSError, ValueError, TypeError, KeyError) as error:
        raise BadInput(f"{folder} can't be loaded for training: {_first_line(error)}") from error
