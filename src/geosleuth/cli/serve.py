"""``geosleuth serve``: the page and the HTTP API."""

import os
import signal
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from geosleuth.cli.options import Options, ProfileName, flag, option
from geosleuth.support.errors import BadInput, require
from geosleuth.support.net import is_loopback

if TYPE_CHECKING:
    from geosleuth.server.review import Review

PORT = 8711
TOKEN_VARIABLE = "GEOSLEUTH_TOKEN"  # noqa: S105 -- its name, not a token
# Minimum characters of a token: a short one can be guessed.
MIN_TOKEN = 16


class ServeOptions(Options):
    """The options of ``serve``."""

    host: str = option(
        "127.0.0.1", "The address to listen at. Beyond this machine a token is needed: see --token-file."
    )
    port: int = option(PORT, "The port; 0 for any that is free.", min=0, max=65535)
    open_page: bool = flag("Open the page in the browser.", "--open")
    token_file: Path | None = option(
        None, "Clients must send the token on this file's first line; or set GEOSLEUTH_TOKEN.", metavar="FILE"
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
    for module in ("fastapi", "uvicorn"):
        require(module, extra="serve")
    serve_here(options)


def serve_here(options: ServeOptions, *, review: "Review | None" = None) -> None:
    """Serve until stopped, with a batch under review if there is one.

    Raises:
        BadInput: the port is taken, the address is not this machine's, the token is missing or too short, or
            another server works on the same cases.
    """
    token = door_token(options.host, options.token_file)
    listener = listening(options.host, options.port)
    with listener:
        # Only now: what is wrong with the words is said at once, and loading takes a while.
        from geosleuth.atlas.folders import data_dir
        from geosleuth.server.http.server import build_serve_settings, run_server

        settings = build_serve_settings(options.host, options.allowed_host, token)
        if options.run_memory is not None:
            settings = replace(settings, limits=replace(settings.limits, run_bytes=int(options.run_memory * 1024**3)))
        settings = replace(settings, review=review, profile=options.profile)
        folder = options.home or data_dir() / "service"
        stopped_by = run_server(
            listener, settings, folder, options.workers, open_page=options.open_page, as_json=options.as_json
        )
    if stopped_by == signal.SIGINT:
        raise typer.Exit(128 + signal.SIGINT)


def door_token(host: str, file: Path | None) -> str | None:
    """Return the token that requests must show.

    Raises:
        BadInput: it can't be used, or there is none and the address can be reached from other machines.
    """
    token = read_token(file)
    if token is None and not is_loopback(host):
        raise BadInput(
            f"{host} can be reached from other machines, so a token is needed: "
            f"set {TOKEN_VARIABLE}, or name a file that holds one with --token-file"
        )
    return token


def read_token(file: Path | None) -> str | None:
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
    if len(found) < MIN_TOKEN or not (found.isascii() and found.isprintable()) or " " in found:
        raise BadInput(
            f"{where}: a token has at least {MIN_TOKEN} characters and no spaces; "
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
