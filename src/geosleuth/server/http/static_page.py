"""The page and its parts, from the package: nothing is loaded from anywhere else."""

import gzip
import hashlib
import mimetypes
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter, Request, Response

from .responses import PAGE_POLICY, Missing, with_online_tiles
from .state import State

FOLDER = Path(__file__).resolve().parents[1] / "page"
INDEX = "index.html"
NOT_BUILT = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>geosleuth</title>"
    "<h1>The page is not built</h1><p>The API works: see /api/openapi.json. To build the page, run "
    "<code>make page</code> in the source folder.</p></html>"
)
_MIN_BYTES = 1400
_PACKED = ("text/", "application/javascript", "application/json", "application/manifest+json", "image/svg+xml")
# Vite puts a digest of the content into these names: another content has another name.
_HASHED = re.compile(r"-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$")
# Encrypted, or on this machine; what stands in a policy must not hold anything that could end a rule.
_TILES = re.compile(
    r"(https://[a-z0-9.-]+(?::[0-9]{1,5})?|http://(?:127\.0\.0\.1|localhost)(?::[0-9]{1,5})?)/[!-~]*", re.IGNORECASE
)
_A_YEAR = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file of the page, as it is sent."""

    media_type: str
    plain: bytes
    packed: bytes | None
    tag: str


@router.get("/")
async def page(request: Request) -> Response:
    """Return the page; where a user has allowed online tiles, their host is the one more that it may load from."""
    settings = State.from_request(request).service.settings
    found = part(INDEX)
    online = None if settings.offline or settings.online_tiles is None else tile_origin(settings.online_tiles)
    origins = (online,) if online else ()
    headers = {"Content-Security-Policy": with_online_tiles(PAGE_POLICY, origins), "Cache-Control": "no-cache"}
    if found is None:
        return Response(NOT_BUILT, 503, headers, "text/html")
    return sent(request, found, headers)


@router.get("/{path}")
@router.get("/assets/{rest:path}")
async def asset(request: Request) -> Response:
    """Return a script, a style sheet, a font or a picture of the page."""
    path = request.url.path.removeprefix("/")
    found = part(path)
    if found is None:
        raise Missing("page")
    return sent(request, found, {"Cache-Control": _A_YEAR if _HASHED.search(path) else "no-cache"})


def sent(request: Request, found: PageFile, headers: dict[str, str]) -> Response:
    """Return a file, packed where the browser takes that, or word that the browser's own copy is still right."""
    headers = {**headers, "ETag": found.tag, "Vary": "Accept-Encoding"}
    if found.tag in [item.strip().removeprefix("W/") for item in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    if found.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, 200, {**headers, "Content-Encoding": "gzip"}, found.media_type)
    return Response(found.plain, 200, headers, found.media_type)


def part(name: str) -> PageFile | None:
    """Return a file of the page; None if there is none of that name."""
    # What no file can be called is an error to some systems.
    with suppress(OSError, ValueError):
        path = (FOLDER / name).resolve()
        if path.is_relative_to(FOLDER) and path.is_file():
            status = path.stat()
            return _load_page_file(path, status.st_mtime_ns, status.st_size)
    return None


@lru_cache(maxsize=256)
def _load_page_file(path: Path, _changed_ns: int, _size: int) -> PageFile:
    """Read and compress a file once; again if it has changed."""
    plain = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    kind = {"text/javascript": "application/javascript"}.get(kind, kind)
    packed, beside = None, path.with_name(f"{path.name}.gz")
    if beside.is_file():
        packed = beside.read_bytes()
    elif kind.startswith(_PACKED) and len(plain) >= _MIN_BYTES:
        packed = gzip.compress(plain, 9, mtime=0)
    return PageFile(kind, plain, packed, f'"{hashlib.sha256(plain).hexdigest()[:32]}"')


def tile_origin(template: str) -> str:
    """Return the origin of a tile source, for the page's policy; empty if the address is not allowed."""
    found = _TILES.match(template)
    return found[1].lower() if found else ""
