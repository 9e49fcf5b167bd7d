"""Priors that never look: one point for every photo, or a random one. What an answer that looked must beat."""

import asyncio
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi
from typing import Literal

import numpy as np

from geosleuth.answer import Address, Answer
from geosleuth.clues.heartlands import country_at
from geosleuth.errors import BadInput
from geosleuth.geo import EARTH_RADIUS_KM, LatLon, destinations
from geosleuth.names import country_name
from geosleuth.policies.model import Conversation, Policy, Step

from .answering import answering, first_images, seed_of
from .best import likeliest, nearest_on_average
from .mass import Mass, land, people
from .options import take_options

Kind = Literal["population", "land"]

USUAL_KM = 750.0
"""The distance at which the answer is most probable, unless another is asked for."""

_EVEN_BELOW_KM = {"population": 25.0, "land": 2500.0}
_DISC_POINTS = 4000
_WORKING, _MAKING = threading.Lock(), threading.Lock()


@dataclass(frozen=True, slots=True)
class Guess:
    """A point and the share of all people, or of all land, within a radius of it."""

    point: LatLon
    radius_km: float
    share: float


def make_blind(spec: str, rest: str) -> Policy:
    """The policy for what follows after ``blind:``.

    Raises:
        BadInput: it is no such prior.
    """
    name, options = take_options(rest, ("within",))
    for kind in ("population", "land"):
        if name == kind:
            least_error = options.given.get("within") == "error"
            within_km = USUAL_KM if least_error else options.km("within", USUAL_KM)
            return BlindPolicy(spec, kind, within_km, least_error=least_error)
        if name == f"{kind}-draw":
            return DrawingPolicy(spec, kind, options.km("within", USUAL_KM))
    lat, comma, lon = name.partition(",")
    try:
        point = LatLon(float(lat), float(lon))
    except ValueError as error:
        known = "blind:population, blind:land, blind:population-draw, blind:land-draw or blind:LAT,LON"
        trouble = f"blind:{name[:40]} is no prior; write {known}"
        raise BadInput(trouble if not comma else f"blind:{name[:40]} is no point; {known}") from error
    return FixedPolicy(spec, point, options.km("within", USUAL_KM))


class BlindPolicy:
    """The same point for every photo: the one that is most probably near, or nearest on average."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, name: str, kind: Kind, within_km: float, *, least_error: bool = False) -> None:
        self.name, self._kind, self._within_km, self._least_error = name, kind, within_km, least_error

    async def step(self, _conversation: Conversation) -> Step:
        """The answer; the first takes a few seconds."""
        began = time.perf_counter()
        guess = await asyncio.to_thread(best_guess, self._kind, self._within_km, least_error=self._least_error)
        says = _mass(self._kind).says
        why = f"most {says} within {guess.radius_km:g} km"
        if self._least_error:
            why = f"the least mean distance to all {says}"
        return answering(self.name, _answer(guess, says, f"the one with {why}"), began)

    async def aclose(self) -> None:
        """Nothing is held."""


class DrawingPolicy:
    """A random point for each photo.

    The photo's pixels serve as part of the seed, so that a photo gets the same point however often and in whatever
    order a run meets it; nothing else is done with them.
    """

    hosts: frozenset[str] = frozenset()

    def __init__(self, name: str, kind: Kind, within_km: float) -> None:
        self.name, self._kind, self._within_km = name, kind, within_km

    async def step(self, conversation: Conversation) -> Step:
        """The answer for this photo."""
        return await asyncio.to_thread(self._step, conversation)

    async def aclose(self) -> None:
        """Nothing is held."""

    def _step(self, conversation: Conversation) -> Step:
        began = time.perf_counter()
        point = _mass(self._kind).draw(seed_of(conversation, first_images(conversation)))
        guess = Guess(point, self._within_km, share_around(self._kind, point, self._within_km))
        return answering(self.name, _answer(guess, _mass(self._kind).says, "drawn at random"), began)


class FixedPolicy:
    """A point that the user gives, with the share of the people around it as its odds."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, name: str, point: LatLon, within_km: float) -> None:
        self.name, self._point, self._within_km = name, point, within_km

    async def step(self, _conversation: Conversation) -> Step:
        """The answer."""
        began = time.perf_counter()
        share = await asyncio.to_thread(share_around, "population", self._point, self._within_km)
        guess = Guess(self._point, self._within_km, share)
        return answering(self.name, _answer(guess, people().says, "the one that was given"), began)

    async def aclose(self) -> None:
        """Nothing is held."""


def best_guess(kind: Kind, within_km: float, *, least_error: bool = False) -> Guess:
    """The one answer that a blind prior gives; worked out once for each question, while others wait."""
    with _WORKING:
        return _best_guess(kind, within_km, least_error)


@lru_cache(maxsize=64)
def _best_guess(kind: Kind, within_km: float, least_error: bool) -> Guess:  # noqa: FBT001  (a key of the cache)
    mass = _mass(kind)
    # Below, every point with nothing but town, or land, around it is as good as any other: both are spread evenly. Of
    # these it is the one that stays best farther out.
    scale_km = max(within_km, _EVEN_BELOW_KM[kind])
    point = nearest_on_average(mass) if least_error else likeliest(mass, scale_km)
    return Guess(point, within_km, share_around(kind, point, within_km))


def share_around(kind: Kind, point: LatLon, within_km: float) -> float:
    """The share of all people, or of all land, within a radius of a point."""
    if kind == "land":
        return _land_around(point, within_km)
    return float(people().within(np.array([point.lat]), np.array([point.lon]), within_km)[0])


def _land_around(point: LatLon, within_km: float) -> float:
    """By points all over the disc, since the land's own are too far apart for small ones."""
    from geosleuth.atlas.borders import Borders

    number = np.arange(_DISC_POINTS) + 0.5
    angle = min(within_km / EARTH_RADIUS_KM, pi)
    # Evenly by area: on a sphere, a cap's area grows with one minus the cosine of its angle.
    away_km = EARTH_RADIUS_KM * np.arccos(1 - number / _DISC_POINTS * (1 - cos(angle)))
    lats, lons = destinations(point.lat, point.lon, np.mod(number * 180.0 * (3 - np.sqrt(5)), 360.0), away_km)
    on_land = float(np.mean(Borders.load().is_land(lats, lons) & (lats > -60.0)))
    cap_km2 = 2 * pi * EARTH_RADIUS_KM**2 * (1 - cos(angle))
    land_km2 = float(land().reach_km[0]) ** 2 * pi * len(land().shares)
    return min(1.0, on_land * cap_km2 / land_km2)


def _mass(kind: Kind) -> Mass:
    with _MAKING:
        return land() if kind == "land" else people()


def _answer(guess: Guess, says: str, why: str) -> Answer:
    code = country_at(guess.point)
    return Answer(
        point=guess.point,
        address=Address.of(country_name(code) if code else None),
        probability=guess.share,
        radius_km=guess.radius_km,
        explanation=(
            f"A blind prior: the photo was not looked at. The point is {why}; within {guess.radius_km:g} km of it is "
            f"{100 * guess.share:.3g} % of all {says}."
        ),
    )
