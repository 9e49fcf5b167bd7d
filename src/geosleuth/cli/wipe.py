"""``geosleuth wipe``: delete all cases."""

import shutil
import sqlite3
from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import JsonFlag
from geosleuth.support.errors import BadInput


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
    from geosleuth.atlas.folders import data_dir
    from geosleuth.cli.preparation import agree
    from geosleuth.server.intake import Folders
    from geosleuth.support.console import show_json, talk
    from geosleuth.support.text.numbers import size

    folder = home or data_dir() / "service"
    folders = Folders(folder)
    if not folders.database.is_file():
        if as_json:
            show_json({"deleted": None, "bytes": 0})
        talk(f"{folder}: holds no cases; nothing was deleted")
        return
    _check_unused(folders.database)
    freed = folders.size_bytes()
    told = f"all cases in {folder} ({size(freed)}) are deleted for good"
    agree(told, yes=yes, stopped="nothing was deleted")
    # Only what a service writes: a user who names another folder by mistake keeps the rest of it.
    shutil.rmtree(folder / "cases", ignore_errors=True)
    for path in folder.glob(f"{folders.database.name}*"):
        path.unlink(missing_ok=True)
    if (folder / "cases").exists():
        raise BadInput(f"{folder / 'cases'}: could not be deleted whole; delete the rest yourself")
    if as_json:
        show_json({"deleted": str(folder), "bytes": freed})
    talk(f"deleted all cases in {folder}")


def _check_unused(database: Path) -> None:
    """Refuse to go on while a server holds the cases."""
    try:
        conn = sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True, timeout=0.5)
        try:
            conn.execute("PRAGMA locking_mode = EXCLUSIVE")
            conn.execute("BEGIN IMMEDIATE")
        finally:
            conn.close()
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise BadInput(f"{database}: in use by a geosleuth server; stop it first, or wipe on its page") from error
    except sqlite3.DatabaseError:
        pass  # damaged: it is deleted all the same
