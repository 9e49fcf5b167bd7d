"""``geosleuth photo``: what a photo's metadata claims, what is written in it, which of your own look like it."""

from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import Commands, EncoderSpec, JsonFlag, PhotoFile

photo = Commands()


@photo.command()
def claims(file: PhotoFile, *, as_json: JsonFlag = False) -> None:
    """Show what the metadata claims: place, time, camera. Claims can be forged; they are never evidence.

    Example: geosleuth photo claims photo.jpg
    """
    from geosleuth.cli.handlers import photo as work

    work.show_claims(file, as_json=as_json)


@photo.command()
def text(
    file: PhotoFile,
    *,
    script: Annotated[
        str | None, typer.Option(metavar="NAME", help="Read every line in this script, such as hangul or thai.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Read the text in a photo, in any of 22 scripts, offline.

    Examples:

      geosleuth photo text sign.jpg

      geosleuth photo text sign.jpg --script hangul
    """
    from geosleuth.cli.handlers import photo as work

    work.show_text(file, script, as_json=as_json)


@photo.command()
def undo(
    folder: Annotated[Path, typer.Argument(help="Where the photos are; folders in it count too.")],
    *,
    reviewed: Annotated[
        bool, typer.Option("--reviewed", help="Also remove what a person confirmed or corrected in a review.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Remove the estimates that geosleuth wrote beside photos: sidecars, and copies with a place.

    Photos are never touched, and no file that another program wrote or changed is.

    Example: geosleuth photo undo holiday/
    """
    from geosleuth.cli.handlers import photo as work

    work.undo_estimates(folder, reviewed=reviewed, yes=yes, as_json=as_json)


@photo.command()
def index(
    folder: Annotated[Path, typer.Argument(help="Where your geotagged photos are; folders in it count too.")],
    *,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The index; by default one for all folders.")] = None,
    encoder: EncoderSpec = "bundled",
    coordinates: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Columns path, lat, lon; goes before what the photos claim.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Remember what your geotagged photos look like, so that similar ones are found. Run it again to update.

    Examples:

      geosleuth photo index holiday

      geosleuth photo index archive --out archive.index --coordinates places.csv
    """
    from geosleuth.cli.handlers import photo as work

    work.make_index(folder, out, encoder, coordinates, as_json=as_json)


@photo.command()
def similar(
    file: PhotoFile,
    *,
    index: Annotated[Path | None, typer.Option(metavar="FILE", help="The index; by default that one.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many results.")] = 10,
    as_json: JsonFlag = False,
) -> None:
    """Find which of your indexed photos look like this one, and where those were taken.

    Example: geosleuth photo similar photo.jpg --index archive.index
    """
    from geosleuth.cli.handlers import photo as work

    work.show_similar(file, index, limit, as_json=as_json)
