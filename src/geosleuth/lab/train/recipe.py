"""Parts of a training run, as in a recipe file. Every part is plain data; nothing here needs torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Stage = Literal["sft", "coldstart", "grpo"]
Tuned = Literal["full", "lora"]
Objective = Literal["grpo", "pass@k"]
Sharding = Literal["none", "fsdp", "zero2", "zero3"]
Loss = Literal["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "vespo", "luspo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """Starting point of the training.

    Attributes:
        path: a folder with weights, or the name of a model of which only the configuration is known (dry runs).
        base: the published model whose configuration the weights have; dry runs build from it where ``path`` is not
            there yet. None leaves that to ``path``.
        tuned: all weights, or low-rank adapters.
        rank: of the adapters.
        alpha: their scale.
        targets: the layers that get one.
        freeze_vision: leave the vision tower as they are.
        dtype: what the passes are computed in.
        max_pixels: the most pixels a picture is shown with; None leaves the processor's own.
        chat_template: how chats are written, in training and by the policy: "qwen3_vl" or another of TRL's templates,
            or a ``.jinja`` file; None leaves the model's own. GRPO needs one that writes tool calls.
        boxes: in what the model gives boxes: "pixels", "thousandths" (0 to 1000), "fractions" (0 to 1), or "auto" for
            what its family was trained with (`geosleuth.models.box_scale`). The policy keeps it, so that later runs
            cut the same pixels.
    """

    path: str
    base: str | None = None
    tuned: Tuned = "full"
    rank: int = 64
    alpha: int = 128
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    freeze_vision: bool = False
    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    max_pixels: int | None = None
    chat_template: str | None = None
    boxes: Literal["auto", "pixels", "thousandths", "fractions"] = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """Training data: a store of trajectories, rows of photos, or scenes drawn on the spot.

    Attributes:
        store: a folder of trajectories (`geosleuth traces ...`); fine-tuning and cold start take it.
        photos: a data set that `bench run` opens, or several; they are taken one after the other. Fine-tuning asks of
            each photo where it was taken, and adds a store's trajectories where one is given too.
        shares: of each of those sets the share that is used, such as ``[0.05, 1]``; empty uses all. Which photos that
            are follows from their ids and ``seed``.
        method: whose question and answer form fine-tuning on photos has: "spotagent", "geovista", "twm" or another
            preset.
        allow_test: take test parts of data sets too; the policy, and every score of it, is then marked.
        scenes: how many scenes of the world to use where neither is given.
        world: the world's seed.
        seed: of the scenes, and of what ``shares`` and ``limit`` draw.
        questions: for fine-tuning on scenes: which questions are asked of each ("country", "script", "signs",
            "boxes", "levels").
        limit: use no more trajectories and photos than so many, drawn at random by ``seed``; None is all. Of scenes,
            which are random already, the first.
        tries: tries by which photos are chosen, a file of `geosleuth train tries` or the folder of a run of
            `geosleuth bench run --parallel N`; None takes them as they come.
        regimes_km: the distances at which a photo may teach something.
        phases_km: the curriculum; one entry a phase. Empty is no curriculum.
        kept: a folder for pictures of scenes, so that each is drawn once; None draws them whenever they are needed.
    """

    store: Path | None = None
    photos: tuple[str, ...] | None = None
    shares: tuple[float, ...] = ()
    method: str = "spotagent"
    allow_test: bool = False
    scenes: int = 1000
    world: int = 1
    seed: int = 7
    questions: tuple[str, ...] = ("country", "script", "signs", "boxes", "levels")
    limit: int | None = None
    tries: Path | None = None
    regimes_km: tuple[float, ...] = (1.0, 25.0, 200.0, 750.0)
    phases_km: tuple[tuple[float, ...], ...] = ()
    kept: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimPart:
    """Optimiser settings.

    In fine-tuning ``batch`` counts the samples of one optimiser step over all devices. In GRPO it counts the prompts of
    one sampling, and ``mini_batch`` those of one optimiser step; 0 makes one step of all. ``micro_batch`` counts
    the samples (in GRPO: the replies) of one pass on one device. How many devices there are changes no batch: passes
    are added up until it is full.
    """

    learning_rate: float = 1e-5
    schedule: str = "cosine"
    warmup_share: float = 0.03
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    epochs: float = 1.0
    steps: int | None = None
    batch: int = 32
    mini_batch: int = 0
    micro_batch: int = 1
    max_length: int = 4096
    gradient_checkpointing: bool = True
    packing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPart:
    """Sampling of replies in reinforcement learning, and what is made of them.

    Attributes:
        method: the preset of `geosleuth.agent` that brings words, tools and budget.
        prompts: a folder with words of the user's own for the method (`geosleuth.agent.prompt_files`).
        prompts_sha256: their fingerprint; filled in when the recipe is read, and held against the folder where it is
            there already.
        tools: those to switch on; None is the method's own, an empty list is none (SpotAgent's variant).
        tiles: a folder of satellite tiles, for the tool that shows places from above; photos only.
        maps: online map services, such as "nominatim" or "amap+google", the offline atlas behind them; photos only.
        maps_url: addresses of servers of your own of these, in the same order.
        web: an online web search, such as "tavily"; None is the atlas's own documents.
        allow: the hosts that these services may ask.
        geocoder: what places answers in words for rewards: "atlas", or one map service with nothing behind it,
            "nominatim:http://maps:8080" or "opencage"; photos only.
        geocoder_limit: the largest share of the last 200 different answers for which that service may fail; training
            stops above it.
        answers: the file that keeps every answer of these services; each call is paid once.
        replay: ask no service, and repeat a run from its ``answers``; a call that is not there ends the run.
        turns: the most turns of a rollout; None is the method's own.
        reading: what read_text reads with in drawn scenes.
        group: how many replies are drawn for a prompt.
        temperature: of drawing.
        top_p: of drawing.
        prompt_tokens: the longest prompt.
        reply_tokens: the longest reply, tool responses included.
        turn_tokens: the longest single turn of it; None is as long as the reply. Only the fast generator of small
            models knows it.
        reward: a preset or a YAML file of `geosleuth.lab.score.rewards`.
        reward_options: changes to the preset, such as ``{"beta": 4.0}`` for "geovista".
        judge: who judges whether a reasoning leads to its conclusion: a model that geosleuth can ask
            ("server:MODEL", "hf:FOLDER"), or "rules" for the rule reader. A reward with a consistency part needs one.
        judge_url: where the judge is served, if not at the usual place.
        judge_extra_body: further fields of each request to a served judge. Qwen3 thinks by default; vLLM switches that
            off by ``{"chat_template_kwargs": {"enable_thinking": False}}``.
        judge_tokens: the longest reply of the judge, its thinking included.
        judge_at_once: how many questions the judge gets at once.
        judge_limit: the largest share of the judge's last 200 verdicts that may be unreadable or fail; training stops
            above it.
        encoder: the folder of a sentence encoder for the semantic part, or "packaged" for the small one that comes
            with the extra "train", which hardly tells one town from another. GeoAgent's reward needs one.
        failed_call_cost: what every call that fails takes away from the reward.
        kl: the weight of the divergence from the starting model; 0 leaves it out.
        clip: how far the ratio may leave 1, below and above.
        loss: TRL's name for how token losses are put together ("grpo" is the mean over each trajectory).
        objective: what groups are rewarded for: every reply by itself, or the best of k.
        k: of the objective "pass@k".
        entropy: the weight of an entropy bonus.
        vllm: draw with vLLM, in the trainer's own processes.
        vllm_devices: over how many devices vLLM spreads one copy of the model.
        vllm_share: of a device's memory that vLLM may take.
        vllm_sleeps: whether vLLM gives that memory back while weights are trained.
    """

    method: str = "default"
    prompts: Path | None = None
    prompts_sha256: str | None = None
    tools: tuple[str, ...] | None = None
    tiles: Path | None = None
    maps: str | None = None
    maps_url: tuple[str, ...] = ()
    web: str | None = None
    allow: tuple[str, ...] = ()
    geocoder: str = "atlas"
    geocoder_limit: float = 0.1
    answers: Path | None = None
    replay: bool = False
    turns: int | None = None
    reading: Literal["pixels", "clue boxes"] = "clue boxes"
    group: int = 8
    temperature: float = 1.0
    top_p: float = 1.0
    prompt_tokens: int = 4096
    reply_tokens: int = 4096
    turn_tokens: int | None = None
    reward: str = "ours"
    reward_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    judge: str | None = None
    judge_url: str | None = None
    judge_extra_body: Mapping[str, Any] = field(default_factory=dict, hash=False)
    judge_tokens: int = 1024
    judge_at_once: int = 4
    judge_limit: float = 0.1
    encoder: str | None = None
    failed_call_cost: float = 0.0
    kl: float = 0.0
    clip: tuple[float, float] = (0.2, 0.2)
    loss: Loss = "grpo"
    objective: Objective = "grpo"
    k: int = 4
    entropy: float = 0.0
    vllm: bool = False
    vllm_devices: int = 1
    vllm_share: float = 0.3
    vllm_sleeps: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPart:
    """Evaluation during training: the policy plays in the agent's own loop, and the best one is kept.

    It is played before the first step, every ``every`` steps and at the end. Results go to ``RUN/evaluations``, curves
    onto the run's page, the best policy into ``RUN/best``.

    Attributes:
        every: optimiser steps between two evaluations; 0 plays none.
        scenes: how many held-out scenes, or photos of the set, are played.
        photos: a data set that `bench run` opens, in place of scenes.
        tries: how many tries at each; with several there is pass@K.
        seed: of the scenes.
        method: whose words and tools; None is the rollouts', or in fine-tuning "default" (on photos ``data.method``).
        max_new_tokens: the longest reply.
        at_once: how many tries are under way at the same time.
        keep_best: the figure by which the best policy is chosen, as ``metrics.jsonl`` has it after "evaluation/":
            "within_25km", "reward", "median_km", "pass@4_25km"; None keeps none.
    """

    every: int = 0
    scenes: int = 200
    photos: str | None = None
    tries: int = 1
    seed: int = 7
    method: str | None = None
    max_new_tokens: int = 2048
    at_once: int = 16
    keep_best: str | None = "within_25km"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """Run folder, checkpoint frequency, and hardware.

    Attributes:
        seed: of shuffling, drawing and new weights.
        save_steps: optimiser steps between two checkpoints.
        keep: how many checkpoints stay.
        log_steps: optimiser steps between two lines of figures.
        tensorboard: whether figures go to TensorBoard too.
        trackers: further trackers that get them: "trackio", and "wandb" (offline unless ``WANDB_MODE`` says otherwise).
        devices: how many accelerators the run is planned for.
        sharding: how weights, gradients and the optimiser's state are spread over them: each device has all of it,
            FSDP (everything in pieces), or DeepSpeed's stages 2 (all but the weights) and 3 (everything).
        offload: keep the optimiser's state in the host's memory; with FSDP weights and gradients too.
        sharded_checkpoints: with FSDP, each process writes its own piece of a checkpoint; the policy is whole anyway.
        machines: how many machines the devices are in.
        device_gb: memory of one device, in 10^9 bytes; estimates are held against it.
    """

    seed: int = 0
    save_steps: int = 50
    keep: int = 2
    log_steps: int = 1
    tensorboard: bool = True
    trackers: tuple[Literal["trackio", "wandb"], ...] = ()
    devices: int = 1
    sharding: Sharding = "none"
    offload: bool = False
    sharded_checkpoints: bool = False
    machines: int = 1
    device_gb: float = 80.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One stage of training.

    ``paper`` names whose hyper-parameters it has; ``unpublished`` those that are ours. ``ablation`` is the row of the
    paper that it repeats, where that is not the paper's own method. ``trainer`` holds further options of TRL's
    configuration (``GRPOConfig``, ``SFTConfig``) by TRL's own names.
    """

    name: str
    stage: Stage
    model: ModelPart
    data: DataPart = field(default_factory=DataPart)
    optim: OptimPart = field(default_factory=OptimPart)
    rollout: RolloutPart = field(default_factory=RolloutPart)
    evaluation: EvaluationPart = field(default_factory=EvaluationPart)
    run: RunPart = field(default_factory=RunPart)
    trainer: Mapping[str, Any] = field(default_factory=dict, hash=False)
    paper: str | None = None
    unpublished: tuple[str, ...] = ()
    ablation: str | None = None

    @property
    def has_reference(self) -> bool:
        """Whether a second copy of the model serves as the KL reference; adapters are switched off instead."""
        return self.stage == "grpo" and self.rollout.kl > 0 and self.model.tuned == "full"
