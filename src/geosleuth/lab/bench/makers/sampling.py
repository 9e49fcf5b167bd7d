"""GeoSeek's sampling of a set: by country, then by cells of one degree; and the overlap of two sets.

Country i gets m_i = M (0.5 R_i/ΣR + 0.2 P_i/ΣP + 0.3 A_i/ΣA) photos, by the length of its roads, its population and its
area; within a country a cell is drawn with p_c ∝ log(1 + P_c), by its population, and one of its photos without
replacement.

coverage = places of both / places of the first (training), consistency = places of both / places of the second (test).
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import floor, isfinite
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from geosleuth.atlas.base import ensure_base, open_base
from geosleuth.atlas.base.build import CITY, Progress
from geosleuth.atlas.borders import Borders
from geosleuth.atlas.facts import all_countries
from geosleuth.geo import CellGrid
from geosleuth.lab.bench.sets.dataset import Fault, Item
from geosleuth.lab.bench.sets.table_rows import read_rows
from geosleuth.names import country_code, fold
from geosleuth.support.errors import BadInput

Ints = npt.NDArray[np.int64]
CELL_DEG = 1.0

ATLAS_FIGURES = "the atlas: roads by the World Factbook of 2015, people and whole area (waters too) of 2025"
ATLAS_PEOPLE = "the atlas: people of the settlements of 500 and more that GeoNames knows"
_SNAP_KM = 5.0
By = Literal["city", "region", "country", "cell"]
"""The unit of places: a name at some level with those above it, or a cell of the globe."""


@dataclass(frozen=True, slots=True)
class CountryFigures:
    """The figures behind a country's quota; an unknown figure counts as 0 and is reported."""

    road_km: float | None
    population: float | None
    area_km2: float | None


@dataclass(frozen=True, slots=True)
class SamplingWeights:
    """The weights of roads, population and area; GeoSeek's own by default. They need not sum to 1."""

    roads: float = 0.5
    population: float = 0.2
    area: float = 0.3

    def __post_init__(self) -> None:
        values = (self.roads, self.population, self.area)
        if not all(isfinite(value) and value >= 0 for value in values) or sum(values) <= 0:
            raise BadInput(f"weights must be three numbers, none below 0 and not all 0; not {values}")


def country_shares(figures: Mapping[str, CountryFigures], weights: SamplingWeights | None = None) -> dict[str, float]:
    """Return m_i / M for each country. The shares sum to the sum of the weights.

    Raises:
        BadInput: all figures of a kind with weight are 0 or unknown.
    """
    weights = weights or SamplingWeights()
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
    """Return whole numbers that sum to ``total``, each its share rounded up or down; ties go by name."""
    whole = sum(shares.values())
    if whole <= 0:
        return dict.fromkeys(shares, 0)
    exact = {name: total * share / whole for name, share in shares.items()}
    given = {name: floor(value) for name, value in exact.items()}
    left = total - sum(given.values())
    # Rounded, so that remainders that are equal on paper are equal here.
    for name in sorted(exact, key=lambda name: (-round(exact[name] - given[name], 9), name))[:left]:
        given[name] += 1
    return given


@dataclass(frozen=True, slots=True)
class CountryDraw:
    """A country's quota, its supply, and what was drawn.

    ``unpeopled`` counts photos in cells without known population: their probability is 0.
    """

    country: str
    quota: int
    available: int
    unpeopled: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Draw:
    """Numbers of the photos drawn, ascending, and the account by country, largest quota first."""

    chosen: tuple[int, ...]
    countries: tuple[CountryDraw, ...]
    wanted: int

    @property
    def short(self) -> int:
        """Return how many photos are missing from the total."""
        return self.wanted - len(self.chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawRules:
    """Rules for distributing photos over places.

    Attributes:
        weights: of roads, population and area.
        least_people: the minimum population of a cell; 0 is the formula as printed.
        refill: redistribute what countries lack among those with photos left, by the same shares.
    """

    weights: SamplingWeights | None = None
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
        countries: each photo's country code; photos with an empty one are not drawn.
        cells: each photo's cell.
        people: the population of the part of a cell that belongs to a country.
        figures: the basis of quotas; countries without any get no photo.
        total: M.
        seed: changes the draw.
        rules: how photos are distributed.
    """
    if total < 1:
        raise BadInput(f"the number of photos must be at least 1, not {total}")
    shares = country_shares(figures, rules.weights)
    drawers = {
        code: _Country(code, cells, rows, people, rules.least_people, seed)
        for code, rows in _rows_by_country(countries).items()
        if code in figures
    }
    quotas = largest_remainder(shares, total)
    _take(quotas, drawers)
    while rules.refill and (missing := total - sum(len(drawer.drawn) for drawer in drawers.values())) > 0:
        open_ones = {code: shares[code] for code, one in drawers.items() if one.left and shares[code] > 0}
        if not open_ones:
            break
        _take(largest_remainder(open_ones, missing), drawers)
    account = [
        CountryDraw(code, quotas.get(code, 0), *(drawers[code].account() if code in drawers else (0, 0, 0)))
        for code in sorted(quotas.keys() | drawers.keys(), key=lambda code: (-quotas.get(code, 0), code))
    ]
    chosen = sorted(number for drawer in drawers.values() for number in drawer.drawn)
    return Draw(tuple(chosen), tuple(item for item in account if item.quota or item.available), total)


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
    """The photos of one country by cell, in random order, and the probability of each cell."""

    def __init__(
        self,
        code: str,
        cells: Sequence[int],
        rows: Sequence[int],
        people: Mapping[tuple[str, int], float],
        least_people: float,
        seed: int,
    ) -> None:
        # Each country has its own random numbers: other countries do not change its draw.
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


def atlas_figures() -> dict[str, CountryFigures]:
    """Return the figures of every country in the atlas; 27 of 250 have no length of roads."""
    return {
        code: CountryFigures(one.road_km, float(one.population), one.area_km2) for code, one in all_countries().items()
    }


def read_figures(path: Path, known: Mapping[str, CountryFigures]) -> dict[str, CountryFigures]:
    """Read a table (CSV or JSONL) with ``country`` and any of ``road_km``, ``population``, ``area_km2``.

    A column of the table replaces the known figures of all countries: sources are not mixed.

    Raises:
        BadInput: it can't be read, names no country, or a value is not a number.
    """
    rows: dict[str, dict[str, float | None]] = {}
    names = ("road_km", "population", "area_km2")
    columns: tuple[str, ...] = ()
    for number, row in _read_cell_rows(path, ("country",)):
        columns = tuple(name for name in names if name in row)
        code = country_code(row["country"])
        if code is None:
            raise BadInput(f"{path}:{number}: {row['country'][:40]!r} is not a country; give a name or an ISO code")
        if code in rows:
            raise BadInput(f"{path}:{number}: {code} appears twice")
        rows[code] = {
            name: _parse_bounded_number(path, number, name, row[name]) if row[name] else None for name in columns
        }
    if not columns:
        raise BadInput(f"{path}: has none of the columns {', '.join(names)}")
    empty = CountryFigures(None, None, None)
    return {
        code: CountryFigures(
            **{
                name: rows.get(code, {}).get(name) if name in columns else getattr(known.get(code, empty), name)
                for name in names
            }
        )
        for code in sorted({*known, *rows})
    }


def atlas_people(grid: CellGrid, progress: Progress | None = None) -> dict[tuple[str, int], float]:
    """Return the population of the part of each cell that belongs to a country, from known settlements.

    Open country counts as empty. A finer count, such as a raster's points, can be given to `read_people`.
    """
    with closing(open_base(ensure_base(progress))) as conn:
        found = conn.execute("SELECT country, lat_e5, lon_e5, population FROM place WHERE kind = ?", (CITY,)).fetchall()
    countries = [row[0] for row in found]
    lats, lons, people = (np.array([row[column] for row in found], dtype=np.float64) for column in (1, 2, 3))
    return _sum_people(countries, grid.find_cells(lats / 1e5, lons / 1e5), people)


def read_people(path: Path, grid: CellGrid) -> dict[tuple[str, int], float]:
    """Read the population from a table of points (CSV or JSONL): ``lat``, ``lon``, ``population``, by country and cell.

    Raises:
        BadInput: it can't be read, or a value is not a number.
    """
    lats, lons, people = [], [], []
    for number, row in _read_cell_rows(path, ("lat", "lon", "population")):
        lats.append(_parse_bounded_number(path, number, "lat", row["lat"], least=-90, most=90))
        lons.append(_parse_bounded_number(path, number, "lon", row["lon"], least=-180, most=180))
        people.append(_parse_bounded_number(path, number, "population", row["population"]))
    if not lats:
        raise BadInput(f"{path}: no rows found")
    lat, lon = np.array(lats), np.array(lons)
    return _sum_people(find_countries(lat, lon), grid.find_cells(lat, lon), np.array(people))


def find_countries(lats: npt.NDArray[np.float64], lons: npt.NDArray[np.float64]) -> list[str]:
    """Return the country of each point by polygon, or the nearest within 5 km; empty at sea."""
    borders = Borders.load()
    codes: list[str] = borders.countries(lats, lons).tolist()
    for number, code in enumerate(codes):
        if not code and (spot := borders.reverse(float(lats[number]), float(lons[number]), snap_km=_SNAP_KM)):
            codes[number] = spot.region.country
    return codes


def _sum_people(
    countries: list[str], cells: npt.NDArray[np.int64], people: npt.NDArray[np.float64]
) -> dict[tuple[str, int], float]:
    total: dict[tuple[str, int], float] = {}
    for code, cell, count in zip(countries, cells.tolist(), people.tolist(), strict=True):
        if code:
            total[code, cell] = total.get((code, cell), 0.0) + count
    return total


def _read_cell_rows(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    for number, row in read_rows(path):
        if isinstance(row, Fault):
            raise BadInput(f"{row.where}: {row.reason}")
        if missing := [name for name in needed if name not in row]:
            raise BadInput(f"{path}:{number}: has no {missing[0]}; it needs {', '.join(needed)}")
        yield number, {name: "" if cell is None else str(cell).strip() for name, cell in row.items()}


def _parse_bounded_number(
    path: Path, line: int, name: str, text: str, *, least: float = 0.0, most: float = float("inf")
) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not (isfinite(value) and least <= value <= most):
        raise BadInput(f"{path}:{line}: {name} {text[:40]!r} must be a number of at least {least:g}")
    return value


def build_place_key(item: Item, by: By, grid: CellGrid) -> Hashable | None:
    """Return the key of the photo's place; None if the photo has no name at that level.

    Names are compared folded, countries by code: "Côte d'Ivoire" and "Ivory Coast" are one. Cities of one name in one
    country are one place across all regions: sets name regions differently or not at all, and a split must not put
    one city into two parts. Alternative names of regions and cities are not merged.
    """
    truth = item.truth
    if by == "cell":
        return int(grid.find_cells(truth.point.lat, truth.point.lon))
    name = {"country": truth.country, "region": truth.region, "city": truth.city}[by]
    if name is None:
        return None
    return _normalize_country(truth.country) if by == "country" else (_normalize_country(truth.country), fold(name))


def _normalize_country(name: str | None) -> str:
    return (country_code(name) or fold(name)) if name else ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The overlap of two sets. Shares are of 1, and NaN if a set has no place; photos without a place are counted."""

    by: By
    first_places: int
    second_places: int
    common: int
    first_photos: int
    second_photos: int
    second_photos_in_common: int
    first_unnamed: int
    second_unnamed: int

    @property
    def coverage(self) -> float:
        """Return the share of the first set's places that the second has."""
        return self.common / self.first_places if self.first_places else float("nan")

    @property
    def consistency(self) -> float:
        """Return the share of the second set's places that the first has."""
        return self.common / self.second_places if self.second_places else float("nan")


def compute_coverage(first: Iterable[Item], second: Iterable[Item], *, by: By, cell_deg: float = 1.0) -> Coverage:
    """Compare the places of two sets: the first for training, the second for testing.

    Raises:
        ValueError: ``cell_deg`` does not divide 180.
    """
    grid = CellGrid(cell_deg)
    ours, theirs = (Counter(build_place_key(item, by, grid) for item in items) for items in (first, second))
    first_unnamed, second_unnamed = ours.pop(None, 0), theirs.pop(None, 0)
    common = ours.keys() & theirs.keys()
    return Coverage(
        by,
        len(ours),
        len(theirs),
        len(common),
        ours.total() + first_unnamed,
        theirs.total() + second_unnamed,
        sum(theirs[place] for place in common),
        first_unnamed,
        second_unnamed,
    )
