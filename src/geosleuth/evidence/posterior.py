"""From clues to places: how likely each is, and which clue speaks for it and against it.

Hypotheses, each apart from the others:

- *candidates*: the places that some clue points at, near duplicates merged;
- *elsewhere in c*, for each country c: the rest of it;
- *unknown*: none of the clues is about the place at all.

A clue k is about the place with its reliability r, and then puts weight w_s on each of its spots s and P(c | clue) on
each country. Its ratio at a hypothesis h says how much likelier the clue is there than at a random place:

    l_k(h) = r * density_k(h) + (1 - r)
    density_k(h) = sum over spots of w_s * near(s, h) / chance(s) + (P(c | clue) - weight of its spots in c) / prior(c)

where ``chance`` is that of a random place to lie in the spot's disc, and ``near`` is 1 inside the disc and falls with
the fourth power of the distance beyond it: what is seen together may stand some way apart. A clue that says nothing of
countries spreads what its spots leave over the world as the prior does. Under the prior each ratio has a mean of about
1, and all are 1 for *unknown*: it gains where the clues contradict each other.

Clues of one kind are not independent. At each hypothesis the log ratios of a kind that speak for it are sorted and
count with 1, 0.41, 0.32 ... (the steps of a square root: n equal clues count as the root of n), at most nine of them
and so at most three times the strongest; those that speak against it likewise. A clue that raises one hypothesis and
no other can so never lower it. Kinds multiply.

Clues on one panel share its fate (`geosleuth.evidence.panels`). With S_P(h) the sum of what they add, a panel that is
from elsewhere with doubt d counts as

    L_P(h) = (1 - d) * exp(S_P(h)) / mean of exp(S_P) under the prior + d

so that of two panels that contradict each other neither wins by the number of its clues. Nothing contradicts a panel
that is the only one; its doubt is left out.

`geosleuth.evidence.weighing` holds the mathematics. What is seen in a photo may mislead: a clue that is about the place
only with its reliability lets several others outvote it, and two fine clues that meet win over a famous name far away.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Final

import numpy as np
import numpy.typing as npt

from geosleuth.geo import EARTH_RADIUS_KM, Extent, FloatArray, LatLon, distance_km
from geosleuth.names import country_name, fold

from .areas import brought_into
from .clue import Clue, ClueKind, CluePlace, TextSeen
from .country_prior import normalize, world_prior
from .heartlands import find_countries, shares_within
from .sign_layout import SignPanel, panels

# Prior probability that none of the clues is about the place.
UNKNOWN_PRIOR: Final = 0.02

MAX_CANDIDATES: Final = 500
# Distance from the camera within which text is legible; no spot is finer than that.
SIGHT_KM: Final = 0.2

# Kinds of clues that come from looking up a text by name.
NAME_KINDS: Final = frozenset({"place", "street", "business", "station", "airport", "landmark"})

# Separates the texts in ``Clue.seen`` if a clue rests on several.
SEPARATOR: Final = " + "

_MAX_RELIABLE = 0.999
_DAMPING: FloatArray = np.diff(np.sqrt(np.arange(10.0)))
_MERGED_REACH = 0.75
_MERGED_SCALE = 3.0
_MIN_LEFT = 0.05
_SHARP_REACH = 2.0
_Ints = npt.NDArray[np.int64]

_MOST = 0.5
# Minimum log ratio at which a clue supports or contradicts a place: about 10 %.
MIN_TELLING_LOG_RATIO = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Workings:
    """Everything weighed: hypotheses are the candidates, then the countries of ``codes``, then *unknown*.

    ``log_ratios`` holds a row for each clue and a column for each hypothesis, ``country_ratios`` the same for whole
    countries, their candidates included. ``is_limited`` says whether an area or countries were given.
    """

    clues: tuple[Clue, ...]
    places: tuple[CluePlace, ...]
    radii_km: FloatArray
    lats: FloatArray
    lons: FloatArray
    country_of: _Ints
    codes: tuple[str, ...]
    within: Extent | None
    is_limited: bool
    log_prior: FloatArray
    log_ratios: FloatArray
    country_ratios: FloatArray
    groups: _Ints
    group_sums: FloatArray
    panels: tuple[SignPanel, ...]
    lines: tuple[TextSeen, ...]

    def probabilities(self, left_out: int | None = None) -> FloatArray:
        """The probability of each hypothesis; ``left_out`` is the index of a clue to do without."""
        total = self.log_prior + self.group_sums.sum(axis=0)
        if left_out is not None:
            group = self.groups[left_out]
            rest = np.flatnonzero(self.groups == group)
            total += dampen(self.log_ratios[rest[rest != left_out]]) - self.group_sums[group]
        if len(self.panels) > 1:
            parts = self._compute_parts(self.log_ratios, left_out)
            for panel in self.panels:
                added = parts[list(panel.clues)].sum(axis=0)
                total += _apply_doubt(added, self._mean(added), panel.doubt) - added
        share = np.exp(total - total.max())
        probabilities: FloatArray = share / share.sum()
        return probabilities

    def by_country(self, probabilities: FloatArray) -> FloatArray:
        """The probability of each country, its candidates included."""
        count = len(self.places)
        totals = probabilities[count : count + len(self.codes)].copy()
        known = self.country_of >= 0
        np.add.at(totals, self.country_of[known], probabilities[:count][known])
        return totals

    def contributions(self, log_ratios: FloatArray, left_out: int | None = None) -> FloatArray:
        """Return what each clue adds to a hypothesis' log ratio, dampened, given its own ratios there."""
        parts = self._compute_parts(log_ratios[:, None], left_out)[:, 0]
        if len(self.panels) > 1:
            everywhere = self._compute_parts(self.log_ratios, left_out)
            for panel in self.panels:
                rows = list(panel.clues)
                added = parts[rows].sum()
                counted = float(_apply_doubt(added, self._mean(everywhere[rows].sum(axis=0)), panel.doubt))
                parts[rows] *= np.clip(counted / added, 0.0, 1.0) if added else 1.0
        return parts

    def without(self, rows: Collection[int]) -> "Workings":
        """The same hypotheses, weighed without some of the clues."""
        kept = [row for row in range(len(self.clues)) if row not in rows]
        clues, groups, log_ratios = tuple(self.clues[row] for row in kept), self.groups[kept], self.log_ratios[kept]
        return replace(
            self,
            clues=clues,
            log_ratios=log_ratios,
            country_ratios=self.country_ratios[kept],
            groups=groups,
            group_sums=_group_sums(log_ratios, groups),
            panels=panels(clues, self.lines),
        )

    def _compute_parts(self, log_ratios: FloatArray, left_out: int | None) -> FloatArray:
        """Return what each clue adds at each hypothesis, after the dampening of its kind."""
        parts = np.zeros_like(log_ratios)
        for group in sorted(set(self.groups.tolist())):
            rows = np.flatnonzero(self.groups == group)
            rows = rows[rows != left_out] if left_out is not None else rows
            weights = np.zeros(max(len(rows), len(_DAMPING)))
            weights[: len(_DAMPING)] = _DAMPING
            for sign in (1.0, -1.0):
                strengths = np.maximum(sign * log_ratios[rows], 0.0)
                ranks = np.argsort(np.argsort(-strengths, axis=0, kind="stable"), axis=0, kind="stable")
                parts[rows] += sign * strengths * weights[ranks]
        return parts

    def _mean(self, added: FloatArray) -> float:
        return float(np.logaddexp.reduce(self.log_prior + added) - np.logaddexp.reduce(self.log_prior))


def work_out(
    clues: Iterable[Clue],
    within: Extent | None,
    countries: Iterable[str] | None,
    lines: Iterable[TextSeen] = (),
) -> Workings:
    """Weigh clues against each other; ``within`` and ``countries`` rule out what lies elsewhere."""
    text = tuple(lines)
    world = world_prior()
    heard = distinct(clues)
    reliability = np.array([_clip_finite(clue.reliability, _MAX_RELIABLE) for clue in heard])
    table = _SpotTable(heard, within)
    wanted = None if countries is None else {code.upper() for code in countries}
    chosen = _choose_candidates(table, reliability, within, wanted)
    count, size = len(chosen), len(world.codes)

    said = np.zeros((len(heard), size))
    silent = np.ones(len(heard), dtype=bool)
    position = {code: at for at, code in enumerate(world.codes)}
    for row, clue in enumerate(heard):
        for code, share in normalize({c: s for c, s in clue.countries.items() if c in position and s < np.inf}).items():
            said[row, position[code]], silent[row] = share, False
    on_spots = np.zeros((len(heard), size + 1))
    np.add.at(on_spots, (table.clue, table.country), table.weight)
    left = 1.0 - on_spots.sum(axis=1)
    prior = world.share[:-1]
    rest = np.maximum(0.0, said - on_spots[:, :-1]) / prior
    rest[silent] = left[silent, None]
    whole = np.where(
        silent[:, None], on_spots[:, :-1] / prior + left[:, None], np.maximum(said, on_spots[:, :-1]) / prior
    )

    density = np.zeros((len(heard), count + size + 1))
    density[:, :count] = _compute_densities(table, chosen, len(heard))
    stateless = np.where(silent, left, 0.0)
    density[:, :count] += np.concatenate([rest, stateless[:, None]], axis=1)[:, table.country[chosen]]
    density[:, count : count + size] = rest
    density[:, -1] = 1.0
    groups = _groups(heard)
    log_ratios = np.log(reliability[:, None] * density + (1 - reliability)[:, None])
    return Workings(
        clues=heard,
        places=tuple(table.spots[at] for at in chosen.tolist()),
        radii_km=table.radius_km[chosen],
        lats=table.lat[chosen],
        lons=table.lon[chosen],
        country_of=table.country[chosen],
        codes=world.codes,
        within=within,
        is_limited=within is not None or wanted is not None,
        log_prior=_log_prior(
            prior * _compute_allowed_shares(world.codes, within, wanted), table.chance[chosen], table.country[chosen]
        ),
        log_ratios=log_ratios,
        country_ratios=np.log(reliability[:, None] * whole + (1 - reliability)[:, None]),
        groups=groups,
        group_sums=_group_sums(log_ratios, groups),
        panels=panels(heard, text),
        lines=text,
    )


def dampen(log_ratios: FloatArray) -> FloatArray:
    """Return the dampened sum of the log ratios of a kind of clue (rows) at each hypothesis (columns)."""
    if len(log_ratios) < 2:
        alone: FloatArray = log_ratios.sum(axis=0)
        return alone
    return _sum_damped(np.maximum(log_ratios, 0.0)) - _sum_damped(np.maximum(-log_ratios, 0.0))


def _group_sums(log_ratios: FloatArray, groups: _Ints) -> FloatArray:
    sums = [dampen(log_ratios[groups == group]) for group in range(groups.max(initial=-1) + 1)]
    return np.array(sums).reshape(-1, log_ratios.shape[1])


def _apply_doubt(added: FloatArray, mean: float, doubt: float) -> FloatArray:
    ratio: FloatArray = np.logaddexp(np.log1p(-doubt) + added - mean, np.log(doubt))
    return ratio


def distinct(clues: Iterable[Clue]) -> tuple[Clue, ...]:
    """Each piece of evidence once, independent of the order of the clues.

    What says the same of the same text twice is one clue. A text that was looked up in several ways is one clue too,
    whose readings are alternatives: all its spots, each with the best weight that it got. A longer text that leads to
    the same place as a part of it adds nothing.
    """
    same: dict[object, list[Clue]] = {}
    for clue in clues:
        if clue.reliability > 0:
            text = fold(clue.seen) or clue.seen
            name = ("name", text)
            content = (clue.kind, text, tuple(sorted(clue.countries.items())), clue.spots)
            same.setdefault(name if clue.kind in NAME_KINDS else content, []).append(clue)
    return _without_parts([_either(sorted(alike, key=_authority, reverse=True)) for alike in same.values()])


def _without_parts(clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """Names that lead to one place by the same words are readings of one text.

    So they are where one's words are among the other's and both lead to one place, and where the place's own name is a
    part of both: "Musée du Louvre" and "Palais du Louvre" on one sign are one reason to think of a hotel
    called Louvre, and not two.
    """
    groups: list[list[Clue]] = []
    for clue in sorted(
        (item for item in clues if item.kind in NAME_KINDS and item.spots), key=_authority, reverse=True
    ):
        own = next((group for group in groups if any(_reads_the_same(clue, other) for other in group)), None)
        if own is None:
            groups.append([clue])
        else:
            own.append(clue)
    united: dict[int, Clue | None] = {}
    for group in groups:
        united.update({id(clue): None for clue in group[1:]})
        united[id(group[0])] = _either(group)
    kept = (united.get(id(clue), clue) for clue in clues)
    return tuple(clue for clue in kept if clue is not None)


def _reads_the_same(clue: Clue, other: Clue) -> bool:
    words, others = set(fold(clue.seen).split()), set(fold(other.seen).split())
    if not words or not others:
        return False
    if words <= others or others <= words:
        if "place" in (clue.kind, other.kind):  # "Springfield, Illinois" tells which of the Springfields is meant
            return _get_spot_key(_best_spot(clue)) == _get_spot_key(_best_spot(other))
        return not _list_spot_places(clue).isdisjoint(_list_spot_places(other))
    part = _part_named(clue)
    return part is not None and part == _part_named(other)


def _best_spot(clue: Clue) -> CluePlace:
    return max(clue.spots, key=lambda spot: (spot.weight, _rank(spot)))


def _list_spot_places(clue: Clue) -> set[object]:
    return set(map(_get_spot_key, clue.spots))


def _get_spot_key(spot: CluePlace) -> object:
    return spot.place_id or (spot.name, spot.point)


def _part_named(clue: Clue) -> str | None:
    """The part of a text that is the name of where it leads; None for a town's, and where it is the whole text."""
    name = fold(_best_spot(clue).name)
    return name if clue.kind != "place" and set(name.split()) < set(fold(clue.seen).split()) else None


def _either(readings: Sequence[Clue]) -> Clue:
    """One clue of several readings of a text, the most telling first."""
    leading = readings[0]
    if len(readings) == 1:
        return leading
    spots: dict[object, CluePlace] = {}
    countries: dict[str, float] = {}
    for reading in readings:
        for spot in reading.spots:
            key = spot.place_id or (spot.name, spot.point, spot.radius_km)
            spots[key] = max(spots.get(key, spot), spot, key=lambda item: (item.weight, _rank(item)))
        for code, share in reading.countries.items():
            countries[code] = max(share, countries.get(code, 0.0))
    return replace(
        leading,
        says=leading.says + "".join(_or_else(leading, reading) for reading in readings[1:2]),
        reliability=max(reading.reliability for reading in readings),
        countries=countries,
        spots=tuple(sorted(spots.values(), key=_rank)),
        sources=tuple(dict.fromkeys(source for reading in readings for source in reading.sources)),
    )


def _or_else(leading: Clue, reading: Clue) -> str:
    """Return the meaning of another reading of a text, if it is of another country."""
    known = {spot.country for spot in leading.spots}
    other = max(reading.spots, key=lambda spot: spot.weight, default=None)
    if other is None or other.country is None or other.country in known or reading.seen != leading.seen:
        return ""
    return f", or it is {other.name}, {country_name(other.country)}"


def _rank(spot: CluePlace) -> tuple[float, float, float, str, str, str]:
    """Tells equally strong spots apart, independent of the order they come in."""
    where = spot.radius_km, spot.point.lat, spot.point.lon
    return *where, spot.name, spot.country or "", spot.place_id or ""


def _authority(clue: Clue) -> tuple[float, float, str, str]:
    return sum(spot.weight for spot in clue.spots), clue.reliability, clue.kind, clue.says


class _SpotTable:
    """The spots of all clues as columns; those of one clue stand together, and weigh no more than 1 in all.

    A spot that lies partly in the area that everything must lie in stands there, see `brought_into`.
    """

    def __init__(self, clues: Sequence[Clue], within: Extent | None = None) -> None:
        world = world_prior()
        position = {code: at for at, code in enumerate(world.codes)}
        rows = [(row, spot) for row, clue in enumerate(clues) for spot in clue.spots if spot.weight > 0]
        self.spots = [spot if within is None else _move_inside(spot, within) for _, spot in rows]
        self.clue: _Ints = np.array([row for row, _ in rows], dtype=np.int64)
        self.lat = np.array([spot.point.lat for spot in self.spots])
        self.lon = np.array([spot.point.lon for spot in self.spots])
        self.radius_km = np.array([_radius_km(spot) for spot in self.spots])
        weight = np.array([_clip_finite(spot.weight, 1.0) for spot in self.spots])
        totals = np.zeros(len(clues))
        np.add.at(totals, self.clue, weight)
        self.weight: FloatArray = weight / np.maximum(1.0, totals)[self.clue]
        self.country: _Ints = np.array([position.get(spot.country or "", -1) for spot in self.spots], dtype=np.int64)
        unsaid = np.array([spot.country is None for spot in self.spots], dtype=bool)
        if unsaid.any():
            found = find_countries(self.lat[unsaid], self.lon[unsaid])
            self.country[unsaid] = [position.get(code or "", -1) for code in found]
        self.sharp = np.array([spot.sharp for spot in self.spots], dtype=bool)
        self.chance = world.chance(self.country, self.radius_km)
        angles = np.radians(self.lat), np.radians(self.lon)
        self.vectors = np.stack(
            [np.cos(angles[0]) * np.cos(angles[1]), np.cos(angles[0]) * np.sin(angles[1]), np.sin(angles[0])], axis=1
        )

    def compute_squared_km(self, rows: _Ints | slice, columns: _Ints) -> FloatArray:
        """Squared straight lines between spots: much quicker than distances along the ground.

        Only what is near counts here, and there the two are the same.
        """
        squared: FloatArray = np.zeros((1, 1))
        for axis in self.vectors.T:
            apart = axis[rows][:, None] - axis[columns]
            apart *= apart
            squared = squared + apart
        squared *= EARTH_RADIUS_KM**2
        return squared


def _radius_km(spot: CluePlace) -> float:
    return float(np.hypot(_clip_finite(spot.radius_km, 20_000.0), SIGHT_KM))


def _move_inside(spot: CluePlace, within: Extent) -> CluePlace:
    point = brought_into(within, spot.point, _radius_km(spot))
    return spot if point is None or point == spot.point else replace(spot, point=point)


def _compute_densities(table: _SpotTable, chosen: _Ints, count: int) -> FloatArray:
    """Return for each clue and candidate the density of the clue's spots there, relative to a random place."""
    density = np.zeros((count, len(chosen)))
    if not len(chosen):
        return density
    own = table.radius_km**2
    # Seen from a place that is larger than the spot, most of the place is away from the spot.
    near = np.maximum(0.0, own[chosen] - own[:, None])
    near *= 0.5
    near += table.compute_squared_km(slice(None), chosen)
    np.maximum(near, own[:, None], out=near)
    np.divide(own[:, None], near, out=near)
    near *= near
    if len(sharp := np.flatnonzero(table.sharp)):
        reach = _SHARP_REACH**2 * np.maximum(own[sharp, None], own[chosen])
        meant = (table.compute_squared_km(sharp, chosen) <= reach) & (
            table.country[sharp, None] == table.country[chosen]
        )
        near[sharp] *= meant
    near *= (table.weight / table.chance)[:, None]
    begins = np.flatnonzero(np.diff(table.clue, prepend=-1))
    density[table.clue[begins]] = np.add.reduceat(near, begins, axis=0)
    return density


def _choose_candidates(
    table: _SpotTable, reliability: FloatArray, within: Extent | None, wanted: Set[str] | None
) -> _Ints:
    """Return spots that represent all: the strongest first, without those at nearly the same place."""
    if not len(table.spots):
        return np.empty(0, dtype=np.int64)
    codes = (*world_prior().codes, "")
    open_to = np.array(
        [
            (wanted is None or codes[at] in wanted) and (within is None or within.contains(spot.point))
            for at, spot in zip(table.country.tolist(), table.spots, strict=True)
        ]
    )
    strength = reliability[table.clue] * table.weight
    order = sorted(
        np.flatnonzero(open_to & (strength > 0)).tolist(),
        # Rounded, since the last digits hang on the order in which weights were added up.
        key=lambda at: (-round(float(strength[at]), 12), *_rank(table.spots[at])),
    )
    ranked: _Ints = np.array(_first_of_each(table, order)[:MAX_CANDIDATES], dtype=np.int64)
    squared, radii = table.compute_squared_km(ranked, ranked), table.radius_km[ranked]
    wider = np.maximum(radii[:, None], radii)
    same = (squared <= (_MERGED_REACH * wider) ** 2) & (wider <= _MERGED_SCALE * np.minimum(radii[:, None], radii))
    gone = np.zeros(len(ranked), dtype=bool)
    for at in range(len(ranked)):
        if not gone[at]:
            gone[at + 1 :] |= same[at, at + 1 :]
    return ranked[~gone]


def _first_of_each(table: _SpotTable, order: Sequence[int]) -> list[int]:
    seen = {(table.lat[at], table.lon[at], table.radius_km[at]): at for at in reversed(order)}
    return [at for at in order if seen[table.lat[at], table.lon[at], table.radius_km[at]] == at]


def _compute_allowed_shares(codes: Sequence[str], within: Extent | None, wanted: Set[str] | None) -> FloatArray:
    """Return the share of each country that is not ruled out."""
    inside = None if within is None else shares_within(within)
    return np.array(
        [(wanted is None or code in wanted) * (1.0 if inside is None else inside.get(code, 0.0)) for code in codes]
    )


def _log_prior(countries: FloatArray, chances: FloatArray, country_of: _Ints) -> FloatArray:
    taken = np.zeros(len(countries) + 1)
    np.add.at(taken, country_of, chances)
    left = np.maximum(countries - taken[:-1], _MIN_LEFT * countries)
    known = chances.sum() + left.sum()
    unknown = UNKNOWN_PRIOR * (known if known > 0 else 1.0) / (1 - UNKNOWN_PRIOR)
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(np.concatenate([chances, left, [unknown]]))
    return logs


def _groups(clues: Sequence[Clue]) -> _Ints:
    """A number for each clue, equal where clues are not independent.

    That is clues of one kind; and a name on its own counts with the kind of a clue that rests on it and others.
    """
    joined: dict[str, str] = {}
    for clue in sorted(clues, key=lambda item: (item.kind, item.seen)):
        if clue.kind in NAME_KINDS and SEPARATOR in clue.seen:
            joined.update((fold(text) or text, clue.kind) for text in clue.seen.split(SEPARATOR))
    kinds = [
        joined.get(fold(clue.seen) or clue.seen, clue.kind) if clue.kind in NAME_KINDS else clue.kind for clue in clues
    ]
    _, groups = np.unique(np.array(kinds, dtype=str), return_inverse=True)
    return np.asarray(groups, dtype=np.int64)


def _sum_damped(strengths: FloatArray) -> FloatArray:
    most = len(_DAMPING)
    if len(strengths) > most:
        strengths = np.partition(strengths, len(strengths) - most, axis=0)[-most:]
    top = np.sort(strengths, axis=0)[::-1]
    total: FloatArray = _DAMPING[: len(top)] @ top
    return total


def _clip_finite(value: float, most: float) -> float:
    return min(max(value, 0.0), most) if isfinite(value) else 0.0


@dataclass(frozen=True, slots=True)
class Contribution:
    """Contribution of a clue to the log of a hypothesis, relative to a random place.

    Above 0 for it, below 0 against it.

    ``elsewhere`` is whether the clue speaks for other parts of the country: a number of another area is no word for a
    town, however much it says for the country.
    """

    clue: Clue
    log_ratio: float
    elsewhere: bool = False

    @property
    def speaks_for(self) -> bool:
        """Return whether it is worth naming as evidence for the place."""
        return self.log_ratio >= MIN_TELLING_LOG_RATIO and not self.elsewhere

    @property
    def speaks_against(self) -> bool:
        """Return whether it is worth naming as evidence against the place."""
        return self.log_ratio <= -MIN_TELLING_LOG_RATIO or self.elsewhere


@dataclass(frozen=True, slots=True)
class PlaceCandidate:
    """A place that some clue points at; ``country`` is an ISO code."""

    name: str
    point: LatLon
    radius_km: float
    probability: float
    country: str | None
    place_id: str | None
    _workings: Workings = field(repr=False, compare=False)
    _column: int = field(repr=False, compare=False)

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """Return what each clue adds, the strongest support first."""
        return compute_contributions(self._workings, self._column)

    @property
    def supporting(self) -> tuple[Clue, ...]:
        """The clues that speak for it, the strongest first."""
        return tuple(part.clue for part in self.contributions if part.speaks_for)

    @property
    def contradicting(self) -> tuple[Clue, ...]:
        """The clues that speak against it, the strongest first."""
        return tuple(part.clue for part in reversed(self.contributions) if part.speaks_against)


@dataclass(frozen=True, slots=True)
class Posterior:
    """Probabilities of all hypotheses; candidates, ``elsewhere`` and ``unknown`` add up to 1.

    Attributes:
        candidates: places, the likeliest first.
        countries: probability by ISO code, the likeliest first, candidates included; ``unknown`` is not in them.
        elsewhere: by ISO code, that it is in this country and at none of the candidates.
        unknown: that none of the clues is about the place.
        clues: what was weighed: each piece of evidence once, and only such as say anything.
        within: the extent that everything must lie in, if any.
    """

    candidates: tuple[PlaceCandidate, ...]
    countries: Mapping[str, float]
    elsewhere: Mapping[str, float]
    unknown: float
    clues: tuple[Clue, ...]
    within: Extent | None
    workings: Workings = field(repr=False, compare=False)

    def country_contributions(self, code: str) -> tuple[Contribution, ...]:
        """Return what each clue adds to a country as a whole, the strongest support first.

        Empty for an unknown code.
        """
        if code not in self.workings.codes:
            return ()
        return contributions(self.workings, self.workings.country_ratios[:, self.workings.codes.index(code)])


def posterior(
    clues: Iterable[Clue],
    *,
    within: Extent | None = None,
    countries: Iterable[str] | None = None,
    lines: Iterable[TextSeen] = (),
) -> Posterior:
    """Weigh clues against each other.

    Args:
        clues: in any order; without any, what comes out is the prior.
        within: nothing outside is possible.
        countries: ISO codes; nothing in other countries is possible.
        lines: all text of the pictures, for what the signs that the clues stand on are; see `evidence.panels`.
    """
    workings = work_out(clues, within, countries, lines)
    probabilities = workings.probabilities()
    count, size = len(workings.places), len(workings.codes)
    ranked = sorted(range(count), key=lambda at: (-probabilities[at], workings.places[at].name))
    return Posterior(
        candidates=tuple(_candidate(workings, probabilities, at) for at in ranked),
        countries=_by_code(workings, workings.by_country(probabilities)),
        elsewhere=_by_code(workings, probabilities[count : count + size]),
        unknown=float(probabilities[-1]),
        clues=workings.clues,
        within=within,
        workings=workings,
    )


def contributions(workings: Workings, log_ratios: FloatArray, left_out: int | None = None) -> tuple[Contribution, ...]:
    """Return what each clue adds to a hypothesis, the strongest support first; without the clue that is left out."""
    parts = workings.contributions(log_ratios, left_out)
    return tuple(
        Contribution(workings.clues[at], float(parts[at]))
        for at in np.argsort(-parts, kind="stable").tolist()
        if at != left_out
    )


def compute_contributions(workings: Workings, column: int, left_out: int | None = None) -> tuple[Contribution, ...]:
    """Return what each clue adds to a candidate, marking those that support other parts of its country."""
    parts = contributions(workings, workings.log_ratios[:, column], left_out)
    country = int(workings.country_of[column])
    if country < 0:
        return parts
    place, radius_km = workings.places[column], float(workings.radii_km[column])
    code = workings.codes[country]
    return tuple(
        replace(part, elsewhere=True) if _is_elsewhere(part.clue, place.point, radius_km, code) else part
        for part in parts
    )


def _is_elsewhere(clue: Clue, point: LatLon, radius_km: float, country: str) -> bool:
    """Return whether most of a clue's places in a country are far from a given place."""
    spots = [spot for spot in clue.spots if spot.country == country]
    if sum(spot.weight for spot in spots) < _MOST:
        return False
    return all(distance_km(spot.point, point) > spot.radius_km + radius_km for spot in spots)


def list_kinds(parts: Iterable[Contribution]) -> tuple[ClueKind, ...]:
    """The kinds among some contributions, each once, in order."""
    return tuple(dict.fromkeys(part.clue.kind for part in parts))


def _candidate(workings: Workings, probabilities: FloatArray, at: int) -> PlaceCandidate:
    spot, country = workings.places[at], int(workings.country_of[at])
    return PlaceCandidate(
        name=spot.name,
        point=spot.point,
        radius_km=float(workings.radii_km[at]),
        probability=float(probabilities[at]),
        country=workings.codes[country] if country >= 0 else None,
        place_id=spot.place_id,
        _workings=workings,
        _column=at,
    )


def _by_code(workings: Workings, values: FloatArray) -> dict[str, float]:
    order = np.argsort(-values, kind="stable")
    return {workings.codes[at]: float(values[at]) for at in order.tolist() if values[at] > 0}
