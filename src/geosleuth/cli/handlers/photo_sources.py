"""Photos that are no files yet: an address on the web, standard input, the clipboard.

Each becomes a file in a folder of its own, which is deleted when the command ends. From then on it is a photo like
any other, with the same caps.
"""

import asyncio
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import IO
from urllib.parse import unquote, urlsplit

from geosleuth.cli.preparation import agree
from geosleuth.photo import PhotoLimits
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.searches import is_local, online_settings
from geosleuth.support.errors import BadInput
from geosleuth.support.net import parse_host
from geosleuth.support.text.numbers import size

# The words for a photo on standard input, and for the one that was copied last.
STDIN, CLIPBOARD = "-", "clipboard:"

_WEB = ("https://", "http://")
_PASTES = (
    ("wl-paste", "WAYLAND_DISPLAY", ("--no-newline", "--type", "image/png")),
    ("xclip", "DISPLAY", ("-selection", "clipboard", "-target", "image/png", "-out")),
)
_PASTE_S = 10.0
_ODD = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 80


@contextmanager
def local_photos(words: Sequence[str], request: LocateRequest) -> Iterator[list[str]]:
    """Yield the words of a command with a file's path in place of each photo that is none yet.

    Raises:
        UserError: the user did not agree to fetch a photo, it is larger than photos may be, or nothing is there.
        ServiceFault: it can't be fetched.
    """
    if not any(map(_is_elsewhere, words)):
        yield list(words)
        return
    if request.sidecars or request.write_exif:
        raise BadInput("--sidecars and --write-exif write beside a photo's file; save the photo first, or use --out")
    if words.count(STDIN) > 1:
        raise BadInput("standard input holds one photo; write - once")
    addresses = [word for word in words if word.lower().startswith(_WEB)]
    _agree(addresses, request)
    with tempfile.TemporaryDirectory(prefix="geosleuth-") as folder:
        yield [
            _save_photo(word, Path(folder) / str(at)) if _is_elsewhere(word) else word for at, word in enumerate(words)
        ]


def _is_elsewhere(word: str) -> bool:
    return word in (STDIN, CLIPBOARD) or word.lower().startswith(_WEB)


def _agree(addresses: Sequence[str], request: LocateRequest) -> None:
    if not addresses:
        return
    if request.offline:
        raise BadInput("a photo on the web is fetched over the network, which --offline rules out; save it first")
    if bad := next((address for address in addresses if not parse_host(address)), None):
        raise BadInput(f"not a web address: {bad[:100]!r}; it starts with https:// and a host name")
    hosts = sorted(set(map(parse_host, addresses)))
    agree(f"this fetches the photo from {' and '.join(hosts)}", yes=request.yes, stopped="nothing was fetched")


def _save_photo(word: str, folder: Path) -> str:
    """Return the path of a file with the photo in it."""
    if word == STDIN:
        name, data = "stdin", _read_limited(_stdin(), "standard input")
    elif word == CLIPBOARD:
        name, data = "clipboard.png", _read_clipboard()
    else:
        last = unquote(urlsplit(word).path).rpartition("/")[2]
        name, data = _ODD.sub("_", last).strip("._")[-_LONGEST_NAME:] or "photo", asyncio.run(_fetch_photo(word))
    folder.mkdir()
    path = folder / name
    path.write_bytes(data)
    return str(path)


async def _fetch_photo(url: str) -> bytes:
    """Fetch a file through the guarded client: from the host that was named, to its public address, and no further."""
    from geosleuth.atlas.online import OnlineClient
    from geosleuth.atlas.online.http import ServiceRequest

    host = parse_host(url)
    settings = replace(
        online_settings((host,)),
        # A user who writes down a server of their own network means it.
        private_hosts=frozenset({host}) if is_local(host) else frozenset(),
        max_bytes=PhotoLimits().max_bytes,
        tries=2,
    )
    async with OnlineClient(settings) as client:
        found = await client.ask(ServiceRequest(url=url, headers=(("accept", "image/*"),)), bytes)
    return found or b""


def _stdin() -> IO[bytes]:
    if sys.stdin.isatty():
        raise BadInput("- reads a photo from standard input; pipe one in: geosleuth locate - < photo.jpg")
    return sys.stdin.buffer


def _read_limited(stream: IO[bytes], what: str) -> bytes:
    most = PhotoLimits().max_bytes
    data = stream.read(most + 1)
    if not data:
        raise BadInput(f"{what} holds no photo; it is empty")
    if len(data) > most:
        raise BadInput(f"{what} holds more than the {size(most)} allowed; give a smaller copy of the photo")
    return data


def _read_clipboard() -> bytes:
    """Return the picture in the clipboard as PNG."""
    if sys.platform in ("darwin", "win32"):
        return _grab_clipboard()
    within_reach = [(name, words) for name, display, words in _PASTES if os.environ.get(display)]
    found = [(path, words) for name, words in within_reach if (path := shutil.which(name))]
    if not found:
        raise BadInput(
            "the clipboard can't be read: install wl-clipboard (Wayland) or xclip (X11), or pipe the photo in: "
            "geosleuth locate - < photo.jpg"
        )
    path, words = found[0]
    with subprocess.Popen(
        [path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as paste:
        # An owner of the clipboard that has hung would be waited for without an end.
        late = Timer(_PASTE_S, paste.kill)
        late.start()
        try:
            return _read_limited(paste.stdout, "the clipboard") if paste.stdout else b""
        finally:
            late.cancel()
            paste.kill()


def _grab_clipboard() -> bytes:
    from PIL import ImageGrab
    from PIL.Image import Image

    try:
        picture = ImageGrab.grabclipboard()
    except (OSError, ValueError) as error:
        raise BadInput("the clipboard holds no picture that can be read") from error
    if not isinstance(picture, Image):
        raise BadInput("the clipboard holds no picture; name a copied file by its path")
    kept = io.BytesIO()
    picture.save(kept, "PNG")
    return kept.getvalue()
