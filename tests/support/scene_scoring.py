"""The detective at work on made-up scenes, and how well it does: one definition for all who measure it."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from geosleuth.agent.locate import Finding, locate
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.answer import Answer
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.evidence.decision import Decision
from geosleuth.geo import distance_km
from geosleuth.lab.score import calibration
from geosleuth.models import Conversation, Policy, Step
from geosleuth.models.detective import Detective
from geosleuth.names import country_code
from geosleuth.photo import open_photo
from geosleuth.tools.toolset import all_tools
from homes import add_region
from scene_places import extracts
from scenes import TWO_MEGAPIXELS, Scene

CONFIDENT = 0.25
"""From this probability on a point is a claim; a photo that shows nothing must not get one."""

NEAR_KM = 1.0
PROMISED_COUNTRY, PROMISED_NEAR, PROMISED_FOLLOWED, PROMISED_ERROR = 0.95, 0.70, 0.15, 0.10
PROMISED_SECONDS, PROMISED_PER_SECOND = 3.0, 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one scene. ``decision`` is there where it was asked for."""

    scene: Scene
    answer: Answer
    read: tuple[str, ...]
    seconds: float
    decision: Decision | None = None

    @property
    def country(self) -> str | None:
        """The country of the answer, by its ISO code."""
        named = self.answer.address.country.conclusion
        return country_code(named) if named else None

    @property
    def off_km(self) -> float:
        """How far the answer is from the truth; not a number where there is nothing to measure."""
        if self.answer.point is None or self.scene.truth is None:
            return float("nan")
        return distance_km(self.answer.point, self.scene.truth.point)

    @property
    def within_radius(self) -> bool:
        """Whether the truth lies where the answer says."""
        return self.answer.radius_km is not None and self.off_km <= self.answer.radius_km

    @property
    def right_country(self) -> bool:
        """Whether the country is the true one."""
        return self.scene.truth is not None and self.country == self.scene.truth.country

    @property
    def followed(self) -> bool:
        """Whether it went where the misleading thing points."""
        return self.scene.misleading_country is not None and self.country == self.scene.misleading_country

    @property
    def confident(self) -> bool:
        """Whether it claims a point."""
        return self.answer.located and (self.answer.probability is None or self.answer.probability >= CONFIDENT)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with it, in the words of the promises."""
        found = []
        if self.scene.truth is None:
            if self.confident:
                found.append("claims a point though nothing is to be seen")
        elif not self.right_country:
            found.append("wrong country" if self.country else "no country")
        if self.followed:
            found.append("followed the misleading thing")
        if self.scene.business and not self.off_km <= NEAR_KM:
            found.append("not within 1 km")
        return tuple(found)


class _Watched:
    """The detective, its last decision kept."""

    def __init__(self, detective: Detective) -> None:
        self.name, self.hosts = detective.name, detective.hosts
        self.decision: Decision | None = None
        self._detective = detective

    async def step(self, conversation: Conversation) -> Step:
        step = await self._detective.step(conversation)
        if not step.calls:
            self.decision = (await asyncio.to_thread(self._detective.review, conversation)).decision
        return step

    async def aclose(self) -> None:
        await self._detective.aclose()


class Bench:
    """All that stays the same from scene to scene."""

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        self.method = method_of("detective")
        self.toolset = self.method.toolset(all_tools())

    async def run(self, scene: Scene, *, watched: bool = False) -> Outcome:
        """Let the detective work on one scene; drawing is not timed, opening is."""
        picture = scene.jpeg()
        watch = _Watched(Detective()) if watched else None
        policy: Policy = watch or Detective()
        begin = time.perf_counter()
        opened = open_photo(picture)
        finding = await locate(
            [opened], AgentSetup(method=self.method, policy=policy, toolset=self.toolset), Resources(self.atlas)
        )
        seconds = time.perf_counter() - begin
        return Outcome(scene, finding.answer, _read(finding), seconds, watch.decision if watch else None)


def open_bench(regions: Path) -> Bench:
    """An atlas with the regions that scenes are from; they are imported into the folder where they are not there."""
    for name, extract in extracts().items():
        if not any(regions.glob(f"{name}*")):
            add_region(extract, regions)
    return Bench(OfflineAtlas(regions))


def _read(finding: Finding) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for observation in finding.trajectory.observations:
        if isinstance(observation.data, Mapping):
            for line in observation.data.get("lines", ()):
                found[str(line["text"])] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Figures:
    """How well the detective does on a set of scenes; None where the set has nothing to measure it on."""

    scenes: int
    right_country: float
    near_business: float | None
    followed: float | None
    calibration_error: float | None
    confident_without_clue: int
    without_clue: int
    seconds_p50: float | None

    def broken(self) -> list[str]:
        """The promises that do not hold."""
        found = []
        if self.right_country < PROMISED_COUNTRY:
            found.append(f"country right in {self.right_country:.1%}, promised {PROMISED_COUNTRY:.0%}")
        if self.near_business is not None and self.near_business < PROMISED_NEAR:
            found.append(f"within 1 km in {self.near_business:.1%}, promised {PROMISED_NEAR:.0%}")
        if self.followed is not None and self.followed > PROMISED_FOLLOWED:
            found.append(f"misleading cue followed in {self.followed:.1%}, at most {PROMISED_FOLLOWED:.0%}")
        if self.calibration_error is not None and self.calibration_error > PROMISED_ERROR:
            found.append(f"calibration error {self.calibration_error:.3f}, at most {PROMISED_ERROR}")
        if self.confident_without_clue:
            found.append(f"{self.confident_without_clue} scenes without a clue got a confident point")
        return found


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """The figures of a set of scenes."""
    told = [one for one in outcomes if one.scene.truth is not None]
    doors = [one for one in told if one.scene.business]
    misled = [one for one in told if one.scene.misleading]
    blank = [one for one in outcomes if one.scene.truth is None]
    # The first few load networks and tables.
    large = [one.seconds for one in outcomes[3:] if one.scene.size == TWO_MEGAPIXELS]
    return Figures(
        len(outcomes),
        _share(one.right_country for one in told) or 0.0,
        _share(one.off_km <= NEAR_KM for one in doors),
        _share(one.followed for one in misled),
        calibration_error(told),
        sum(one.confident for one in blank),
        len(blank),
        median(large) if large else None,
    )


def calibration_error(outcomes: Sequence[Outcome]) -> float | None:
    """Expected difference between stated and observed probability that the truth lies within the radius."""
    located = [one for one in outcomes if one.answer.located]
    measured = calibration(
        np.array([one.off_km for one in located]),
        np.array([_number(one.answer.probability) for one in located]),
        np.array([_number(one.answer.radius_km) for one in located]),
    )
    return measured.expected_error if measured else None


def by_kind(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """How many of each kind there are and what went wrong how often."""
    counted: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in outcomes:
        counted[one.scene.kind]["scenes"] += 1
        for fault in one.faults:
            counted[one.scene.kind][fault] += 1
    return {kind: dict(counts) for kind, counts in counted.items()}


def _share(holds: Iterable[bool]) -> float | None:
    all_of_them = list(holds)
    return sum(all_of_them) / len(all_of_them) if all_of_them else None


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
