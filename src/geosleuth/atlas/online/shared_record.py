"""How workers ask the one process of their machine that serves a record, see `geosleuth.atlas.online.answer_server`.

The process announces itself beside the record, in a file for its owner alone: a port of 127.0.0.1, and a token that
every request must show. A request and its reply are a line of JSON each.
"""

import asyncio
import json
import platform
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geosleuth.errors import NotRecorded

MOST_BYTES = 64 << 20
"""Of a line: an answer of the longest length that is allowed, and what base64 adds to it."""

_PATIENCE_S = 30.0
_LOOK_EVERY_S = 0.1


def announcement(record: Path) -> Path:
    """Return the file in which this machine's server of a record announces itself."""
    node = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node()) or "node"
    return record.with_name(f"{record.name}.server-{node}")


async def ask_shared(record: Path, request: Mapping[str, Any], *, patience_s: float = _PATIENCE_S) -> dict[str, Any]:
    """Return the server's reply; one that is only just starting is waited for.

    Raises:
        NotRecorded: no process serves this record here.
    """
    until = time.monotonic() + patience_s
    while True:
        reply = await _asked(_announced(record), request)
        if reply is not None:
            return reply
        if time.monotonic() > until:
            raise NotRecorded(
                f"{record}: no process of this machine serves these answers; a run of geosleuth train starts one"
            )
        await asyncio.sleep(_LOOK_EVERY_S)


def _announced(record: Path) -> dict[str, Any] | None:
    try:
        known = json.loads(announcement(record).read_bytes())
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) else None


async def _asked(server: Mapping[str, Any] | None, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the reply; None where nobody listens there, or it ended meanwhile."""
    if server is None:
        return None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server["port"]), limit=MOST_BYTES)
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
