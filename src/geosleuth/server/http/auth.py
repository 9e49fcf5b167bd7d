"""Host, origin and token checks for incoming requests.

A page of another site can make a browser send requests here. It can't read the answers, but requests that change
something would have done their harm by then. So: the host must be one of ours (a name that another site has pointed at
this machine is not), and what changes something must come from our own page or from no page at all.
"""

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from geosleuth.support.net import host_name, is_loopback

from .limits import Pace, identify_client
from .responses import RequestRefused, refuse

COOKIE = "geosleuth_session"
SESSION_S = 12 * 3600
_MAX_SESSIONS = 256
_SAFE = ("GET", "HEAD", "OPTIONS")
# Open without a token: the page's own files, which hold no data, the health check, and the login.
_OPEN = (("GET", "/api/health"), ("HEAD", "/api/health"), ("POST", "/api/session"))
_GUARDED = ("/api", "/tiles")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names that we answer to.

    ``by_address`` is set where we listen beyond loopback: any address may then be ours, and an address, unlike a name,
    can't be pointed at us by another site.
    """

    named: frozenset[str] = frozenset()
    by_address: bool = False

    def ours(self, authority: str) -> bool:
        """Return whether a host, with or without its port, is one of ours."""
        name = host_name(authority)
        if not name:
            return False
        if is_loopback(name) or name in self.named:
            return True
        return self.by_address and _is_address(name)


@dataclass(slots=True)
class Sessions:
    """Browsers that have shown the token, held in memory; their cookies say nothing of it."""

    token: str | None = field(default=None, repr=False)
    _open: OrderedDict[bytes, float] = field(default_factory=OrderedDict, repr=False)

    def admits(self, token: str) -> bool:
        """Return whether this is the token; how long the answer takes says nothing about how much of it was right."""
        return self.token is not None and hmac.compare_digest(_digest(token), _digest(self.token))

    def begin(self) -> str:
        """Open a session; return its cookie."""
        cookie = secrets.token_urlsafe(32)
        self._open[_digest(cookie)] = time.monotonic() + SESSION_S
        while len(self._open) > _MAX_SESSIONS:
            self._open.popitem(last=False)
        return cookie

    def end(self, cookie: str) -> None:
        """Close a session."""
        self._open.pop(_digest(cookie), None)

    def holds(self, cookie: str) -> bool:
        """Return whether a session is open; looked up by digest, which can't be guessed piece by piece."""
        until = self._open.get(_digest(cookie))
        if until is None:
            return False
        if until < time.monotonic():
            self.end(cookie)
            return False
        return True


class AccessMiddleware:
    """Middleware that rejects unauthorised requests."""

    def __init__(self, app: ASGIApp, *, hosts: Hosts, sessions: Sessions, attempts: Pace) -> None:
        """Wrap an app; ``attempts`` limits the rate of wrong tokens."""
        self._app, self._hosts, self._sessions, self._attempts = app, hosts, sessions, attempts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            check_host(headers, self._hosts)
            check_origin(scope["method"], scope["path"], headers)
            self._check_token(scope, headers)
        except RequestRefused as refused:
            await refuse(refused, scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_token(self, scope: Scope, headers: Headers) -> None:
        if self._sessions.token is None or (scope["method"], scope["path"]) in _OPEN:
            return
        path = scope["path"]
        if not any(path == root or path.startswith(f"{root}/") for root in _GUARDED):
            return
        given = bearer(headers)
        if given is not None:
            check_token(given, scope, self._sessions, self._attempts)
            return
        cookie = session_cookie(headers)
        if cookie is None or not self._sessions.holds(cookie):
            raise build_token_refusal()


def check_host(headers: Headers, hosts: Hosts) -> None:
    """Refuse requests that were meant for another host.

    Raises:
        Refused: the host is missing, or not ours.
    """
    given = headers.getlist("host")
    if len(given) != 1 or not hosts.ours(given[0]):
        named = given[0][:80] if given else ""
        raise RequestRefused(
            403, "host", f"{named!r} is no host that is served here; start with --allowed-host to add it"
        )


def check_origin(method: str, path: str, headers: Headers) -> None:
    """Refuse requests of another site's page, except a person following a link.

    Raises:
        Refused: it comes from elsewhere.
    """
    site = headers.get("sec-fetch-site", "none").strip().lower()
    origin = headers.get("origin")
    elsewhere = site not in ("same-origin", "none") or (
        origin is not None and _authority(origin) != _canonical(headers.get("host", ""), origin)
    )
    if not elsewhere:
        return
    if method not in _SAFE:
        raise RequestRefused(403, "origin", "the request comes from another site's page; use the page of this server")
    if path.startswith(_GUARDED) and headers.get("sec-fetch-mode", "").lower() != "navigate":
        raise RequestRefused(403, "origin", "another site's page may not read this")


def check_token(given: str, scope: Scope, sessions: Sessions, attempts: Pace) -> None:
    """Check a token; repeated guesses are delayed.

    Raises:
        Refused: it is wrong, or there have been too many wrong ones.
    """
    client = identify_client(scope)
    if wait_s := attempts.wait_s(client, cost=0.0):
        raise RequestRefused(
            429, "busy", "too many wrong tokens; wait a while", headers={"Retry-After": str(max(1, round(wait_s)))}
        )
    if not sessions.admits(given):
        attempts.wait_s(client)
        raise build_token_refusal()


def build_token_refusal() -> RequestRefused:
    """Return the refusal for a missing or wrong token."""
    return RequestRefused(
        401,
        "token",
        "this server wants its token: send it as Authorization: Bearer …, or sign in on the page",
        headers={"WWW-Authenticate": "Bearer"},
    )


def bearer(headers: Headers) -> str | None:
    """Return the token of a request's Authorization header; None if missing."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" and given.strip() else None


def session_cookie(headers: Headers) -> str | None:
    """Return the session's cookie; None if missing."""
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return morsel.value if morsel else None


def normalize_hosts(names: Iterable[str]) -> frozenset[str]:
    """Return names as they are compared; those that are no host are left out."""
    return frozenset(name for item in names if (name := host_name(item)))


def _authority(origin: str) -> str:
    scheme, _, rest = origin.partition("://")
    return _canonical(rest, origin) if scheme in ("http", "https") else "no page"


def _canonical(authority: str, origin: str) -> str:
    """Return a host with its port; the usual port of the origin's kind is left out."""
    usual = ":443" if origin.startswith("https://") else ":80"
    return authority.strip().lower().removesuffix(usual)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
