"""Implementation of ``geosleuth mcp``; imported on demand."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from geosleuth.cli.preparation import ask_consent
from geosleuth.cli.serve import door_token, listening
from geosleuth.pipeline.plan import make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.server.mcp import McpService, PhotoSource, serve_http, serve_stdio
from geosleuth.server.mcp.server import PATH
from geosleuth.support.console import quiet_libraries, talk
from geosleuth.support.errors import BadInput, require
from geosleuth.support.net import is_loopback

if TYPE_CHECKING:
    from geosleuth.cli.mcp import McpOptions


def serve_tools(request: LocateRequest, options: "McpOptions") -> None:
    """Serve until the client leaves or the server is stopped."""
    require("mcp.server", extra="serve")
    for module in ("uvicorn", "fastapi") if options.http else ():
        require(module, extra="serve")
    token = door_token(options.host, options.token_file) if options.http else None
    with quiet_libraries():
        plan = make_plan(request, [])
        ask_consent(plan, yes=request.yes)
        source = PhotoSource(tuple(_resolve_folder(path) for path in options.photos), anywhere=not options.http)
        service = McpService(plan, request, source)
        with plan.announcing(talk):
            if options.http:
                _serve_http(service, options, token)
            else:
                asyncio.run(serve_stdio(service))


def _serve_http(service: McpService, options: "McpOptions", token: str | None) -> None:
    from geosleuth.server.http import Hosts, normalize_hosts

    names = normalize_hosts([*options.allowed_host, options.host])
    hosts = Hosts(names, by_address=not is_loopback(options.host))
    with listening(options.host, options.port) as at:
        shown = f"[{options.host}]" if ":" in options.host else options.host
        leave = " to clients with the token" if token else ""
        talk(f"serving at http://{shown}:{at.getsockname()[1]}{PATH}{leave}; Ctrl-C stops it")
        asyncio.run(serve_http(service, at, hosts=hosts, token=token))


def _resolve_folder(path: Path) -> Path:
    try:
        folder = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"--photos {path}: there is no such folder") from error
    if not folder.is_dir():
        raise BadInput(f"--photos {path}: this is a file; give a folder")
    return folder
