"""Evaluate methods of teamwork against truths: accuracy and cost. Also each member's record."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

import numpy as np

from geosleuth.answer import Answer
from geosleuth.atlas.placing import Placer
from geosleuth.geo import distance_km
from geosleuth.lab.score import Truth
from geosleuth.lab.score.metrics import Estimate, holm, mcnemar_p, mean_estimate, wilson
from geosleuth.lab.teams.learning import Source, without_claims
from geosleuth.photo import OpenedPhoto, open_photo
from geosleuth.support.errors import BadInput
from geosleuth.teams import AGREE_WITHIN_KM, Member, Outcome, Request, Society, location_of
from geosleuth.teams.swarm.swarm import together

from .ways import Ask, PartOfSociety, Point, ready

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Example:
    """A photo and where it was taken: already open, or a file that is opened when needed."""

    truth: Truth
    photo: OpenedPhoto | None = None
    path: Path | None = None

    def load(self) -> OpenedPhoto:
        """Return the photo without its metadata, which may contain the truth.

        Raises:
            BadInput: the file can't be opened.
        """
        if self.photo is not None:
            return self.photo
        if self.path is None:
            raise ValueError("an example needs a photo or a file")
        return without_claims(open_photo(self.path))


def examples_of(sources: Sequence[Source]) -> tuple[list[Example], dict[str, int]]:
    """Return the photos with a known place that can be opened, and how many were left out for which reason."""
    found: list[Example] = []
    left_out: Counter[str] = Counter()
    for source in sources:
        point = source.point
        if point is None:
            try:
                point = open_photo(source.path).claims.own_point
            except BadInput as error:
                left_out[str(error).removeprefix(f"{source.path}: ")] += 1
                continue
        if point is None:
            left_out["no coordinates"] += 1
        elif not source.path.is_file():
            left_out["no such file"] += 1
        else:
            found.append(Example(Truth(point), path=source.path))
    return found, dict(left_out)


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of one method, example by example.

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
        return _mean(self.tokens)

    @property
    def calls_per_query(self) -> float:
        """Return the mean number of replies requested."""
        return _mean(self.calls)

    @property
    def seconds_per_query(self) -> float:
        """Return the mean duration of its replies, added up."""
        return _mean(self.seconds)

    @property
    def elapsed_per_query(self) -> float:
        """Return the mean time that a photo takes, see the class."""
        return _mean(self.elapsed)


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
    """Run a method over examples; it never sees a truth.

    An answer without a point counts with the point of the place that it names, as the papers score texts.
    """
    free = asyncio.Semaphore(max(1, at_once))
    done = 0

    async def one(example: Example) -> tuple[float, Outcome]:
        nonlocal done
        async with free:
            photo = await asyncio.to_thread(example.load)
            outcome = await ask(Request((photo,), seed=seed))
            away_km = await error_km(outcome.answer, example.truth, placer)
            done += 1
            progress(done, len(examples))
            return away_km, outcome

    found = await together(one(example) for example in examples)
    outcomes = [outcome for _, outcome in found]
    return Measured(
        tuple(away_km for away_km, _ in found),
        tuple(outcome.tokens for outcome in outcomes),
        tuple(len(outcome.turns) for outcome in outcomes),
        tuple(sum(turn.reply.seconds for turn in outcome.turns) for outcome in outcomes),
        tuple(outcome.voice for outcome in outcomes),
        within_km,
        tuple(turn.reply.failure for one in outcomes for turn in one.turns if turn.reply.failure is not None),
        tuple(outcome.elapsed_s for outcome in outcomes),
    )


@dataclass(frozen=True, slots=True)
class Paired:
    """Two methods over the same photos.

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


def paired(first: Measured, others: Mapping[str, Measured]) -> dict[str, Paired]:
    """Compare a method with others, photo by photo.

    Raises:
        ValueError: they were run over other photos.
    """
    found = {}
    for name, other in others.items():
        pairs = list(zip(first.right, other.right, strict=True))
        difference = mean_estimate(np.array([float(one) - float(two) for one, two in pairs]), lowest=-1.0, highest=1.0)
        only_first, only_second = (
            sum(one and not two for one, two in pairs),
            sum(two and not one for one, two in pairs),
        )
        found[name] = (difference, only_first, only_second, mcnemar_p(only_first, only_second))
    adjusted = holm([p for *_, p in found.values()])
    return {name: Paired(*one, fair) for (name, one), fair in zip(found.items(), adjusted, strict=True)}


async def error_km(answer: Answer, truth: Truth, placer: Placer) -> float:
    """Return the distance of an answer from the truth; NaN if it names no known place."""
    location = await location_of(answer, placer)
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
    ask = ready("majority", members, placer=placer)
    free = asyncio.Semaphore(max(1, at_once))
    done = 0

    async def one(example: Example) -> list[bool]:
        nonlocal done
        async with free:
            photo = await asyncio.to_thread(example.load)
            # In a vote every member answers independently; only these answers count here.
            outcome = await ask(Request((photo,), seed=seed))
            errors = [await error_km(turn.reply.answer, example.truth, placer) for turn in outcome.turns]
            done += 1
            progress(done, len(examples))
            return [error <= within_km for error in errors]

    right = await together(one(example) for example in examples)
    return [sum(row[index] for row in right) / max(1, len(right)) for index in range(len(members))]


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


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan
