"""The way onto the wire: names are resolved once, checked and pinned; keys are added last.

A client that checks a name and then connects by name can be given another address the second time. Here the backend
that opens the connection does the look-up itself and connects to the very address it has checked, while the name stays
what TLS and the Host header show.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import cast

import httpcore
import httpx

from geosleuth.errors import Offline

from .access import Credentials, OnlineSettings, check_addresses

CREDENTIALS = "geosleuth.credentials"
"""Under this name a request's extensions carry its keys past everything that may log an address."""

LOCATION = "geosleuth.location"
"""Under this name a response's extensions carry where a redirect leads."""


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections to addresses that were checked, and to no others."""

    def __init__(self, settings: OnlineSettings) -> None:
        """Check by the user's settings."""
        self._settings = settings
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve, check every address, and connect to the first that answers."""
        addresses = await self._resolve(host, port, timeout)
        check_addresses(host, addresses, self._settings)
        trouble: httpcore.ConnectError | None = None
        for address in addresses:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore.ConnectError as error:
                trouble = error
        raise trouble or httpcore.ConnectError("no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109  # the signature is httpcore's
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Never: there is no service behind a file."""
        raise httpcore.UnsupportedProtocol(f"no connections to files ({path}, {timeout}, {socket_options})")

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore asks between its own tries."""
        await asyncio.sleep(seconds)

    async def _resolve(self, host: str, port: int, limit_s: float | None) -> list[str]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(limit_s):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout("name look-up") from error
        except (OSError, ValueError) as error:  # a name that can't be spelled on the wire is a ValueError
            raise Offline(host, "no such host could be found; are you online?") from error
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends requests through the pinned backend, with their keys put in at the last moment."""

    def __init__(self, settings: OnlineSettings) -> None:
        """Make a pool of connections; none is opened yet."""
        for name in ("httpcore.connection", "httpcore.http11", "httpcore.http2"):
            logging.getLogger(name).addFilter(_without_keys)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_ssl_context(),
            network_backend=PinnedBackend(settings),
            max_connections=16,
            max_keepalive_connections=8,
            keepalive_expiry=15.0,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        extensions = dict(request.extensions)
        credentials = cast("Credentials", extensions.pop(CREDENTIALS, None) or Credentials())
        url = request.url.copy_merge_params({name: one.reveal() for name, one in credentials.params.items()})
        extra = [(name.encode(), secret.reveal().encode()) for name, secret in credentials.headers.items()]
        _in_use.set(credentials)
        with _translated():
            response = await self._pool.handle_async_request(
                httpcore.Request(
                    method=request.method,
                    url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=[*request.headers.raw, *extra],
                    content=request.stream,
                    extensions=extensions,
                )
            )
        # The client reads the address of a redirect even where it is not to follow one, and stumbles over odd ones.
        headers = [pair for pair in response.headers if pair[0].lower() != b"location"]
        told = [value.decode("latin-1") for name, value in response.headers if name.lower() == b"location"]
        return httpx.Response(
            response.status, headers=headers, stream=_Body(response), extensions={LOCATION: told[0]} if told else {}
        )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


@cache
def _ssl_context() -> ssl.SSLContext:
    """Reading all certificates takes a while; once is enough."""
    return httpx.create_ssl_context()


_in_use: ContextVar[Credentials | None] = ContextVar("credentials in use", default=None)


def _without_keys(record: logging.LogRecord) -> bool:
    """Take keys out of what httpcore logs for debugging: it writes down a redirect's address, key and all."""
    credentials = _in_use.get()
    if credentials is not None:
        record.msg, record.args = credentials.scrub(record.getMessage()), ()
    return True


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translated():
            async for piece in self._response.aiter_stream():
                yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the pool's errors into those of the client above it; what they say never holds an address."""
    try:
        yield
    except httpcore.TimeoutException as error:
        raise httpx.TimeoutException("time limit") from error
    except httpcore.ConnectError as error:
        raise httpx.ConnectError("no connection") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise httpx.RemoteProtocolError("broken connection") from error
