"""The client of `geosleuth.atlas.online.answer_server`, the process that serves a record to all workers on a machine.

The server announces itself in a file beside the record, readable by its owner only, with its port on 127.0.0.1 and a
token that every request must contain. A request and its reply are one line of JSON each.
"""

import asyncio
import json
import platform
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geosleuth.support.errors import NotRecorded

# Maximum size of a line: room for the longest allowed answer in base64.
MAX_BYTES = 64 << 20

_PATIENCE_S = 30.0
_POLL_S = 0.1


def announcement(record: Path) -> Path:
    """Return the path of the file in which a record's server on this machine announces itself."""
    node = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node()) or "node"
    return record.with_name(f"{record.name}.server-{node}")


async def ask_shared(record: Path, request: Mapping[str, Any], *, patience_s: float = _PATIENCE_S) -> dict[str, Any]:
    """Send a request to the record's server and return its reply; wait up to ``patience_s`` for the server to start.

    Raises:
        NotRecorded: no process on this machine serves this record.
    """
    until = time.monotonic() + patience_s
    while True:
        reply = await _send(_read_announcement(record), request)
        if reply is not None:
            return reply
        if time.monotonic() > until:
            raise NotRecorded(
                f"{record}: no process of this machine serves these answers; a run of geosleuth train starts one"
            )
        await asyncio.sleep(_POLL_S)


def _read_announcement(record: Path) -> dict[str, Any] | None:
    try:
        server = json.loads(announcement(record).read_bytes())
    except (OSError, ValueError):
        return None
    return server if isinstance(server, dict) else None


async def _send(server: Mapping[str, Any] | None, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the server's reply; None if it does not run or has ended meanwhile."""
    if server is None:
        return None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server["port"]), limit=MAX_BYTES)
    except OSError:
        return None
    try:
        writer.write(json.dumps({**request, "token": server["token"]}).encode() + b"\n")
        await writer.drain()
        line = await reader.readline()
        return dict(json.loads(line)) if line.endswith(b"\n") else None
    except OSError:
        return None
    finally:
        writer.close()
