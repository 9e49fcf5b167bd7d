"""``geosleuth dataset rate | filter | duplicates | sample | coverage | label | split | tier``: making data sets."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

Set = Annotated[str, typer.Argument(metavar="SET", help="A table, a folder, or NAME:PATH; see geosleuth dataset list.")]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The table to write: .csv or .jsonl.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that are there already.")]
Limit = Annotated[Optional[int], typer.Option(min=1, metavar="N", help="Only the first N photos.")]  # noqa: UP045
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="All chance comes from it.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
Jobs = Annotated[Optional[int], typer.Option(min=1, max=64, metavar="N", help="Photos at the same time.")]  # noqa: UP045
Level = Literal["city", "region", "country", "cell"]
By = Annotated[Level, typer.Option("--by", help="What a place is: a cell of the globe, or a name.")]
Cell = Annotated[float, typer.Option("--cell", metavar="DEGREES", help="How high a cell is; it must divide 180.")]


def rate(
    data: Set,
    *,
    out: Out,
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="SPEC", help="Who looks, such as openai:gpt-5; left out, code does (see below)."),
    ] = None,
    base_url: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="URL", help="Where a server of your own listens."),
    ] = None,
    jobs: Jobs = None,
    limit: Limit = None,
    ask_again: Annotated[
        bool, typer.Option("--ask-again", help="Ask once more where an earlier reply held no rating.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Refuse models that are not on this machine.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Allow photos to be sent to the model.")] = False,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Rate how easily photos can be located (0 to 10, with sub-scores), tag what they show, name famous landmarks.

    One question a photo. What a model said is kept by the photo's content: stop whenever you like, and the same command
    goes on without asking twice. Without a model a heuristic looks at text, sharpness, edges and colours. It can't see
    landmarks without a name, vehicles or people, and its ratings are marked "heuristic".

    Examples:

      geosleuth dataset rate photos.csv --out rated.csv

      geosleuth dataset rate exif:holiday/ --model ollama:qwen3-vl --out rated.jsonl
    """
    from geosleuth.app import dataset_make_work as work
    from geosleuth.pipeline.request import LocateRequest

    request = LocateRequest(model=model, base_url=base_url, offline=offline, yes=yes, tools="none" if model else None)
    work.rate_set(
        data, out, request, jobs=jobs, limit=limit, again=ask_again, overwrite=overwrite, as_json=as_json
    )  # fmt: skip


def filter_rated(
    data: Set,
    *,
    out: Out,
    least: Annotated[
        float, typer.Option(min=0, max=10, metavar="SCORE", help="Leave out photos below this locatability.")
    ] = 4.0,
    column: Annotated[str, typer.Option(metavar="NAME", help="Where the locatability stands.")] = "locatability",
    keep_landmarks: Annotated[
        bool, typer.Option("--keep-landmarks", help="Keep trivially famous landmarks, too.")
    ] = False,
    least_size: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="WxH", help="Leave out smaller photos, such as 1600x1200, either way up."),
    ] = None,
    dropped: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Write what is left out here, with the reason."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Leave out photos that nobody can locate, and famous landmarks that everybody knows. Rate them first.

    Example: geosleuth dataset filter rated.csv --least 4 --least-size 1600x1200 --out kept.csv --dropped dropped.csv
    """
    from geosleuth.app import dataset_make_work as work

    wanted = work.wanted_of(least, column, least_size, landmarks=not keep_landmarks)
    work.filter_set(data, out, wanted, dropped=dropped, overwrite=overwrite, as_json=as_json)


def duplicates(
    data: Set,
    *,
    against: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="SET", help="Look for photos that this set has, too, in place of doubles within."),
    ] = None,
    bits: Annotated[
        int, typer.Option(min=0, max=31, metavar="N", help="How many of 256 bits may differ; more finds more.")
    ] = 24,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", "-o", metavar="FILE", help="Write the pairs here: .csv."),
    ] = None,
    kept: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Write the set without its doubles here: .csv or .jsonl."),
    ] = None,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Find photos that show the same picture: other sizes, qualities, brightness, small marks.

    Turned and mirrored pictures, and those with a percent or more cut off at each side, may go unnoticed. Of doubles
    within a set the first is kept; of two sets, what the other one has leaves the first.

    Examples:

      geosleuth dataset duplicates photos.csv --out pairs.csv --kept single.csv

      geosleuth dataset duplicates train.csv --against im2gps3k:data/im2gps3k --kept clean.csv
    """
    from geosleuth.app import dataset_doubles_work as work

    work.find_duplicates(
        data, against, bits=bits, out=out, kept=kept, jobs=jobs, overwrite=overwrite, as_json=as_json
    )  # fmt: skip


def sample(
    data: Set,
    *,
    count: Annotated[int, typer.Option("--count", "-n", min=1, metavar="M", help="How many photos to draw.")],
    out: Out,
    seed: Seed = 0,
    weights: Annotated[
        str, typer.Option(metavar="R,P,A", help="How much roads, people and area count.")
    ] = "0.5,0.2,0.3",
    figures: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Your figures: country and road_km, population or area_km2."),
    ] = None,
    people: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Your count of people: lat, lon, population; summed up by cell."),
    ] = None,
    least_people: Annotated[float, typer.Option(min=0, metavar="N", help="What a cell counts with at least.")] = 0.0,
    present: Annotated[
        bool, typer.Option("--present", help="Share out among the countries that the set has, not all of the world.")
    ] = False,
    refill: Annotated[
        bool, typer.Option("--refill", help="Where a country has too few, let the others give more.")
    ] = False,
    report: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Write quota, available and drawn of every country here: .csv."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Draw photos by GeoSeek's rule: countries by roads, people and area, then cells of 1 degree by log(1 + people).

    The figures are the atlas's unless you give yours: roads of 2015, settlements of 500 people and more. A cell where
    nobody is known to live has no chance; --least-people gives it one.

    Examples:

      geosleuth dataset sample osv5m:data/osv5m --count 3000 --seed 1 --out drawn.csv --report quotas.csv

      geosleuth dataset sample photos.csv --count 500 --present --refill --out drawn.csv
    """
    from geosleuth.app import dataset_place_work as work

    asked = work.Sampling(count, seed, weights, figures, people, least_people, present=present, refill=refill)
    work.sample_set(data, out, asked, report=report, overwrite=overwrite, as_json=as_json)


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
    from geosleuth.app import dataset_place_work as work

    work.compare_sets(train, test, by=by, cell_deg=cell, as_json=as_json)


def label(
    data: Set,
    *,
    out: Out,
    over: Annotated[bool, typer.Option("--over", help="Replace names that the set has already.")] = False,
    within: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0, metavar="KM", help="Name the nearest settlement as the city up to this distance."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Name country, region and city of every photo by its point, from the offline atlas.

    Names that are there stay. A city is named where the settlement is large enough to reach the point; the nearest one
    is told in any case. The columns label_source and labelled say what came from where.

    Example: geosleuth dataset label photos.csv --out labelled.csv
    """
    from geosleuth.app import dataset_place_work as work

    work.label_set(data, out, over=over, within_km=within, overwrite=overwrite, as_json=as_json)


def split(
    data: Set,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder for train.csv, test.csv ….")],
    parts: Annotated[
        str, typer.Option(metavar="NAME=SHARE,…", help="The parts; what is dropped by --strip leaves the first ones.")
    ] = "train=0.8,val=0.1,test=0.1",
    by: By = "cell",
    cell: Cell = 1.0,
    strip: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(metavar="KM", help="Leave out photos so that parts lie at least so far apart."),
    ] = None,
    seed: Seed = 0,
    ending: Annotated[Literal["csv", "jsonl"], typer.Option("--format", help="What the tables are.")] = "csv",
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Split a set so that no place is in two parts, each country shared out by itself.

    Example: geosleuth dataset split labelled.csv --by city --parts train=0.9,test=0.1 --strip 5 --out splits/
    """
    from geosleuth.app import dataset_place_work as work

    asked = work.Splitting(parts, by, cell, strip, seed, ending)
    work.split_set(data, out, asked, overwrite=overwrite, as_json=as_json)


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
    from geosleuth.app import dataset_make_work as work

    work.tier_set(data, answers, out, within_km=within_km, overwrite=overwrite, as_json=as_json)


def add_makers(dataset: typer.Typer) -> None:
    """Make all of these subcommands."""
    for name, command in (
        ("rate", rate), ("filter", filter_rated), ("duplicates", duplicates), ("sample", sample),
        ("coverage", coverage), ("label", label), ("split", split), ("tier", tier),
    ):  # fmt: skip
        dataset.command(name)(command)
