"""``geosleuth clues``: weigh what you see on a street, and learn what to look for."""

from typing import Annotated

import typer

clues = typer.Typer(no_args_is_help=True)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]


@clues.command()
def weigh(
    sightings: Annotated[
        list[str],
        typer.Argument(help='What you see, in words or as ATTRIBUTE=VALUE; "@0.6" at the end says how sure you are.'),
    ],
    *,
    as_json: JsonFlag = False,
) -> None:
    """Turn what a street shows into odds over countries. Offline, without a model.

    Examples:

      geosleuth clues weigh "yellow centre line, left-hand traffic, red soil"

      geosleuth clues weigh driving_side=left "black and white kerb @0.6" --json
    """
    from geosleuth.app.cli.handlers import clues as work

    work.weigh(sightings, as_json=as_json)


@clues.command("tell-apart")
def tell_apart(
    candidates: Annotated[list[str], typer.Argument(help="Countries by name or ISO code, or regions such as US-TX.")],
    *,
    as_json: JsonFlag = False,
) -> None:
    """List what to look for to tell countries apart, the most telling first.

    Example: geosleuth clues tell-apart Norway Sweden Finland
    """
    from geosleuth.app.cli.handlers import clues as work

    work.tell_apart(candidates, as_json=as_json)


@clues.command()
def guide(
    about: Annotated[
        str, typer.Argument(help="A country or region, or an attribute; without it, all attributes.")
    ] = "",
    *,
    as_json: JsonFlag = False,
) -> None:
    """Read the field guide: a country's streets, or where each form of an attribute is found.

    Examples:

      geosleuth clues guide

      geosleuth clues guide Norway

      geosleuth clues guide bollard
    """
    from geosleuth.app.cli.handlers import clues as work

    work.guide(about, as_json=as_json)
