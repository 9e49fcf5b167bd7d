"""Ways of teamwork held against truths: what is varied, accuracy and cost, tests, and each member's record."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from statistics import fmean
from typing import Any

import numpy as np

from geosleuth.answer import Answer
from geosleuth.atlas.placing import Placer
from geosleuth.geo import distance_km
from geosleuth.lab.bench.sets.dataset import DatasetPicture
from geosleuth.lab.score import Truth
from geosleuth.lab.score.metrics import Estimate, holm, mcnemar_p, mean_estimate, wilson
from geosleuth.lab.teams.learning import without_claims
from geosleuth.lab.teams.rivals import RIVALS, RivalTalk
from geosleuth.photo import OpenedPhoto, open_photo
from geosleuth.support.errors import BadInput
from geosleuth.teams import (
    AGREE_WITHIN_KM,
    Member,
    Request,
    Society,
    StrangersSociety,
    TeamOutcome,
    TrustWeights,
    find_location,
)
from geosleuth.teams.swarm import SwarmSettings, run_swarm
from geosleuth.teams.swarm.swarm import together
from geosleuth.tools.similar.index_file import pixel_digest

Ask = Callable[[Request], Awaitable[TeamOutcome]]
"""A way of teamwork, ready for a request."""
Progress = Callable[[int, int], None]

# The swarm with what it learned, and the same swarm with equal trust.
SWARM, STRANGERS = "swarm", "strangers"
WAYS: tuple[str, ...] = (SWARM, STRANGERS, *RIVALS)

PERSONAS_AGAINST_BACKBONES = "personas-against-backbones"
# Setting of a comparison of ways that varies nothing else.
WAY = "way"
# Setting of a sweep over answerers and reviewers together.
GRID = "grid"
USUAL: tuple[str, ...] = ("answerers=1..8", "reviewers=1..8", "rounds=0,1,3,5,10,15,20")
_SETTINGS = ("answerers", "reviewers", "rounds", "agents")
_RANGE = re.compile(r"(\d{1,3})\.\.(\d{1,3})")
MAX_VALUES = 64


@dataclass(frozen=True, slots=True)
class PartOfSociety:
    """A society restricted to some of its members."""

    whole: Society
    chosen: tuple[int, ...]

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:
        """Return the trust weights of those members."""
        all_of_them = self.whole.trust_weights(photos)
        return TrustWeights(
            tuple(all_of_them.election[i] for i in self.chosen),
            tuple(tuple(all_of_them.links[i][j] for j in self.chosen) for i in self.chosen),
        )


class RememberedSociety:
    """A society that evaluates each picture once."""

    def __init__(self, society: Society) -> None:
        self._society = society
        self._seen: dict[tuple[bytes, ...], TrustWeights] = {}

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:
        """Return the society's trust weights."""
        key = tuple(pixel_digest(photo.photo.image) for photo in photos)
        if key not in self._seen:
            self._seen[key] = self._society.trust_weights(photos)
        return self._seen[key]


def ready(
    way: str,
    members: Sequence[Member],
    *,
    placer: Placer,
    society: Society | None = None,
    settings: SwarmSettings | None = None,
    lead: int = 0,
    seed: int = 0,
) -> Ask:
    """Return a way of teamwork that only needs a request.

    Args:
        way: one of `WAYS`.
        members: the members.
        placer: resolves the places that answers name.
        society: the swarm's trust; None for equal trust.
        settings: of the swarm; rivals use its limits and its threshold.
        lead: the member who works alone or ranks, for rivals that have one.
        seed: the randomness depends on it and on the picture.
    """
    used = settings or SwarmSettings()
    trusted = society if way == SWARM and society is not None else StrangersSociety(len(members))

    async def ask(request: Request) -> TeamOutcome:
        if way in RIVALS:
            talk = RivalTalk(
                members,
                request,
                placer,
                lead=lead,
                within_km=used.within_km,
                seconds_per_reply=used.seconds_per_reply,
            )
            return await RIVALS[way](talk)
        drawn = "".join(pixel_digest(photo.photo.image).hex() for photo in request.photos)
        rng = random.Random(f"{seed} {drawn}")  # noqa: S311 - no secret depends on it
        return await run_swarm(members, request, society=trusted, placer=placer, settings=used, rng=rng)

    return ask


def read_ways(words: str) -> tuple[str, ...]:
    """Parse names separated by commas, each once; "all" is every way.

    Raises:
        BadInput: a name is unknown.
    """
    if words.strip().casefold() == "all":
        return WAYS
    names = [name.strip().casefold() for name in words.split(",") if name.strip()] or [""]
    for name in names:
        if name not in WAYS:
            raise BadInput(f"unknown way of teamwork {name[:40]!r}; choose from {', '.join(WAYS)}")
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Variation:
    """A setting and its values; for a grid the values of answerers, and those of reviewers."""

    setting: str
    values: tuple[int, ...] = ()
    reviewers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """One run: the value of the setting, its line in the plot, the swarm's settings, the members, the way of working.

    ``leader`` is who works alone or ranks, if it takes part; else the first does.
    """

    setting: str
    value: int
    line: str
    settings: SwarmSettings
    chosen: tuple[int, ...]
    way: str = SWARM
    leader: int = 0


def read_variation(words: str) -> Variation:
    """Parse ``answerers=1..8``, ``rounds=0,1,3``, ``answerers=1..4*reviewers=0..3`` or ``personas-against-backbones``.

    Raises:
        BadInput: it can't be parsed; the message shows the form.
    """
    said = f"--vary {words.strip()[:60]!r}"
    if "*" in words:
        both = {item.setting: item.values for item in map(read_variation, words.split("*"))}
        if both.keys() != {"answerers", "reviewers"} or words.count("*") > 1:
            raise BadInput(f"{said}: a grid is answerers=1..4*reviewers=0..3")
        return Variation(GRID, both["answerers"], both["reviewers"])
    setting, _, values = (part.strip() for part in words.casefold().partition("="))
    if setting == PERSONAS_AGAINST_BACKBONES and not values:
        return Variation(setting)
    if setting not in _SETTINGS:
        forms = ", ".join(f"{name}=1..8" for name in _SETTINGS)
        raise BadInput(f"{said}: write one of {forms}, or {PERSONAS_AGAINST_BACKBONES}")
    found: set[int] = set()
    for part in values.split(","):
        if ends := _RANGE.fullmatch(part.strip()):
            found.update(range(int(ends[1]), int(ends[2]) + 1))
        elif part.strip().isdecimal() and len(part.strip()) <= 3:
            found.add(int(part))
        else:
            raise BadInput(f"{said}: write values as {setting}=1..8 or {setting}=1,3,5")
    least = 0 if setting in ("reviewers", "rounds") else 1
    if not found or min(found) < least or len(found) > MAX_VALUES:
        raise BadInput(f"{said}: {setting} takes up to {MAX_VALUES} values from {least} on")
    return Variation(setting, tuple(sorted(found)))


def points_of_ways(ways: Sequence[str], settings: SwarmSettings, agents: int, leader: int = 0) -> list[Point]:
    """Return a run for each way, of the whole team."""
    return [Point(WAY, at, way, settings, tuple(range(agents)), way, leader) for at, way in enumerate(ways)]


def points(
    variations: Sequence[Variation], settings: SwarmSettings, backbones: Sequence[str], ways: Sequence[str] = (SWARM,)
) -> list[Point]:
    """Return all runs of a sweep.

    Args:
        variations: what varies; values too large for the team are left out, see `too_large`.
        settings: the swarm's own.
        backbones: the model behind each member, in order; equal names are the same model.
        ways: the ways of working; other settings than the number of agents vary the swarm alone.

    Raises:
        BadInput: no run is left.
    """
    found = [point for variation in variations for point in _generate_points(variation, settings, backbones, ways)]
    if not found:
        raise BadInput(f"no value fits a team of {len(backbones)}; give a larger team or other values")
    return found


def too_large(variations: Sequence[Variation], agents: int) -> dict[str, tuple[int, ...]]:
    """Return the values that are too large for a team of so many agents, by setting."""
    found = {
        variation.setting: tuple(v for v in variation.values if v > _largest(variation.setting, agents))
        for variation in variations
    }
    found |= {
        f"{variation.setting}, reviewers": tuple(v for v in variation.reviewers if v >= agents)
        for variation in variations
    }
    return {setting: values for setting, values in found.items() if values}


def _largest(setting: str, agents: int) -> float:
    # No agent reviews itself; a discussion can have any length.
    return {"answerers": agents, GRID: agents, "reviewers": agents - 1, "agents": agents}.get(setting, inf)


def _generate_points(
    variation: Variation, settings: SwarmSettings, backbones: Sequence[str], ways: Sequence[str]
) -> Iterator[Point]:
    setting, everybody = variation.setting, tuple(range(len(backbones)))
    if setting == PERSONAS_AGAINST_BACKBONES:
        yield from _two_kinds(settings, backbones)
    for value in variation.values:
        if value > _largest(setting, len(everybody)):
            continue
        if setting == GRID:
            for reviewers in variation.reviewers:
                if reviewers < len(everybody):
                    varied = replace(settings, answerers=value, reviewers=reviewers)
                    yield Point(setting, value, f"{reviewers} reviewers", varied, everybody)
        elif setting == "agents":
            for way in ways:
                yield Point(setting, value, way, settings, everybody[:value], way)
        else:
            changed: dict[str, Any] = {setting: value}
            yield Point(setting, value, SWARM, replace(settings, **changed), everybody)


def _two_kinds(settings: SwarmSettings, backbones: Sequence[str]) -> Iterator[Point]:
    """Yield growing teams of different models, and of personas over the commonest model."""
    commonest, copies = Counter(backbones).most_common(1)[0]
    kinds = {
        "backbones": tuple(sorted({name: at for at, name in reversed(list(enumerate(backbones)))}.values())),
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


@dataclass(frozen=True, slots=True)
class Example:
    """A photo, already open or opened when it is needed, and where it was taken."""

    truth: Truth
    photo: OpenedPhoto | DatasetPicture

    def load(self) -> OpenedPhoto:
        """Return the photo without its metadata, which may contain the truth.

        Raises:
            BadInput: it can't be opened.
        """
        return self.photo if isinstance(self.photo, OpenedPhoto) else without_claims(open_photo(self.photo.read()))


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of one way, example by example.

    ``distances_km`` is NaN where no place was found. ``voices`` is whose answer each was. ``failures`` are the
    reasons of failed replies. ``seconds`` are those of all replies, added up; ``elapsed`` those that a photo takes
    where replies that don't wait for each other come at once.
    """

    distances_km: tuple[float, ...]
    tokens: tuple[int, ...]
    calls: tuple[int, ...]
    seconds: tuple[float, ...]
    voices: tuple[str | None, ...] = ()
    within_km: float = AGREE_WITHIN_KM
    failures: tuple[str, ...] = ()
    elapsed: tuple[float, ...] = ()

    @property
    def right(self) -> tuple[bool, ...]:
        """Return which answers lie within the threshold."""
        return tuple(distance <= self.within_km for distance in self.distances_km)

    @property
    def accuracy(self) -> Estimate:
        """Return the share of right answers with its 95 % interval."""
        return wilson(sum(self.right), len(self.right))

    @property
    def tokens_per_query(self) -> float:
        """Return the mean tokens, by the team's own count."""
        return fmean(self.tokens)

    @property
    def calls_per_query(self) -> float:
        """Return the mean number of replies requested."""
        return fmean(self.calls)

    def figures(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        estimate = self.accuracy
        return {
            "accuracy": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "tokens": self.tokens_per_query,
            "calls": self.calls_per_query,
            "seconds": fmean(self.seconds),
            "elapsed_seconds": fmean(self.elapsed) if self.elapsed else nan,
            "failed": len(self.failures),
        }


async def measure(
    ask: Ask,
    examples: Sequence[Example],
    *,
    placer: Placer,
    within_km: float = AGREE_WITHIN_KM,
    seed: int | None = None,
    at_once: int = 1,
    progress: Progress = lambda _done, _total: None,
) -> Measured:
    """Run a way over examples; it never sees a truth.

    An answer without a point counts with the point of the place that it names, as the papers score texts.
    """
    free = asyncio.Semaphore(max(1, at_once))
    done = 0

    async def work(example: Example) -> tuple[float, TeamOutcome]:
        nonlocal done
        async with free:
            photo = await asyncio.to_thread(example.load)
            outcome = await ask(Request((photo,), seed=seed))
            away_km = await error_km(outcome.answer, example.truth, placer)
            done += 1
            progress(done, len(examples))
            return away_km, outcome

    found = await together(work(example) for example in examples)
    outcomes = [outcome for _, outcome in found]
    return Measured(
        tuple(away_km for away_km, _ in found),
        tuple(outcome.tokens for outcome in outcomes),
        tuple(len(outcome.turns) for outcome in outcomes),
        tuple(sum(turn.reply.seconds for turn in outcome.turns) for outcome in outcomes),
        tuple(outcome.voice for outcome in outcomes),
        within_km,
        tuple(turn.reply.failure for item in outcomes for turn in item.turns if turn.reply.failure is not None),
        tuple(outcome.elapsed_s for outcome in outcomes),
    )


async def error_km(answer: Answer, truth: Truth, placer: Placer) -> float:
    """Return the distance of an answer from the truth; NaN if it names no known place."""
    location = await find_location(answer, placer)
    return nan if location is None else distance_km(location.point, truth.point)


async def records(
    members: Sequence[Member],
    examples: Sequence[Example],
    *,
    placer: Placer,
    within_km: float = AGREE_WITHIN_KM,
    seed: int | None = None,
    at_once: int = 1,
    progress: Progress = lambda _done, _total: None,
) -> list[float]:
    """Return the share of examples that each member, asked alone, gets right."""
    shares = []
    for number, member in enumerate(members):

        def tell(done: int, total: int, number: int = number) -> None:
            progress(number * total + done, len(members) * total)

        ask = ready("single", members, placer=placer, lead=number)
        found = await measure(
            ask, examples, placer=placer, within_km=within_km, seed=seed, at_once=at_once, progress=tell
        )
        # Where it names no place another one steps in, which is not its merit.
        own = [right and voice == member.name for right, voice in zip(found.right, found.voices, strict=True)]
        shares.append(sum(own) / max(1, len(own)))
    return shares


async def sweep(
    points: Sequence[Point],
    members: Sequence[Member],
    examples: Sequence[Example],
    *,
    society: Society,
    placer: Placer,
    seed: int = 0,
    at_once: int = 1,
    progress: Callable[[Point, int, int], None] = lambda _point, _done, _total: None,
) -> list[tuple[Point, Measured]]:
    """Run every point's way of working over all examples."""
    found = []
    for number, point in enumerate(points):
        team = [members[index] for index in point.chosen]
        known = PartOfSociety(society, point.chosen)
        lead = point.chosen.index(point.leader) if point.leader in point.chosen else 0
        ask = ready(point.way, team, placer=placer, society=known, settings=point.settings, lead=lead, seed=seed)

        def tell(done: int, total: int, point: Point = point, number: int = number) -> None:
            progress(point, number * total + done, len(points) * total)

        measured = await measure(
            ask,
            examples,
            placer=placer,
            within_km=point.settings.within_km,
            seed=seed,
            at_once=at_once,
            progress=tell,
        )
        found.append((point, measured))
    return found


@dataclass(frozen=True, slots=True)
class Paired:
    """Two ways over the same photos.

    Attributes:
        difference: first minus second, in shares of right answers, with its 95 % interval.
        only_first, only_second: photos that only one of them got right.
        p: of an exact McNemar test; ``p_adjusted`` after Holm's correction over all pairs that were compared.
    """

    difference: Estimate
    only_first: int
    only_second: int
    p: float
    p_adjusted: float


def compare_pairs(first: Measured, others: Mapping[str, Measured]) -> dict[str, Paired]:
    """Compare a way with others, photo by photo.

    Raises:
        ValueError: they were run over other photos.
    """
    found = {}
    for name, other in others.items():
        gains = np.array([float(a) - float(b) for a, b in zip(first.right, other.right, strict=True)])
        only_first, only_second = int((gains > 0).sum()), int((gains < 0).sum())
        difference = mean_estimate(gains, lowest=-1.0, highest=1.0)
        found[name] = (difference, only_first, only_second, mcnemar_p(only_first, only_second))
    adjusted = holm([p for *_, p in found.values()])
    return {name: Paired(*one, fair) for (name, one), fair in zip(found.items(), adjusted, strict=True)}
