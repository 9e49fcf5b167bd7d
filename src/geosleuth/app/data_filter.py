"""``geosleuth data filter``: which photos teach something, from several tries at each."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer


def filter_(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders of bench runs, files of recorded answers, tables of distances."),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where lists, table and drawing go.")],
    tries: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=2, metavar="K", help="Use exactly K tries a photo; photos with fewer are left out."),
    ] = None,
    parser: Annotated[
        Literal["lenient", "strict"], typer.Option(help="How replies in files of recorded answers are read.")
    ] = "lenient",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there already.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
    ] = False,
) -> None:
    """Find the photos that some tries place within 1, 25, 200 or 750 km and some don't, and the two-phase curriculum.

    A photo that every try or no try gets right teaches nothing. Several runs over the same photos are several tries; so
    are the tries of one run with --parallel. A table of distances is CSV with id, try_1, try_2 … (km; "-" is a try
    without a place).

    Examples:

      geosleuth data filter runs/try-1 runs/try-2 runs/try-3 --out filtered/

      geosleuth data filter distances.csv --tries 8 --out filtered/
    """
    from geosleuth.app import data_filter_work as work

    work.filter_tries(runs, out, tries, parser, overwrite=overwrite, as_json=as_json)


def add_filter(data: typer.Typer) -> None:
    """Add the command to the group."""
    data.command("filter")(filter_)
