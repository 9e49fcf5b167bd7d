"""``geosleuth data info | check | card | export``: stores of trajectories."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

Folder = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of a store of trajectories.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]


def info(store: Folder, *, as_json: JsonFlag = False) -> None:
    """Say in a few lines what a store holds: how many, of what, made how, and what was rejected.

    Example: geosleuth data info trajectories/
    """
    from geosleuth.app import data_store_work as work

    work.show_info(store, as_json=as_json)


def check(store: Folder, *, as_json: JsonFlag = False) -> None:
    """Go through a whole store: checksums, rows, pictures. Exit code 1 where something is wrong.

    Example: geosleuth data check trajectories/
    """
    from geosleuth.app import data_store_work as work

    if not work.check(store, as_json=as_json):
        raise typer.Exit(1)


def card(
    store: Folder,
    *,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", "-o", metavar="FILE", help="Write it there, and not on stdout."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there already.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Print the data card of a store, counted anew: sources, licence, splits, rejections, tools, lengths, faults.

    Examples:

      geosleuth data card trajectories/

      geosleuth data card trajectories/ --out README.md
    """
    from geosleuth.app import data_store_work as work

    work.show_card(store, out, overwrite=overwrite, as_json=as_json)


def export(
    store: Folder,
    *,
    to: Annotated[Literal["trl", "ms-swift", "llama-factory"], typer.Option(help="Who is to read it.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write to.")],
    split: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="NAME", help="Only this split; by default each in a file of its own."),
    ] = None,
    absolute: Annotated[
        bool, typer.Option("--absolute", help="Name pictures by whole paths, for trainers started elsewhere.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there already.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Write a store as the rows that a trainer reads, with the pictures beside them.

    Every row gives back its trajectory (geosleuth trajectory import). Pictures are second names of the store's own
    files where the disk allows it.

    Examples:

      geosleuth data export trajectories/ --to trl --out sft/

      geosleuth data export trajectories/ --to llama-factory --split train --out LLaMA-Factory/data/geo
    """
    from geosleuth.app import data_store_work as work

    work.export(store, to, out, split, absolute=absolute, overwrite=overwrite, as_json=as_json)


def add_store(data: typer.Typer) -> None:
    """Add the commands to the group."""
    for command in (info, check, card, export):
        data.command()(command)
