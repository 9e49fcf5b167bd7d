"""What a sweep varies: one setting at a time, all others as they are."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.team.swarm import SwarmSettings

PERSONAS_AGAINST_BACKBONES = "personas-against-backbones"
_SETTINGS = ("answerers", "reviewers", "rounds", "agents")
_RANGE = re.compile(r"(\d{1,3})\.\.(\d{1,3})")
_MOST_VALUES = 64
USUAL: tuple[str, ...] = ("answerers=1..8", "reviewers=1..8", "rounds=0,1,3,5,10,15,20")


@dataclass(frozen=True, slots=True)
class Variation:
    """A setting and the values that it takes."""

    setting: str
    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a sweep: the value, the line of the plot it belongs to, the swarm's settings, and who takes part."""

    setting: str
    value: int
    line: str
    settings: SwarmSettings
    chosen: tuple[int, ...]


def read_variation(words: str) -> Variation:
    """Read ``answerers=1..8``, ``rounds=0,1,3`` or ``personas-against-backbones``.

    Raises:
        BadInput: it can't be read; the message says how it is written.
    """
    setting, _, values = words.strip().casefold().partition("=")
    setting = setting.strip()
    if setting == PERSONAS_AGAINST_BACKBONES and not values:
        return Variation(setting)
    if setting not in _SETTINGS:
        raise BadInput(
            f"--vary {words.strip()[:40]!r}: write one of {', '.join(f'{name}=1..8' for name in _SETTINGS)}, "
            f"or {PERSONAS_AGAINST_BACKBONES}"
        )
    found: set[int] = set()
    for part in values.split(","):
        if ends := _RANGE.fullmatch(part.strip()):
            found.update(range(int(ends[1]), int(ends[2]) + 1))
        elif part.strip().isdecimal() and len(part.strip()) <= 3:
            found.add(int(part))
        else:
            raise BadInput(f"--vary {words.strip()[:40]!r}: write values as {setting}=1..8 or {setting}=1,3,5")
    lowest = 0 if setting in ("reviewers", "rounds") else 1
    if not found or min(found) < lowest or len(found) > _MOST_VALUES:
        raise BadInput(f"--vary {words.strip()[:40]!r}: {setting} takes up to {_MOST_VALUES} values from {lowest} on")
    return Variation(setting, tuple(sorted(found)))


def points(variations: Sequence[Variation], settings: SwarmSettings, backbones: Sequence[str]) -> list[Point]:
    """All runs of a sweep.

    Args:
        variations: what is varied; values that the team is too small for are left out, see `too_large`.
        settings: the swarm's own.
        backbones: what model stands behind each member, in order; equal words are the same model.

    Raises:
        BadInput: nothing is left to run.
    """
    found = [point for variation in variations for point in _of(variation, settings, backbones)]
    if not found:
        raise BadInput(f"a team of {len(backbones)} leaves nothing to vary; give a larger team or other values")
    return found


def too_large(variations: Sequence[Variation], agents: int) -> dict[str, tuple[int, ...]]:
    """The values that a team of so many agents is too small for, by setting."""
    found = {one.setting: tuple(v for v in one.values if v > _most(one.setting, agents)) for one in variations}
    return {setting: values for setting, values in found.items() if values}


def _most(setting: str, agents: int) -> float:
    # Nobody reviews itself; a discussion can be of any length.
    return {"answerers": agents, "reviewers": agents - 1, "agents": agents}.get(setting, inf)


def _of(variation: Variation, settings: SwarmSettings, backbones: Sequence[str]) -> Iterator[Point]:
    setting, everybody = variation.setting, tuple(range(len(backbones)))
    if setting == PERSONAS_AGAINST_BACKBONES:
        yield from _two_kinds(settings, backbones)
        return
    for value in variation.values:
        if value <= _most(setting, len(everybody)):
            varied = settings if setting == "agents" else _with(settings, setting, value)
            yield Point(setting, value, "swarm", varied, everybody[:value] if setting == "agents" else everybody)


def _with(settings: SwarmSettings, setting: str, value: int) -> SwarmSettings:
    changed: dict[str, Any] = {setting: value}
    return replace(settings, **changed)


def _two_kinds(settings: SwarmSettings, backbones: Sequence[str]) -> Iterator[Point]:
    """Growing teams of different models, beside growing teams of personas over the commonest one."""
    commonest, copies = Counter(backbones).most_common(1)[0]
    different = tuple(dict(reversed([(name, index) for index, name in enumerate(backbones)])).values())
    kinds = {
        "backbones": tuple(sorted(different)),
        "personas": tuple(index for index, name in enumerate(backbones) if name == commonest),
    }
    if len(kinds["backbones"]) < 2 or copies < 2:
        raise BadInput(
            f"{PERSONAS_AGAINST_BACKBONES} needs at least two models, and two agents over one of them; add agents to "
            "the team"
        )
    for line, chosen in kinds.items():
        for count in range(1, len(chosen) + 1):
            yield Point(PERSONAS_AGAINST_BACKBONES, count, line, settings, chosen[:count])
