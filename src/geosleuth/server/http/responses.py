"""Responses in common: refusals in a single shape, security headers for browsers, and HEAD."""

import json
from collections.abc import Iterable, Mapping

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geosleuth.support.text.safe import one_line

# Maximum characters of a message.
MAX_MESSAGE_CHARS = 600

# The page loads only from its own origin; MapLibre starts its worker from a blob if it finds no file.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "worker-src 'self' blob:; font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'"
)
# Policy for a report: one file with its own style and images. It runs no script and is kept separate from this site.
REPORT_POLICY = (
    "sandbox allow-downloads allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}


class RequestRefused(HTTPException):
    """A request that is not carried out, and why.

    It is an HTTPException, so that it passes through readers of a request's body.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Say what is wrong in one line, and for programs by a word."""
        super().__init__(status, message, dict(headers) if headers else None)
        self.kind = kind

    def response(self) -> JSONResponse:
        """Return the answer."""
        return refusal(self.status_code, self.kind, str(self.detail), headers=self.headers)


class Missing(RequestRefused):
    """There is no such thing."""

    def __init__(self, what: str) -> None:
        """Name the kind of thing."""
        super().__init__(404, "missing", f"there is no such {what}; it may have been deleted")


def refusal(
    status: int,
    kind: str,
    message: str,
    hosts: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return a refusal as an answer."""
    line = one_line(message)
    error: dict[str, object] = {
        "kind": kind,
        "message": line if len(line) <= MAX_MESSAGE_CHARS else f"{line[: MAX_MESSAGE_CHARS - 1]}…",
    }
    if listed := sorted(hosts):
        error["hosts"] = listed
    return _Plain({"error": error}, status, dict(headers) if headers else None)


async def refuse(refused: RequestRefused, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a refusal before routing."""
    await refused.response()(scope, receive, send)


class _Plain(JSONResponse):
    """JSON in plain ASCII: any text that a message repeats, half a surrogate pair too, can be sent."""

    def render(self, content: object) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def with_online_tiles(policy: str, origins: tuple[str, ...]) -> str:
    """Return the page's policy with the tile sources that the user has allowed."""
    if not origins:
        return policy
    listed = " ".join(origins)
    for rule in ("img-src 'self'", "connect-src 'self'"):
        policy = policy.replace(rule, f"{rule} {listed}")
    return policy


def guard_headers(headers: MutableHeaders) -> None:
    """Add what is missing; what a route has set itself stays."""
    for name, value in ALWAYS.items():
        headers.setdefault(name, value)
    headers.setdefault("Content-Security-Policy", PAGE_POLICY)
    headers.setdefault("Cache-Control", "no-store")


class GuardHeaders:
    """Middleware that adds these headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an app."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                guard_headers(MutableHeaders(scope=message))
            await send(message)

        await self._app(scope, receive, send_guarded)


class Heads:
    """Middleware that answers HEAD as GET, less the body; a stream of events has no end, and stays out."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the routes."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on unchanged."""
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"].endswith("/events"):
            await self._app(scope, receive, send)
            return

        async def bodiless(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, bodiless)
