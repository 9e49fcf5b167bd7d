"""``geosleuth clues``: weigh what you see on a street, learn what to look for, find where the camera stood."""

from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import Commands, JsonFlag, WritingOptions, declare_required, option

clues = Commands()


@clues.command()
def weigh(
    sightings: Annotated[
        list[str],
        typer.Argument(help='What you see, in words or as ATTRIBUTE=VALUE; "@0.6" at the end says how sure you are.'),
    ],
    *,
    within: Annotated[
        list[str] | None,
        typer.Option(help="A country it must be in, by name or ISO code. Can be repeated; of one, regions are shown."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Turn what a street shows into odds over countries. Offline, without a model.

    Examples:

      geosleuth clues weigh "yellow centre line, left-hand traffic, red soil"

      geosleuth clues weigh driving_side=left "black and white kerb @0.6" --json

      geosleuth clues weigh "red soil, eucalyptus, dirt road" --within Australia
    """
    from geosleuth.cli.handlers import clues as work

    work.weigh(sightings, within=within or (), as_json=as_json)


@clues.command("tell-apart")
def tell_apart(
    candidates: Annotated[list[str], typer.Argument(help="Countries by name or ISO code, or regions such as US-TX.")],
    *,
    as_json: JsonFlag = False,
) -> None:
    """List what to look for to tell countries apart, the most telling first.

    Example: geosleuth clues tell-apart Norway Sweden Finland
    """
    from geosleuth.cli.handlers import clues as work

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
    from geosleuth.cli.handlers import clues as work

    work.guide(about, as_json=as_json)


class ResectionOptions(WritingOptions):
    """The options of ``resection``."""

    feature: list[str] = declare_required(
        "Where in the picture a feature's middle is (0 left edge, 1 right edge, or 1240px), and the feature: "
        "its name, LAT,LON or an id of the atlas. Repeat it.",
        metavar="COLUMN@PLACE",
    )
    photo: Path | None = option(
        None, "The photo: its width for pixels, its focal length for the field of view.", metavar="FILE"
    )
    fov: float | None = option(None, "The picture's width in degrees; without it, solved for.", metavar="DEG")
    noise: float = option(1.0, "How far off a column may be, as standard deviation.", metavar="DEG", min=0.01, max=30)
    within: str | None = option(
        None,
        "The camera stood there: a country, a region, S,W,N,E or LAT,LON,KM in degrees, or a GeoJSON file. "
        "Names are looked up there first.",
        metavar="AREA",
    )
    check: str | None = option(None, "Say how well the columns fit this place.", metavar="LAT,LON")
    out: Path | None = option(None, "Draw the area on a map: a PNG file.", "--out", "-o", metavar="FILE")


@clues.command()
def resection(options: ResectionOptions) -> None:
    """Find where the camera stood, and its heading, from features of the map that you mark in the photo.

    Three features give a point where the field of view is known, four where it is not; one fewer gives a curve. Five
    or more show which of them does not fit. Hold for photos that are level and not cropped.

    Examples:

      geosleuth clues resection --photo photo.jpg --feature 0.12@Sainte-Dévote --feature 0.5@43.7313,7.4197
      --feature 2950px@"Fort Antoine" --out where.png

      geosleuth clues resection --fov 65 --feature 0.2@43.7311,7.4197 --feature 0.8@43.7374,7.4208

      geosleuth clues resection --fov 65 --feature 0.2@43.7311,7.4197 --feature 0.8@43.7374,7.4208
      --check 43.735,7.43
    """
    from geosleuth.cli.handlers import resection as work

    work.show_resection(options)
