"""Recipes as files: read strictly, changed by overrides, written as plain data.

A recipe is a YAML mapping with the fields of `lab.train.recipe`; what is left out keeps its default. Paths in
it are seen from the folder that the command runs in.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from geosleuth.support.decode import decode, nearest
from geosleuth.support.errors import BadInput
from geosleuth.support.files import plain_yaml, plain_yaml_values, yaml_complaint

from .recipe import EvaluationPart, Recipe

_SUFFIXES = (".yaml", ".yml")
_NOTHING: Mapping[str, Any] = {}
_MAX_CLIP = 1000
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")

# From and up to, both included: far beyond anything that makes sense, and short of what breaks sums further on.
_BOUNDS: Mapping[str, tuple[float, float]] = {
    "model.rank": (1, 65_536),
    "model.alpha": (1, 1e6),
    "model.max_pixels": (1, 1e9),
    "data.scenes": (1, 1e9),
    "data.limit": (1, 1e12),
    "optim.learning_rate": (0, 10),
    "optim.warmup_share": (0, 0.999),
    "optim.weight_decay": (0, 10),
    "optim.max_grad_norm": (0, 1e9),
    "optim.epochs": (0.001, 100_000),
    "optim.steps": (1, 1e9),
    "optim.batch": (1, 1e7),
    "optim.mini_batch": (0, 1e7),
    "optim.micro_batch": (1, 1e6),
    "optim.max_length": (1, 1e8),
    "rollout.turns": (1, 10_000),
    "rollout.group": (2, 1e5),
    "rollout.temperature": (0.001, 100),
    "rollout.top_p": (0.001, 1),
    "rollout.prompt_tokens": (1, 1e8),
    "rollout.reply_tokens": (1, 1e8),
    "rollout.turn_tokens": (1, 1e8),
    "rollout.kl": (0, 1e6),
    "rollout.k": (1, 1e5),
    "rollout.entropy": (0, 1e6),
    "rollout.vllm_devices": (1, 4096),
    "rollout.vllm_share": (0.01, 1),
    "evaluation.every": (0, 1e9),
    "evaluation.scenes": (1, 1e6),
    "evaluation.tries": (1, 1e4),
    "evaluation.max_new_tokens": (1, 1e8),
    "evaluation.at_once": (1, 1e5),
    "run.seed": (0, 2**32 - 1),
    "run.save_steps": (1, 1e9),
    "run.keep": (1, 1e6),
    "run.log_steps": (1, 1e9),
    "run.devices": (1, 1e6),
    "run.machines": (1, 1e6),
    "run.device_gb": (0.001, 1e6),
}

# What a stage does not use, by dotted name or part: a value there would be ignored without a word.
_UNUSED: Mapping[str, tuple[str, ...]] = {
    "sft": ("data.tries", "data.regimes_km", "data.phases_km", "data.kept", "optim.mini_batch", "rollout"),
    "coldstart": (
        "data.photos", "data.shares", "data.method", "data.allow_test", "data.scenes", "data.world", "data.seed",
        "data.questions", "data.tries", "data.regimes_km", "data.phases_km", "data.kept", "optim.mini_batch", "rollout",
    ),
    "grpo": ("data.store", "data.method", "data.questions", "optim.packing", "optim.max_length"),
}  # fmt: skip

_QWEN25 = "Qwen/Qwen2.5-VL-7B-Instruct"
# Ablations of a reward or a stage in the papers, each a base recipe with a few changes.
ABLATIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    # A recipe, and what the paper's row changes in it.
    name: (base, {**changes, "name": name, "ablation": row})
    for name, base, row, changes in (
        ("geoagent-grpo-spatial", "geoagent-grpo", "table 3, w/o Sem & Con", {"rollout.reward": "geoagent-spatial"}),
        ("geoagent-grpo-semantic", "geoagent-grpo", "table 3, w/o Spa & Con", {"rollout.reward": "geoagent-semantic"}),
        ("geoagent-grpo-consistency", "geoagent-grpo", "table 3, w/o Spa & Sem",
         {"rollout.reward": "geoagent-consistency"}),
        ("geoagent-grpo-similarity", "geoagent-grpo", "tables 3 and 4, w/o Con",
         {"rollout.reward": "geoagent-similarity"}),
        ("geoagent-grpo-no-sft", "geoagent-grpo", "table 3, w/o SFT", {"model.path": _QWEN25}),
        ("geoagent-grpo-judge", "geoagent-grpo", "table 4, SFT + Judge", {"rollout.reward": "geoagent-judge"}),
        ("geoagent-grpo-judge-consistency", "geoagent-grpo", "table 4, SFT + Judge + Con",
         {"rollout.reward": "geoagent-judge-consistency"}),
        ("geovista-grpo-city", "geovista-grpo", "table 4, w/o hierarchical reward",
         {"rollout.reward": "geovista-city"}),
    )
}  # fmt: skip


def recipe_names() -> tuple[str, ...]:
    """Return the recipes that come with the package; `ABLATIONS` are made of them."""
    return tuple(
        sorted(
            item.name.removesuffix(".yaml") for item in _find_recipe_folder().iterdir() if item.name.endswith(".yaml")
        )
    )


def read_recipe(path_or_name: str | Path, overrides: Mapping[str, Any] = _NOTHING) -> Recipe:
    """Read a recipe from a YAML file, or a packaged one by name.

    Args:
        path_or_name: the file, or the name.
        overrides: changes by dotted name, such as ``{"optim.steps": 3, "data.store": "runs/store"}``.

    Raises:
        BadInput: there is no such recipe, or it says something that can't be; the message names it.
    """
    text = str(path_or_name)
    path = Path(text)
    if text in ABLATIONS and not path.is_file():
        base, changes = ABLATIONS[text]
        return read_recipe(base, {**changes, **overrides})
    if text in recipe_names() and not path.is_file():
        path = Path(str(_find_recipe_folder().joinpath(f"{text}.yaml")))
    elif not path.is_file():
        if path.suffix in _SUFFIXES or len(path.parts) > 1:
            raise BadInput(f"{path}: there is no such file")
        known = (*recipe_names(), *ABLATIONS)
        raise BadInput(f"there is no recipe {text!r}; {nearest(text, known)}; or give a YAML file")
    _refuse_twice(plain_yaml(path), path)
    values = plain_yaml_values(path)
    if not isinstance(values, Mapping):
        raise BadInput(f"{path}: a recipe is a mapping with {', '.join(_list_field_names(Recipe))}")
    return _with_prompts(build_recipe(with_overrides(values, overrides), str(path)), str(path))


def _with_prompts(recipe: Recipe, source: str) -> Recipe:
    """Return the recipe with the fingerprint of the user's prompts."""
    rollout = recipe.rollout
    if rollout.prompts is None:
        return recipe
    from geosleuth.agent.prompt_files import read_prompts

    found = read_prompts(rollout.prompts, rollout.method).sha256
    if rollout.prompts_sha256 not in (None, found):
        raise BadInput(f"{source}: the words in {rollout.prompts} are others than those of rollout.prompts_sha256")
    return replace(recipe, rollout=replace(rollout, prompts_sha256=found))


def build_recipe(values: Mapping[str, Any], source: str = "the recipe") -> Recipe:
    """Return a recipe from plain data, as `as_mapping` gives it.

    Raises:
        BadInput: something in it is unknown, missing or can't be; the message begins with ``source``.
    """
    try:
        recipe = decode(_with_lists(_with_numbers(values)), Recipe)
        _check_bounds(recipe)
        _check_used(recipe)
    except BadInput as error:
        raise BadInput(f"{source}: {error}") from error
    return recipe


def with_overrides(values: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain data with some values changed, each by its dotted name."""
    changed = dict(values)
    for name, value in overrides.items():
        first, _, rest = name.partition(".")
        inner = changed.get(first)
        nested = inner if isinstance(inner, Mapping) else {}
        changed[first] = with_overrides(nested, {rest: value}) if rest else value
    return changed


def parse_override(text: str) -> tuple[str, Any]:
    """Return what ``optim.steps=3`` on a command line changes: the name, and the value as YAML reads it.

    Raises:
        BadInput: it is not of that form.
    """
    import yaml

    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise BadInput(f"a change to a recipe looks like optim.steps=3, not {text[:60]!r}")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise BadInput(f"the value of {name.strip()} can't be read: {value[:60]!r}") from error


def as_mapping(recipe: Any) -> dict[str, Any]:
    """Return a recipe as plain data, complete: what YAML and JSON can hold."""
    return {field.name: _convert_recipe_value(getattr(recipe, field.name)) for field in fields(recipe)}


def flat(recipe: Recipe) -> dict[str, Any]:
    """Return every value of a recipe by its dotted name, tuples as they are."""
    values: dict[str, Any] = {}
    for field in fields(recipe):
        value = getattr(recipe, field.name)
        if is_dataclass(value):
            values |= {f"{field.name}.{inner.name}": getattr(value, inner.name) for inner in fields(value)}
        else:
            values[field.name] = value
    return values


def _find_recipe_folder() -> Any:
    return files("geosleuth.lab.train").joinpath("recipes")


def _list_field_names(kind: Any) -> list[str]:
    return [field.name for field in fields(kind)]


def _with_numbers(value: Any) -> Any:
    """Return plain data with 1e-5 as a number: YAML 1.1 takes it for a string."""
    if isinstance(value, Mapping):
        return {key: _with_numbers(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_with_numbers(item) for item in value]
    return float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value


def _with_lists(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return plain data with the photos as a list: a single set may be given alone."""
    data = values.get("data")
    if not isinstance(data, Mapping) or not isinstance(data.get("photos"), str):
        return values
    return {**values, "data": {**data, "photos": [data["photos"]]}}


def _check_bounds(recipe: Recipe) -> None:
    values = flat(recipe)
    for name, (low, high) in _BOUNDS.items():
        value = values[name]
        if value is None:
            continue
        if not low <= value <= high:
            raise BadInput(f"{name} must be at least {low:g} and at most {high:g}, not {_format_given(value)}")
    if not all(0 < item <= _MAX_CLIP for item in recipe.rollout.clip):
        raise BadInput(f"rollout.clip must be above 0 and at most {_MAX_CLIP}, not {list(recipe.rollout.clip)}")


def _check_used(recipe: Recipe) -> None:
    """Refuse values that the stage does not use; defaults are in every resolved recipe."""
    if not recipe.evaluation.every and recipe.evaluation != EvaluationPart():
        raise BadInput("evaluation: say after how many steps with evaluation.every, or leave it out")
    values, usual = flat(recipe), flat(Recipe(name=recipe.name, stage=recipe.stage, model=recipe.model))
    for name in values:
        if {name, name.partition(".")[0]} & set(_UNUSED[recipe.stage]) and values[name] != usual[name]:
            raise BadInput(f"{name}: the stage {recipe.stage} does not use it; leave it out")


def _refuse_twice(node: Any, path: Path) -> None:
    """Refuse a key that appears twice in one mapping: it would silently replace the first."""
    if node is None or node.id == "scalar":
        return
    if node.id == "sequence":
        for item in node.value:
            _refuse_twice(item, path)
        return
    seen = set()
    for key, value in node.value:
        if key.id == "scalar" and key.value in seen:
            raise yaml_complaint(path, key, f"{key.value} appears twice; remove one")
        seen.add(key.value if key.id == "scalar" else None)
        _refuse_twice(value, path)


def _convert_recipe_value(value: Any) -> Any:
    if is_dataclass(value):
        return as_mapping(value)
    if isinstance(value, Mapping):
        return {str(key): _convert_recipe_value(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_convert_recipe_value(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _format_given(value: object) -> str:
    return repr(value)[:60]
