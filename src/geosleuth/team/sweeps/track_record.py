"""Ways of working held against truths: how often each is right, and what it costs. Also who has the best record."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

from geosleuth.answer import Answer
from geosleuth.errors import BadInput
from geosleuth.geo import distance_km
from geosleuth.photo import OpenedPhoto, open_photo
from geosleuth.score import Truth
from geosleuth.score.metrics import Estimate, wilson
from geosleuth.team import AGREE_WITHIN_KM, Member, Outcome, Placer, Request, Society
from geosleuth.team.learning import Source, without_claims
from geosleuth.team.swarm.swarm import together

from .ways import SWARM, Ask, PartOfSociety, Point, ready

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Example:
    """A photo and where it was taken: open already, or a file that is opened each time it is needed."""

    truth: Truth
    photo: OpenedPhoto | None = None
    path: Path | None = None

    def load(self) -> OpenedPhoto:
        """The photo without what its file claims: that is where the truth may come from.

        Raises:
            BadInput: the file can't be opened.
        """
        if self.photo is not None:
            return self.photo
        if self.path is None:
            raise ValueError("an example is a photo or a file")
        return without_claims(open_photo(self.path))


def examples_of(sources: Sequence[Source]) -> tuple[list[Example], dict[str, int]]:
    """The photos that can be opened and whose place is known, and how many were left out for which reason."""
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
    """How a way of working did, example by example.

    ``distances_km`` is NaN where no place was given that could be found. ``voices`` is whose words each answer was.
    ``failures`` are why replies failed, one for each that did.
    """

    distances_km: tuple[float, ...]
    tokens: tuple[int, ...]
    calls: tuple[int, ...]
    seconds: tuple[float, ...]
    voices: tuple[str | None, ...] = ()
    within_km: float = AGREE_WITHIN_KM
    failures: tuple[str, ...] = ()

    @property
    def right(self) -> tuple[bool, ...]:
        """Which answers lie within the threshold."""
        return tuple(distance <= self.within_km for distance in self.distances_km)

    @property
    def accuracy(self) -> Estimate:
        """The share of right answers with its 95 % interval."""
        return wilson(sum(self.right), len(self.right))

    @property
    def tokens_per_query(self) -> float:
        """By the team's tariff."""
        return _mean(self.tokens)

    @property
    def calls_per_query(self) -> float:
        """Replies that were asked for."""
        return _mean(self.calls)

    @property
    def seconds_per_query(self) -> float:
        """How long its replies took, one after the other."""
        return _mean(self.seconds)


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
    """Run a way of working over examples; none of it sees a truth.

    An answer without a point counts with the middle of the place that it names, as the papers score texts.
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
    )


async def error_km(answer: Answer, truth: Truth, placer: Placer) -> float:
    """How far an answer lies from the truth; NaN where it names no place that can be found."""
    extent = await placer.extent(answer)
    return nan if extent is None else distance_km(extent.centre, truth.point)


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
    """The share of examples that each member, asked for itself, is right about."""
    ask = ready("majority", members, placer=placer)
    free = asyncio.Semaphore(max(1, at_once))
    done = 0

    async def one(example: Example) -> list[bool]:
        nonlocal done
        async with free:
            photo = await asyncio.to_thread(example.load)
            # In a vote every member answers for itself; only the single answers count here.
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
    """Run the swarm with the settings of every point over all examples."""
    found = []
    for number, point in enumerate(points):
        team = [members[index] for index in point.chosen]
        known = PartOfSociety(society, point.chosen)
        ask = ready(SWARM, team, placer=placer, society=known, settings=point.settings, seed=seed)

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
