"""``geosleuth review``: confirm, correct or reject the findings of a batch on the page."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer


def review(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What geosleuth locate FOLDER --out DIR/ wrote.")],
    photos: Annotated[
        Path | None, typer.Argument(metavar="[PHOTOS]", help="Where the photos are now, if they were moved.")
    ] = None,
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any that is free.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in the browser.")] = False,
    home: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the page's cases are kept; by default with the atlas's data."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help='Print {"url": …} on stdout once it is ready.')] = False,
) -> None:
    """Review the findings of a batch on the page: confirm, correct or reject them, singly or many at once.

    Sidecars and copies with the place are written for what you confirmed, and for nothing else. Decisions are kept in
    DIR, and are there the next time. Only this machine can reach the page.

    Examples:

      geosleuth locate holiday/ --out findings/

      geosleuth review findings/
    """
    from geosleuth.support.errors import require

    for module in ("fastapi", "uvicorn"):
        require(module, extra="serve")
    from geosleuth.atlas.folders import data_dir
    from geosleuth.cli.handlers.photo_arguments import resolve_inputs
    from geosleuth.cli.serve import ServeOptions, read_token, serve_here
    from geosleuth.server.handover import open_on_running_server
    from geosleuth.server.review import Review
    from geosleuth.support.console import show_json, talk

    moved = None if photos is None else resolve_inputs([str(photos)], batch=True, same_place=False)[0]
    if (url := open_on_running_server(home or data_dir() / "service", folder, moved, read_token(None))) is not None:
        talk(f"opened in the geosleuth that is running: {url}")
        if as_json:
            show_json({"url": url})
        if not no_open:
            webbrowser.open(url)
        return
    batch = Review.open(folder, moved)
    try:
        serve_here(ServeOptions(port=port, open_page=not no_open, home=home, as_json=as_json), review=batch)
    finally:
        batch.close()
