"""Published values of the four training papers, and the distance of a recipe from them.

A value is looked for in what a recipe resolves to, see `lab.train.dryrun`: its own fields by their dotted names,
and what the built parts say of themselves (``environment.turns``, ``reward.spatial.tau_km``, ``trained_percent``).
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from math import isclose
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .recipe import Recipe
from .recipe_files import flat

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
# Where each training paper prints its prompts. smileGeo mentions a template but prints none.
PRINTED_PROMPTS: Mapping[str, str] = MappingProxyType(
    {"geoagent": "figure 7", "spotagent": "appendix A.1", "geovista": "figure 1: the question", "twm": "appendix B"}
)
# Tools that a paper uses in reinforcement learning; papers not listed use none.
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
_VALIDATED_STEPS = 10
_EVERY_STAGE = "all"
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


def _read_values() -> dict[tuple[str, str], tuple[PaperValue, ...]]:
    table = tomllib.loads((files(__package__) / "papers.toml").read_text(encoding="utf-8"))
    return {
        (paper, stage): tuple(
            PaperValue(name, None, value, published=False)
            if where == "ours"
            else PaperValue(name, _tuple(value), where)
            for part in (stages.get(_EVERY_STAGE, {}), own)
            for where, values in part.items()
            for name, value in values.items()
        )
        for paper, stages in table.items()
        for stage, own in stages.items()
        if stage != _EVERY_STAGE
    }


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


# Values by paper and stage: everything that a paper's recipe sets, either published or marked as ours.
PAPER_VALUES: Mapping[tuple[str, str], tuple[PaperValue, ...]] = MappingProxyType(_read_values())


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
    if not find_paper_values(recipe):
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


def find_paper_values(recipe: Recipe) -> tuple[PaperValue, ...]:
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
    for value in find_paper_values(recipe):
        if not value.published or (resolved is None and value.name not in values):
            continue
        part = ".".join(value.name.split(".")[:2])
        if recipe.ablation and value.name.startswith("reward.") and f"{part}.weight" not in values:
            continue  # the row does without this part
        ours = values.get(value.name)
        if not _same(ours, value.value):
            found.append(Difference(value.name, ours, value.value, value.where))
    return found


def ours(recipe: Recipe, resolved: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
    """Return the values that the paper does not give: what we take, and why."""
    return {
        value.name: (resolved.get(value.name), value.where)
        for value in find_paper_values(recipe)
        if not value.published
    }


def find_unaccounted(recipe: Recipe) -> list[str]:
    """Return fields of a paper's recipe that are neither published nor marked as ours, and unknown marks."""
    known = find_paper_values(recipe)
    if not known:
        return []
    names = {item.name for item in known}
    fields = [name for name in flat(recipe) if name not in names and _decides(name, recipe)]
    marked = {item.name for item in known if not item.published}
    return fields + sorted(marked.symmetric_difference(recipe.unpublished))


def _decides(name: str, recipe: Recipe) -> bool:
    """Return whether a field can change the result of a recipe."""
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
