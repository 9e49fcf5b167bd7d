"""What quotas and cells are made of: roads, people, area. From the atlas, or from tables of the user's own."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from math import isfinite
from pathlib import Path

import numpy as np
import numpy.typing as npt

from geosleuth.atlas.base import ensure_base, open_base
from geosleuth.atlas.base.build import CITY, Progress
from geosleuth.atlas.borders import Borders
from geosleuth.atlas.facts import all_countries
from geosleuth.bench.sets.faults import Fault
from geosleuth.bench.sets.tables import read_rows
from geosleuth.errors import BadInput
from geosleuth.geo import CellGrid
from geosleuth.names import country_code

from .sampling import CountryFigures

ATLAS_FIGURES = "the atlas: roads by the World Factbook of 2015, people and whole area (waters too) of 2025"
ATLAS_PEOPLE = "the atlas: people of the settlements of 500 and more that GeoNames knows"
_SNAP_KM = 5.0


def atlas_figures() -> dict[str, CountryFigures]:
    """The figures of every country that the atlas knows; 27 of 250 have no length of roads."""
    return {
        code: CountryFigures(one.road_km, float(one.population), one.area_km2) for code, one in all_countries().items()
    }


def read_figures(path: Path, known: Mapping[str, CountryFigures]) -> dict[str, CountryFigures]:
    """Figures of a table (CSV or JSONL) with ``country`` and any of ``road_km``, ``population``, ``area_km2``.

    A column that the table has replaces what was known for all countries: figures of two sources don't mix.

    Raises:
        BadInput: it can't be read, names no country, or holds something that is no number.
    """
    rows: dict[str, dict[str, float | None]] = {}
    names = ("road_km", "population", "area_km2")
    columns: tuple[str, ...] = ()
    for number, row in _rows(path, ("country",)):
        columns = tuple(name for name in names if name in row)
        code = country_code(row["country"])
        if code is None:
            raise BadInput(f"{path}:{number}: {row['country'][:40]!r} is no country; give a name or an ISO code")
        if code in rows:
            raise BadInput(f"{path}:{number}: {code} is there twice")
        rows[code] = {name: _number(path, number, name, row[name]) if row[name] else None for name in columns}
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
    """How many people live in the part of each cell that belongs to a country, by the settlements that are known.

    Open country counts with nobody. A finer count, such as a raster's points, can be given by `read_people`.
    """
    with closing(open_base(ensure_base(progress))) as conn:
        found = conn.execute("SELECT country, lat_e5, lon_e5, population FROM place WHERE kind = ?", (CITY,)).fetchall()
    countries = [row[0] for row in found]
    lats, lons, people = (np.array([row[column] for row in found], dtype=np.float64) for column in (1, 2, 3))
    return _summed(countries, grid.cell_of(lats / 1e5, lons / 1e5), people)


def read_people(path: Path, grid: CellGrid) -> dict[tuple[str, int], float]:
    """The same from a table of points (CSV or JSONL): ``lat``, ``lon``, ``population``, summed up by country and cell.

    Raises:
        BadInput: it can't be read, or holds something that is no number.
    """
    lats, lons, people = [], [], []
    for number, row in _rows(path, ("lat", "lon", "population")):
        lats.append(_number(path, number, "lat", row["lat"], least=-90, most=90))
        lons.append(_number(path, number, "lon", row["lon"], least=-180, most=180))
        people.append(_number(path, number, "population", row["population"]))
    if not lats:
        raise BadInput(f"{path}: has no row")
    lat, lon = np.array(lats), np.array(lons)
    return _summed(countries_at(lat, lon), grid.cell_of(lat, lon), np.array(people))


def countries_at(lats: npt.NDArray[np.float64], lons: npt.NDArray[np.float64]) -> list[str]:
    """The country of each point by polygon, or the nearest within 5 km; empty at sea."""
    borders = Borders.load()
    codes: list[str] = borders.countries(lats, lons).tolist()
    for number, code in enumerate(codes):
        if not code and (spot := borders.reverse(float(lats[number]), float(lons[number]), snap_km=_SNAP_KM)):
            codes[number] = spot.region.country
    return codes


def _summed(
    countries: list[str], cells: npt.NDArray[np.int64], people: npt.NDArray[np.float64]
) -> dict[tuple[str, int], float]:
    total: dict[tuple[str, int], float] = {}
    for code, cell, count in zip(countries, cells.tolist(), people.tolist(), strict=True):
        if code:
            total[code, cell] = total.get((code, cell), 0.0) + count
    return total


def _rows(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    for number, row in read_rows(path):
        if isinstance(row, Fault):
            raise BadInput(f"{row.where}: {row.reason}")
        if missing := [name for name in needed if name not in row]:
            raise BadInput(f"{path}:{number}: has no {missing[0]}; it needs {', '.join(needed)}")
        yield number, {name: "" if cell is None else str(cell).strip() for name, cell in row.items()}


def _number(path: Path, line: int, name: str, text: str, *, least: float = 0.0, most: float = float("inf")) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not (isfinite(value) and least <= value <= most):
        raise BadInput(f"{path}:{line}: {name} {text[:40]!r} is not a number from {least:g} up")
    return value
