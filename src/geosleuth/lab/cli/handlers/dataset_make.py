"""Handlers of the ``dataset`` commands that make data sets."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from geosleuth.atlas import OfflineAtlas, regions_dir
from geosleuth.atlas.regions import Regions
from geosleuth.cli.preparation import building, offline_atlas, run_until_stopped
from geosleuth.geo import CellGrid, FloatArray
from geosleuth.lab.baselines.gallery import is_code
from geosleuth.lab.bench.makers.duplicates import HEADER, Digest, digests
from geosleuth.lab.bench.makers.finished import FinishedSet
from geosleuth.lab.bench.makers.galleries import make_gallery
from geosleuth.lab.bench.makers.mosaics import find_scenes, make_mosaics
from geosleuth.lab.bench.makers.panoramas import find_tiles, make_panoramas
from geosleuth.lab.bench.makers.photo_tables import (
    TablePlace,
    build_point_place,
    field_names,
    format_rows,
    read_places,
    writing_table,
)
from geosleuth.lab.bench.makers.place_labels import (
    EXCLUDED_PART,
    FIELDS,
    LEVELS,
    Labelled,
    LabelledPlace,
    label,
    leave_strips,
    read_shares,
    split,
)
from geosleuth.lab.bench.makers.pois import AtlasPois, PoiSource, TablePois, choose_pois, write_pois
from geosleuth.lab.bench.makers.ratings import in_order
from geosleuth.lab.bench.makers.sampling import (
    ATLAS_FIGURES,
    ATLAS_PEOPLE,
    CELL_DEG,
    By,
    Draw,
    DrawRules,
    SamplingWeights,
    atlas_figures,
    atlas_people,
    build_place_key,
    compute_coverage,
    draw,
    find_countries,
    read_figures,
    read_people,
)
from geosleuth.lab.bench.memory import open_memory
from geosleuth.lab.bench.sets import DataSet, Item, open_set
from geosleuth.lab.bench.sets.dataset import with_part
from geosleuth.names import country_name
from geosleuth.pipeline.area import parse_point
from geosleuth.support.console import (
    EXIT_SOME_FAILED,
    cancel_on_ctrl_c,
    facts_view,
    progress,
    show,
    show_json,
    show_result,
    table_view,
    talk,
)
from geosleuth.support.errors import BadInput
from geosleuth.support.files import make_folder, write_text_atomically
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import printable

from .dataset import check_outputs, parse_size

if TYPE_CHECKING:
    from rich.console import RenderableType

    from geosleuth.lab.cli.dataset import MosaicOptions, PanoramaOptions, PoisOptions, SampleOptions, SplitOptions

_SHOWN_COUNTRIES = 20
_LABELS_AT_ONCE = 8

_ACCOUNT = ("country", "quota", "available", "without_people", "drawn")


def sample_set(options: "SampleOptions") -> None:
    """Draw photos, and print each country's quota and draw."""
    out, report, weights = options.out, options.report, _weights(options.weights)
    check_outputs([out, report], [options.data], overwrite=options.overwrite)
    if report is not None and report.suffix.lower() != ".csv":
        raise BadInput(f"{report}: the report is written as .csv")
    figures, grid = atlas_figures(), CellGrid(CELL_DEG)
    if options.figures is not None:
        figures = read_figures(options.figures, figures)
    data = with_part(open_set(options.data))
    lats, lons = _points(data)
    countries = find_countries(lats, lons)
    if options.present:
        figures = {code: one for code, one in figures.items() if code in set(countries)}
    drawn = draw(
        countries,
        grid.find_cells(lats, lons).tolist(),
        _people(options.people, grid),
        figures,
        total=options.count,
        seed=options.seed,
        rules=DrawRules(weights=weights, least_people=options.least_people, refill=options.refill),
    )
    chosen = set(drawn.chosen)
    with writing_table(out, field_names(data)) as write:
        for number, item in enumerate(data):
            if number in chosen:
                write(item)
    talk(f"wrote {out}")
    rows = [dict(zip(_ACCOUNT, astuple(country), strict=True)) for country in drawn.countries]
    if report is not None:
        write_text_atomically(report, format_rows(_ACCOUNT, (row.values() for row in rows)))
        talk(f"wrote {report}")
    summary = {
        "wanted": drawn.wanted, "drawn": len(drawn.chosen), "at_sea": countries.count(""),
        "countries_without_roads": sum(figure.road_km is None for figure in figures.values()),
        "figures": str(options.figures or ATLAS_FIGURES), "people": str(options.people or ATLAS_PEOPLE),
    }  # fmt: skip
    show_result({**summary, "countries": rows}, _draw_view(drawn), as_json=options.as_json)
    if not options.as_json:
        _report(summary, drawn, refilled=options.refill)


def _people(path: Path | None, grid: CellGrid) -> dict[tuple[str, int], float]:
    if path is not None:
        return read_people(path, grid)
    with building() as report:
        return atlas_people(grid, report)


def _report(summary: Mapping[str, Any], drawn: Draw, *, refilled: bool) -> None:
    sources = f"figures from {summary['figures']}; people from {summary['people']}"
    talk(f"{summary['drawn']} of {summary['wanted']} drawn; {sources}")
    if count := summary["countries_without_roads"]:
        talk(f"{plural(count, 'country has', 'countries have')} no length of roads and count with 0")
    if count := summary["at_sea"]:
        talk(f"{plural(count, 'photo lies', 'photos lie')} in no country and were left out")
    if drawn.short:
        why = (
            "the countries with a quota have no more photos, or none where people are known to live; --least-people 1 "
            "gives all a chance"
            if refilled
            else "countries have too few photos; --refill lets the others give more"
        )
        talk(f"{drawn.short} fewer than wanted: {why}")


def _draw_view(drawn: Draw) -> "RenderableType":
    names = ("quota", "available", "unpeopled", "drawn")
    rows = [
        (country_name(country.country), *(str(getattr(country, name)) for name in names))
        for country in drawn.countries[:_SHOWN_COUNTRIES]
    ]
    rest = drawn.countries[_SHOWN_COUNTRIES:]
    if rest:
        sums = (str(sum(getattr(item, name) for item in rest)) for name in names)
        rows.append((plural(len(rest), "further country", "further countries"), *sums))
    return table_view(("country", "quota", "available", "without people", "drawn"), rows)


def _weights(text: str) -> SamplingWeights:
    try:
        roads, population, area = (float(word) for word in text.split(","))
    except ValueError:
        raise BadInput(f"--weights takes three numbers such as 0.5,0.2,0.3; not {text[:40]!r}") from None
    return SamplingWeights(roads, population, area)


def _points(data: DataSet) -> tuple[FloatArray, FloatArray]:
    found = np.array([(item.truth.point.lat, item.truth.point.lon) for item in data], dtype=np.float64).reshape(-1, 2)
    if not len(found):
        raise BadInput("the set has no photos")
    return found[:, 0], found[:, 1]


def compare_sets(train: str, test: str, *, by: By, cell_deg: float, as_json: bool) -> None:
    """Print coverage and consistency."""
    _grid(cell_deg)
    found = compute_coverage(open_set(train), open_set(test), by=by, cell_deg=cell_deg)
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
    rows = [
        ("places", str(found.first_places), str(found.second_places), str(found.common)),
        ("photos", str(found.first_photos), str(found.second_photos), str(found.second_photos_in_common)),
    ]
    show(table_view((words, "train", "test", "both"), rows))
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
    """Write the set with place names."""
    check_outputs([out], [spec], overwrite=overwrite)
    data = with_part(open_set(spec))
    filled = Counter[str]()
    photos = run_until_stopped(_label(data, out, filled, over=over, within_km=within_km), "nothing was written")
    view = table_view(("level", "named now"), [(level, f"{filled[level]} of {photos}") for level in LEVELS])
    document = {"photos": photos, "named": {level: filled[level] for level in LEVELS}, "out": str(out)}
    show_result(document, view, as_json=as_json)
    talk(f"wrote {out}")


async def _label(data: DataSet, out: Path, filled: Counter[str], *, over: bool, within_km: float | None) -> int:
    atlas, photos = offline_atlas(needed=True), sum(1 for _ in data)

    async def work(item: Item) -> Labelled:
        return await label(item, atlas, over=over, within_km=within_km)

    with (
        progress("labelling", photos) as bar,
        writing_table(out, (*field_names(data), *FIELDS)) as write,
        cancel_on_ctrl_c(),
    ):
        async with aclosing(in_order(data, work, at_once=_LABELS_AT_ONCE)) as all_done:
            async for done in all_done:
                filled.update(done.fields["labelled"].split())
                write(done.item, done.fields)
                bar.advance()
    return photos


def split_set(options: "SplitOptions") -> None:
    """Write a table for each part."""
    shares = read_shares(options.parts)
    make_folder(options.out)
    files = {part: options.out / f"{part}.{options.ending}" for part in shares}
    check_outputs(list(files.values()), [options.data], overwrite=options.overwrite)
    data = open_set(options.data)
    parts = _assign_parts(data, options, shares)
    # Training refuses photos that say themselves that they are for testing.
    fields = field_names(data, "split")
    with ExitStack() as held:
        writers = {part: held.enter_context(writing_table(path, fields)) for part, path in files.items()}
        for part, item in zip(parts, data, strict=True):
            if part != EXCLUDED_PART:
                writers[part](item, {"split": part})
    counts = Counter(parts)
    if empty := [part for part in shares if not counts[part]]:
        few = plural(len(parts), "photo", "photos")
        talk(f"{' and '.join(empty)} got no photo: {few} in too few places for these parts; see --parts, --by, --strip")
    document = {"parts": {part: counts[part] for part in shares}, "left_out": counts[EXCLUDED_PART]}
    wanted = {part: f"{share:.1%}" for part, share in shares.items()}
    if options.strip is not None:
        wanted[EXCLUDED_PART] = ""
    rows = [
        (
            "left out between" if part == EXCLUDED_PART else part,
            str(counts[part]),
            f"{counts[part] / len(parts):.1%}",
            share,
        )
        for part, share in wanted.items()
    ]
    document["out"] = [str(path) for path in files.values()]
    show_result(document, table_view(("part", "photos", "share", "wanted"), rows), as_json=options.as_json)
    for path in files.values():
        talk(f"wrote {path}")


def _assign_parts(data: DataSet, options: "SplitOptions", shares: dict[str, float]) -> list[str]:
    lats, lons = _points(data)
    grid = _grid(options.cell, equal_area=True)
    places = [build_place_key(item, options.by, grid) for item in data]
    if unnamed := places.count(None):
        photos = plural(unnamed, "photo has", "photos have")
        raise BadInput(f"{photos} no {options.by}; run geosleuth dataset label first, or use --by cell")
    placed = [LabelledPlace(code, place) for code, place in zip(find_countries(lats, lons), places, strict=True)]
    parts = split(placed, shares, seed=options.seed)
    if options.strip is None:
        return parts
    return leave_strips(parts, lats.tolist(), lons.tolist(), list(shares), gap_km=options.strip)


def make_panorama_files(options: "PanoramaOptions") -> None:
    """Stitch panoramas."""
    wanted, grid = parse_size(options.size, "--size"), options.grid
    sets = find_tiles(options.folder, options.pattern, None if grid is None else parse_size(grid, "--grid"))
    known = None if options.places is None else read_places(options.places)
    with progress("panoramas") as bar:
        made = make_panoramas(
            sets, options.out, places=known, size=wanted, most_missing=options.missing, overwrite=options.overwrite,
            progress=bar.update,
        )  # fmt: skip
    if known is not None and made.unplaced:
        named = ", ".join(printable(name) for name in made.unplaced[:5])
        talk(f"{plural(len(made.unplaced), 'panorama stands', 'panoramas stand')} in no table of places: {named}")
    _show_made(made, "none: give --places to make a data set", as_json=options.as_json)


def make_mosaic_files(options: "MosaicOptions") -> None:
    """Build mosaics."""
    cities = _cities(options)
    scenes = find_scenes(options.scenes)
    talk(f"{plural(len(scenes), 'scene', 'scenes')} for {plural(len(cities), 'city', 'cities')}")
    with progress("mosaics") as bar:
        made = make_mosaics(
            cities, scenes, options.out, side_px=options.side, metres=options.metres, most_empty=options.empty,
            overwrite=options.overwrite, progress=bar.update,
        )  # fmt: skip
    _show_made(made, "none", as_json=options.as_json)


def _show_made(made: FinishedSet, no_table: str, *, as_json: bool) -> None:
    for name, reason in made.refused.items():
        talk(f"not made: {name}: {reason}")
    table = None if made.table is None else str(made.table)
    counts = {"made": made.made, "were there": made.kept, "refused": made.refused}
    facts = {**{name: str(len(found)) for name, found in counts.items()}, "table": table or no_table}
    show_result({**asdict(made), "table": table}, facts_view(facts), as_json=as_json)
    if made.refused:
        raise typer.Exit(EXIT_SOME_FAILED)


def make_poi_set(options: "PoisOptions") -> None:
    """Choose photos of points of interest and write them as a table."""
    check_outputs(
        [options.out], [options.data, *([str(options.table)] if options.table else [])], overwrite=options.overwrite
    )
    data = with_part(open_set(options.data))
    source: PoiSource
    if options.table is not None:
        if options.category is not None:
            raise BadInput("--category is for the atlas's own points of interest; leave it out with --pois")
        source = TablePois(read_places(options.table).values())
    else:
        regions = Regions(regions_dir())
        if not regions.store.names():
            raise BadInput("no region has been added to the atlas; run geosleuth atlas get PLACE, or give --pois")
        source = AtlasPois(regions, options.category)
    with progress("photos") as bar:
        found = choose_pois(
            data, source, within_m=options.within, cities=options.cities, per_city=options.per_city, seed=options.seed,
            progress=lambda done: bar.update(done, None),
        )  # fmt: skip
        write_pois(options.out, found)
    summary = {"photos": len(found.photos), "out": str(options.out)}
    shown = [f"{count} of {found.at_hand[city]} in {printable(city)}" for city, count in found.per_city.items()]
    facts = {"photos": str(len(found.photos)), "cities": shown, "table": str(options.out)}
    document = {**summary, "per_city": found.per_city, "at_hand": found.at_hand}
    show_result(document, facts_view(facts), as_json=options.as_json)


def make_gallery_folder(spec: str, encoder: str, out: Path, *, trust_code: bool, as_json: bool) -> None:
    """Write the features of photos for the nearest-photo baseline."""
    with progress("photos") as bar, open_memory() as memory:
        data = open_set(spec)
        made = make_gallery(data, encoder, out, memory, lambda done: bar.update(done, None), trust_code=trust_code)
    for reason in made.left_out:
        talk(f"left out: {reason}")
    if as_json:
        show_json({**asdict(made), "out": str(out)})
    else:
        # A gallery alone must not run code: its user names the code, too.
        named = f",encoder={encoder},trust_code=yes" if is_code(encoder) else ""
        talk(f"{plural(made.photos, 'photo', 'photos')} in {out}; use it with --model nearest:{out}{named}")
    if made.left_out:
        raise typer.Exit(EXIT_SOME_FAILED)


def write_digests(spec: str, out: Path, *, overwrite: bool, as_json: bool) -> None:
    """Write a table of the photos' digests."""
    if out.suffix.lower() != ".csv":
        raise BadInput(f"{out}: this table is CSV; let its name end in .csv")
    check_outputs([out], [spec], overwrite=overwrite)
    rows: list[Digest] = []
    failed = 0
    with progress("photos") as bar:
        for number, item in enumerate(digests(open_set(spec)), 1):
            bar.update(number, None)
            if isinstance(item, Digest):
                rows.append(item)
            else:
                failed += 1
                bar.say(f"left out: {item}")
    write_text_atomically(out, format_rows(HEADER, map(astuple, rows)))
    if as_json:
        show_json({"photos": len(rows), "failed": failed, "out": str(out)})
    else:
        talk(f"wrote {plural(len(rows), 'line', 'lines')} to {out}")
    if failed:
        raise typer.Exit(EXIT_SOME_FAILED)


def _cities(options: "MosaicOptions") -> list[TablePlace]:
    found = [] if options.cities is None else list(read_places(options.cities).values())
    if options.at is not None:
        found.append(build_point_place(options.at.replace(" ", ""), parse_point(options.at)))
    if options.city:
        found += asyncio.run(_geocode_names(offline_atlas(), options.city))
    if not found:
        raise BadInput("no city is given; name one with --city, --at LAT,LON, or a table with --cities")
    return found


async def _geocode_names(atlas: OfflineAtlas, names: Sequence[str]) -> list[TablePlace]:
    found = []
    for name in names:
        hits = await atlas.geocode(name, limit=1)
        if not hits:
            raise BadInput(f"{name[:60]!r} is unknown to the atlas; give its centre with --at LAT,LON")
        place = hits[0].place
        found.append(
            build_point_place(name, place.point, place.name, country_name(place.country) if place.country else None)
        )
    return found
