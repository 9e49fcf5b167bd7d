"""What ``dataset panorama``, ``mosaic``, ``pois``, ``gallery`` and ``digests`` do once their words are read."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from geosleuth.app.cli.handlers.atlas import facts_view
from geosleuth.app.cli.handlers.dataset_make import check_outputs
from geosleuth.app.console import SOME_FAILED, offline_atlas, progress, show, show_json, talk
from geosleuth.atlas import OfflineAtlas, regions_dir
from geosleuth.atlas.regions import Regions
from geosleuth.bench.makers.digests import HEADER, Digest, digests
from geosleuth.bench.makers.galleries import make_gallery
from geosleuth.bench.makers.mosaics import Mosaics, MosaicSettings, make_mosaics
from geosleuth.bench.makers.panoramas import Panoramas, make_panoramas
from geosleuth.bench.makers.places import TablePlace, place_at, read_places
from geosleuth.bench.makers.pois import AtlasPois, PoiSource, TablePois, choose_pois, write_pois
from geosleuth.bench.makers.scenes import find_scenes
from geosleuth.bench.makers.tables import written_rows
from geosleuth.bench.makers.tiles import find_tiles
from geosleuth.bench.sets import open_set
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.names import country_name
from geosleuth.pipeline.area import parse_point
from geosleuth.policies.baselines.encoders import is_code
from geosleuth.text import printable
from geosleuth.text.numbers import plural

if TYPE_CHECKING:
    from geosleuth.app.cli.dataset import MosaicOptions, PanoramaOptions, PoisOptions

_LARGEST_SIDE = 65_000
_PAIR = re.compile(r"\s*(\d{1,6})\s*[xX\u00d7]\s*(\d{1,6})\s*")


@dataclass(frozen=True, slots=True)
class Where:
    """Which cities: a table, names that the atlas knows, or a point."""

    table: Path | None
    names: tuple[str, ...]
    at: str | None


def make_panorama_files(options: "PanoramaOptions") -> None:
    """Put panoramas together.

    Raises:
        BadInput: something must be mended.
        typer.Exit: some could not be made.
    """
    wanted = _pair(options.size, "--size")
    sets = find_tiles(options.folder, options.pattern, None if options.grid is None else _pair(options.grid, "--grid"))
    known = None if options.places is None else read_places(options.places)
    with progress("panoramas") as bar:
        made = make_panoramas(
            sets,
            options.out,
            places=known,
            size=wanted,
            full=None if options.full is None else _pair(options.full, "--full"),
            most_missing=options.missing,
            overwrite=options.overwrite,
            progress=bar.at,
        )
    for one in made.refused:
        talk(f"not made: {one.reason}")
    if made.unplaced:
        named = ", ".join(printable(name) for name in made.unplaced[:5])
        talk(f"{plural(len(made.unplaced), 'panorama stands', 'panoramas stand')} in no table of places: {named}")
    if options.as_json:
        document = {**asdict(made), "table": None if made.table is None else str(made.table)}
        show_json(document)
    else:
        _show_made(made, "none: give --places to make a data set")
    if made.refused:
        raise typer.Exit(SOME_FAILED)


def make_mosaic_files(options: "MosaicOptions") -> None:
    """Put mosaics together.

    Raises:
        UserError: something must be mended.
        typer.Exit: some could not be made.
    """
    cities = _cities(Where(options.cities, tuple(options.city or ()), options.at))
    scenes = find_scenes(options.scenes)
    talk(f"{plural(len(scenes), 'scene', 'scenes')} for {plural(len(cities), 'city', 'cities')}")
    with progress("mosaics") as bar:
        made = make_mosaics(
            cities,
            scenes,
            options.out,
            settings=MosaicSettings(
                side_px=options.side,
                metres=options.metres,
                brightest=options.brightest,
                most_empty=options.empty,
                georeferenced=options.tif,
            ),
            overwrite=options.overwrite,
            progress=bar.at,
        )
    for name, reason in made.refused.items():
        talk(f"not made: {name}: {reason}")
    if options.as_json:
        show_json({**asdict(made), "table": None if made.table is None else str(made.table)})
    else:
        _show_made(made, "none")
    if made.refused:
        raise typer.Exit(SOME_FAILED)


def _show_made(made: Panoramas | Mosaics, no_table: str) -> None:
    counts = {"made": made.made, "were there": made.kept, "refused": made.refused}
    facts = {name: str(len(found)) for name, found in counts.items()}
    show(facts_view({**facts, "table": no_table if made.table is None else str(made.table)}))


def make_poi_set(options: "PoisOptions") -> None:
    """Choose photos of points of interest and write them as a table.

    Raises:
        BadInput: something must be mended.
    """
    check_outputs(
        [options.out], [options.data, *([str(options.table)] if options.table else [])], overwrite=options.overwrite
    )
    data = open_set(options.data)
    source: PoiSource
    if options.table is not None:
        if options.category is not None:
            raise BadInput("--category is for the atlas's own points of interest; leave it out with --pois")
        source = TablePois(read_places(options.table).values())
    else:
        regions = Regions(regions_dir())
        if not regions.store.names():
            raise BadInput(
                "no region has been added to the atlas; run geosleuth atlas add FILE.osm.pbf, or give --pois"
            )
        source = AtlasPois(regions, options.category)
    with progress("photos") as bar:
        found = choose_pois(
            data, source, within_m=options.within, cities=options.cities, per_city=options.per_city, seed=options.seed,
            progress=lambda done: bar.at(done, None),
        )  # fmt: skip
        write_pois(options.out, found)
    told = {"photos": len(found.photos), "per_city": found.per_city, "at_hand": found.at_hand, "out": str(options.out)}
    if options.as_json:
        show_json(told)
    else:
        shown = [f"{count} of {found.at_hand[city]} in {printable(city)}" for city, count in found.per_city.items()]
        show(facts_view({"photos": str(len(found.photos)), "cities": shown, "table": str(options.out)}))


def make_gallery_folder(spec: str, encoder: str, out: Path, *, trust_code: bool, as_json: bool) -> None:
    """Look at photos and keep what was seen, for the baseline that answers with the nearest.

    Raises:
        UserError: something must be mended.
        typer.Exit: some photos can't be opened.
    """
    with progress("photos") as bar:
        made = make_gallery(open_set(spec), encoder, out, lambda done: bar.at(done, None), trust_code=trust_code)
    for reason in made.left_out:
        talk(f"left out: {reason}")
    if as_json:
        show_json({**asdict(made), "out": str(out)})
    else:
        # A gallery alone does not get code to run: whoever uses it names the code, too.
        named = f",encoder={encoder},trust_code=yes" if is_code(encoder) else ""
        talk(f"{plural(made.photos, 'photo', 'photos')} in {out}; use it with --model nearest:{out}{named}")
    if made.left_out:
        raise typer.Exit(SOME_FAILED)


def write_digests(spec: str, out: Path, *, overwrite: bool, as_json: bool) -> None:
    """Write down what each photo is known by.

    Raises:
        BadInput: something must be mended.
        typer.Exit: some photos can't be opened.
    """
    if out.suffix.lower() != ".csv":
        raise BadInput(f"{out}: this table is CSV; let its name end in .csv")
    check_outputs([out], [spec], overwrite=overwrite)
    rows: list[Digest] = []
    failed = 0
    with progress("photos") as bar:
        for number, one in enumerate(digests(open_set(spec)), 1):
            bar.at(number, None)
            if isinstance(one, Digest):
                rows.append(one)
            else:
                failed += 1
                bar.say(f"left out: {one}")
    write_text_atomically(out, written_rows(HEADER, map(astuple, rows)))
    if as_json:
        show_json({"photos": len(rows), "failed": failed, "out": str(out)})
    else:
        talk(f"wrote {plural(len(rows), 'line', 'lines')} to {out}")
    if failed:
        raise typer.Exit(SOME_FAILED)


def _cities(where: Where) -> list[TablePlace]:
    found = [] if where.table is None else list(read_places(where.table).values())
    if where.at is not None:
        found.append(place_at(where.at.replace(" ", ""), parse_point(where.at)))
    if where.names:
        atlas = offline_atlas(needed=True)
        found += asyncio.run(_geocoded(atlas, where.names))
    if not found:
        raise BadInput("no city is given; name one with --city, --at LAT,LON, or a table with --cities")
    return found


async def _geocoded(atlas: OfflineAtlas, names: Sequence[str]) -> list[TablePlace]:
    found = []
    for name in names:
        hits = await atlas.geocode(name, limit=1)
        if not hits:
            raise BadInput(f"{name[:60]!r} is no city that the atlas knows; give its middle with --at LAT,LON")
        place = hits[0].place
        found.append(place_at(name, place.point, place.name, country_name(place.country) if place.country else None))
    return found


def _pair(text: str, option: str) -> tuple[int, int]:
    match = _PAIR.fullmatch(text)
    if match is None or not all(1 <= int(part) <= _LARGEST_SIDE for part in match.groups()):
        raise BadInput(f"{option} is {text[:40]!r}; write two numbers such as 4096x2048")
    return int(match[1]), int(match[2])
