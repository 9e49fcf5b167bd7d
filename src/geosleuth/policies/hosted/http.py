"""The way onto the wire: no redirects, no endless replies, no compression that hides how long a reply is.

Most providers' packages use httpx2, one still uses httpx; the two take the same arguments and hooks.
"""

import ssl
from collections.abc import AsyncIterator
from typing import Any

import httpx
import httpx2

from geosleuth.errors import ServiceFault
from geosleuth.policies.endpoints import EndpointSettings
from geosleuth.policies.services import Target

_REDIRECTS = range(300, 400)


def new_client(target: Target, settings: EndpointSettings) -> httpx2.AsyncClient:
    """A client for one target; whoever makes it closes it."""
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(settings.try_s, connect=settings.connect_s),
        limits=httpx2.Limits(max_connections=settings.concurrency),
        **_options(target, settings),
    )


def new_legacy_client(target: Target, settings: EndpointSettings) -> httpx.AsyncClient:
    """The same for packages that have not moved to httpx2."""
    return httpx.AsyncClient(
        timeout=httpx.Timeout(settings.try_s, connect=settings.connect_s),
        limits=httpx.Limits(max_connections=settings.concurrency),
        **_options(target, settings),
    )


def _options(target: Target, settings: EndpointSettings) -> dict[str, Any]:
    async def check(response: Any) -> None:
        _check(response, target.host, settings.max_reply_bytes)

    return {
        "follow_redirects": False,
        # No proxy and no .netrc of the environment: photos and keys go to the host that was named, and past no other.
        "trust_env": False,
        "verify": _certificates(target.host) if target.base_url.lower().startswith("https:") else True,
        "headers": {"Accept-Encoding": "identity"},
        "event_hooks": {"response": [check]},
    }


def _certificates(host: str) -> ssl.SSLContext:
    """The system's, or those that SSL_CERT_FILE or SSL_CERT_DIR name: whom to trust sends nothing anywhere.

    Raises:
        ServiceFault: they can't be read.
    """
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        trouble = f"can't be asked: the certificates that SSL_CERT_FILE or SSL_CERT_DIR name can't be read: {error}"
        raise ServiceFault(host, trouble) from error


def _check(response: Any, host: str, max_bytes: int) -> None:
    """Look at a reply before its body is read."""
    if response.status_code in _REDIRECTS:
        raise ServiceFault(
            host, f"redirects (status {response.status_code}); photos are not sent on: give its new address"
        )
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ServiceFault(host, "sends a compressed reply, which it was asked not to")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length[:18]) > max_bytes:
        raise _too_long(host, max_bytes)
    response.stream = _Capped(response.stream, host, max_bytes)


class _Capped(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    """A body that breaks off with an error when it gets too long."""

    def __init__(self, inner: Any, host: str, max_bytes: int) -> None:
        self._inner = inner
        self._host = host
        self._left = self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._left -= len(piece)
            if self._left < 0:
                raise _too_long(self._host, self._max_bytes)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def _too_long(host: str, max_bytes: int) -> ServiceFault:
    return ServiceFault(host, f"sends a reply of more than {max_bytes} bytes; this is no model's reply")
