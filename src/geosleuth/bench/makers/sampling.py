"""GeoSeek's way to draw a set that does not follow where cameras are: by country, then by cells of one degree.

Country i gets m_i = M (0.5 R_i/ΣR + 0.2 P_i/ΣP + 0.3 A_i/ΣA) photos, by the length of its roads, its people and its
area; within a country a cell is drawn with p_c ∝ log(1 + P_c), by the people who live in it, and of its photos one is
drawn without putting it back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput

Ints = npt.NDArray[np.int64]
CELL_DEG = 1.0


@dataclass(frozen=True, slots=True)
class CountryFigures:
    """What a country's quota is made of; a figure that nobody knows counts as 0 and is told of in reports."""

    road_km: float | None
    population: float | None
    area_km2: float | None


@dataclass(frozen=True, slots=True)
class Weights:
    """How much roads, people and area count; GeoSeek's own by default. They need not add up to 1."""

    roads: float = 0.5
    population: float = 0.2
    area: float = 0.3

    def __post_init__(self) -> None:
        values = (self.roads, self.population, self.area)
        if not all(isfinite(value) and value >= 0 for value in values) or sum(values) <= 0:
            raise BadInput(f"weights are three numbers, none below 0 and not all 0; not {values}")


def country_shares(figures: Mapping[str, CountryFigures], weights: Weights | None = None) -> dict[str, float]:
    """m_i / M for each country. The shares add up to what the weights add up to.

    Raises:
        BadInput: all figures of a kind that counts are 0 or unknown, so that nothing can be shared out by it.
    """
    weights = weights or Weights()
    parts = (
        (weights.roads, {code: one.road_km or 0.0 for code, one in figures.items()}, "road_km"),
        (weights.population, {code: one.population or 0.0 for code, one in figures.items()}, "population"),
        (weights.area, {code: one.area_km2 or 0.0 for code, one in figures.items()}, "area_km2"),
    )
    shares = dict.fromkeys(figures, 0.0)
    for weight, values, name in parts:
        total = sum(values.values())
        if weight and total <= 0:
            raise BadInput(f"no country has a {name}; give one with --figures, or the weight 0 with --weights")
        for code, value in values.items():
            shares[code] += weight * value / total if weight else 0.0
    return shares


def largest_remainder(shares: Mapping[str, float], total: int) -> dict[str, int]:
    """Whole numbers that add up to ``total``, each its share rounded up or down; ties go by name."""
    whole = sum(shares.values())
    if whole <= 0:
        return dict.fromkeys(shares, 0)
    exact = {name: total * share / whole for name, share in shares.items()}
    given = {name: floor(value) for name, value in exact.items()}
    left = total - sum(given.values())
    # Rounded, so that remainders that are the same on paper are so here.
    for name in sorted(exact, key=lambda name: (-round(exact[name] - given[name], 9), name))[:left]:
        given[name] += 1
    return given


@dataclass(frozen=True, slots=True)
class CountryDraw:
    """What a country was to give, what it has, and what it gave.

    ``unpeopled`` counts photos in cells where nobody is known to live: their chance is 0.
    """

    country: str
    quota: int
    available: int
    unpeopled: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Draw:
    """Numbers of the photos drawn, ascending, and the account by country, most wanted first."""

    chosen: tuple[int, ...]
    countries: tuple[CountryDraw, ...]
    wanted: int

    @property
    def short(self) -> int:
        """How many photos fewer than wanted there are."""
        return self.wanted - len(self.chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawRules:
    """How photos are shared out.

    Attributes:
        weights: of roads, people and area.
        least_people: what a cell counts with at least; 0 is the formula as printed.
        refill: share out what countries fall short of among those that have photos left, by the same shares.
    """

    weights: Weights | None = None
    least_people: float = 0.0
    refill: bool = False


_AS_PRINTED = DrawRules()


def draw(
    countries: Sequence[str],
    cells: Sequence[int],
    people: Mapping[tuple[str, int], float],
    figures: Mapping[str, CountryFigures],
    *,
    total: int,
    seed: int,
    rules: DrawRules = _AS_PRINTED,
) -> Draw:
    """Draw ``total`` photos. The same arguments give the same photos.

    Args:
        countries: each photo's country code; empty where it has none, and then it is not drawn.
        cells: each photo's cell.
        people: how many live in the part of a cell that belongs to a country.
        figures: what quotas are made of; countries that have none get no photo.
        total: M.
        seed: another one gives another draw.
        rules: how they are shared out.
    """
    if total < 1:
        raise BadInput(f"at least one photo must be asked for, not {total}")
    shares = country_shares(figures, rules.weights)
    drawers = {
        code: _Country(code, cells, rows, people, rules.least_people, seed)
        for code, rows in _rows_by_country(countries).items()
        if code in figures
    }
    quotas = largest_remainder(shares, total)
    _take(quotas, drawers)
    while rules.refill and (missing := total - sum(len(one.drawn) for one in drawers.values())) > 0:
        open_ones = {code: shares[code] for code, one in drawers.items() if one.left and shares[code] > 0}
        if not open_ones:
            break
        _take(largest_remainder(open_ones, missing), drawers)
    account = [
        CountryDraw(code, quotas.get(code, 0), *(drawers[code].account() if code in drawers else (0, 0, 0)))
        for code in sorted(quotas.keys() | drawers.keys(), key=lambda code: (-quotas.get(code, 0), code))
    ]
    chosen = sorted(number for one in drawers.values() for number in one.drawn)
    return Draw(tuple(chosen), tuple(one for one in account if one.quota or one.available), total)


def _rows_by_country(countries: Sequence[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for number, code in enumerate(countries):
        if code:
            rows.setdefault(code, []).append(number)
    return dict(sorted(rows.items()))


def _take(quotas: Mapping[str, int], drawers: "Mapping[str, _Country]") -> None:
    for code, wanted in quotas.items():
        if code in drawers:
            drawers[code].take(wanted)


class _Country:
    """The photos of one country by cell, in random order, and the chance of each cell."""

    def __init__(
        self,
        code: str,
        cells: Sequence[int],
        rows: Sequence[int],
        people: Mapping[tuple[str, int], float],
        least_people: float,
        seed: int,
    ) -> None:
        # Each country has chance of its own: what another one holds does not change its draw.
        self._chance = np.random.default_rng([seed, *code.encode()])
        by_cell: dict[int, list[int]] = {}
        for row in rows:
            by_cell.setdefault(int(cells[row]), []).append(row)
        self._photos = [list(self._chance.permutation(by_cell[cell])) for cell in sorted(by_cell)]
        living = np.array([max(least_people, people.get((code, cell), 0.0)) for cell in sorted(by_cell)])
        self._weights = np.log1p(living)
        self.available = len(rows)
        self.drawn: list[int] = []
        self._unpeopled = sum(
            len(photos) for photos, weight in zip(self._photos, self._weights, strict=True) if weight == 0
        )

    @property
    def left(self) -> bool:
        return bool(np.any(self._weights > 0))

    def take(self, wanted: int) -> None:
        for _ in range(wanted):
            if not self.left:
                return
            edges = np.cumsum(self._weights)
            cell = int(np.searchsorted(edges, self._chance.random() * edges[-1], side="right"))
            self.drawn.append(int(self._photos[cell].pop()))
            if not self._photos[cell]:
                self._weights[cell] = 0.0

    def account(self) -> tuple[int, int, int]:
        return self.available, self._unpeopled, len(self.drawn)
