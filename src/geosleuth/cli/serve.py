"""``geosleuth serve``: the page and the HTTP API."""

from pathlib import Path

from geosleuth.cli.options import Options, ProfileName, flag, option

PORT = 8711


class ServeOptions(Options):
    """The options of ``serve``."""

    host: str = option(
        "127.0.0.1", "The address to listen at. Beyond this machine a token is needed: see --token-file."
    )
    port: int = option(PORT, "The port; 0 for any that is free.", min=0, max=65535)
    open_page: bool = flag("Open the page in the browser.", "--open")
    token_file: Path | None = option(
        None, "Whoever asks must show the token on this file's first line; or set GEOSLEUTH_TOKEN.", metavar="FILE"
    )
    allowed_host: list[str] = option(
        [], "A name that browsers reach this server by, besides the address.", metavar="NAME"
    )
    workers: int = option(1, "Runs that are worked on at once.", min=1, max=32)
    run_memory: float | None = option(
        None,
        "Memory that a run may use; by default three quarters of this machine's, shared by the workers.",
        metavar="GIB",
        min=0.5,
    )
    home: Path | None = option(None, "Where cases are kept; by default with the atlas's data.", metavar="FOLDER")
    profile: ProfileName = None
    as_json: bool = flag('Print {"url": …} on stdout once it is ready.', "--json")


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
