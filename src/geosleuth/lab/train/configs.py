"""A recipe in the words of TRL: the arguments of its trainers, and how accelerate spreads a run over devices."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from geosleuth.photo.runtime import no_probing
from geosleuth.support.decode import nearest
from geosleuth.support.errors import BadInput, require

from .architectures import KINDS, compute_shape, load_configuration
from .recipe import Loss, Recipe

# TRL's options that a field of the recipe sets: a second place for the same value would leave open which counts.
_FIELDS: Mapping[str, str] = {
    "learning_rate": "optim.learning_rate",
    "lr_scheduler_type": "optim.schedule",
    "warmup_steps": "optim.warmup_share",
    "weight_decay": "optim.weight_decay",
    "max_grad_norm": "optim.max_grad_norm",
    "num_train_epochs": "optim.epochs",
    "max_steps": "optim.steps",
    "per_device_train_batch_size": "optim.micro_batch",
    "gradient_accumulation_steps": "optim.batch",
    "gradient_checkpointing": "optim.gradient_checkpointing",
    "max_length": "optim.max_length",
    "packing": "optim.packing",
    "bf16": "model.dtype",
    "fp16": "model.dtype",
    "seed": "run.seed",
    "data_seed": "run.seed",
    "save_steps": "run.save_steps",
    "save_total_limit": "run.keep",
    "logging_steps": "run.log_steps",
    "report_to": "run.trackers",
    "fsdp": "run.sharding",
    "deepspeed": "run.sharding",
}
_GRPO_FIELDS: Mapping[str, str] = {
    "generation_batch_size": "optim.batch (prompts of one sampling)",
    "steps_per_generation": "optim.batch and optim.mini_batch",
    "num_generations": "rollout.group",
    "max_completion_length": "rollout.reply_tokens",
    "temperature": "rollout.temperature",
    "top_p": "rollout.top_p",
    "beta": "rollout.kl",
    "epsilon": "rollout.clip",
    "epsilon_high": "rollout.clip",
    "loss_type": "rollout.loss",
    "entropy_coef": "rollout.entropy",
    "max_tool_calling_iterations": "rollout.turns",
    "use_vllm": "rollout.vllm",
    "vllm_max_model_length": "rollout.prompt_tokens and rollout.reply_tokens",
    "vllm_tensor_parallel_size": "rollout.vllm_devices",
    "vllm_gpu_memory_utilization": "rollout.vllm_share",
    "vllm_enable_sleep_mode": "rollout.vllm_sleeps",
}
# Words that TRL would notice only in the first step.
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "vllm_mode": ("colocate", "server"),
    "vllm_importance_sampling_mode": ("token_truncate", "token_mask", "sequence_truncate", "sequence_mask"),
    "importance_sampling_level": ("token", "sequence"),
}
# What rows, run folders and resuming rest on.
_KEPT = frozenset(
    {"output_dir", "resume_from_checkpoint", "remove_unused_columns", "shuffle_dataset", "disable_tqdm",
     "dataset_kwargs", "use_cpu", "save_strategy", "ignore_data_skip", "auto_find_batch_size", "eval_strategy",
     "eval_steps", "load_best_model_at_end"}
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """Composition of one optimiser step on each device.

    Attributes:
        per_pass: samples, or replies, of one pass.
        accumulated: passes of one optimiser step.
        per_sampling: passes between two samplings of replies; those of one step in fine-tuning.
    """

    per_pass: int
    accumulated: int
    per_sampling: int


def batches(recipe: Recipe, processes: int) -> Batches:
    """Return how a recipe's batch is reached on so many processes, one device each.

    Raises:
        BadInput: it can't be reached exactly.
    """
    optim = recipe.optim
    group = recipe.rollout.group if recipe.stage == "grpo" else 1
    step = optim.mini_batch or optim.batch if recipe.stage == "grpo" else optim.batch
    if min(optim.batch, optim.micro_batch, step, group, processes) < 1:
        raise BadInput(f"recipe {recipe.name}: batch, micro_batch, group and devices must be at least 1")
    if optim.batch % step:
        raise BadInput(f"recipe {recipe.name}: optim.batch ({optim.batch}) is no multiple of optim.mini_batch ({step})")
    at_once = optim.micro_batch * processes
    if step * group % at_once:
        of_what = f"{step} prompts x {group} replies" if recipe.stage == "grpo" else f"optim.batch {step}"
        raise BadInput(
            f"recipe {recipe.name}: one step has {step * group} samples ({of_what}), which is no multiple of"
            f" optim.micro_batch {optim.micro_batch} x {processes} devices"
        )
    return Batches(
        per_pass=optim.micro_batch, accumulated=step * group // at_once, per_sampling=optim.batch * group // at_once
    )


def sft_config(recipe: Recipe, folder: Path, *, cpu: bool) -> Any:
    """Return the `trl.SFTConfig` of a recipe: rows and collator are ours, so TRL prepares and drops nothing.

    Raises:
        BadInput: the batch can't be reached, or TRL refuses a value.
        MissingExtra: TRL is not installed.
    """
    with no_probing():
        trl = require("trl", extra="train")
        planned = batches(recipe, processes())
        return _build_options(
            trl.SFTConfig,
            recipe,
            _common(recipe, folder, planned, cpu=cpu)
            | {
                "max_length": recipe.optim.max_length,
                # Rows come encoded and masked, with their pictures; where they are packed, the collator does it.
                "packing": False,
                "dataset_kwargs": {"skip_prepare_dataset": True},
            },
        )


def grpo_config(recipe: Recipe, folder: Path, *, cpu: bool) -> Any:
    """Return the `trl.GRPOConfig` of a recipe.

    TRL's own limit of turns is left open; `geosleuth.lab.train.grpo` sets it to the budget of the environment.

    Raises:
        BadInput: the batch can't be reached, TRL refuses a value, or accelerate would leave the reference model empty.
        MissingExtra: TRL is not installed.
    """
    rollout = recipe.rollout
    if rollout.loss not in get_args(Loss):
        # TRL itself would notice in its first step.
        raise BadInput(
            f"recipe {recipe.name}: rollout.loss must be one of {', '.join(get_args(Loss))}, not {rollout.loss!r}"
        )
    if recipe.has_reference and _loads_in_first_process():
        raise BadInput(
            f"recipe {recipe.name}: with rollout.kl, accelerate's configuration must have"
            " fsdp_cpu_ram_efficient_loading: false; otherwise only the first process loads the reference model"
        )
    with no_probing():
        trl = require("trl", extra="train")
        planned = batches(recipe, processes())
        return _build_options(
            trl.GRPOConfig,
            recipe,
            _common(recipe, folder, planned, cpu=cpu)
            | {
                "steps_per_generation": planned.per_sampling,
                "num_generations": rollout.group,
                "max_completion_length": rollout.reply_tokens,
                "temperature": rollout.temperature,
                "top_p": rollout.top_p,
                "beta": rollout.kl,
                "epsilon": rollout.clip[0],
                "epsilon_high": rollout.clip[1],
                "loss_type": rollout.loss,
                "entropy_coef": rollout.entropy,
                # The papers' advantage: (r - mean) / std within the group; their KL is the plain low-variance estimate.
                "scale_rewards": "group",
                "use_bias_correction_kl": False,
                # Rows come in the order of the whole run, see `geosleuth.lab.train.prompts`.
                "shuffle_dataset": False,
                "use_vllm": rollout.vllm,
                "vllm_mode": "colocate",
                "vllm_max_model_length": rollout.prompt_tokens + rollout.reply_tokens,
                "vllm_tensor_parallel_size": rollout.vllm_devices,
                "vllm_gpu_memory_utilization": rollout.vllm_share,
                "vllm_enable_sleep_mode": rollout.vllm_sleeps,
            }
            # The objective is the papers' alone; TRL would add a loss that balances experts. vLLM and the trainer
            # choose experts a little differently: ratios of long replies leave any bound, and TRL would drop those.
            | (
                {"router_aux_loss_coef": 0.0, "vllm_importance_sampling_mode": "token_truncate"}
                if _has_experts(recipe)
                else {}
            ),
        )


def accelerate_config(recipe: Recipe) -> dict[str, Any]:
    """Return how ``accelerate launch --config_file`` spreads a recipe over its devices; write it as YAML.

    Raises:
        BadInput: the devices can't be shared out to the machines, or nothing can be kept in the host's memory.
    """
    run = recipe.run
    if run.devices % run.machines:
        raise BadInput(
            f"recipe {recipe.name}: run.devices ({run.devices}) is no multiple of run.machines ({run.machines})"
        )
    if run.offload and run.sharding == "none":
        raise BadInput(f"recipe {recipe.name}: run.offload needs run.sharding: fsdp, zero2 or zero3")
    if run.sharded_checkpoints and run.sharding != "fsdp":
        raise BadInput(f"recipe {recipe.name}: run.sharded_checkpoints is FSDP's; DeepSpeed's always are")
    spread = {"none": "MULTI_GPU" if run.devices > 1 else "NO", "fsdp": "FSDP"}.get(run.sharding, "DEEPSPEED")
    config: dict[str, Any] = {
        "compute_environment": "LOCAL_MACHINE",
        "distributed_type": spread,
        "mixed_precision": "bf16" if recipe.model.dtype == "bfloat16" else "no",
        "num_machines": run.machines,
        "num_processes": run.devices,
        "machine_rank": 0,
        "main_training_function": "main",
        "rdzv_backend": "static",
        "same_network": True,
        "use_cpu": False,
    }
    if spread == "FSDP":
        kind = KINDS[compute_shape(load_configuration(recipe.model)).kind]
        config["fsdp_config"] = {
            "fsdp_version": 2,
            "fsdp_reshard_after_forward": True,
            "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "fsdp_transformer_layer_cls_to_wrap": f"{kind.layer},{kind.vision_layer}",
            "fsdp_offload_params": run.offload,
            "fsdp_state_dict_type": "SHARDED_STATE_DICT" if run.sharded_checkpoints else "FULL_STATE_DICT",
            # TRL spreads the reference from what each process has loaded, and this has but the first load weights.
            "fsdp_cpu_ram_efficient_loading": not recipe.has_reference,
            # The trainer does it.
            "fsdp_activation_checkpointing": False,
        }
    elif spread == "DEEPSPEED":
        stage = int(run.sharding[-1])
        config["deepspeed_config"] = {
            "zero_stage": stage,
            "offload_optimizer_device": "cpu" if run.offload else "none",
            "offload_param_device": "none",
            "gradient_accumulation_steps": batches(recipe, run.devices).accumulated,
            "gradient_clipping": recipe.optim.max_grad_norm,
            "zero3_init_flag": stage == 3,
            "zero3_save_16bit_model": stage == 3,
            "deepspeed_multinode_launcher": "standard",
        }
    return config


def processes() -> int:
    """Return how many processes this one trains together with, itself included, as accelerate and torchrun say it."""
    return max(1, int(os.environ.get("WORLD_SIZE") or 1))


def _loads_in_first_process() -> bool:
    """Return whether accelerate is set to shard and to load weights in the first process only."""
    told = ("ACCELERATE_USE_FSDP", "FSDP_CPU_RAM_EFFICIENT_LOADING")
    return processes() > 1 and all(os.environ.get(name) == "true" for name in told)


def _common(recipe: Recipe, folder: Path, planned: Batches, *, cpu: bool) -> dict[str, Any]:
    optim, run = recipe.optim, recipe.run
    if not 0 <= optim.warmup_share < 1:
        raise BadInput(f"recipe {recipe.name}: optim.warmup_share must be at least 0 and under 1")
    return {
        "output_dir": str(folder / "checkpoints"),
        "learning_rate": optim.learning_rate,
        "lr_scheduler_type": optim.schedule,
        "warmup_steps": optim.warmup_share,  # under 1 it is a share of all steps
        "weight_decay": optim.weight_decay,
        "max_grad_norm": optim.max_grad_norm,
        "num_train_epochs": optim.epochs,
        "max_steps": -1 if optim.steps is None else optim.steps,
        "per_device_train_batch_size": planned.per_pass,
        "gradient_accumulation_steps": planned.accumulated,
        "gradient_checkpointing": optim.gradient_checkpointing,
        "gradient_checkpointing_kwargs": {"use_reentrant": False} if optim.gradient_checkpointing else None,
        "remove_unused_columns": False,
        # On a CPU passes are always computed in float32.
        "bf16": recipe.model.dtype == "bfloat16" and not cpu,
        "use_cpu": cpu,
        "dataloader_pin_memory": not cpu,
        "seed": run.seed,
        "data_seed": run.seed,
        "save_strategy": "steps",
        "save_steps": run.save_steps,
        "save_total_limit": run.keep,
        "logging_steps": run.log_steps,
        # `training_log` writes what is reported, TensorBoard's files too.
        "report_to": [],
        "disable_tqdm": True,
    }


def trainer_options(recipe: Recipe, kind: Any) -> dict[str, Any]:
    """Return the recipe's ``trainer`` part, checked against TRL's own configuration class.

    Raises:
        BadInput: TRL has no such option, its value is of another type, a field of the recipe sets it, or geosleuth
            needs it as it is.
    """
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind) if field.init]
    owned = {**_FIELDS, **(_GRPO_FIELDS if recipe.stage == "grpo" else {})}
    for name, value in recipe.trainer.items():
        said = f"recipe {recipe.name}: trainer.{str(name)[:60]}"
        if name in owned:
            raise BadInput(f"{said}: set {owned[name]} instead")
        if name in _KEPT:
            raise BadInput(f"{said}: geosleuth sets it; leave it out")
        if name not in known:
            near = nearest(str(name), known)
            raise BadInput(f"{said}: {kind.__name__} has no such option" + (f"; {near}" if "mean" in near else ""))
        if not _matches_hint(value, hints[name]):
            raise BadInput(f"{said}: can't be {str(value)[:60]!r}; {kind.__name__} wants {_type_name(hints[name])}")
        if value not in _CHOICES.get(name, (value,)):
            raise BadInput(f"{said}: must be one of {', '.join(_CHOICES[name])}, not {str(value)[:60]!r}")
    return dict(recipe.trainer)


def _matches_hint(value: Any, hint: Any) -> bool:
    import msgspec

    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError:
        return False
    except TypeError:
        return True  # a type that only TRL's own checks know
    return True


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _has_experts(recipe: Recipe) -> bool:
    try:
        return load_configuration(recipe.model).get("model_type") == "qwen3_vl_moe"
    except BadInput:
        return False  # loading the model reports what is wrong


def _build_options(kind: Any, recipe: Recipe, arguments: dict[str, Any]) -> Any:
    options = trainer_options(recipe, kind)
    try:
        return kind(**arguments | options)
    except (ValueError, TypeError, ImportError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"recipe {recipe.name}: TRL can't work with it: {reason}") from error
