"""A batch for review goes to the server that is running already: two can't work on the same cases.

The server leaves ``serving.json`` beside its cases while it runs: its address, and a key that only the user can
read. ``geosleuth review`` shows that key, so no page and no other user can have the server open a folder.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from geosleuth.support.errors import BadInput
from geosleuth.support.files import read_json

_FILE = "serving.json"
_SECONDS = 60.0
_MAX_BYTES = 10_000


@contextmanager
def announce_server(folder: Path, url: str, key: str) -> Iterator[None]:
    """Leave the address and the key of a server beside its cases as long as it runs."""
    path = folder / _FILE
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        json.dump({"url": url, "key": key}, stream)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def open_on_running_server(home: Path, folder: Path, photos: Sequence[Path] | None, token: str | None) -> str | None:
    """Have the server that runs on these cases open a batch, and return the page's address; None where none runs.

    Raises:
        BadInput: the server refuses: the folder holds no batch, or it wants its token.
    """
    try:
        running = read_json(home / _FILE, _MAX_BYTES)
        url, key = str(running["url"]), str(running["key"])
    except (OSError, ValueError, KeyError, TypeError, BadInput):
        return None
    asked = {"key": key, "folder": str(folder.absolute())}
    named = {} if photos is None else {"photos": [str(photo.absolute()) for photo in photos]}
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        reply = httpx.post(
            f"{url}/api/review/folder", json=asked | named, headers=headers, timeout=_SECONDS, trust_env=False
        )
    except (httpx.TransportError, httpx.InvalidURL):  # a server that was killed left its file behind
        return None
    if reply.status_code == httpx.codes.OK:
        return f"{url}/#/review"
    raise BadInput(_refusal(reply, url))


def _refusal(reply: httpx.Response, url: str) -> str:
    if reply.status_code == httpx.codes.UNAUTHORIZED:
        return f"the geosleuth that serves at {url} wants its token; set GEOSLEUTH_TOKEN"
    with suppress(ValueError, KeyError, TypeError):
        return str(reply.json()["error"]["message"])
    return f"the geosleuth that serves at {url} refused to open the folder ({reply.status_code}); stop it first"
