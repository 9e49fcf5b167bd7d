"""``geosleuth bench``: score answers, compare them, tier images, print what the papers published."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from geosleuth.app.bench_ablate import ablate
from geosleuth.app.bench_judge import judge
from geosleuth.app.bench_options import Distance, Files, JsonFlag, Parser, Thresholds
from geosleuth.app.bench_report import report
from geosleuth.app.bench_run import run

bench = typer.Typer(
    help="Make answers and measure them: run, report, score, compare, and the papers' own rows.",
    no_args_is_help=True,
)
bench.command()(run)
bench.command()(ablate)
bench.command()(report)
bench.command()(judge)


@bench.command()
def score(
    files: Files,
    *,
    parser: Parser = "lenient",
    distance: Distance = "geodesic",
    by: Annotated[list[str], typer.Option(help="Slice by a field: continent, country, or any of the records'.")] = [],  # noqa: B006
    within: Thresholds = None,
    published: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="DATASET", help="Print the papers' rows on this data set beside ours."),
    ] = None,
    geocode: Annotated[
        bool,
        typer.Option("--geocode", help="Also score text answers without a point, placed by the atlas: marked, apart."),
    ] = False,
    sure_within: Annotated[
        float, typer.Option(metavar="KM", help="What counts as right when the least sure answers are left out.")
    ] = 25.0,
    out: Annotated[
        list[Path], typer.Option("--out", "-o", help="Also write a page, a document or a table: .html, .json, .csv.")
    ] = [],  # noqa: B006
    records: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE.csv", help="Also write every record's error."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Score recorded answers: accuracy within distances, median error, GeoScore, names, slices.

    Every accuracy counts all records: one without readable coordinates is unlocated, and a miss.

    Examples:

      geosleuth bench score answers.jsonl --out report.html

      geosleuth bench score a.jsonl b.jsonl --by continent --published GeoBench

      geosleuth bench score answers.csv --parser strict --distance great-circle --json
    """
    from geosleuth.app import bench_work as work
    from geosleuth.app.console import show, show_json, talk

    work.check_outputs(out, work.SCORE_ENDINGS, records, files)
    sure_within_km = work.positive_km(sure_within, "--sure-within")
    thresholds = work.thresholds_km(within)
    rows = work.published(published)
    scored = work.score_all(files, parser, distance)
    if geocode:
        scored = work.add_geocoded(scored)
    reports = work.report_all(scored, by, thresholds, sure_within_km)
    for path in out:
        work.write_score(path, reports, rows)
        talk(f"wrote {path}")
    if records is not None:
        work.write_records(records, scored)
        talk(f"wrote {records}")
    if as_json:
        show_json(work.score_document(reports, rows))
    else:
        show(work.score_view(reports, rows))


@bench.command()
def compare(
    first: Annotated[Path, typer.Argument(help="Records of the first answerer.")],
    second: Annotated[Path, typer.Argument(help="Records of the second, on the same images.")],
    *,
    parser: Parser = "lenient",
    distance: Distance = "geodesic",
    within: Thresholds = None,
    moved: Annotated[int, typer.Option(min=0, help="How many of the images that moved most to list.")] = 10,
    out: Annotated[list[Path], typer.Option("--out", "-o", help="Also write a page or a document: .html, .json.")] = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Compare two answerers image by image, with significance tests and the images that moved.

    Example: geosleuth bench compare before.jsonl after.jsonl --moved 20 --out changes.html
    """
    from geosleuth.app import bench_work as work
    from geosleuth.app.console import show, show_json, talk

    work.check_outputs(out, work.PAIR_ENDINGS, None, [first, second])
    thresholds = work.thresholds_km(within)
    one, two = work.score_all([first, second], parser, distance)
    pair = work.compare_files(one, two, thresholds)
    for path in out:
        work.write_pair(path, [one, two], pair, moved)
        talk(f"wrote {path}")
    if as_json:
        show_json(work.pair_document(pair, moved))
    else:
        show(work.pair_view(pair, moved))


@bench.command()
def tier(
    files: Annotated[list[Path], typer.Argument(metavar="A B C", help="Records of the judges, on the same images.")],
    *,
    parser: Parser = "lenient",
    distance: Distance = "geodesic",
    within_km: Annotated[float, typer.Option(help="How near an answer must be.")] = 10.0,
    as_json: JsonFlag = False,
) -> None:
    """Split images into easy (at least two of three answers within 10 km) and hard.

    With --json, the tier of every image is printed.

    Example: geosleuth bench tier a.jsonl b.jsonl c.jsonl --parser strict --json > tiers.json
    """
    from geosleuth.app import bench_work as work
    from geosleuth.app.console import show, show_json

    nearby_km = work.positive_km(within_km, "--within-km")
    tiers = work.tier_files(work.score_all(files, parser, distance), nearby_km)
    if as_json:
        show_json(work.tier_document(tiers))
    else:
        show(work.tier_view(tiers))


@bench.command()
def published(
    *,
    dataset: Annotated[Optional[str], typer.Option(help="Only rows on this data set.")] = None,  # noqa: UP045
    paper: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Only this paper: smilegeo, geoagent, spotagent, geovista or twm."),
    ] = None,
    table: Annotated[Optional[int], typer.Option(help="Only this table of the paper.")] = None,  # noqa: UP045
    as_json: JsonFlag = False,
) -> None:
    """Print the papers' own rows, each with its source, number of images and known inconsistencies.

    Example: geosleuth bench published --paper twm --table 4
    """
    from geosleuth.app import bench_work as work
    from geosleuth.app.console import show, show_json
    from geosleuth.errors import BadInput
    from geosleuth.score import published_rows

    rows = published_rows(dataset=dataset, paper=paper, table=table)
    if not rows:
        raise BadInput("no published row fits; leave out --dataset, --paper or --table to see more")
    if as_json:
        show_json(work.published_document(rows))
    else:
        show(work.published_view(rows))
