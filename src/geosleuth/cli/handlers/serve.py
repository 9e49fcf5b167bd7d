"""What ``geosleuth serve`` does once its words are read; imported only when it runs."""

import os
import shutil
import signal
import socket
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from geosleuth.atlas.folders import data_dir
from geosleuth.support.errors import BadInput
from geosleuth.support.net import is_loopback

if TYPE_CHECKING:
    from geosleuth.cli.serve import ServeOptions
    from geosleuth.server.review import Review

TOKEN_VARIABLE = "GEOSLEUTH_TOKEN"  # noqa: S105 -- its name, not a token
LEAST_TOKEN = 16
"""Characters of a token: a short one can be guessed."""


def serve_here(options: "ServeOptions", *, review: "Review | None" = None) -> None:
    """Serve until stopped, with a batch under review if there is one.

    Raises:
        BadInput: the port is taken, the address is not this machine's, the token is missing or too short, or
            another server works on the same cases.
    """
    token = door_token(options.host, options.token_file)
    listener = listening(options.host, options.port)
    with listener:
        # Only now: what is wrong with the words is said at once, and loading takes a while.
        from geosleuth.server.http.server import door_of, serve_on

        settings = door_of(options.host, options.allowed_host, token)
        if options.run_memory is not None:
            settings = replace(settings, limits=replace(settings.limits, run_bytes=int(options.run_memory * 1024**3)))
        settings = replace(settings, review=review, profile=options.profile)
        folder = options.home or data_dir() / "service"
        stopped_by = serve_on(
            listener, settings, folder, options.workers, open_page=options.open_page, as_json=options.as_json
        )
    if stopped_by == signal.SIGINT:
        raise typer.Exit(128 + signal.SIGINT)


def wipe_cases(home: Path | None, *, yes: bool, as_json: bool) -> None:
    """Delete the folder of all cases, after a confirmation.

    Raises:
        BadInput: a server works on them, it is no folder of cases, or nobody agreed.
    """
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
    # Only what a service writes: whoever names another folder by mistake keeps the rest of it.
    shutil.rmtree(folder / "cases", ignore_errors=True)
    for path in folder.glob(f"{folders.database.name}*"):
        path.unlink(missing_ok=True)
    if (folder / "cases").exists():
        raise BadInput(f"{folder / 'cases'}: could not be deleted whole; delete the rest yourself")
    if as_json:
        show_json({"deleted": str(folder), "bytes": freed})
    talk(f"deleted all cases in {folder}")


def _check_unused(database: Path) -> None:
    """Complain about a server that holds the cases."""
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


def door_token(host: str, file: Path | None) -> str | None:
    """Return the token that requests must show.

    Raises:
        BadInput: it can't be used, or there is none and the address can be reached from other machines.
    """
    token = token_of(file)
    if token is None and not is_loopback(host):
        raise BadInput(
            f"{host} can be reached from other machines, so a token is needed: "
            f"set {TOKEN_VARIABLE}, or name a file that holds one with --token-file"
        )
    return token


def token_of(file: Path | None) -> str | None:
    """Return the token from a file or the environment; None if there is none.

    Raises:
        BadInput: the file can't be read, or the token is too short to be one.
    """
    if file is None:
        found, where = os.environ.get(TOKEN_VARIABLE, "").strip(), TOKEN_VARIABLE
        if not found:
            return None
    else:
        where = str(file)
        try:
            with file.open(encoding="utf-8") as stream:
                found = stream.readline(10_000).strip()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise BadInput(f"{file}: the token can't be read: {reason}") from error
    if len(found) < LEAST_TOKEN or not (found.isascii() and found.isprintable()) or " " in found:
        raise BadInput(
            f"{where}: a token has at least {LEAST_TOKEN} characters and no spaces; "
            "make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return found


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        BadInput: the port is taken, or the address is not this machine's.
    """
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        # A port that another server has is refused, on systems too that would share it.
        return socket.create_server(address[:2], family=family, backlog=512, reuse_port=False)
    except OSError as error:
        if isinstance(error, socket.gaierror):
            raise BadInput(f"{host!r} is no address of this machine; try --host 127.0.0.1") from error
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        raise BadInput(
            f"can't listen at {host}, port {port}: {reason}; try another --port, or --port 0 for any"
        ) from error
