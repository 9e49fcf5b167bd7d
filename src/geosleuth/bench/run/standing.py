"""Where a run stands, for whoever looks on while it goes on."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import FARTHEST_KM, LatLon, distances_km

from .journal import Index

SHOWN_KM = (1.0, 25.0, 200.0, 750.0, 2500.0)
# Errors are counted in steps of about 1 %, so that a median needs neither every error nor a sort.
_STEP = 0.01
_FINEST_KM = 0.01
_STEPS = int(np.log1p(FARTHEST_KM / _FINEST_KM) / _STEP) + 2
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A run at one moment.

    ``done`` of ``total`` photos are answered or failed, and ``missing`` are neither. ``answered`` includes those that
    are ``unlocated``. ``measured`` answers have been held against their truths by now: ``within_…`` are shares of
    them, unlocated ones being misses, and ``median_km`` is right to about 1 % (infinite where half of them or more are
    unlocated). Errors are in none of these figures. ``tokens``, ``usd`` (None where a price is not known) and
    ``seconds`` are those of the whole run, all tries together. ``rate`` is photos a second since this command began.
    ``resting`` is the host that nobody asks at the moment because it failed too often.
    """

    total: int
    done: int
    answered: int
    unlocated: int
    failed: int
    missing: int
    measured: int
    within_1km: float | None
    within_25km: float | None
    within_200km: float | None
    within_750km: float | None
    within_2500km: float | None
    median_km: float | None
    tokens: int
    usd: float | None
    seconds: float
    rate: float | None
    eta_s: float | None
    under_way: int
    resting: str | None = None


def errors_km(pairs: Sequence[tuple[float, float, float, float]]) -> NDArray[np.float64]:
    """How far off answers are, as the ruler measures it; each has its latitude and longitude, then the true ones."""
    columns = np.asarray(pairs, dtype=np.float64)
    return distances_km(columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3], "geodesic")


class Errors:
    """How far off answers are, counted: some thousand numbers, however many photos there are."""

    def __init__(self) -> None:
        """Begin with none."""
        self.measured = 0
        self._within = dict.fromkeys(SHOWN_KM, 0)
        self._steps = np.zeros(_STEPS, np.int64)
        self._waiting: list[tuple[float, float, float, float]] = []

    def add(self, answer: LatLon | None, truth: LatLon) -> None:
        """Count an answer, which may be one without a point."""
        self.measured += 1
        if answer is not None:
            self._waiting.append((answer.lat, answer.lon, truth.lat, truth.lon))
            if len(self._waiting) >= _AT_ONCE:
                self._count()

    def _count(self) -> None:
        """Distances in one go: one by one they would cost as much as the rest of a photo's bookkeeping."""
        if not self._waiting:
            return
        distance_km = errors_km(self._waiting)
        for km in SHOWN_KM:
            self._within[km] += int(np.count_nonzero(distance_km <= km))
        steps = (np.log1p(distance_km / _FINEST_KM) / _STEP).astype(np.int64)
        self._steps += np.bincount(np.minimum(steps, _STEPS - 1), minlength=_STEPS)
        self._waiting.clear()

    def within(self, km: float) -> float | None:
        """The share of answers that are no farther off."""
        self._count()
        return self._within[km] / self.measured if self.measured else None

    @property
    def median_km(self) -> float | None:
        """The error that half of the answers stay under; infinite where they have no point."""
        self._count()
        if not self.measured:
            return None
        reached = int(np.searchsorted(np.cumsum(self._steps), (self.measured + 1) / 2))
        return float("inf") if reached == _STEPS else _FINEST_KM * expm1((reached + 0.5) * _STEP)


class Clock:
    """How long this command has been at it."""

    def __init__(self) -> None:
        """Begin now."""
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneHere:
    """What one command has done on a run.

    Attributes:
        ended: how many photos it has finished.
        seconds: how long it has been at it.
        to_do: how many photos it still has to finish.
        under_way: how many are worked on.
    """

    ended: int
    seconds: float
    to_do: int
    under_way: int


def standing_of(
    index: Index,
    errors: Errors,
    *,
    total: int,
    seconds: float,
    here: DoneHere,
    resting: str | None,
) -> Standing:
    """Put together what is known.

    Args:
        index: what the journal says.
        errors: how far off answers are.
        total: how many photos the run has.
        seconds: the time on the run's clock.
        here: what this command has done.
        resting: the host that nobody asks at the moment.
    """
    spent = index.spent
    answered, failed = index.count("located", "unlocated"), index.count("failed")
    rate = here.ended / here.seconds if here.ended and here.seconds > 0 else None
    return Standing(
        total=total,
        done=answered + failed,
        answered=answered,
        unlocated=index.count("unlocated"),
        failed=failed,
        missing=max(0, total - answered - failed),
        measured=errors.measured,
        within_1km=errors.within(1.0),
        within_25km=errors.within(25.0),
        within_200km=errors.within(200.0),
        within_750km=errors.within(750.0),
        within_2500km=errors.within(2500.0),
        median_km=errors.median_km,
        tokens=spent.usage.input_tokens + spent.usage.output_tokens,
        usd=spent.usage.cost_usd,
        seconds=seconds,
        rate=rate,
        eta_s=here.to_do / rate if rate else None,
        under_way=here.under_way,
        resting=resting,
    )
