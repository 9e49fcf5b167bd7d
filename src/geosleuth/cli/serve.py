"""``geosleuth serve``: the page and the HTTP API."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import ProfileName, takes

PORT = 8711


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options of ``serve``."""

    host: Annotated[
        str, typer.Option(help="The address to listen at. Beyond this machine a token is needed: see --token-file.")
    ] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any that is free.")] = PORT
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Whoever asks must show the token on this file's first line; or set GEOSLEUTH_TOKEN.",
        ),
    ] = None
    allowed_host: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="A name that browsers reach this server by, besides the address."),
    ] = field(default_factory=list)
    workers: Annotated[int, typer.Option(min=1, max=32, help="Runs that are worked on at once.")] = 1
    run_memory: Annotated[
        float | None,
        typer.Option(
            metavar="GIB",
            min=0.5,
            help="Memory that a run may use; by default three quarters of this machine's, shared by the workers.",
        ),
    ] = None
    home: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where cases are kept; by default with the atlas's data."),
    ] = None
    profile: ProfileName = None
    as_json: Annotated[bool, typer.Option("--json", help='Print {"url": …} on stdout once it is ready.')] = False


@takes(ServeOptions)
def serve(options: ServeOptions) -> None:
    """Serve the page and the HTTP API on this machine, until Ctrl-C.

    Nothing leaves the machine unless you turn the offline switch off and agree to each host.

    Examples:

      geosleuth serve --open

      geosleuth serve --port 9000 --workers 2

      GEOSLEUTH_TOKEN=... geosleuth serve --host 0.0.0.0 --allowed-host photos.example.org
    """
    from geosleuth.support.errors import require

    for module in ("fastapi", "uvicorn"):
        require(module, extra="serve")
    from geosleuth.cli.handlers.serve import serve_here

    serve_here(options)
