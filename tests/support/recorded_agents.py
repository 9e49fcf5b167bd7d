"""Made-up agents whose answers are already known: each is good in some lands and poor in others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from geosleuth.lab.teams.recorded import Panel, PanelReply, number_groups
from geosleuth.lab.teams.recorded.learn_trust import KnownTrust

TOWNS = {
    "Aville": (48.0, 2.0), "Bourg": (45.0, 4.0), "Cetown": (52.0, -1.0), "Deford": (54.0, -2.5),
    "Efurt": (51.0, 11.0), "Feberg": (49.0, 9.0), "Gepoli": (41.0, 14.0), "Hamonte": (45.5, 9.5),
}  # fmt: skip
LANDS = {"Aville": 0, "Bourg": 0, "Cetown": 1, "Deford": 1, "Efurt": 2, "Feberg": 2, "Gepoli": 3, "Hamonte": 3}


@dataclass(frozen=True)
class Skill:
    """How often an agent finds the town, by land; how far off it is there; how often it says nothing at all."""

    by_land: Sequence[float]
    spread_km: float = 3.0
    silent: float = 0.0
    talks: bool = True


REGIONAL: Mapping[str, Skill] = {
    "north": Skill((0.35, 0.9, 0.5, 0.3), 2.0),
    "south": Skill((0.5, 0.3, 0.35, 0.9), 3.0),
    "middle": Skill((0.75, 0.4, 0.8, 0.4), 4.0),
}


def make_said(truths: Sequence[tuple[str, LatLon]], skill: Skill, seed: int) -> list[PanelReply | None]:
    """What an agent of this skill says about images of these towns."""
    rng = np.random.default_rng(seed)
    said: list[PanelReply | None] = []
    names = list(TOWNS)
    for town, point in truths:
        if rng.random() < skill.silent:
            said.append(None)
            continue
        right = rng.random() < skill.by_land[LANDS[town]]
        guess = town if right else str(rng.choice([name for name in names if name != town]))
        lat, lon = (point.lat, point.lon) if right else TOWNS[guess]
        off = rng.normal(0, skill.spread_km / 111.0, 2)
        sure = "The sign reads a street name, a famous landmark" if right == (rng.random() < 0.7) else "It could be"
        words = f"{sure} in {guess}. " if skill.talks else ""
        answer = Answer(LatLon(float(lat + off[0]), float(lon + off[1])), Address.create("Land", None, guess))
        said.append(PanelReply(words, answer))
    return said


def make_truths(count: int, seed: int) -> list[tuple[str, LatLon]]:
    """Images of towns, each a few km from the middle."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        town = str(rng.choice(list(TOWNS)))
        off = rng.normal(0, 0.03, 2)
        found.append((town, LatLon(float(TOWNS[town][0] + off[0]), float(TOWNS[town][1] + off[1]))))
    return found


def make_known(count: int, skills: Mapping[str, Skill] = REGIONAL, seed: int = 0) -> KnownTrust:
    """Images of known truth with what agents of these skills say; an agent's answers hang on its name alone."""
    truths = make_truths(count, seed)
    said = {name: make_said(truths, skill, seed + sum(map(ord, name))) for name, skill in skills.items()}
    return known_of(said, truths)


def known_of(said: Mapping[str, Sequence[PanelReply | None]], truths: Sequence[tuple[str, LatLon]]) -> KnownTrust:
    """Put together what was made."""
    groups = number_groups([(row,) for row in range(len(truths))], [point for _, point in truths])
    return KnownTrust.from_panel(Panel.from_answers(said), [Truth(point, city=town) for town, point in truths], groups)
