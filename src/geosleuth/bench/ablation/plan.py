"""``ablation.json``: what an ablation's folder holds, written before anything runs, and checked when it goes on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geosleuth import __version__
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically

from .variants import SETTINGS, Setting, Variant

FILE = "ablation.json"
FORMAT = "geosleuth-ablation"
VERSION = 1


@dataclass(frozen=True, slots=True)
class AblationPlan:
    """The variants of an ablation, the first of which the others are held against, and the preset they are from."""

    variants: tuple[Variant, ...]
    preset: str | None = None


def begin_plan(folder: Path, wanted: AblationPlan) -> AblationPlan:
    """Write down what an ablation is made of, or go on with what is there; new variants are added to it.

    A variant that is in the folder and not wanted now stays in it, and in its tables; it is not worked on.

    Raises:
        BadInput: the folder holds something else, or a variant of the same name that is another one.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / FILE).exists() and (other := next(folder.iterdir(), None)) is not None:
            raise BadInput(f"{folder}: holds {other.name[:60]!r} but no ablation; choose a new or an empty folder")
    except OSError as error:
        raise BadInput(f"{folder}: can't be made: {error.strerror or error}") from error
    plan = wanted
    if (folder / FILE).exists():
        plan = _joined(folder, read_plan(folder), wanted)
    write_text_atomically(folder / FILE, f"{json.dumps(_to_dict(plan), indent=1, ensure_ascii=False)}\n")
    return plan


def _joined(folder: Path, stored: AblationPlan, wanted: AblationPlan) -> AblationPlan:
    before = {one.name: one for one in stored.variants}
    for one in wanted.variants:
        if one.name in before and dict(before[one.name].changes) != dict(one.changes):
            raise BadInput(
                f"{folder}: the variant {one.name[:60]!r} was begun with {before[one.name].words}, now it is "
                f"{one.words}; give it another name, or choose another folder"
            )
    if wanted.variants[0].name != stored.variants[0].name:
        raise BadInput(
            f"{folder}: the variants are held against {stored.variants[0].name[:60]!r}, which comes first; now "
            f"{wanted.variants[0].name[:60]!r} does; give the same first, or choose another folder"
        )
    added = tuple(one for one in wanted.variants if one.name not in before)
    return AblationPlan((*stored.variants, *added), stored.preset or wanted.preset)


def read_plan(folder: Path) -> AblationPlan:
    """What an ablation's folder is made of.

    Raises:
        BadInput: it is no ablation's folder, or its file can't be read.
    """
    path = folder / FILE
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInput(f"{folder}: holds no {FILE}; give the folder of an ablation") from error
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: is not JSON; put it back from a copy, or choose another folder") from error
    if not isinstance(plain, dict) or plain.get("format") != FORMAT or plain.get("version") != VERSION:
        raise BadInput(f"{path}: is no ablation of version {VERSION}")
    try:
        variants = tuple(Variant(str(one["name"]), _changes(one["changes"])) for one in plain["variants"])
        preset = plain.get("preset")
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path}: can't be read: {type(error).__name__}: {str(error)[:100]}") from error
    if len(variants) < 2:
        raise BadInput(f"{path}: names fewer than two variants")
    return AblationPlan(variants, None if preset is None else str(preset))


def _changes(plain: Mapping[str, Any]) -> dict[str, Setting]:
    changes = dict(plain)
    for name, value in changes.items():
        if name not in SETTINGS or not (value is None or isinstance(value, str | int | float | bool)):
            raise ValueError(f"{name!r} is no setting, or its value can't be one")
    return changes


def _to_dict(plan: AblationPlan) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "geosleuth": __version__,
        "preset": plan.preset,
        "baseline": plan.variants[0].name,
        "variants": _plain(plan.variants),
    }


def _plain(variants: Sequence[Variant]) -> list[dict[str, Any]]:
    return [{"name": one.name, "folder": one.folder, "changes": dict(one.changes)} for one in variants]
