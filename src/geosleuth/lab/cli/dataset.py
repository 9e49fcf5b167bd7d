"""``geosleuth dataset``: data sets on disk, what is known of them, and what is really there."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from geosleuth.cli.options import (
    Commands,
    JsonFlag,
    Overwrite,
    WritingOptions,
    argument,
    declare_required,
    flag,
    option,
)

dataset = Commands()

Spec = Annotated[
    str,
    typer.Argument(
        metavar="SET",
        help="NAME:PATH (see geosleuth dataset list), or a table, a Parquet file or a folder; ::FOLDER says where its "
        "photos are.",
    ),
]

Set = Annotated[str, typer.Argument(metavar="SET", help="A table, a folder, or NAME:PATH; see geosleuth dataset list.")]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The table to write: .csv or .jsonl.")]

Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The random seed.")]
Jobs = Annotated[int | None, typer.Option(min=1, max=64, metavar="N", help="Photos at the same time.")]
Level = Literal["city", "region", "country", "cell"]
By = Annotated[Level, typer.Option("--by", help="What a place is: a cell of the globe, or a name.")]
Cell = Annotated[float, typer.Option("--cell", metavar="DEGREES", help="How high a cell is; it must divide 180.")]
OutFolder = Annotated[
    Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the pictures and their table go.")
]
OutTable = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The table to write: .csv or .jsonl.")]


@dataset.command("list")
def list_sets(*, as_json: JsonFlag = False) -> None:
    """List the data sets that can be opened by name. Nothing is ever fetched: point at what you have downloaded.

    Example: geosleuth dataset list
    """
    from geosleuth.lab.cli.handlers import dataset as work

    work.show_list(as_json=as_json)


@dataset.command()
def card(
    name: Annotated[str, typer.Argument(help="One of geosleuth dataset list.")], *, as_json: JsonFlag = False
) -> None:
    """Show what is known of a set: how many photos, its licence, where it is had, its layout, its known faults.

    Example: geosleuth dataset card im2gps3k
    """
    from geosleuth.lab.cli.handlers import dataset as work

    work.show_card(name, as_json=as_json)


@dataset.command()
def check(spec: Spec, *, as_json: JsonFlag = False) -> None:
    """Go through a set on disk: how many photos and which are missing, bad truths, countries, against its card.

    The exit code is 0 if a run could go through the set, and 1 if rows must be fixed first or no photo is there.

    Examples:

      geosleuth dataset check im2gps3k:data/im2gps3k

      geosleuth dataset check photos.csv --json

      geosleuth dataset check table:truths.csv::/data/photos
    """
    from geosleuth.lab.cli.handlers import dataset as work

    if not work.check_set(spec, as_json=as_json):
        raise typer.Exit(1)


class RateOptions(WritingOptions):
    """The options of ``rate``."""

    data: Set
    out: Out
    model: str = declare_required("Who looks, such as openai:gpt-5 or ollama:qwen3-vl.", metavar="SPEC")
    base_url: str | None = option(None, "Where a server of your own listens.", metavar="URL")
    jobs: Jobs = None
    limit: int | None = option(None, "Only N photos, drawn at random and always the same.", min=1, metavar="N")
    ask_again: bool = flag("Ask once more where an earlier reply held no rating.")
    offline: bool = flag("Refuse models that are not on this machine.")
    yes: bool = flag("Allow photos to be sent to the model.")


@dataset.command()
def rate(options: RateOptions) -> None:
    """Rate how easily photos can be located (0 to 10, with sub-scores), tag what they show, name famous landmarks.

    One question a photo. What a model said is kept by the photo's content: stop whenever you like, and the same command
    resumes without asking twice.

    Example: geosleuth dataset rate exif:holiday/ --model ollama:qwen3-vl --out rated.jsonl
    """
    from geosleuth.lab.cli.handlers import dataset as work

    work.rate_set(options)


class FilterRatedOptions(WritingOptions):
    """The options of ``filter-rated``."""

    data: Set
    out: Out
    least: float = option(4.0, "Leave out photos below this locatability.", min=0, max=10, metavar="SCORE")
    column: str = option("locatability", "Where the locatability stands.", metavar="NAME")
    keep_landmarks: bool = flag("Keep trivially famous landmarks, too.")
    least_size: str | None = option(None, "Leave out smaller photos, such as 1600x1200, either way up.", metavar="WxH")
    dropped: Path | None = option(None, "Write what is left out here, with the reason.", metavar="FILE")


@dataset.command("filter")
def filter_rated(options: FilterRatedOptions) -> None:
    """Leave out photos that can't be located, and famous landmarks. Rate them first.

    Example: geosleuth dataset filter rated.csv --least 4 --least-size 1600x1200 --out kept.csv --dropped dropped.csv
    """
    from geosleuth.lab.cli.handlers import dataset as work

    work.filter_set(options)


class DuplicatesOptions(WritingOptions):
    """The options of ``duplicates``."""

    data: Set
    against: str | None = option(
        None, "Look for photos that this set has, too, in place of doubles within.", metavar="SET"
    )
    bits: int = option(24, "How many of 256 bits may differ; more finds more.", min=0, max=31, metavar="N")
    out: Path | None = option(None, "Write the pairs here: .csv.", "--out", "-o", metavar="FILE")
    kept: Path | None = option(None, "Write the set without its doubles here: .csv or .jsonl.", metavar="FILE")
    jobs: Jobs = None


@dataset.command()
def duplicates(options: DuplicatesOptions) -> None:
    """Find photos that show the same picture: other sizes, qualities, brightness, small marks.

    Turned and mirrored pictures, and those with a percent or more cut off at each side, may go unnoticed. Of doubles
    within a set the first is kept; of two sets, what the other one has leaves the first.

    Examples:

      geosleuth dataset duplicates photos.csv --out pairs.csv --kept single.csv

      geosleuth dataset duplicates train.csv --against im2gps3k:data/im2gps3k --kept clean.csv
    """
    from geosleuth.lab.cli.handlers import dataset as work

    work.find_duplicates(options)


class SampleOptions(WritingOptions):
    """The options of ``sample``."""

    data: Set
    count: int = declare_required("How many photos to draw.", "--count", "-n", min=1, metavar="M")
    out: Out
    seed: Seed = 0
    weights: str = option("0.5,0.2,0.3", "How much roads, people and area count.", metavar="R,P,A")
    figures: Path | None = option(None, "Your figures: country and road_km, population or area_km2.", metavar="FILE")
    people: Path | None = option(None, "Your count of people: lat, lon, population; summed up by cell.", metavar="FILE")
    least_people: float = option(0.0, "What a cell counts with at least.", min=0, metavar="N")
    present: bool = flag("Share out among the countries that the set has, not all of the world.")
    refill: bool = flag("Where a country has too few, let the others give more.")
    report: Path | None = option(None, "Write quota, available and drawn of every country here: .csv.", metavar="FILE")


@dataset.command()
def sample(options: SampleOptions) -> None:
    """Draw photos by GeoSeek's rule: countries by roads, people and area, then cells of 1 degree by log(1 + people).

    The figures are the atlas's unless you give yours: roads of 2015, settlements of 500 people and more. A cell where
    no people are known to live is never drawn; --least-people gives it a chance.

    Examples:

      geosleuth dataset sample osv5m:data/osv5m --count 3000 --seed 1 --out drawn.csv --report quotas.csv

      geosleuth dataset sample photos.csv --count 500 --present --refill --out drawn.csv
    """
    from geosleuth.lab.cli.handlers import dataset_make as work

    work.sample_set(options)


@dataset.command()
def coverage(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="The set that is learned from.")],
    test: Annotated[str, typer.Argument(metavar="TEST", help="The set that is tested on.")],
    *,
    by: By = "cell",
    cell: Cell = 1.0,
    as_json: JsonFlag = False,
) -> None:
    """Say how much two sets have in common: coverage and consistency of their places.

    Coverage is the share of TRAIN's places that TEST has, consistency the share of TEST's places that TRAIN has.

    Example: geosleuth dataset coverage train.csv test.csv --by city
    """
    from geosleuth.lab.cli.handlers import dataset_make as work

    work.compare_sets(train, test, by=by, cell_deg=cell, as_json=as_json)


@dataset.command()
def label(
    data: Set,
    *,
    out: Out,
    over: Annotated[bool, typer.Option("--over", help="Replace names that the set has already.")] = False,
    within: Annotated[
        float | None,
        typer.Option(min=0, metavar="KM", help="Name the nearest settlement as the city up to this distance."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Name country, region and city of every photo by its point, from the offline atlas.

    Names that are there stay. A city is named where the settlement is large enough to reach the point; the nearest one
    is printed in any case. The columns label_source and labelled say what came from where.

    Example: geosleuth dataset label photos.csv --out labelled.csv
    """
    from geosleuth.lab.cli.handlers import dataset_make as work

    work.label_set(data, out, over=over, within_km=within, overwrite=overwrite, as_json=as_json)


class SplitOptions(WritingOptions):
    """The options of ``split``."""

    data: Set
    out: Path = declare_required("The folder for train.csv, test.csv ….", "--out", "-o", metavar="DIR")
    parts: str = option(
        "train=0.8,val=0.1,test=0.1",
        "The parts; what is dropped by --strip leaves the first ones.",
        metavar="NAME=SHARE,…",
    )
    by: By = "cell"
    cell: Cell = 1.0
    strip: float | None = option(None, "Leave out photos so that parts lie at least so far apart.", metavar="KM")
    seed: Seed = 0
    ending: Literal["csv", "jsonl"] = option("csv", "What the tables are.", "--format")


@dataset.command()
def split(options: SplitOptions) -> None:
    """Split a set so that no place is in two parts, each country shared out by itself.

    Example: geosleuth dataset split labelled.csv --by city --parts train=0.9,test=0.1 --strip 5 --out splits/
    """
    from geosleuth.lab.cli.handlers import dataset_make as work

    work.split_set(options)


@dataset.command()
def tier(
    data: Set,
    *,
    answers: Annotated[
        list[Path],
        typer.Option("--answers", metavar="FILE", help="Recorded answers or a run's folder; give two or more."),
    ],
    out: Out,
    within_km: Annotated[float, typer.Option(metavar="KM", help="How near an answer must be.")] = 10.0,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Write the tier of every photo into the set: easy if at least two of three answers are within 10 km, else hard.

    Example: geosleuth dataset tier photos.csv --answers a.jsonl --answers b.jsonl --answers c.jsonl --out tiered.csv
    """
    from geosleuth.lab.cli.handlers import dataset as work

    work.tier_set(data, answers, out, within_km=within_km, overwrite=overwrite, as_json=as_json)


class PanoramaOptions(WritingOptions):
    """The options of ``panorama``."""

    folder: Path = argument("Tiles of one panorama or of many.", metavar="FOLDER")
    out: OutFolder
    places: Path | None = option(None, "Where each was taken: a table with id, lat and lon.", metavar="FILE")
    pattern: str | None = option(
        None, "How tiles are named, such as {id}/{z}/{x}/{y}.jpg or {id}_{row}_{col}.png.", metavar="WORDS"
    )
    grid: str | None = option(
        None, "Where tiles at the edge are missing: how many there should be.", metavar="COLUMNSxROWS"
    )
    size: str = option("4096x2048", "Pixels of the result.", metavar="WIDTHxHEIGHT")
    missing: float = option(0.0, "The share of tiles that may be grey.", min=0, max=1, metavar="SHARE")


@dataset.command()
def panorama(options: PanoramaOptions) -> None:
    """Put panoramas together from tiles named z/x/y, x3_y1 or 3_1 (column, row), or as --pattern says.

    Where a tile is missing the panorama is refused, or grey there with --missing. Panoramas that are there already are
    finished and kept. With --places the folder is a data set: its table is panoramas.csv.

    Examples:

      geosleuth dataset panorama tiles/ --places stops.csv --out panoramas/

      geosleuth dataset panorama tiles/ --pattern "{id}_{col}_{row}.jpg" --grid 16x8 --missing 0.05 --out panoramas/
    """
    from geosleuth.lab.cli.handlers import dataset_make as work

    work.make_panorama_files(options)


class MosaicOptions(WritingOptions):
    """The options of ``mosaic``."""

    scenes: list[Path] = argument("SAFE folders, folders of files, GeoTIFF or JPEG 2000 files.", metavar="SCENE…")
    out: OutFolder
    cities: Path | None = option(None, "A table of cities with name, lat and lon.", metavar="FILE")
    city: list[str] | None = option(None, "A city that the atlas knows; may be given several times.", metavar="NAME")
    at: str | None = option(None, "The middle of one mosaic.", metavar="LAT,LON")
    side: int = option(2000, "Pixels a side.", min=16, max=20_000, metavar="PX")
    metres: float = option(10.0, "Metres a pixel.", min=1, max=1000)
    empty: float = option(0.05, "The share that may be black: no scene shows it.", min=0, max=1, metavar="SHARE")


@dataset.command()
def mosaic(options: MosaicOptions) -> None:
    """Put mosaics of cities together from your Sentinel-2 files in true colour (TCI).

    Each is a square in its UTM zone around the city. The least cloudy scene there comes first, by its classification
    (SCL) where there is one, and others fill what it lacks. The folder is a data set: its table is mosaics.csv.

    Examples:

      geosleuth dataset mosaic S2A_MSIL2A_*.SAFE --city Lisbon --out mosaics/

      geosleuth dataset mosaic scenes/ --cities cities.csv --out mosaics/
    """
    from geosleuth.lab.cli.handlers import dataset_make as work

    work.make_mosaic_files(options)


class PoisOptions(WritingOptions):
    """The options of ``pois``."""

    data: Set
    out: OutTable
    table: Path | None = option(
        None, "Your points of interest; by default those of the atlas's regions.", "--pois", metavar="FILE"
    )
    category: str | None = option(
        None, "Only such points of interest, as geosleuth atlas pois knows them.", metavar="WORD"
    )
    within: float = option(100.0, "How far a photo may be.", min=1, max=10_000, metavar="METRES")
    cities: int | None = option(None, "So many cities, those with the most.", min=1, metavar="N")
    per_city: int | None = option(None, "Photos of each; by default as many as the poorest has.", min=1, metavar="N")
    seed: int = option(0, "The random seed.", min=0, metavar="N")


@dataset.command()
def pois(options: PoisOptions) -> None:
    """Make a set of points of interest: so many cities, as many in each, one photo of each.

    Photos and points of interest are paired nearest first, each at most once.

    Examples:

      geosleuth dataset pois photos.csv --cities 20 --per-city 125 --seed 1 --out pois.csv

      geosleuth dataset pois exif:holiday/ --pois sights.csv --within 200 --out sights-set.csv
    """
    from geosleuth.lab.cli.handlers import dataset_make as work

    work.make_poi_set(options)


@dataset.command()
def digests(data: Set, *, out: OutTable, overwrite: Overwrite = False, as_json: JsonFlag = False) -> None:
    """List what each photo is known by, for features that you work out elsewhere (see docs/tutorials/benchmark.md).

    The table has id, image, sha256 and pixels, a line a photo. Work out a row of features for each line, save the rows
    as queries.npy beside it, and call the table queries.csv: the baseline nearest: then finds them.

    Example: geosleuth dataset digests photos.csv --out gallery/queries.csv
    """
    from geosleuth.lab.cli.handlers import dataset_make as work

    work.write_digests(data, out, overwrite=overwrite, as_json=as_json)


@dataset.command()
def gallery(
    data: Set,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The gallery.")],
    encoder: Annotated[
        str, typer.Option(metavar="SPEC", help="bundled, an .onnx or .pt file, or a folder with a network in it.")
    ] = "bundled",
    trust_code: Annotated[
        bool, typer.Option("--trust-code", help="Load a .pt file, which runs its author's code.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Make a gallery for the baseline nearest: from photos whose places are known. An interrupted run resumes.

    Examples:

      geosleuth dataset gallery streets.csv --encoder dinov2/ --out gallery/

      geosleuth bench run --data photos.csv --model nearest:gallery/ --out runs/nearest/
    """
    from geosleuth.lab.cli.handlers import dataset_make as work

    work.make_gallery_folder(data, encoder, out, trust_code=trust_code, as_json=as_json)
