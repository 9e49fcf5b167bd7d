"""Priors that never look: one point for every photo, or a random one, by where people or land are."""

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import cos, pi
from typing import Literal

import numpy as np
import numpy.typing as npt

from geosleuth.answer import Address, Answer
from geosleuth.evidence.country_prior import TOWN_PEOPLE_PER_KM2
from geosleuth.evidence.heartlands import find_country
from geosleuth.evidence.visual.cells import unit_vectors
from geosleuth.geo import EARTH_RADIUS_KM, FloatArray, LatLon, destination, destinations, great_circle_km
from geosleuth.models.protocol import Conversation, Policy, Step
from geosleuth.names import country_name
from geosleuth.names.country_names import cities_by_country
from geosleuth.support.errors import BadInput

from .options import answering, compute_seed, first_images, take_options

_LAND_POINTS = 60_000
_SOUTHERNMOST = -60.0
_PAIRS_AT_ONCE = 4_000_000
_POINTS_AT_ONCE = 32
_EARTH_KM2 = 4 * pi * EARTH_RADIUS_KM**2

Ints = npt.NDArray[np.int64]
_FIRST_BOXES_DEG = 15.0
_MAX_BOXES = 1500
_SMALLEST = 1 / 25
_CLOSE_ENOUGH = 2e-3
_MIN_STEP_KM = 25.0
_STARTS = 200
Kind = Literal["population", "land"]
# Default distance within which the answer is most probable.
DEFAULT_KM = 750.0
_EVEN_BELOW_KM = {"population": 25.0, "land": 2500.0}
_DISC_POINTS = 4000
_WORKING, _MAKING = threading.Lock(), threading.Lock()


@dataclass(frozen=True)
class Mass:
    """Shares that add up to 1, each spread evenly over a disc of ``reach_km`` around its point.

    ``says`` is what the shares are of, for people.
    """

    lats: FloatArray
    lons: FloatArray
    shares: FloatArray
    reach_km: FloatArray
    says: str

    @cached_property
    def _vectors(self) -> FloatArray:
        return unit_vectors(self.lats, self.lons)

    @cached_property
    def _northwards(self) -> "Mass":
        order = np.argsort(self.lats, kind="stable")
        return Mass(self.lats[order], self.lons[order], self.shares[order], self.reach_km[order], self.says)

    def within(self, lats: FloatArray, lons: FloatArray, radius_km: float | FloatArray) -> FloatArray:
        """Return the mass within a radius of each point; the radius may differ from point to point."""
        radii = np.broadcast_to(np.asarray(radius_km, dtype=np.float64), lats.shape)
        found = np.empty(len(lats))
        # Neighbours in latitude together: most of the mass is then too far north or south to be looked at.
        order = np.argsort(lats, kind="stable")
        for at in range(0, len(lats), _POINTS_AT_ONCE):
            part = order[at : at + _POINTS_AT_ONCE]
            found[part] = self._northwards._within(lats[part], lons[part], radii[part])  # noqa: SLF001  (its own kind)
        return np.minimum(found, 1.0)

    def _within(self, lats: FloatArray, lons: FloatArray, radii: FloatArray) -> FloatArray:
        margin_deg = float(np.degrees((radii.max() + self.reach_km.max()) / EARTH_RADIUS_KM)) + 1e-6
        first, last = np.searchsorted(self.lats, (lats.min() - margin_deg, lats.max() + margin_deg))
        reach_km, shares = self.reach_km[first:last], self.shares[first:last]
        cosines = unit_vectors(lats, lons) @ self._vectors[first:last].T
        row, column = np.nonzero(cosines > _compute_cosine(radii[:, None] + reach_km))
        away = EARTH_RADIUS_KM * np.arccos(np.clip(cosines[row, column], -1.0, 1.0))
        covered = shares[column] * disc_share(radii[row], reach_km[column], away)
        together: FloatArray = np.bincount(row, covered, len(lats)).astype(np.float64)
        return together

    def mean_km(self, lats: FloatArray, lons: FloatArray) -> FloatArray:
        """Return the mean distance of the mass from each point."""
        places, found = unit_vectors(lats, lons), np.empty(len(lats))
        rows = max(1, _PAIRS_AT_ONCE // len(self.shares))
        for at in range(0, len(lats), rows):
            angles = np.arccos(np.clip(places[at : at + rows] @ self._vectors.T, -1.0, 1.0))
            found[at : at + rows] = EARTH_RADIUS_KM * (angles @ self.shares)
        return found

    def draw(self, seed: bytes) -> LatLon:
        """A random point: the same for the same seed."""
        chance = np.random.default_rng(int.from_bytes(hashlib.sha256(seed).digest()[:16], "big"))
        number = int(chance.choice(len(self.shares), p=self.shares))
        away_km = float(self.reach_km[number]) * float(np.sqrt(chance.random()))
        start = LatLon(float(self.lats[number]), float(self.lons[number]))
        return destination(start, float(chance.random()) * 360.0, away_km)


@cache
def people() -> Mass:
    """The people of GeoNames' cities of 15,000 and more, each city as wide as it would be at a usual town's density."""
    rows = np.array(
        [(city.lat, city.lon, max(city.population, 1)) for cities in cities_by_country().values() for city in cities],
        dtype=np.float64,
    )
    count = rows[:, 2]
    reach_km = np.sqrt(count / (TOWN_PEOPLE_PER_KM2 * pi))
    return Mass(rows[:, 0], rows[:, 1], count / count.sum(), reach_km, "people in towns")


@cache
def land() -> Mass:
    """All land north of 60 degrees south, evenly; the first call reads the borders."""
    from geosleuth.atlas.borders import Borders

    number = np.arange(_LAND_POINTS) + 0.5
    # Evenly spaced on the sphere: equal steps of height, turned by the golden angle each time.
    lats = np.degrees(np.arcsin(1 - 2 * number / _LAND_POINTS))
    lons = np.mod(number * 180.0 * (3 - np.sqrt(5)), 360.0) - 180.0
    kept = Borders.load().is_land(lats, lons) & (lats > _SOUTHERNMOST)
    size = int(kept.sum())
    reach_km = np.full(size, np.sqrt(_EARTH_KM2 / _LAND_POINTS / pi))
    return Mass(lats[kept], lons[kept], np.full(size, 1 / size), reach_km, "land")


def disc_share(radius_km: FloatArray, reach_km: FloatArray, away_km: FloatArray) -> FloatArray:
    """The part of discs of ``reach_km`` inside discs of ``radius_km`` whose middles are ``away_km`` off; on a plane."""
    reach = np.maximum(reach_km, 1e-6)
    small, large = np.minimum(radius_km, reach), np.maximum(radius_km, reach)
    share = np.where(away_km <= large - small, small**2, 0.0)
    lens = (away_km > large - small) & (away_km < large + small)
    if lens.any():
        share[lens] = _lens_area(small[lens], large[lens], away_km[lens]) / pi
    part: FloatArray = share / reach**2
    return part


def _lens_area(a: FloatArray, b: FloatArray, away: FloatArray) -> FloatArray:
    """Return the area shared by two discs that cross each other."""
    at_a = np.clip((away**2 + a**2 - b**2) / (2 * away * a), -1.0, 1.0)
    at_b = np.clip((away**2 + b**2 - a**2) / (2 * away * b), -1.0, 1.0)
    kite = (-away + a + b) * (away + a - b) * (away - a + b) * (away + a + b)
    return a**2 * np.arccos(at_a) + b**2 * np.arccos(at_b) - 0.5 * np.sqrt(np.maximum(kite, 0.0))


def _compute_cosine(distance_km: FloatArray) -> FloatArray:
    return np.cos(np.minimum(distance_km / EARTH_RADIUS_KM, pi))


@dataclass(frozen=True, slots=True)
class _Boxes:
    """Boxes in degrees: their centres, and half their heights and widths."""

    lats: FloatArray
    lons: FloatArray
    half_deg: float

    @property
    def reach_km(self) -> FloatArray:
        """Distance from a box's centre to its farthest point, at most."""
        half = self.half_deg
        # The sides that run along parallels are longer towards the equator; one per cent makes up for curved sides.
        nearer = np.maximum(np.abs(self.lats) - half, 0.0)
        north = great_circle_km(self.lats, 0.0, self.lats + half, half)
        south = great_circle_km(self.lats, 0.0, self.lats - half, half)
        across = great_circle_km(nearer, 0.0, nearer, half)
        return 1.01 * np.maximum(np.maximum(north, south), across)

    def quarters(self, kept: Ints) -> "_Boxes":
        """Some of the boxes, each cut into four."""
        quarter = self.half_deg / 2
        steps = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)]) * quarter
        lats = (self.lats[kept][:, None] + steps[:, 0]).ravel()
        lons = (self.lons[kept][:, None] + steps[:, 1]).ravel()
        return _Boxes(lats, lons, quarter)


def likeliest(mass: Mass, radius_km: float) -> LatLon:
    """The point with most of a mass within a radius.

    Boxes of the globe are quartered again and again; those that can't hold a better point than the best so far, by two
    thousandths at least, are left out: what a box can hold is at most what lies within the radius and the box's own
    reach of its middle. It ends when boxes reach less than a twenty-fifth of the radius. Of more than 1,500 boxes the
    most hopeful are looked into.
    """
    return _search(
        lambda boxes: mass.within(boxes.lats, boxes.lons, radius_km),
        lambda boxes, _values: mass.within(boxes.lats, boxes.lons, radius_km + boxes.reach_km),
        until_km=radius_km * _SMALLEST,
        starts=_heaviest(mass),
    )


def nearest_on_average(mass: Mass) -> LatLon:
    """The point with the least mean distance to a mass."""
    return _search(
        lambda boxes: -mass.mean_km(boxes.lats, boxes.lons),
        # A point comes nearer to anything by no more than it moves.
        lambda boxes, values: values + boxes.reach_km,
        until_km=_MIN_STEP_KM,
        starts=_heaviest(mass),
    )


def _heaviest(mass: Mass) -> _Boxes:
    largest = np.argsort(-mass.shares, kind="stable")[:_STARTS]
    return _Boxes(mass.lats[largest], mass.lons[largest], 0.0)


def _search(
    value_of: Callable[[_Boxes], FloatArray],
    bound_of: Callable[[_Boxes, FloatArray], FloatArray],
    *,
    until_km: float,
    starts: _Boxes,
) -> LatLon:
    # Good points to begin with: the better the best so far, the sooner boxes can be left out.
    values = value_of(starts)
    first = int(np.argmax(values))
    best, point = float(values[first]), LatLon(float(starts.lats[first]), float(starts.lons[first]))
    half = _FIRST_BOXES_DEG / 2
    lats, lons = np.meshgrid(np.arange(-90 + half, 90, 2 * half), np.arange(-180 + half, 180, 2 * half))
    boxes = _Boxes(lats.ravel(), lons.ravel(), half)
    while True:
        values = value_of(boxes)
        first = int(np.argmax(values))
        if values[first] > best:
            best, point = float(values[first]), LatLon(float(boxes.lats[first]), float(boxes.lons[first]))
        bounds = bound_of(boxes, values)
        hopeful = np.flatnonzero(bounds > best + _CLOSE_ENOUGH * abs(best))
        if not hopeful.size or boxes.reach_km.max() < until_km:
            return point
        kept = hopeful[np.argsort(-bounds[hopeful], kind="stable")[:_MAX_BOXES]]
        boxes = boxes.quarters(kept)


@dataclass(frozen=True, slots=True)
class BlindGuess:
    """A point and the share of all people, or of all land, within a radius of it."""

    point: LatLon
    radius_km: float
    share: float


def make_blind(rest: str) -> Policy:
    """Return the policy for what follows after ``blind:``; docs/tutorials/benchmark.md has it all.

    Raises:
        BadInput: it is no such prior.
    """
    spec = f"blind:{rest}"
    name, options = take_options(rest, ("within",))
    for kind in ("population", "land"):
        if name == kind:
            least_error = options.given.get("within") == "error"
            within_km = DEFAULT_KM if least_error else options.km("within", DEFAULT_KM)
            return BlindPolicy(spec, kind, within_km, least_error=least_error)
        if name == f"{kind}-draw":
            return DrawingPolicy(spec, kind, options.km("within", DEFAULT_KM))
    lat, comma, lon = name.partition(",")
    try:
        point = LatLon(float(lat), float(lon))
    except ValueError as error:
        known = "blind:population, blind:land, blind:population-draw, blind:land-draw or blind:LAT,LON"
        trouble = f"blind:{name[:40]} is no prior; write {known}"
        raise BadInput(trouble if not comma else f"blind:{name[:40]} is no point; {known}") from error
    return FixedPolicy(spec, point, options.km("within", DEFAULT_KM))


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
        return answering(self.name, _build_blind_answer(guess, says, f"the one with {why}"), began)

    async def aclose(self) -> None:
        """Nothing is held."""


class DrawingPolicy:
    """A random point for each photo.

    The photo's pixels serve as part of the seed, so that a photo gets the same point however often and in any
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
        point = _mass(self._kind).draw(compute_seed(conversation, first_images(conversation)))
        guess = BlindGuess(point, self._within_km, share_around(self._kind, point, self._within_km))
        return answering(self.name, _build_blind_answer(guess, _mass(self._kind).says, "drawn at random"), began)


class FixedPolicy:
    """A point that the user gives, with the share of the people around it as its odds."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, name: str, point: LatLon, within_km: float) -> None:
        self.name, self._point, self._within_km = name, point, within_km

    async def step(self, _conversation: Conversation) -> Step:
        """The answer."""
        began = time.perf_counter()
        share = await asyncio.to_thread(share_around, "population", self._point, self._within_km)
        guess = BlindGuess(self._point, self._within_km, share)
        return answering(self.name, _build_blind_answer(guess, people().says, "the one that was given"), began)

    async def aclose(self) -> None:
        """Nothing is held."""


def best_guess(kind: Kind, within_km: float, *, least_error: bool = False) -> BlindGuess:
    """The one answer that a blind prior gives; worked out once for each question, while others wait."""
    with _WORKING:
        return _best_guess(kind, within_km, least_error)


@lru_cache(maxsize=64)
def _best_guess(kind: Kind, within_km: float, least_error: bool) -> BlindGuess:  # noqa: FBT001  (a key of the cache)
    mass = _mass(kind)
    # Below, every point with nothing but town, or land, around it is as good as any other: both are spread evenly. Of
    # these it is the one that stays best farther out.
    scale_km = max(within_km, _EVEN_BELOW_KM[kind])
    point = nearest_on_average(mass) if least_error else likeliest(mass, scale_km)
    return BlindGuess(point, within_km, share_around(kind, point, within_km))


def share_around(kind: Kind, point: LatLon, within_km: float) -> float:
    """The share of all people, or of all land, within a radius of a point."""
    if kind == "land":
        return _land_around(point, within_km)
    return float(people().within(np.array([point.lat]), np.array([point.lon]), within_km)[0])


def _land_around(point: LatLon, within_km: float) -> float:
    """Return the share of the land in a disc from points all over it.

    The land's own points are too sparse for small discs.
    """
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


def _build_blind_answer(guess: BlindGuess, says: str, why: str) -> Answer:
    code = find_country(guess.point)
    return Answer(
        point=guess.point,
        address=Address.create(country_name(code) if code else None),
        probability=guess.share,
        radius_km=guess.radius_km,
        explanation=(
            f"A blind prior: the photo was not looked at. The point is {why}; within {guess.radius_km:g} km of it is "
            f"{100 * guess.share:.3g} % of all {says}."
        ),
    )
