"""``geosleuth bench report``: what the folders of runs tell, on one page."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from geosleuth.app.bench_options import Distance, JsonFlag, Thresholds


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs, as bench run --out made them.")],
    *,
    out: Annotated[list[Path], typer.Option("--out", "-o", help="Also write a page or a document: .html, .json.")] = [],  # noqa: B006
    data: Annotated[
        Optional[str],  # noqa: UP045  -- the option's type is read at run time
        typer.Option(metavar="SET", help="The runs' data set, as for bench run: puts its photos into the gallery."),
    ] = None,
    gallery: Annotated[
        int, typer.Option(min=0, max=100, metavar="N", help="Wins and failures to show, so many each for every run.")
    ] = 12,
    by: Annotated[list[str], typer.Option(help="Slice by a field: continent, country, or any of the data set's.")] = [],  # noqa: B006
    within: Thresholds = None,
    distance: Distance = "geodesic",
    right_within: Annotated[
        float, typer.Option(metavar="KM", help="What counts as right: a win, and worth its cost.")
    ] = 25.0,
    published: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="DATASET",
            show_default="the runs' own, where papers have rows on it",
            help="Print the papers' rows on this data set beside ours; 'none' leaves them out.",
        ),
    ] = None,
    maps: Annotated[bool, typer.Option("--maps/--no-maps", help="Draw a map for every photo of the gallery.")] = True,
    as_json: JsonFlag = False,
) -> None:
    """Report on runs: accuracy, what a photo costs, which tools were called, what failed, wins and failures.

    Accuracy counts answered photos. Photos that failed or are missing are shown apart, and once counted as misses. A
    run with --mask is set against one that saw everything, with the same settings where there is one.

    Examples:

      geosleuth bench report runs/one --out report.html

      geosleuth bench report runs/one runs/two --data im2gps3k:data/im2gps3k --by continent --out report.html

      geosleuth bench report runs/plain runs/no-text --json > report.json
    """
    from geosleuth.app import bench_report_work as work

    work.report_runs(
        work.ReportRequest(
            runs=tuple(runs),
            out=tuple(out),
            data=data,
            gallery=gallery,
            by=tuple(by),
            within=within,
            distance=distance,
            right_within=right_within,
            published=published,
            maps=maps,
        ),
        as_json=as_json,
    )
