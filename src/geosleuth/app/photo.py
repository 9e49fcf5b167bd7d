"""``geosleuth photo``: what a photo's metadata claims, and what is written in it."""

from pathlib import Path
from typing import Annotated

import typer

photo = typer.Typer(help="Look at a photo: what its metadata claims, what is written in it.", no_args_is_help=True)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
PhotoFile = Annotated[Path, typer.Argument(help="JPEG, PNG, WebP, TIFF or HEIC.")]


@photo.command()
def claims(file: PhotoFile, *, as_json: JsonFlag = False) -> None:
    """Show what the metadata claims: place, time, camera. Claims can be forged; they are never evidence.

    Example: geosleuth photo claims photo.jpg
    """
    from geosleuth.app import photo_work as work

    work.show_claims(file, as_json=as_json)


@photo.command()
def text(file: PhotoFile, *, as_json: JsonFlag = False) -> None:
    """Read the text in a photo, in any of 22 scripts, offline.

    Example: geosleuth photo text sign.jpg
    """
    from geosleuth.app import photo_work as work

    work.show_text(file, as_json=as_json)
