"""The answer: the finest level at which the clues agree well enough.

A level is a reach on the ground: all probability that lies within it of one centre counts for it. Finer answers are
worth more, and a coarser one is given only where it is surer by so much that it is worth more all the same. Where no
level reaches its least probability, or nothing but what the user said speaks for what does, there is no answer. Nor is
there one that is no narrower than the area that was given: that was assumed and not found.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import cos, pi, radians, sqrt
from typing import Final, Literal

import numpy as np

from geosleuth.geo import Disc, Extent, FloatArray, LatLon, distance_km, great_circle_km
from geosleuth.names import country_name

from .areas import farthest_km
from .clue import Clue, ClueKind
from .heartlands import HELD_SHARE, heartland
from .posterior import (
    MIN_TELLING_LOG_RATIO,
    Contribution,
    Posterior,
    Workings,
    compute_contributions,
    contributions,
    list_kinds,
)

Level = Literal["spot", "city", "region", "country", "none"]

# Distance from the centre that each level covers: walking distance, a large city, a first-level region.
REACH_KM: dict[Level, float] = {"spot": 1.0, "city": 40.0, "region": 200.0}

# Relative value of a correct answer at each level.
LEVEL_VALUES: dict[Level, float] = {"spot": 1.0, "city": 0.75, "region": 0.55, "country": 0.4}

# Minimum probability for answering at each level.
MIN_LEVEL_PROBABILITY: dict[Level, float] = {"spot": 0.3, "city": 0.3, "region": 0.3, "country": 0.3}

# A country that is so many times as likely as the next is answered from this probability on: French alone speaks for
# France before all others.
MIN_LEADING, CLEAR_LEAD = 0.2, 2.5

# Share of its level's probability that the radius of an answer covers.
CORE_SHARE = 0.9

# A country whose people all live within this distance of one point counts as a town, as Monaco does.
TOWN_COUNTRY_KM = 8.0

# Kinds of clues that the user states and that hold for many countries: alone they do not make a finding.
STATED_KINDS: Final[frozenset[ClueKind]] = frozenset({"hint", "driving_side", "sun"})

# An answer is narrower than an area if its radius is below this share of the area's.
NARROWER_SHARE = 0.7

_MAX_BEFOREHAND = 0.9  # a country that was as likely before any clue was assumed and not found
_MIN_GAIN = 1.5  # the odds of a country must rise by so much over those in the area that was given
_KM_PER_DEGREE = 111.2
_CENTRES, _COUNTRIES = 30, 20  # the likeliest are compared; what is less likely can't be the answer and would cost time
_NEGLIGIBLE = 1e-6
_AGREES = 0.5  # the log ratio from which a clue agrees rather than happens to fit
# Centres with at least this share of the best centre's total count as equal; of these, the likeliest itself is chosen.
_NEARLY_EQUAL_SHARE = 0.85


@dataclass(frozen=True, slots=True)
class Decision:
    """Plain data of the answer.

    Attributes:
        level: how fine it is; "none" where it can't be told, and then there is neither point nor place.
        point: where.
        radius_km: how far around; for a country the reach of nearly all its people, see `evidence.heartlands`.
        probability_raw: that the truth lies within the radius (for a country: that it is the country), as the clues
            say it; `geosleuth.evidence.calibration` knows how often that is right. For "none", that of the likeliest
            country.
        name: what the place is called.
        country: ISO code.
        country_probability: that the country is right.
        margin: by how much it is likelier than the next best answer of its level, 0 to 1.
        kinds: how many kinds of clues agree on it: contributions of a log ratio of 0.5 and more.
        contributions: what each clue adds to it, the strongest word for it first.
        is_country: whether it is a country as a whole, or the part of one in an area, at any level.
    """

    level: Level
    point: LatLon | None
    radius_km: float | None
    probability_raw: float
    name: str | None = None
    country: str | None = None
    country_probability: float = 0.0
    margin: float = 0.0
    kinds: int = 0
    contributions: tuple[Contribution, ...] = ()
    is_country: bool = False

    @property
    def supporting(self) -> tuple[Clue, ...]:
        """The clues that speak for it, the strongest first."""
        return tuple(part.clue for part in self.contributions if part.speaks_for)

    @property
    def contradicting(self) -> tuple[Clue, ...]:
        """The clues that speak against it, the strongest first."""
        return tuple(part.clue for part in reversed(self.contributions) if part.speaks_against)


@dataclass(frozen=True, slots=True)
class _Found:
    """Best centre of a level: a disc's number, the probability around it, and that of the next best elsewhere."""

    disc: int
    probability: float
    next_best: float


class _Discs:
    """Weighted discs of candidates, and of the ground where most people of the likeliest countries live."""

    def __init__(self, workings: Workings, probabilities: FloatArray, by_country: FloatArray) -> None:
        count = len(workings.places)
        kept = np.flatnonzero(probabilities[:count] > _NEGLIGIBLE)
        self.columns = kept.tolist()
        lats, lons = workings.lats[kept].tolist(), workings.lons[kept].tolist()
        radii, shares = workings.radii_km[kept].tolist(), probabilities[kept].tolist()
        if workings.within is not None:
            # No place reaches beyond the area that it must lie in.
            farthest = [farthest_km(workings.within, LatLon(*at)) for at in zip(lats, lons, strict=True)]
            radii = [min(pair) for pair in zip(radii, farthest, strict=True)]
        elsewhere = probabilities[count : count + len(workings.codes)]
        for at in np.argsort(-by_country, kind="stable")[:_COUNTRIES].tolist():
            land = heartland(workings.codes[at], workings.within) if elsewhere[at] > _NEGLIGIBLE else None
            if land is not None:
                self.columns.append(count + at)
                lats.append(land.point.lat)
                lons.append(land.point.lon)
                radii.append(land.radius_km)
                shares.append(HELD_SHARE * float(elsewhere[at]))
        self.lats, self.lons, self.radii, self.shares = (np.array(part) for part in (lats, lons, radii, shares))
        self.centres = np.argsort(-self.shares, kind="stable")[:_CENTRES]
        self.away = great_circle_km(
            self.lats[self.centres, None], self.lons[self.centres, None], self.lats[None], self.lons[None]
        )

    def within(self, reach_km: float) -> FloatArray:
        """For each centre (rows), how much of the probability of each disc lies within reach."""
        radii = np.maximum(self.radii, 1e-9)
        covered = np.minimum(1.0, (reach_km / radii) ** 2)
        met = np.clip((reach_km + radii - self.away) / (2 * np.minimum(reach_km, radii)), 0.0, 1.0)
        share: FloatArray = np.where(self.away + radii <= reach_km, 1.0, covered * met) * self.shares
        return share

    def best(self, reach_km: float) -> _Found | None:
        """The centre with the most around it; of those that are nearly equal, the one most likely itself."""
        if not len(self.centres):
            return None
        totals = self.within(reach_km).sum(axis=1)
        equal = totals >= _NEARLY_EQUAL_SHARE * totals.max()
        itself = self.shares[self.centres] + 1e-3 * totals - 1e-9 * self.radii[self.centres]
        best = int(np.argmax(np.where(equal, itself, -np.inf)))
        apart = self.away[best, self.centres] > 2 * reach_km
        return _Found(best, float(totals[best]), float(totals[apart].max(initial=0.0)))

    def radius_km(self, centre: int, reach_km: float) -> float:
        """The least radius that holds most of what lies within reach."""
        inside = self.within(reach_km)[centre]
        ends = np.minimum(self.away[centre] + self.radii, reach_km)
        order = np.argsort(ends, kind="stable")
        held = np.cumsum(inside[order])
        return float(ends[order][np.searchsorted(held, CORE_SHARE * held[-1])])


def decide(found: Posterior) -> Decision:
    """The finest level whose probability is adequate; the module's docstring tells what that is."""
    return decide_without(found.workings, found.workings.probabilities())


def decide_without(workings: Workings, probabilities: FloatArray, left_out: int | None = None) -> Decision:
    """Do `decide` with probabilities that were computed without a given clue."""
    by_country = workings.by_country(probabilities)
    discs = _Discs(workings, probabilities, by_country)
    chosen: tuple[float, Level, _Found] | None = None
    for level, reach_km in REACH_KM.items():
        found = discs.best(reach_km)
        if found is not None and found.probability >= MIN_LEVEL_PROBABILITY[level]:
            worth = LEVEL_VALUES[level] * found.probability
            if chosen is None or worth > chosen[0] + 1e-9:
                chosen = worth, level, found
    leading = int(np.argmax(by_country))
    sure = float(by_country[leading])
    answer = None
    second = float(np.delete(by_country, leading).max(initial=0.0))
    adequate = MIN_LEADING if sure >= CLEAR_LEAD * second else MIN_LEVEL_PROBABILITY["country"]
    if sure >= adequate and (chosen is None or LEVEL_VALUES["country"] * sure > chosen[0] + 1e-9):
        answer = _decide_country(workings, by_country, leading, left_out)
    if answer is None and chosen is not None:
        column = discs.columns[int(discs.centres[chosen[2].disc])] - len(workings.places)
        if column < 0:
            answer = _decide_place(workings, by_country, discs, chosen[1], chosen[2], left_out)
        else:
            # Ground that stands for a country is its largest city's, and nothing says that it is there rather than
            # elsewhere, unless the country is no larger than a town.
            answer = _decide_country(workings, by_country, column, left_out)
            land = heartland(workings.codes[column], workings.within)
            if answer is not None and (answer.radius_km or 0.0) <= TOWN_COUNTRY_KM and not (land and land.is_area):
                answer = replace(answer, level=chosen[1])
    if answer is not None and workings.is_limited and not answer.supporting:
        answer = _add_support(answer)
    # What no clue speaks for is only what was known beforehand, and what was said alone is not seen in the photo.
    found_out = answer is not None and not only_stated(answer.supporting) and _narrows(workings, answer)
    return answer if answer is not None and found_out else Decision("none", None, None, sure)


def only_stated(clues: Iterable[Clue]) -> bool:
    """Return whether all clues are statements of a person; true if there are none."""
    return all(clue.kind in STATED_KINDS for clue in clues)


def _narrows(workings: Workings, answer: Decision) -> bool:
    """Return whether an answer says more than the given area, if any."""
    if not workings.is_limited or answer.country is None or answer.point is None:
        return True
    code, within = answer.country, workings.within
    if answer.is_country:
        return says_more(workings, code, answer.country_probability)
    if within is not None:
        reach_km = _reach_km(within)
    else:
        land = heartland(code) if _beforehand(workings, code) >= _MAX_BEFOREHAND else None
        reach_km = np.inf if land is None else land.radius_km
    if (answer.radius_km or 0.0) < NARROWER_SHARE * reach_km:
        return True
    # What a clue names inside an area, and is no larger, would be found without it.
    spots = (spot for clue in answer.supporting for spot in clue.spots)
    return any(spot.radius_km <= reach_km and (within is None or within.contains(spot.point)) for spot in spots)


def says_more(workings: Workings, code: str, probability: float) -> bool:
    """Return whether a country is likelier than before in the given area; true if there is no area."""
    if not workings.is_limited:
        return True
    share = _beforehand(workings, code)
    gain = probability * (1 - share) / max(share * (1 - probability), _NEGLIGIBLE)
    return share < _MAX_BEFOREHAND and gain >= _MIN_GAIN


def _beforehand(workings: Workings, code: str) -> float:
    """Return the prior probability of a country in the given area."""
    shares = workings.by_country(np.exp(workings.log_prior - workings.log_prior.max()))
    return float(shares[workings.codes.index(code)] / max(shares.sum(), _NEGLIGIBLE))


def _reach_km(area: Extent) -> float:
    """Return the radius of a circle as large as an area."""
    if isinstance(area, Disc):
        return area.radius_km
    high, wide = area.north - area.south, area.width_deg * cos(radians(area.centre.lat))
    return _KM_PER_DEGREE * sqrt(high * wide / pi)


def _add_support(answer: Decision) -> Decision:
    """Return the decision with the clues that point to its place as its support.

    An area may be so small that the clues tell nothing inside it apart: they still are why the place is named.
    """
    point, radius_km = answer.point, answer.radius_km or 0.0
    parts = tuple(
        replace(part, log_ratio=max(part.log_ratio, MIN_TELLING_LOG_RATIO))
        if point is not None and not part.elsewhere and _points_there(part.clue, point, radius_km)
        else part
        for part in answer.contributions
    )
    kinds = len(list_kinds(part for part in parts if part.speaks_for))
    ordered = tuple(sorted(parts, key=lambda part: -part.log_ratio))
    return replace(answer, contributions=ordered, kinds=max(answer.kinds, kinds))


def _points_there(clue: Clue, point: LatLon, radius_km: float) -> bool:
    return any(distance_km(spot.point, point) <= spot.radius_km + radius_km for spot in clue.spots)


def _decide_place(
    workings: Workings, by_country: FloatArray, discs: _Discs, level: Level, found: _Found, left_out: int | None
) -> Decision:
    disc = int(discs.centres[found.disc])
    column = discs.columns[disc]
    radius_km = discs.radius_km(found.disc, REACH_KM[level])
    country = int(workings.country_of[column])
    parts = compute_contributions(workings, column, left_out)
    return Decision(
        level=level,
        point=LatLon(float(discs.lats[disc]), float(discs.lons[disc])),
        radius_km=radius_km,
        probability_raw=min(1.0, float(discs.within(radius_km)[found.disc].sum())),
        name=workings.places[column].name,
        country=workings.codes[country] if country >= 0 else None,
        country_probability=float(by_country[country]) if country >= 0 else 0.0,
        margin=max(0.0, found.probability - found.next_best),
        kinds=len(list_kinds(part for part in parts if part.log_ratio >= _AGREES and not part.elsewhere)),
        contributions=parts,
    )


def _decide_country(workings: Workings, by_country: FloatArray, leading: int, left_out: int | None) -> Decision | None:
    """Return the country as a whole; None for the few without a town, as nothing on a map represents them."""
    code = workings.codes[leading]
    land = heartland(code, workings.within)
    if land is None:
        return None
    parts = contributions(workings, workings.country_ratios[:, leading], left_out)
    second = float(np.delete(by_country, leading).max(initial=0.0))
    return Decision(
        level="country",
        point=land.point,
        radius_km=land.radius_km,
        probability_raw=float(by_country[leading]),
        name=country_name(code),
        country=code,
        country_probability=float(by_country[leading]),
        margin=max(0.0, float(by_country[leading]) - second),
        kinds=len(list_kinds(part for part in parts if part.log_ratio >= _AGREES)),
        contributions=parts,
        is_country=True,
    )
