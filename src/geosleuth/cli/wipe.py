"""``geosleuth wipe``: delete all cases."""

from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import JsonFlag


def wipe(
    *,
    home: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where cases are kept; by default with the atlas's data.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Delete all cases of the page from this disk: photos, runs, notes.

    The page's settings are deleted with them; maps, keys and files that you exported stay. No server may run.

    Example: geosleuth wipe
    """
    from geosleuth.cli.handlers.serve import wipe_cases

    wipe_cases(home, yes=yes, as_json=as_json)
