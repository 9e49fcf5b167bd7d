"""``geosleuth dataset``: data sets on disk, what is known of them, what is really there, and copies to hand on."""

from pathlib import Path
from typing import Annotated

import typer

dataset = typer.Typer(
    help="Data sets on this disk: what is known of each, what is really there, copies to hand on; and making them.",
    no_args_is_help=True,
)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
Spec = Annotated[
    str,
    typer.Argument(
        metavar="SET",
        help="NAME:PATH (see geosleuth dataset list), or a table, a Parquet file or a folder; ::FOLDER says where its "
        "photos are.",
    ),
]


@dataset.command("list")
def list_sets(*, as_json: JsonFlag = False) -> None:
    """List the data sets that can be opened by name. Nothing is ever fetched: point at what you have downloaded.

    Example: geosleuth dataset list
    """
    from geosleuth.app import dataset_work as work

    work.show_list(as_json=as_json)


@dataset.command()
def card(
    name: Annotated[str, typer.Argument(help="One of geosleuth dataset list.")], *, as_json: JsonFlag = False
) -> None:
    """Show what is known of a set: how many photos, its licence, where it is had, its layout, its known faults.

    Example: geosleuth dataset card im2gps3k
    """
    from geosleuth.app import dataset_work as work

    work.show_card(name, as_json=as_json)


@dataset.command()
def check(spec: Spec, *, as_json: JsonFlag = False) -> None:
    """Go through a set on disk: how many photos and which are missing, bad truths, countries, against its card.

    The exit code is 0 if a run could go through the set, and 1 if rows must be mended first or no photo is there.

    Examples:

      geosleuth dataset check im2gps3k:data/im2gps3k

      geosleuth dataset check photos.csv --json

      geosleuth dataset check table:truths.csv::/data/photos
    """
    from geosleuth.app import dataset_work as work

    if not work.check_set(spec, as_json=as_json):
        raise typer.Exit(1)


@dataset.command()
def stage(
    spec: Spec,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="A new folder, or one left unfinished.")],
    as_json: JsonFlag = False,
) -> None:
    """Copy a set's photos under random names, stripped of their metadata, with the truths in a file apart.

    Photos go to FOLDER/photos, what is what to FOLDER/key.jsonl, which geosleuth reads as a set of its own. Hand on
    the photos alone. Pixels are copied, not compressed again. Run it again to go on where it was cut off.

    Example: geosleuth dataset stage exif:holiday --out blind
    """
    from geosleuth.app import dataset_work as work

    work.stage_set(spec, out, as_json=as_json)
