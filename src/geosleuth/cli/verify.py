"""``geosleuth verify``: is this evidence package as it was written?"""

from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import JsonFlag


def verify(
    package: Annotated[Path, typer.Argument(metavar="CASE.zip", help="What locate --out CASE.zip or the page wrote.")],
    *,
    photo: Annotated[
        list[Path] | None,
        typer.Option(metavar="PHOTO", help="The photo: its digest is compared, and the tools are asked again."),
    ] = None,
    sha256: Annotated[
        str | None,
        typer.Option(metavar="DIGEST", help="The SHA-256 of the package, as the sender told you another way."),
    ] = None,
    signed_by: Annotated[
        Path | None,
        typer.Option(metavar="KEY.pub", help="Check CASE.zip.sig against this public key of OpenSSH (ssh-keygen)."),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Write CASE.zip.sig with this private key of OpenSSH, if all is well."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check an evidence package: every byte of it, and with the photo what its tools answered. Offline.

    Result, tool list and report are made again from the run. What is not proved is said. Exit code 1 where something
    was changed; the file in the package is named.

    Examples:

      geosleuth verify case.zip

      geosleuth verify case.zip --photo photo.jpg

      geosleuth verify case.zip --sign ~/.ssh/id_ed25519

      geosleuth verify case.zip --signed-by sender.pub
    """
    from geosleuth.cli.handlers.verify import verify_package

    verify_package(package, photo or [], sha256, signed_by=signed_by, sign_with=sign, as_json=as_json)
