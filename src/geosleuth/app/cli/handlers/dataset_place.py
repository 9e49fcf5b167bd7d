"""What ``dataset sample``, ``coverage``, ``label`` and ``split`` do once their words are read."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from geosleuth.app.cli.handlers.dataset_make import check_outputs
from geosleuth.app.console import CTRL_C, building, cancelled_by_ctrl_c, offline_atlas, progress, show, show_json, talk
from geosleuth.bench.makers.coverage import By, coverage_of, place_of
from geosleuth.bench.makers.figures import (
    ATLAS_FIGURES,
    ATLAS_PEOPLE,
    atlas_figures,
    atlas_people,
    countries_at,
    read_figures,
    read_people,
)
from geosleuth.bench.makers.labels import FIELDS, LEVELS, Labelled, label
from geosleuth.bench.makers.rating import in_order
from geosleuth.bench.makers.sampling import CELL_DEG, Draw, DrawRules, Weights, draw
from geosleuth.bench.makers.splits import LEFT_OUT, Placed, leave_strips, read_shares, split
from geosleuth.bench.makers.tables import field_names, writing_table, written_rows
from geosleuth.bench.sets import DataSet, Item, open_set
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.geo import CellGrid, FloatArray
from geosleuth.names import country_name
from geosleuth.text.numbers import plural

_SHOWN_COUNTRIES = 20
_LABELS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Sampling:
    """The words of ``dataset sample``."""

    count: int
    seed: int
    weights: str
    figures: Path | None
    people: Path | None
    least_people: float
    present: bool
    refill: bool


@dataclass(frozen=True, slots=True)
class Splitting:
    """The words of ``dataset split``."""

    parts: str
    by: By
    cell_deg: float
    strip_km: float | None
    seed: int
    ending: str


def sample_set(spec: str, out: Path, asked: Sampling, *, report: Path | None, overwrite: bool, as_json: bool) -> None:
    """Draw photos, and say what every country was to give and gave.

    Raises:
        UserError: something must be mended.
    """
    weights = _weights(asked.weights)
    check_outputs([out, report], [spec], overwrite=overwrite)
    if report is not None and report.suffix.lower() != ".csv":
        raise BadInput(f"{report}: the report is written as .csv")
    figures, grid = atlas_figures(), CellGrid(CELL_DEG)
    if asked.figures is not None:
        figures = read_figures(asked.figures, figures)
    data = open_set(spec)
    lats, lons = _points(data)
    countries = countries_at(lats, lons)
    if asked.present:
        figures = {code: one for code, one in figures.items() if code in set(countries)}
    drawn = draw(
        countries,
        grid.cell_of(lats, lons).tolist(),
        _people(asked.people, grid),
        figures,
        total=asked.count,
        seed=asked.seed,
        rules=DrawRules(weights=weights, least_people=asked.least_people, refill=asked.refill),
    )
    chosen = set(drawn.chosen)
    with writing_table(out, field_names(data)) as write:
        for number, item in enumerate(data):
            if number in chosen:
                write(item)
    talk(f"wrote {out}")
    rows = [dict(zip(_ACCOUNT, astuple(one), strict=True)) for one in drawn.countries]
    if report is not None:
        write_text_atomically(report, written_rows(_ACCOUNT, (row.values() for row in rows)))
        talk(f"wrote {report}")
    told = {
        "wanted": drawn.wanted, "drawn": len(drawn.chosen), "at_sea": countries.count(""),
        "countries_without_roads": sum(one.road_km is None for one in figures.values()),
        "figures": str(asked.figures or ATLAS_FIGURES), "people": str(asked.people or ATLAS_PEOPLE),
    }  # fmt: skip
    if as_json:
        show_json({**told, "countries": rows})
    else:
        _show_draw(drawn)
        _tell(told, drawn, refilled=asked.refill)


_ACCOUNT = ("country", "quota", "available", "without_people", "drawn")


def _people(path: Path | None, grid: CellGrid) -> dict[tuple[str, int], float]:
    if path is not None:
        return read_people(path, grid)
    with building() as told:
        return atlas_people(grid, told)


def _tell(told: Mapping[str, Any], drawn: Draw, *, refilled: bool) -> None:
    talk(f"{told['drawn']} of {told['wanted']} drawn; figures from {told['figures']}; people from {told['people']}")
    if count := told["countries_without_roads"]:
        talk(f"{plural(count, 'country has', 'countries have')} no length of roads and count with 0")
    if count := told["at_sea"]:
        talk(f"{plural(count, 'photo lies', 'photos lie')} in no country and were left out")
    if drawn.short:
        why = (
            "the countries with a quota have no more photos, or none where people are known to live; --least-people 1 "
            "gives all a chance"
            if refilled
            else "countries have too few photos; --refill lets the others give more"
        )
        talk(f"{drawn.short} fewer than wanted: {why}")


def _show_draw(drawn: Draw) -> None:
    table = Table("country", "quota", "available", "without people", "drawn", box=SIMPLE_HEAD)
    for one in drawn.countries[:_SHOWN_COUNTRIES]:
        numbers = (one.quota, one.available, one.unpeopled, one.drawn)
        table.add_row(country_name(one.country), *map(str, numbers))
    rest = drawn.countries[_SHOWN_COUNTRIES:]
    if rest:
        sums = (sum(getattr(one, name) for one in rest) for name in ("quota", "available", "unpeopled", "drawn"))
        table.add_row(plural(len(rest), "further country", "further countries"), *map(str, sums))
    show(table)


def _weights(text: str) -> Weights:
    try:
        roads, population, area = (float(word) for word in text.split(","))
    except ValueError:
        raise BadInput(f"--weights takes three numbers such as 0.5,0.2,0.3; not {text[:40]!r}") from None
    return Weights(roads, population, area)


def _points(data: DataSet) -> tuple[FloatArray, FloatArray]:
    found = np.array([(item.truth.point.lat, item.truth.point.lon) for item in data], dtype=np.float64).reshape(-1, 2)
    if not len(found):
        raise BadInput("the set has no photo")
    return found[:, 0], found[:, 1]


def compare_sets(train: str, test: str, *, by: By, cell_deg: float, as_json: bool) -> None:
    """Print coverage and consistency.

    Raises:
        BadInput: a set can't be read, or the cell size is none.
    """
    _grid(cell_deg)
    found = coverage_of(open_set(train), open_set(test), by=by, cell_deg=cell_deg)
    unnamed = found.first_unnamed + found.second_unnamed
    if not found.first_places or not found.second_places:
        raise BadInput(f"a set names no {by}; run geosleuth dataset label first, or use --by cell")
    if as_json:
        show_json(
            {
                "by": by,
                "coverage": found.coverage,
                "consistency": found.consistency,
                "places": {"train": found.first_places, "test": found.second_places, "common": found.common},
                "photos": {
                    "train": found.first_photos,
                    "test": found.second_photos,
                    "test_in_common_places": found.second_photos_in_common,
                },
                "unnamed": {"train": found.first_unnamed, "test": found.second_unnamed},
            }
        )
        return
    words = f"cells of {cell_deg:g}°" if by == "cell" else {"city": "cities", "country": "countries"}.get(by, "regions")
    table = Table(words, "train", "test", "both", box=SIMPLE_HEAD)
    table.add_row("places", str(found.first_places), str(found.second_places), str(found.common))
    table.add_row("photos", str(found.first_photos), str(found.second_photos), str(found.second_photos_in_common))
    show(table)
    talk("photos in both: the test set's, in places that the training set has")
    show(f"coverage {found.coverage:.2%}, consistency {found.consistency:.2%}")
    if unnamed:
        talk(f"{plural(unnamed, 'photo has', 'photos have')} no {by} and count nowhere; dataset label names them")


def _grid(cell_deg: float, *, equal_area: bool = False) -> CellGrid:
    try:
        return CellGrid(cell_deg, equal_area=equal_area)
    except ValueError as error:
        raise BadInput(f"--cell: {error}") from error


def label_set(spec: str, out: Path, *, over: bool, within_km: float | None, overwrite: bool, as_json: bool) -> None:
    """Write the set with names.

    Raises:
        UserError: something must be mended.
        typer.Exit: it was stopped.
    """
    check_outputs([out], [spec], overwrite=overwrite)
    data = open_set(spec)
    filled, photos = Counter[str](), 0
    try:
        photos = asyncio.run(_label(data, out, filled, over=over, within_km=within_km))
    except asyncio.CancelledError:
        talk("stopped; nothing was written")
        raise typer.Exit(CTRL_C) from None
    if as_json:
        show_json({"photos": photos, "named": {level: filled[level] for level in LEVELS}, "out": str(out)})
        return
    table = Table("level", "named now", box=SIMPLE_HEAD)
    for level in LEVELS:
        table.add_row(level, f"{filled[level]} of {photos}")
    show(table)
    talk(f"wrote {out}")


async def _label(data: DataSet, out: Path, filled: Counter[str], *, over: bool, within_km: float | None) -> int:
    atlas, photos = offline_atlas(needed=True), sum(1 for _ in data)

    async def work(item: Item) -> Labelled:
        return await label(item, atlas, over=over, within_km=within_km)

    with (
        progress("labelling", photos) as bar,
        writing_table(out, (*field_names(data), *FIELDS)) as write,
        cancelled_by_ctrl_c(),
    ):
        async with aclosing(in_order(data, work, at_once=_LABELS_AT_ONCE)) as all_done:
            async for done in all_done:
                filled.update(done.fields["labelled"].split())
                write(done.item, done.fields)
                bar.advance()
    return photos


def split_set(spec: str, out: Path, asked: Splitting, *, overwrite: bool, as_json: bool) -> None:
    """Write a table for each part.

    Raises:
        UserError: something must be mended.
    """
    shares = read_shares(asked.parts)
    if not out.is_dir():
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{out}: can't be made: {error.strerror or error}") from error
    files = {part: out / f"{part}.{asked.ending}" for part in shares}
    check_outputs(list(files.values()), [spec], overwrite=overwrite)
    data = open_set(spec)
    lats, lons = _points(data)
    parts = _parts(data, lats, lons, asked, list(shares), shares)
    fields = field_names(data)
    with ExitStack() as held:
        writers = {part: held.enter_context(writing_table(path, fields)) for part, path in files.items()}
        for part, item in zip(parts, data, strict=True):
            if part != LEFT_OUT:
                writers[part](item)
    counts = Counter(parts)
    if as_json:
        document = {"parts": {part: counts[part] for part in shares}, "left_out": counts[LEFT_OUT]}
        show_json({**document, "out": [str(path) for path in files.values()]})
        return
    table = Table("part", "photos", "share", "wanted", box=SIMPLE_HEAD)
    for part, share in shares.items():
        table.add_row(part, str(counts[part]), f"{counts[part] / len(parts):.1%}", f"{share:.1%}")
    if asked.strip_km is not None:
        table.add_row("left out between", str(counts[LEFT_OUT]), f"{counts[LEFT_OUT] / len(parts):.1%}", "")
    show(table)
    for path in files.values():
        talk(f"wrote {path}")


def _parts(
    data: DataSet,
    lats: FloatArray,
    lons: FloatArray,
    asked: Splitting,
    order: Sequence[str],
    shares: dict[str, float],
) -> list[str]:
    grid = _grid(asked.cell_deg, equal_area=True)
    places = [place_of(item, asked.by, grid) for item in data]
    if unnamed := places.count(None):
        told = plural(unnamed, "photo has", "photos have")
        raise BadInput(f"{told} no {asked.by}; run geosleuth dataset label first, or use --by cell")
    placed = [Placed(code, place) for code, place in zip(countries_at(lats, lons), places, strict=True)]
    parts = split(placed, shares, seed=asked.seed)
    if asked.strip_km is None:
        return parts
    return leave_strips(parts, lats.tolist(), lons.tolist(), order, gap_km=asked.strip_km)
