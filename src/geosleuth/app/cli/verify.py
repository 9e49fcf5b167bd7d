"""``geosleuth verify``: is this evidence package as it was written?"""

from pathlib import Path
from typing import Annotated, Optional

import typer

from geosleuth.app.cli.options import JsonFlag


def verify(
    package: Annotated[Path, typer.Argument(metavar="CASE.zip", help="What locate --out CASE.zip or the page wrote.")],
    *,
    photo: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Option(metavar="PHOTO", help="The photo: its digest is compared, and the tools are asked again."),
    ] = None,
    sha256: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="DIGEST", help="The SHA-256 of the package, as the sender told you another way."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check an evidence package: every byte of it, and with the photo what its tools answered. Offline.

    Exit code 1 where something was changed; the file in the package is named.

    Examples:

      geosleuth verify case.zip

      geosleuth verify case.zip --photo photo.jpg
    """
    from geosleuth.app.cli.handlers.verify import verify_package

    verify_package(package, photo or [], sha256, as_json=as_json)
