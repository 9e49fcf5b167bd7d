"""``geosleuth dataset panorama | mosaic | pois | gallery | digests``: pictures put together, sets around places."""

from pathlib import Path
from typing import Annotated, Optional

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
OutFolder = Annotated[
    Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the pictures and their table go.")
]
OutTable = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The table to write: .csv or .jsonl.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that are there already.")]
Set = Annotated[str, typer.Argument(metavar="SET", help="A table, a folder, or NAME:PATH; see geosleuth dataset list.")]


def panorama(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Tiles of one panorama or of many.")],
    *,
    out: OutFolder,
    places: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Where each was taken: a table with id, lat and lon."),
    ] = None,
    pattern: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="WORDS", help="How tiles are named, such as {id}/{z}/{x}/{y}.jpg or {id}_{row}_{col}.png."
        ),
    ] = None,
    grid: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="COLUMNSxROWS", help="Where tiles at the edge are missing: how many there should be."),
    ] = None,
    full: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="WIDTHxHEIGHT", help="Pixels that the tiles hold, where that can't be told."),
    ] = None,
    size: Annotated[str, typer.Option(metavar="WIDTHxHEIGHT", help="Pixels of the result.")] = "4096x2048",
    missing: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="The share of tiles that may be grey.")
    ] = 0.0,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Put panoramas together from tiles: z/x/y folders, x3_y1, row1_col3, or 3_1, at any zoom.

    A tile that is missing is taken from the coarser zoom where the folder has that too. Otherwise the panorama is
    refused, or grey there with --missing. Panoramas that are there already are finished and kept. With --places
    the folder is a data set: its table is panoramas.csv.

    Examples:

      geosleuth dataset panorama tiles/ --places stops.csv --out panoramas/

      geosleuth dataset panorama tiles/ --pattern "{id}_{col}_{row}.jpg" --grid 16x8 --missing 0.05 --out panoramas/
    """
    from geosleuth.app import dataset_pictures_work as work

    work.make_panorama_files(
        folder, out, places, pattern=pattern, grid=grid, full=full, size=size, missing=missing, overwrite=overwrite,
        as_json=as_json,
    )  # fmt: skip


def mosaic(
    scenes: Annotated[
        list[Path], typer.Argument(metavar="SCENE…", help="SAFE folders, folders of files, GeoTIFF or JPEG 2000 files.")
    ],
    *,
    out: OutFolder,
    cities: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="A table of cities with name, lat and lon."),
    ] = None,
    city: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="NAME", help="A city that the atlas knows; may be given several times."),
    ] = None,
    at: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="LAT,LON", help="The middle of one mosaic."),
    ] = None,
    side: Annotated[int, typer.Option(min=16, max=20_000, metavar="PX", help="Pixels a side.")] = 2000,
    metres: Annotated[float, typer.Option(min=1, max=1000, help="Metres a pixel.")] = 10.0,
    brightest: Annotated[
        float, typer.Option(min=0.01, max=2, help="The reflectance that becomes white, of bands.")
    ] = 0.3,
    empty: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="The share that may be black: no scene shows it.")
    ] = 0.05,
    tif: Annotated[
        bool, typer.Option("--tif", help="Write GeoTIFF, which says where it lies, instead of PNG.")
    ] = False,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Put mosaics of cities together from your Sentinel-2 files: true colour, or bands B04, B03 and B02.

    Each is a square in its UTM zone around the city. The least cloudy scene there comes first, by its classification
    (SCL) where there is one, and others fill what it lacks. The folder is a data set: its table is mosaics.csv.

    Examples:

      geosleuth dataset mosaic S2A_MSIL2A_*.SAFE --city Lisbon --out mosaics/

      geosleuth dataset mosaic scenes/ --cities cities.csv --tif --out mosaics/
    """
    from geosleuth.app import dataset_pictures_work as work

    work.make_mosaic_files(
        scenes, out, work.Where(cities, tuple(city or ()), at), side=side, metres=metres, brightest=brightest,
        empty=empty, tif=tif, overwrite=overwrite, as_json=as_json,
    )  # fmt: skip


def pois(
    data: Set,
    *,
    out: OutTable,
    table: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--pois", metavar="FILE", help="Your points of interest; by default those of the atlas's regions."
        ),
    ] = None,
    category: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="WORD", help="Only such points of interest, as geosleuth atlas pois knows them."),
    ] = None,
    within: Annotated[float, typer.Option(min=1, max=10_000, metavar="METRES", help="How far a photo may be.")] = 100.0,
    cities: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, metavar="N", help="So many cities, those with the most."),
    ] = None,
    per_city: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, metavar="N", help="Photos of each; by default as many as the poorest has."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="All chance comes from it.")] = 0,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Make a set of points of interest: so many cities, as many in each, one photo of each.

    Photos and points of interest are paired nearest first, each at most once.

    Examples:

      geosleuth dataset pois photos.csv --cities 20 --per-city 125 --seed 1 --out pois.csv

      geosleuth dataset pois exif:holiday/ --pois sights.csv --within 200 --out sights-set.csv
    """
    from geosleuth.app import dataset_pictures_work as work

    work.make_poi_set(
        data, out, table, category, within_m=within, cities=cities, per_city=per_city, seed=seed, overwrite=overwrite,
        as_json=as_json,
    )  # fmt: skip


def digests(data: Set, *, out: OutTable, overwrite: Overwrite = False, as_json: JsonFlag = False) -> None:
    """List what each photo is known by, for features that you work out elsewhere (see docs/baselines.md).

    The table has id, image, sha256 and pixels, a line a photo. Work out a row of features for each line, save the rows
    as queries.npy beside it, and call the table queries.csv: the baseline nearest: then finds them.

    Example: geosleuth dataset digests photos.csv --out gallery/queries.csv
    """
    from geosleuth.app import dataset_pictures_work as work

    work.write_digests(data, out, overwrite=overwrite, as_json=as_json)


def gallery(
    data: Set,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The gallery.")],
    encoder: Annotated[
        str, typer.Option(metavar="SPEC", help="eyes, an .onnx or .pt file, or a folder with a network in it.")
    ] = "eyes",
    as_json: JsonFlag = False,
) -> None:
    """Make a gallery for the baseline nearest: from photos whose places are known. A run that is cut off goes on.

    Examples:

      geosleuth dataset gallery streets.csv --encoder dinov2/ --out gallery/

      geosleuth bench run --data photos.csv --model nearest:gallery/ --out runs/nearest/
    """
    from geosleuth.app import dataset_pictures_work as work

    work.make_gallery_folder(data, encoder, out, as_json=as_json)


def add_pictures(dataset: typer.Typer) -> None:
    """Make all of these subcommands."""
    for command in (panorama, mosaic, pois, gallery, digests):
        dataset.command()(command)
