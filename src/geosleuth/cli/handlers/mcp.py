"""What ``geosleuth mcp`` does once its words are read; imported only when it runs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from geosleuth.cli.preparation import ask_consent
from geosleuth.pipeline.plan import make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.server.mcp import McpService, PhotoSource, serve_http, serve_stdio
from geosleuth.server.mcp.server import PATH
from geosleuth.support.console import quiet_libraries, talk
from geosleuth.support.errors import BadInput, require
from geosleuth.support.net import is_loopback

from .serve import door_token, listening


@dataclass(frozen=True, slots=True)
class Doors:
    """Where clients come in over HTTP."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    token_file: Path | None = None


def serve_tools(request: LocateRequest, photos: Sequence[Path], doors: Doors | None) -> None:
    """Serve until the client leaves or the server is stopped."""
    require("mcp.server", extra="serve")
    for module in ("uvicorn", "fastapi") if doors else ():
        require(module, extra="serve")
    token = door_token(doors.host, doors.token_file) if doors else None
    with quiet_libraries():
        plan = make_plan(request, [])
        ask_consent(plan, yes=request.yes)
        source = PhotoSource(tuple(_folder(path) for path in photos), anywhere=doors is None)
        service = McpService(plan, request, source)
        with plan.announcing(talk):
            if doors is None:
                asyncio.run(serve_stdio(service))
            else:
                _serve_http(service, doors, token)


def _serve_http(service: McpService, doors: Doors, token: str | None) -> None:
    from geosleuth.server.http import Hosts, named_hosts

    names = named_hosts([*doors.names, doors.host])
    hosts = Hosts(names, by_address=not is_loopback(doors.host))
    with listening(doors.host, doors.port) as at:
        shown = f"[{doors.host}]" if ":" in doors.host else doors.host
        leave = " to clients with the token" if token else ""
        talk(f"serving at http://{shown}:{at.getsockname()[1]}{PATH}{leave}; Ctrl-C stops it")
        asyncio.run(serve_http(service, at, hosts=hosts, token=token))


def _folder(path: Path) -> Path:
    try:
        folder = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"--photos {path}: there is no such folder") from error
    if not folder.is_dir():
        raise BadInput(f"--photos {path}: this is a file; give a folder")
    return folder
