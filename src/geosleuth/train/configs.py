"""A recipe in the words of TRL: the arguments of its trainers, and how accelerate spreads a run over devices."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from geosleuth.errors import BadInput, require
from geosleuth.photo.runtime import no_probing

from .architectures import KINDS, configuration_of, shape_of
from .recipe import Loss, Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """How one optimiser step is put together on each device.

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
        return _made(
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

    TRL's own limit of turns is left open; `geosleuth.train.grpo` sets it to the budget of the environment.

    Raises:
        BadInput: the batch can't be reached, or TRL refuses a value.
        MissingExtra: TRL is not installed.
    """
    rollout = recipe.rollout
    if rollout.loss not in get_args(Loss):
        # TRL itself would notice in its first step.
        raise BadInput(
            f"recipe {recipe.name}: rollout.loss must be one of {', '.join(get_args(Loss))}, not {rollout.loss!r}"
        )
    with no_probing():
        trl = require("trl", extra="train")
        planned = batches(recipe, processes())
        return _made(
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
                # Rows come in the order of the whole run, see `geosleuth.train.prompts`.
                "shuffle_dataset": False,
                "use_vllm": rollout.vllm,
                "vllm_mode": "colocate",
                "vllm_max_model_length": rollout.prompt_tokens + rollout.reply_tokens,
                "vllm_tensor_parallel_size": rollout.vllm_devices,
                "vllm_gpu_memory_utilization": rollout.vllm_share,
                "vllm_enable_sleep_mode": rollout.vllm_sleeps,
            }
            # The objective is the papers' alone; TRL would add a loss that balances experts.
            | ({"router_aux_loss_coef": 0.0} if _has_experts(recipe) else {}),
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
        kind = KINDS[shape_of(configuration_of(recipe.model)).kind]
        config["fsdp_config"] = {
            "fsdp_version": 2,
            "fsdp_reshard_after_forward": True,
            "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "fsdp_transformer_layer_cls_to_wrap": f"{kind.layer},{kind.vision_layer}",
            "fsdp_offload_params": run.offload,
            "fsdp_state_dict_type": "FULL_STATE_DICT",
            "fsdp_cpu_ram_efficient_loading": True,
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


def _has_experts(recipe: Recipe) -> bool:
    try:
        return configuration_of(recipe.model).get("model_type") == "qwen3_vl_moe"
    except BadInput:
        return False  # loading the model reports what is wrong


def _made(kind: Any, recipe: Recipe, arguments: dict[str, Any]) -> Any:
    try:
        return kind(**arguments)
    except ValueError as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"recipe {recipe.name}: TRL can't work with it: {reason}") from error
