"""A run without its weights: everything that a recipe asks for is built and read back, and held against its paper.

The model is built on torch's meta device, where weights have sizes and no content. TRL's arguments, adapters, the
environment with its tools and the reward are the real ones. What is checked is what they say of themselves, so that a
value that gets lost on its way is noticed too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from geosleuth.geo import FloatArray
from geosleuth.lab.scenes.consistency import RuleReader
from geosleuth.lab.score.rewards import Helpers
from geosleuth.lab.traces import Store
from geosleuth.photo.runtime import no_probing, stay_offline
from geosleuth.support.errors import BadInput, require

from .architectures import KINDS, compute_shape, load_configuration
from .configs import accelerate_config, batches, grpo_config, sft_config
from .estimate import Estimate, estimate
from .estimate import as_lines as estimate_lines
from .estimate import as_mapping as estimate_mapping
from .models import adapters, check_for_grpo, check_unseen, freeze_vision, open_processor, template_text
from .papers import Departure, Difference, departures, differences, find_unaccounted, ours
from .prompts import all_rows, photo_items
from .recipe import DataPart, ModelPart, Recipe
from .recipe_files import flat
from .rollouts import RolloutSetup, build_helpers, load_reward, rollout_setup
from .samples import photo_chats, store_chats
from .services import ATLAS, is_online
from .sft import find_method
from .validation import check_evaluation

_HEAD = 3
_FOLDER = Path("dry-run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Result of a dry run.

    Attributes:
        recipe: its name.
        paper: the paper it reproduces, if any.
        resolved: what the recipe comes to, by name; read back from what was built.
        differences: where that is not the paper's.
        departures: what else is done otherwise than in the paper: judge, encoder, prompt, tools, validation.
        ours: values that the paper does not give: what we take, and why.
        unaccounted: fields that are neither published nor marked as ours.
        built: what was built, as text.
        absent: what a real run needs and is missing here, as text.
        estimate: of memory.
        accelerate: what ``accelerate launch --config_file`` takes.
    """

    recipe: str
    paper: str | None
    resolved: Mapping[str, Any]
    differences: tuple[Difference, ...]
    departures: tuple[Departure, ...]
    ours: Mapping[str, tuple[Any, str]]
    unaccounted: tuple[str, ...]
    built: tuple[str, ...]
    absent: tuple[str, ...]
    estimate: Estimate
    accelerate: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        """Whether its values are the paper's, nothing is left open, and it fits the devices."""
        return not self.differences and not self.unaccounted and self.estimate.fits


def dry_run(recipe: Recipe) -> Report:
    """Build everything that a recipe asks for but the weights, and compare it with its paper.

    Raises:
        BadInput: something in it can't be built; the message says what.
        MissingExtra: torch, transformers, TRL or peft is not installed.
    """
    stay_offline()
    resolved: dict[str, Any] = dict(flat(recipe))
    built: list[str] = []
    absent: list[str] = []
    # Cheap checks come first.
    _try_arguments(recipe, resolved, built)
    setup = _try_setup(recipe, resolved, built, absent) if recipe.stage == "grpo" else None
    _try_evaluation(recipe, built, absent)
    _try_template(recipe, setup, built)
    _try_model(recipe, resolved, built, absent)
    rows = _try_data(recipe, setup, built, absent)
    estimated = estimate(recipe, compute_shape(load_configuration(recipe.model)), rows=rows)
    if resolved["parameters"] != estimated.weights or resolved["trained_parameters"] != estimated.trained:
        raise AssertionError("the model that was built has another number of weights than was counted")
    return Report(
        recipe=recipe.name,
        paper=recipe.paper,
        resolved=resolved,
        differences=tuple(differences(recipe, resolved)),
        departures=tuple(departures(recipe, resolved)),
        ours=ours(recipe, resolved),
        unaccounted=tuple(find_unaccounted(recipe)),
        built=tuple(built),
        absent=tuple(absent),
        estimate=estimated,
        accelerate=accelerate_config(recipe),
    )


def meta_model(part: ModelPart) -> Any:
    """Return a recipe's model with its adapters, in sizes alone.

    Raises:
        BadInput: its configuration is not known, or no adapter finds a layer.
        MissingExtra: torch, transformers or peft is not installed.
    """
    configuration = load_configuration(part)
    kind = KINDS[compute_shape(configuration).kind]
    with no_probing():
        torch = require("torch", extra="train")
        transformers: Any = require("transformers", extra="train")
        family = getattr(transformers, kind.model)
        with torch.device("meta"):
            model = family(family.config_class.from_dict(dict(configuration)))
        if part.freeze_vision:
            freeze_vision(model)
        wanted = adapters(part)
        if wanted is not None:
            peft: Any = require("peft", extra="train")
            try:
                model = peft.get_peft_model(model, wanted, low_cpu_mem_usage=True)
            except ValueError as error:
                raise BadInput(f"model.targets: {str(error).splitlines()[0][:160]}") from error
    return model


def _try_model(recipe: Recipe, resolved: dict[str, Any], built: list[str], absent: list[str]) -> None:
    part = recipe.model
    model = meta_model(part)
    sizes = [(parameter.numel(), parameter.requires_grad) for parameter in model.parameters()]
    total, trained = sum(size for size, _ in sizes), sum(size for size, moves in sizes if moves)
    share = round(100 * trained / total, 2)
    resolved |= {"parameters": total, "trained_parameters": trained, "trained_percent": share}
    configuration = load_configuration(part)
    built.append(
        f"model: {KINDS[configuration['model_type']].model}, {total:,} weights of which {trained:,} are trained"
    )
    if part.tuned == "lora":
        settings = model.peft_config["default"]
        resolved |= {"model.rank": settings.r, "model.alpha": settings.lora_alpha}
        built.append(f"adapters: rank {settings.r}, alpha {settings.lora_alpha}, on {', '.join(part.targets)}")
    if not _is_here(part):
        absent.append(f"weights: there is no model in the folder {part.path}; give one with model.path")
    elif part.base is not None and compute_shape(configuration) != compute_shape(
        load_configuration(replace(part, path=part.base))
    ):
        resolved["model.base"] = part.path


def _is_here(part: ModelPart) -> bool:
    return (Path(part.path) / "config.json").is_file()


def _try_template(recipe: Recipe, setup: RolloutSetup | None, built: list[str]) -> None:
    """Check that the chat template exists, and that TRL's GRPO can work with it."""
    part = recipe.model
    tools = setup is not None and bool(setup.setting.toolset.names)
    if (Path(part.path) / "tokenizer_config.json").is_file():
        processor = open_processor(part)
        if setup is not None:
            check_for_grpo(processor, tools=tools)
    elif setup is not None:
        check_unseen(part, str(load_configuration(part).get("model_type")), tools=tools)
    elif part.chat_template is not None:
        template_text(part.chat_template)
    if part.chat_template is not None:
        built.append(f"chat template: {part.chat_template}, in place of the model's own")


def _try_arguments(recipe: Recipe, resolved: dict[str, Any], built: list[str]) -> None:
    """Build TRL's own objects, and note their values."""
    planned = batches(recipe, recipe.run.devices)
    spread = accelerate_config(recipe)
    if recipe.stage == "grpo":
        made = grpo_config(recipe, _FOLDER, cpu=True)
        group = made.num_generations
        resolved |= {
            "optim.batch": made.generation_batch_size // group,
            "optim.mini_batch": _step_samples(made) // group if recipe.optim.mini_batch else 0,
            "rollout.group": group,
            "rollout.temperature": made.temperature,
            "rollout.top_p": made.top_p,
            "rollout.reply_tokens": made.max_completion_length,
            "rollout.kl": made.beta,
            "rollout.clip": (made.epsilon, made.epsilon_high),
            "rollout.loss": made.loss_type,
            "rollout.entropy": made.entropy_coef,
            "rollout.vllm": made.use_vllm,
            "rollout.vllm_devices": made.vllm_tensor_parallel_size,
            "rollout.vllm_share": made.vllm_gpu_memory_utilization,
            "context_tokens": made.vllm_max_model_length,
            "kl_estimate": "unbiased gradient" if made.use_bias_correction_kl else "low variance",
        }
    else:
        made = sft_config(recipe, _FOLDER, cpu=True)
        resolved |= {"optim.batch": _step_samples(made), "optim.max_length": made.max_length}
    resolved |= {
        "optim.learning_rate": made.learning_rate,
        "optim.schedule": str(getattr(made.lr_scheduler_type, "value", made.lr_scheduler_type)),
        "optim.warmup_share": made.warmup_steps,
        "optim.weight_decay": made.weight_decay,
        "optim.max_grad_norm": made.max_grad_norm,
        "optim.epochs": made.num_train_epochs,
        "optim.micro_batch": made.per_device_train_batch_size,
        "optim.gradient_checkpointing": made.gradient_checkpointing,
        "run.save_steps": made.save_steps,
        "run.devices": spread["num_processes"],
        "accumulated": planned.accumulated,
    }
    resolved |= {f"trainer.{name}": getattr(made, name) for name in recipe.trainer}
    if recipe.trainer:
        options = ", ".join(f"{name}={getattr(made, name)}" for name in recipe.trainer)
        built.append(f"trainer: {options}")
    if recipe.stage == "grpo" and made.use_vllm:
        built.append(f"sampling: vLLM, {made.vllm_mode}; {_correction(made)}")
    built.append(
        f"arguments: {type(made).__name__}; devices: {recipe.run.devices}, {planned.per_pass} a pass,"
        f" {planned.accumulated} passes a step, spread by {spread['distributed_type']}"
    )


def _correction(made: Any) -> str:
    """Return how the trainer corrects for differences between its log-probabilities and vLLM's."""
    if not made.vllm_importance_sampling_correction:
        return "no importance-sampling correction"
    mode, most = made.vllm_importance_sampling_mode, made.vllm_importance_sampling_clip_max
    drops = ": replies above it carry no loss" if mode == "sequence_mask" else ""
    return f"importance sampling by {mode}{'' if most is None else f' up to {most:g}'}{drops}"


def _step_samples(made: Any) -> int:
    return int(made.per_device_train_batch_size * made.gradient_accumulation_steps * made.world_size)


def _try_setup(recipe: Recipe, resolved: dict[str, Any], built: list[str], absent: list[str]) -> RolloutSetup:
    setup = rollout_setup(recipe, _try_judging(recipe, absent))
    setting = setup.setting
    environment = setup.environment()
    tools = tuple(item.name for item in setting.toolset)
    if missing := [name for name in setting.toolset.names if not hasattr(environment, name)]:
        raise AssertionError(f"the environment lacks the tools {missing}")
    resolved |= {
        "environment.method": setting.method.name,
        "environment.boxes": setting.method.box_scale,
        "environment.tools": tools,
        "environment.turns": setting.budget.turns,
        "environment.calls": setting.budget.calls,
        "environment.result_tokens": setting.method.context.result_tokens,
        "environment.reply_tokens": setting.budget.reply_tokens,
        "environment.result_characters": setting.method.context.result_characters,
    }
    reward = setting.reward.to_dict()
    resolved["reward.point"] = reward["point"]
    for part, settings in reward["parts"].items():
        resolved |= {f"reward.{part}.{name}": value for name, value in settings.items()}
    turns = setting.budget.turns
    built.append(
        f"environment: method {setting.method.name}, turns: {turns}, boxes: {setting.method.box_scale},"
        f" tools: {', '.join(tools) or 'none'}"
    )
    if is_online(recipe.rollout):
        geocoder = None if recipe.rollout.geocoder == ATLAS else f"{recipe.rollout.geocoder} (rewards)"
        asked = ", ".join(filter(None, (recipe.rollout.maps, recipe.rollout.web, geocoder)))
        how = "repeated from" if recipe.rollout.replay else "asked by one process a machine, kept in"
        built.append(f"online services: {asked}; {how} {recipe.rollout.answers}")
    built.append(f"reward: {' + '.join(f'{item.weight:g} {item.name}' for item in setting.reward.parts)}")
    return setup


def _try_evaluation(recipe: Recipe, built: list[str], absent: list[str]) -> None:
    """Check that the policy can be evaluated while it trains."""
    part = recipe.evaluation
    if not part.every:
        return
    if part.photos is not None and not _is_there(part.photos):
        absent.append(f"evaluation: there is no {part.photos}; give it with evaluation.photos")
        return
    check_evaluation(recipe)
    what = f"photos of {part.photos}" if part.photos else "held-out scenes"
    best = "" if part.keep_best is None else f"; the best by {part.keep_best} is kept in RUN/best"
    built.append(f"evaluation: every {part.every} steps, {part.scenes:,} {what}, tries: {part.tries}{best}")


class _NoEncoder:
    """Placeholder encoder where nothing is scored."""

    name = "none"

    def encode(self, texts: Sequence[str]) -> FloatArray:
        raise AssertionError(f"a dry run scores nothing, and so encodes no {len(texts)} texts")


def _try_judging(recipe: Recipe, absent: list[str]) -> Helpers:
    """Find the encoder and the judge; report missing ones, without which a run does not start."""
    reward = load_reward(recipe.rollout)
    needed = {"encoder": reward.needs_encoder, "judge": reward.needs_judge}
    missing = [name for name, needs in needed.items() if needs and getattr(recipe.rollout, name) is None]
    absent += [f"{name}: none is named, so a run does not start; give one with rollout.{name}" for name in missing]
    return Helpers(encoder=_NoEncoder(), judge=RuleReader()) if missing else build_helpers(recipe.rollout, reward)


def _try_data(recipe: Recipe, setup: RolloutSetup | None, built: list[str], absent: list[str]) -> int | None:
    """Check that the data can be used; return the number of rows, if known."""
    data = recipe.data
    if data.tries is not None and not data.tries.is_file():
        absent.append(f"tries: there is no file {data.tries}; make it with geosleuth train tries, or change data.tries")
    if setup is not None:
        return _try_prompts(data, setup, built, absent)
    if data.photos:
        _try_photos(recipe, built, absent)
        if data.store is None:
            return data.limit
    elif data.store is None:
        built.append(f"data: questions about scenes of world {data.world}, at most {data.scenes:,} of each kind")
        return None
    if not data.store.exists():
        absent.append(f"data: there is no {data.store}; give it with data.store")
        return None
    store = Store(data.store)
    head = list(store_chats(store, split=None, limit=_HEAD))
    if not head:
        raise BadInput(f"{data.store}: has no rows")
    built.append(f"data: {data.store}, {len(store):,} rows; the first {len(head)} can be read")
    return min(len(store), data.limit or len(store))


def _try_photos(recipe: Recipe, built: list[str], absent: list[str]) -> None:
    data = recipe.data
    if missing := [spec for spec in data.photos or () if not _is_there(spec)]:
        absent.append(f"data: there is no {', '.join(missing)}; give it with data.photos")
        return
    head = list(photo_chats(islice(photo_items(data), _HEAD), find_method(recipe)))
    if not head:
        raise BadInput(f"{_format_data(data)}: has no rows")
    built.append(
        f"data: {_format_data(data)}, asked as {data.method} does; the first {len(head)} photos can be asked about"
    )


def _try_prompts(data: DataPart, setup: RolloutSetup, built: list[str], absent: list[str]) -> int | None:
    try:
        head = list(islice(all_rows(data), _HEAD))
    except BadInput as error:
        if data.photos is None or all(_is_there(spec) for spec in data.photos):
            raise
        absent.append(f"data: {error}; give it with data.photos")
        return None
    if not head:
        raise BadInput(f"{_format_data(data)}: has no rows")
    if any(setup.pose(row).truth is None for row in head):
        raise BadInput(
            f"{_format_data(data)}: some photos have no place, so there is nothing to reward; add lat and lon"
        )
    built.append(f"data: {_format_data(data)}; the first {len(head)} rows can be posed")
    return min(data.scenes, data.limit or data.scenes) if data.photos is None else None


def _is_there(spec: str) -> bool:
    """Return whether a data set's files exist, even if they are unreadable."""
    path = spec.partition("::")[0]
    return Path(path).exists() or Path(path.partition(":")[2] or path).exists()


def _format_data(data: DataPart) -> str:
    return ", ".join(data.photos) if data.photos else f"scenes of world {data.world}"


def as_lines(report: Report) -> list[str]:
    """Return a report in words, one line each."""
    count = len(report.departures)
    verdict = "as it should be" if report.ok else "NOT as it should be"
    if report.ok and report.paper is not None:
        verdict = f"all published values are the paper's, {count} departure{'' if count == 1 else 's'} from it"
    lines = [f"{report.recipe}: {verdict}"]
    lines += [f"  built    {item}" for item in report.built]
    lines += [f"  absent   {item}" for item in report.absent]
    lines += [f"  estimate {line}" for line in estimate_lines(report.estimate)]
    lines += [f"  ours     {name} = {_format_value(value)} ({why})" for name, (value, why) in report.ours.items()]
    lines += [f"  open     {name}: neither published nor marked as ours" for name in report.unaccounted]
    lines += [f"  departs  {departure}" for departure in report.departures]
    return lines + [f"  differs  {difference}" for difference in report.differences]


def as_mapping(report: Report) -> dict[str, Any]:
    """Return a report as plain data."""
    return {
        "recipe": report.recipe,
        "paper": report.paper,
        "ok": report.ok,
        "differences": [_convert_value(asdict(difference)) for difference in report.differences],
        "departures": [asdict(departure) for departure in report.departures],
        "ours": {name: {"value": _convert_value(value), "why": why} for name, (value, why) in report.ours.items()},
        "unaccounted": list(report.unaccounted),
        "built": list(report.built),
        "absent": list(report.absent),
        "estimate": estimate_mapping(report.estimate),
        "accelerate": dict(report.accelerate),
        "resolved": {name: _convert_value(value) for name, value in sorted(report.resolved.items())},
    }


def _convert_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_convert_value(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _convert_value(one) for key, one in value.items()}
    return str(value) if isinstance(value, Path) else value


def _format_value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
