"""What every answer tells a browser not to do."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "worker-src 'self' blob:; font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'"
)
"""The page loads from here and from nowhere else; MapLibre starts its worker from a blob where it finds no file."""

REPORT_POLICY = (
    "sandbox allow-downloads allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
"""A report is one file with its style and pictures in it. It runs no script here and is no part of this site."""

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}


def with_online_tiles(policy: str, origins: tuple[str, ...]) -> str:
    """The page's policy with the tile sources that the user has allowed."""
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
        """Guard an app."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry out a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                guard_headers(MutableHeaders(scope=message))
            await send(message)

        await self._app(scope, receive, guarded)
