"""What the four training papers say about their runs, value by value, and how far a recipe is from it.

A value is looked for in what a recipe resolves to, see `lab.train.dryrun`: its own fields by their dotted names,
and what the built parts say of themselves (``environment.turns``, ``reward.spatial.tau_km``, ``trained_percent``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .recipe import Recipe
from .recipe_files import flat

QWEN25 = "Qwen/Qwen2.5-VL-7B-Instruct"
QWEN3 = "Qwen/Qwen3-VL-30B-A3B-Instruct"

_COMMON = "common practice"
_STEPS_OURS = {
    "optim__weight_decay": "none is spoken of",
    "optim__max_grad_norm": _COMMON,
    "optim__warmup_share": "not given",
}
_CLIP_OURS = {"rollout__clip": "the value of PPO and GRPO as first published"}
_LOSS_OURS = {"rollout__loss": "mean over each reply, as GRPO was first published; the paper's formula leaves it open"}
_HOUSEKEEPING = (
    # Where things lie, and how a result is come by; none of it changes what the result is.
    "name", "stage", "paper", "unpublished", "model.path",
    # No paper says how turns are written. Qwen2.5-VL's own template has no tool calls, and TRL's GRPO refuses it.
    "model.chat_template", "model.boxes",
    "data.store", "data.photos", "data.shares", "data.method", "data.allow_test", "data.scenes", "data.world",
    "data.seed", "data.questions", "data.tries", "data.kept",
    "rollout.prompts", "rollout.prompts_sha256", "rollout.tiles", "rollout.turn_tokens",
    # What tools and rewards ask is held against the paper as a departure.
    "rollout.maps", "rollout.maps_url", "rollout.web", "rollout.allow", "rollout.answers", "rollout.replay",
    "rollout.geocoder", "rollout.geocoder_limit",
    "ablation", "trainer",
    # Who judges and who encodes are held against the paper as departures.
    "rollout.judge", "rollout.judge_url", "rollout.judge_extra_body", "rollout.judge_tokens", "rollout.judge_at_once",
    "rollout.judge_limit", "rollout.encoder",
    "optim.steps", "optim.micro_batch", "optim.gradient_checkpointing", "optim.packing",
    "rollout.method", "rollout.tools", "rollout.turns", "rollout.reading", "rollout.reward", "rollout.reward_options",
    "rollout.k", "rollout.vllm", "rollout.vllm_devices", "rollout.vllm_share", "rollout.vllm_sleeps",
)  # fmt: skip
PRINTED_PROMPTS: Mapping[str, str] = MappingProxyType(
    {"geoagent": "figure 7", "spotagent": "appendix A.1", "geovista": "figure 1: the question", "twm": "appendix B"}
)
"""Where the training papers print their prompts. smileGeo speaks of a template and prints none."""
PAPER_TOOLS: Mapping[str, tuple[tuple[str, ...], str]] = MappingProxyType(
    {
        "geovista": (("image_zoom_in_tool", "search_web"), "section 3.1"),
        "twm": (
            ("image_zoom_tool", "poi_input_tips", "poi_keyword_search", "poi_detail_query", "static_map_query",
             "satellite_map_query"),
            "table 1",
        ),
    }
)  # fmt: skip
"""The tools with which a paper reinforces; the others reinforce without."""
_VALIDATED_STEPS = 10
ENCODER = "paraphrase-multilingual-MiniLM-L12-v2"
JUDGE = "Qwen3-32B, GPTQ-INT4"


@dataclass(frozen=True, slots=True)
class PaperValue:
    """One value of a paper.

    Attributes:
        name: of the field.
        value: what the paper has; None if it does not say.
        where: the place in the paper; for a value that it does not give, why ours is what it is.
        published: whether the paper gives it.
    """

    name: str
    value: Any
    where: str
    published: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that is not the paper's."""

    name: str
    ours: Any
    paper: Any
    where: str

    def __str__(self) -> str:
        return f"{self.name} is {self.ours!r}; the paper has {self.paper!r} ({self.where})"


def _values(where: str, **named: Any) -> tuple[PaperValue, ...]:
    return tuple(PaperValue(name.replace("__", "."), value, where) for name, value in named.items())


def _ours(**named: str) -> tuple[PaperValue, ...]:
    return tuple(PaperValue(name.replace("__", "."), None, why, published=False) for name, why in named.items())


_GEOAGENT_TUNED = (
    *_values("section 5.1", model__base=QWEN25, model__tuned="lora", model__rank=64, model__alpha=128),
    *_values("section 5.2: 1.91 % of the parameters", trained_percent=1.91),
    *_values("appendix A.1", optim__learning_rate=1e-5, run__sharding="zero3", run__devices=8),
    *_ours(
        model__targets="all linear layers of the language model: only these come to the published 1.91 %",
        model__freeze_vision="follows from the published share",
        model__dtype=_COMMON,
        model__max_pixels="the first view's two million pixels",
        optim__schedule=_COMMON,
        optim__batch="not given",
        **_STEPS_OURS,
    ),
)
_SPOTAGENT_SETUP = (
    *_values("appendix D.2", model__base=QWEN25),
    *_values(
        "appendix B.1",
        model__dtype="bfloat16", optim__gradient_checkpointing=True, run__sharding="fsdp", run__devices=8,
    ),
    *_ours(
        model__tuned="FSDP shards all parameters, and no adapters are spoken of",
        model__freeze_vision="not given",
        model__max_pixels="the first view's two million pixels",
        optim__schedule="not given",
        **_STEPS_OURS,
    ),
)  # fmt: skip
_SPOTAGENT_TUNED = _ours(
    optim__learning_rate="that of GeoVista's fine-tuning from the same model",
    optim__batch="not given",
    optim__epochs="not given",
    optim__max_length="not given",
)
_NO_COST = _values("the reward: nothing is taken away for calls", rollout__failed_call_cost=0.0)

_GEOVISTA_SETUP = (
    *_values("section 4, Supervised Finetuning", model__base=QWEN25),
    *_ours(
        model__tuned="no adapters are spoken of",
        model__freeze_vision="not given",
        model__dtype=_COMMON,
        model__max_pixels="the paper's limit at inference (section 5.1)",
        **_STEPS_OURS,
    ),
)

PAPER_VALUES: Mapping[tuple[str, str], tuple[PaperValue, ...]] = MappingProxyType(
    {
        ("geoagent", "sft"): (
            *_GEOAGENT_TUNED,
            *_values("section 4", optim__epochs=2.0),
            *_values("section 3.1", data__limit=10_000),
            *_ours(optim__max_length="not given"),
        ),
        ("geoagent", "grpo"): (
            *_GEOAGENT_TUNED,
            *_values("section 4", optim__epochs=1.0, rollout__objective="grpo"),
            *_values("section 3.2", data__limit=20_000),
            *_values("table 5", rollout__group=8, rollout__temperature=0.7, rollout__kl=0.001),
            *_values("table 5", reward__spatial__weight=1.5, reward__semantic__weight=1.0),
            *_values("table 5", reward__consistency__weight=0.5, reward__spatial__tau_km=200.0),
            *_NO_COST,
            *_values("table 5", reward__semantic__alpha=(0.1, 0.6, 0.3), reward__semantic__thresholds=(0.7, 0.5, 0.0)),
            *_values("table 5", reward__consistency__weights=(0.1, 0.6, 0.3)),
            *_values("section 4.2: an encoder compares all names", reward__semantic__aliases=False),
            *_values("section 4.3: it gets no conclusion", reward__consistency__withhold="conclusion"),
            *_values(
                "the released code, swift/plugin/orm.py",
                reward__consistency__steepness=8.0, reward__consistency__midpoint=0.5,
                reward__consistency__length="fixed", reward__consistency__bounds=(90.0, 200.0),
            ),
            *_values("section 4: one reply, no tools", environment__tools=(), environment__turns=1),
            *_ours(
                optim__mini_batch="one step a sampling",
                rollout__top_p="everything may be drawn",
                rollout__prompt_tokens="the prompt and a picture of two million pixels",
                rollout__reply_tokens="three levels of reasoning",
                rollout__entropy="none is spoken of",
                **_CLIP_OURS,
                **_LOSS_OURS,
            ),
        ),
        ("spotagent", "sft"): (
            *_SPOTAGENT_SETUP,
            *_SPOTAGENT_TUNED,
            *_values("section 3.2.2", data__limit=200_000),
        ),
        ("spotagent", "coldstart"): (
            *_SPOTAGENT_SETUP,
            *_SPOTAGENT_TUNED,
            *_values("section 3.2.2", data__limit=6_000),
        ),
        ("spotagent", "grpo"): (
            *_SPOTAGENT_SETUP,
            *_values("table 7", optim__learning_rate=1e-6, optim__batch=256, optim__mini_batch=128),
            *_values("table 7", optim__micro_batch=8, run__save_steps=100),
            *_values("appendix B.2", optim__epochs=1.0, rollout__objective="grpo", rollout__entropy=0.0),
            *_values("table 7", rollout__group=8, rollout__kl=0.001, kl_estimate="low variance"),
            *_values("table 7", rollout__prompt_tokens=4096, rollout__reply_tokens=4096),
            *_values("table 7", rollout__vllm=True, rollout__vllm_devices=2, rollout__vllm_share=0.8),
            *_values("section 3.3.1", data__regimes_km=(1.0, 25.0, 200.0, 750.0)),
            *_values("section 3.3.2", data__phases_km=((1.0, 25.0), (1.0, 25.0, 200.0, 750.0))),
            *_values("equation 8", reward__linear__knots=((1.0, 1.0), (25.0, 0.75), (200.0, 0.2))),
            *_values("section 3.3: without tools", environment__tools=()),
            *_NO_COST,
            *_ours(
                data__limit="how many rows the two phases have together is not given",
                environment__turns="one reply is enough where there are no tools",
                rollout__temperature="not given",
                rollout__top_p="not given",
                **_CLIP_OURS,
                **_LOSS_OURS,
            ),
        ),
        ("geovista", "coldstart"): (
            *_GEOVISTA_SETUP,
            *_values(
                "section 4, Supervised Finetuning",
                optim__learning_rate=1e-5, optim__batch=32, optim__epochs=1.0, optim__max_length=32_768,
                data__limit=2_000,
            ),
            *_ours(optim__schedule="not given", run__devices="not given"),
        ),
        ("geovista", "grpo"): (
            *_GEOVISTA_SETUP,
            *_values(
                "section 4, Reinforcement Learning",
                optim__learning_rate=1e-6, optim__schedule="constant", optim__batch=64, optim__mini_batch=32,
                rollout__kl=0.0, environment__turns=6, context_tokens=32_768, data__limit=12_000,
                rollout__objective="grpo",
            ),
            *_values("section 3.4", rollout__entropy=0.0, reward__hierarchical__beta=2.0),
            *_NO_COST,
            *_values("section 3.1", environment__tools=("image_zoom_in_tool", "search_web")),
            *_ours(
                rollout__group="G is not given; that of GeoAgent and SpotAgent",
                optim__epochs="not given",
                rollout__temperature="not given",
                rollout__top_p="not given",
                rollout__prompt_tokens="only the sum of both lengths is given",
                rollout__reply_tokens="only the sum of both lengths is given",
                run__devices="not given",
                **_CLIP_OURS,
                **_LOSS_OURS,
            ),
        ),
        ("twm", "grpo"): (
            *_values("section 5.1", model__base=QWEN3),
            *_values(
                "table 7",
                optim__learning_rate=1e-6, optim__epochs=2.0, optim__batch=64, optim__mini_batch=16, rollout__kl=0.001,
                rollout__reply_tokens=4096, rollout__group=16, environment__turns=8,
                environment__result_characters=1024, environment__reply_tokens=4096,
            ),
            *_values("equation 4: the mean over each trajectory", rollout__loss="grpo", rollout__objective="grpo"),
            *_values("section 5.1: 2,500 of MAPBench and 2,000 of IMAGEO-2", data__limit=4_500),
            *_values(
                "equation 5",
                reward__stepped__steps=((0.5, 1.0), (2.0, 0.8), (10.0, 0.6), (25.0, 0.4), (200.0, 0.2), (750.0, 0.1)),
            ),
            *_values("appendix B.1", run__devices=32),
            *_NO_COST,
            *_ours(
                environment__tools="the paper's; satellite pictures need tiles of your own (rollout.tiles)",
                model__tuned="no adapters are spoken of",
                model__freeze_vision="not given",
                model__dtype=_COMMON,
                model__max_pixels="the first view's two million pixels",
                optim__schedule="not given",
                rollout__temperature="given for testing alone (table 7)",
                rollout__top_p="given for testing alone (table 7)",
                rollout__prompt_tokens="not given",
                rollout__entropy="none is spoken of",
                run__sharding="not given",
                **_CLIP_OURS,
                **_STEPS_OURS,
            ),
        ),
    }
)  # fmt: skip
"""By paper and stage. Whatever a recipe of a paper decides is here: published, or marked as ours."""


@dataclass(frozen=True, slots=True)
class Departure:
    """Something that is done otherwise than in the paper, and is no single value of a recipe."""

    name: str
    ours: str
    paper: str
    where: str

    def __str__(self) -> str:
        return f"{self.name}: {self.ours}; the paper has {self.paper} ({self.where})"


def departures(recipe: Recipe, resolved: Mapping[str, Any]) -> list[Departure]:
    """Return what is not as the paper has it beside the recipe's values: judge, encoder, prompt, tools, validation."""
    paper = recipe.paper or ""
    if not values_of(recipe):
        return []
    found = []
    if paper in PRINTED_PROMPTS and not getattr(recipe.rollout, "prompts", None):
        found.append(Departure("prompt", "our own words", "its own, in print", PRINTED_PROMPTS[paper]))
    if recipe.model.chat_template is not None:
        own = "the base model's own, as far as is known"
        found.append(Departure("chat template", recipe.model.chat_template, own, "not printed"))
    if recipe.stage == "grpo":
        found += _rollout_departures(recipe, resolved)
    if (paper, recipe.stage) == ("spotagent", "grpo") and recipe.evaluation.every != _VALIDATED_STEPS:
        own = f"one every {recipe.evaluation.every} steps" if recipe.evaluation.every else "none while training"
        found.append(Departure("validation", own, f"one every {_VALIDATED_STEPS} steps", "table 7"))
    return found


def _rollout_departures(recipe: Recipe, resolved: Mapping[str, Any]) -> list[Departure]:
    paper, rollout, found = recipe.paper or "", recipe.rollout, []
    if paper == "geoagent":
        judged = any(name.startswith("reward.consistency.") for name in resolved)
        encoded = any(name.startswith("reward.semantic.") for name in resolved)
        if judged and "qwen3-32b" not in (rollout.judge or "").casefold():
            found.append(Departure("judge", rollout.judge or "none named", JUDGE, "section 5.1"))
        if judged:
            shown = "it also sees the clues, and names agree by meaning"
            found.append(Departure("what the judge does", shown, "reasoning alone, equal letters", "the released code"))
        if encoded and Path(rollout.encoder or "").name != ENCODER:
            found.append(Departure("encoder", rollout.encoder or "none named", ENCODER, "reference 70"))
        if resolved.get("reward.point") == "text" and rollout.geocoder.partition(":")[0] != "opencage":
            asks = "the offline atlas" if rollout.geocoder == "atlas" else rollout.geocoder
            found.append(Departure("geocoder", asks, "OpenCage", "section 4.2"))
    if paper in PAPER_TOOLS:
        tools, where = PAPER_TOOLS[paper]
        have = tuple(resolved.get("environment.tools", ()))
        if set(have) != set(tools):
            found.append(Departure("tools", ", ".join(have) or "none", ", ".join(tools), where))
        online = {"geovista": "a web search", "twm": "AMAP's and Google's maps"}[paper]
        asked = " and ".join(filter(None, (rollout.maps, rollout.web))) or "the offline atlas and its documents"
        found.append(Departure("what tools ask", asked, online, where))
    return found


def values_of(recipe: Recipe) -> tuple[PaperValue, ...]:
    """Return what the paper of a recipe says about its stage; nothing for a recipe of our own."""
    return PAPER_VALUES.get((recipe.paper or "", recipe.stage), ())


def differences(recipe: Recipe, resolved: Mapping[str, Any] | None = None) -> list[Difference]:
    """Return where a recipe is not as its paper has it.

    Args:
        recipe: which paper and stage.
        resolved: what it resolves to, by name; a name that is not there is a difference. The recipe's own fields alone
            if left out, and then other names are not looked for.
    """
    found = []
    values = flat(recipe) if resolved is None else resolved
    for one in values_of(recipe):
        if not one.published or (resolved is None and one.name not in values):
            continue
        part = ".".join(one.name.split(".")[:2])
        if recipe.ablation and one.name.startswith("reward.") and f"{part}.weight" not in values:
            continue  # the row does without this part
        ours = values.get(one.name)
        if not _same(ours, one.value):
            found.append(Difference(one.name, ours, one.value, one.where))
    return found


def ours(recipe: Recipe, resolved: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
    """Return the values that the paper does not give: what we take, and why."""
    return {one.name: (resolved.get(one.name), one.where) for one in values_of(recipe) if not one.published}


def unaccounted(recipe: Recipe) -> list[str]:
    """Return fields of a paper's recipe that are neither published nor marked as ours, and unknown marks."""
    known = values_of(recipe)
    if not known:
        return []
    names = {one.name for one in known}
    fields = [name for name in flat(recipe) if name not in names and _decides(name, recipe)]
    marked = {one.name for one in known if not one.published}
    return fields + sorted(marked.symmetric_difference(recipe.unpublished))


def _decides(name: str, recipe: Recipe) -> bool:
    """Return whether a field can change what comes of a recipe."""
    part = name.partition(".")[0]
    if name in _HOUSEKEEPING or part in ("run", "evaluation") or (part == "rollout" and recipe.stage != "grpo"):
        return False
    if name in ("model.rank", "model.alpha", "model.targets"):
        return recipe.model.tuned == "lora"
    if name in ("data.regimes_km", "data.phases_km"):
        return recipe.data.tries is not None
    if name == "optim.max_length":
        return recipe.stage != "grpo"
    if name == "optim.mini_batch":
        return recipe.stage == "grpo"
    return True


def _same(ours: Any, paper: Any) -> bool:
    if isinstance(paper, bool) or isinstance(ours, bool):
        return ours is paper
    if isinstance(paper, int | float) and isinstance(ours, int | float):
        return isclose(ours, paper, rel_tol=1e-9, abs_tol=0.0 if paper else 1e-15)
    if isinstance(paper, tuple) and isinstance(ours, tuple | list):
        return len(ours) == len(paper) and all(_same(one, other) for one, other in zip(ours, paper, strict=True))
    return bool(ours == paper)
