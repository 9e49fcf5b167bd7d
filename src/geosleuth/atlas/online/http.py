"""The HTTP client of all online services: checked addresses, bounded bodies, rate limits, retries, cache and record.

Against DNS rebinding, connections are pinned: a client that checks a host name and then connects by name may get
another address the second time. Here the network backend resolves the name itself and connects to the address it has
checked; TLS and the Host header still use the name.

`OnlineClient.ask` is the way of a request: it is answered from the cache or the record if possible; else it waits for
its host's next free slot, is retried with growing waits while the fault may pass, and fails at once while the host's
circuit breaker is open.
"""

import asyncio
import json
import logging
import math
import socket
import ssl
import threading
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpcore
import httpx

from geosleuth import __version__
from geosleuth.atlas.folders import cache_dir
from geosleuth.support.closing import AsyncClosing
from geosleuth.support.errors import BadInput, GeosleuthError, NotRecorded, Offline, ServiceFault
from geosleuth.support.limits import Breaker, TryLater, after_tries, backoff_s
from geosleuth.support.net import parse_host

from .access import (
    BearerKey,
    Credentials,
    OnlineSettings,
    Secret,
    check_addresses,
    check_consent,
    key_from_environment,
    resolve_redirect,
)
from .cache import AnswerCache, question_key
from .record import AnswerRecord, Recorded
from .replies import clean
from .shared_record import ask_shared

# The request extension that carries the API keys, so that they are not in a URL that may be logged.
CREDENTIALS = "geosleuth.credentials"

# The response extension that carries the target of a redirect.
LOCATION = "geosleuth.location"

_in_use: ContextVar[Credentials | None] = ContextVar("credentials in use", default=None)
_NOT_JSON = object()
# Maximum nesting of accepted JSON: more than twice what services send.
MAX_DEPTH = 40
_lock = threading.Lock()
_next_free: dict[str, float] = {}
_last_sent: dict[str, float] = {}
T = TypeVar("T")
_MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """A network backend that connects only to addresses that it has checked itself."""

    def __init__(self, settings: OnlineSettings) -> None:
        """Check addresses against the user's settings."""
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
        """Resolve the host, check all its addresses, and connect to the first that accepts the connection."""
        addresses = await self._resolve(host, port, timeout)
        check_addresses(host, addresses, self._settings)
        last_error: httpcore.ConnectError | None = None
        for address in addresses:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore.ConnectError as error:
                last_error = error
        raise last_error or httpcore.ConnectError("no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109  # the signature is httpcore's
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Refuse: no service listens on a Unix socket."""
        raise httpcore.UnsupportedProtocol(f"no connections to files ({path}, {timeout}, {socket_options})")

    async def sleep(self, seconds: float) -> None:
        """Sleep between httpcore's own retries."""
        await asyncio.sleep(seconds)

    async def _resolve(self, host: str, port: int, limit_s: float | None) -> list[str]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(limit_s):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout("name look-up") from error
        except (OSError, ValueError) as error:  # ValueError: the name can't be encoded
            raise Offline(host, "no such host could be found; are you online?") from error
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedTransport(httpx.AsyncBaseTransport):
    """A transport that uses the pinned backend and adds API keys as late as possible."""

    def __init__(self, settings: OnlineSettings) -> None:
        """Create the connection pool; no connection is opened yet."""
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
        """Send a request with its API keys."""
        request_extensions = dict(request.extensions)
        credentials = cast("Credentials", request_extensions.pop(CREDENTIALS, None) or Credentials())
        url = request.url.copy_merge_params({name: secret.reveal() for name, secret in credentials.params.items()})
        key_headers = [(name.encode(), secret.reveal().encode()) for name, secret in credentials.headers.items()]
        _in_use.set(credentials)
        with _as_httpx_errors():
            response = await self._pool.handle_async_request(
                httpcore.Request(
                    method=request.method,
                    url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=[*request.headers.raw, *key_headers],
                    content=request.stream,
                    extensions=request_extensions,
                )
            )
        # httpx parses the Location header even if it is not to follow redirects, and fails on malformed ones.
        headers = [pair for pair in response.headers if pair[0].lower() != b"location"]
        locations = [value.decode("latin-1") for name, value in response.headers if name.lower() == b"location"]
        extensions = {LOCATION: locations[0]} if locations else {}
        return httpx.Response(response.status, headers=headers, stream=_Body(response), extensions=extensions)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def _without_keys(record: logging.LogRecord) -> bool:
    """Remove keys from httpcore's debug log, which contains the full URL of a redirect."""
    credentials = _in_use.get()
    if credentials is not None:
        record.msg, record.args = credentials.scrub(record.getMessage()), ()
    return True


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx_errors():
            async for piece in self._response.aiter_stream():
                yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


@contextmanager
def _as_httpx_errors() -> Iterator[None]:
    """Turn errors of httpcore into those of httpx, with fixed messages that contain no URL."""
    try:
        yield
    except httpcore.TimeoutException as error:
        raise httpx.TimeoutException("time limit") from error
    except httpcore.ConnectError as error:
        raise httpx.ConnectError("no connection") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise httpx.RemoteProtocolError("broken connection") from error


async def read_body(response: httpx.Response, host: str, max_bytes: int) -> bytes:
    """Return the decompressed body of a streamed response.

    Raises:
        ServiceFault: it is longer than allowed, cut short, or in an encoding that was not requested.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower() or "identity"
    if encoding not in ("identity", "gzip", "x-gzip"):
        raise ServiceFault(host, "sent its answer in a compression that was not requested")
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > max_bytes:
        raise _too_long(host, max_bytes)
    decompressor = None if encoding == "identity" else zlib.decompressobj(wbits=31)
    body = bytearray()
    async for raw in response.aiter_raw():
        try:
            body += raw if decompressor is None else decompressor.decompress(raw, max_bytes + 1 - len(body))
        except zlib.error as error:
            raise ServiceFault(host, "sent a compressed answer that can't be decompressed", retryable=True) from error
        if len(body) > max_bytes:
            raise _too_long(host, max_bytes)
    if decompressor is not None and not decompressor.eof:
        raise ServiceFault(host, "its answer was cut short", retryable=True)
    return bytes(body)


def parse_json(body: bytes, host: str) -> object:
    """Parse a JSON body.

    Raises:
        ServiceFault: it is not JSON, contains NaN or an infinity, or is nested too deep.
    """
    parsed: object = _NOT_JSON
    with suppress(ValueError, RecursionError):
        parsed = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
    if parsed is _NOT_JSON:
        # Raised outside the handler, since the parser's error would keep the whole body alive as its cause.
        raise ServiceFault(host, "answered something that is not JSON")
    level, depth = [parsed], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ServiceFault(host, "answered JSON that is nested too deep")
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
        level = inner
    return parsed


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _too_long(host: str, max_bytes: int) -> ServiceFault:
    return ServiceFault(host, f"its answer is longer than {max_bytes:,} bytes and was not read")


def reserve(host: str, spacing_s: float, longest_s: float) -> float | None:
    """Reserve the next free time slot of a host; return the seconds until then, or None if over ``longest_s``.

    Slots are shared by the whole process, so that several atlases together keep to the rate limit. A slot that is
    reserved and not used is lost.
    """
    with _lock:
        now = time.monotonic()
        slot = max(now, _next_free.get(host, 0.0))
        if slot - now > longest_s:
            return None
        _next_free[host] = slot + spacing_s
        return slot - now


def claim(host: str, spacing_s: float) -> float:
    """Claim the present moment once a reserved slot has come; return 0, or the seconds to wait before trying again.

    A busy event loop wakes up late; without this second check, two requests whose slots both passed would be sent at
    the same time.
    """
    with _lock:
        now = time.monotonic()
        missing_s = _last_sent.get(host, -math.inf) + spacing_s - now
        if missing_s > 0:
            return missing_s
        _last_sent[host] = now
        return 0.0


def postpone(host: str, wait_s: float) -> None:
    """Reserve no slot of a host before ``wait_s`` have passed, as it requested."""
    with _lock:
        _next_free[host] = max(_next_free.get(host, 0.0), time.monotonic() + wait_s)


def as_fault(error: Exception, host: str, credentials: Credentials) -> ServiceFault:
    """Return the `ServiceFault` for an error of the client, the network or the decoder."""
    if isinstance(error, ServiceFault):
        return error
    if isinstance(error, GeosleuthError):
        return ServiceFault(host, credentials.scrub(str(error)))
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return ServiceFault(host, "did not answer in time", retryable=True)
    if isinstance(error, httpx.InvalidURL):
        return ServiceFault(host, "has an invalid address")
    if isinstance(error, httpx.ConnectError):
        return Offline(host, "can't be reached; are you online, and is the service up?")
    return ServiceFault(host, "its answer was cut short", retryable=True)


def refusal(response: httpx.Response, host: str, excerpt: str, credentials: Credentials) -> ServiceFault:
    """Return the fault for an HTTP status that is not accepted; ``excerpt`` is from the response's body."""
    status = response.status_code
    quote = f': "{excerpt}"' if excerpt else ""
    if status in (401, 403):
        keys = " and ".join(secret.variable for secret in credentials.secrets)
        hint = f"; check the key in {keys}" if keys else "; its terms of use may say why"
        return ServiceFault(host, f"refused the request (status {status}){hint}{quote}")
    if status == httpx.codes.TOO_MANY_REQUESTS or status >= 500:
        trouble = "is asked too often" if status == httpx.codes.TOO_MANY_REQUESTS else "failed"
        wait_s = _retry_after_s(response.headers.get("retry-after", ""))
        if wait_s > 0:
            return TryLater(host, f"{trouble} (status {status}) and asks to wait {wait_s:.0f} s{quote}", wait_s)
        return ServiceFault(host, f"{trouble} (status {status}){quote}", retryable=True)
    return ServiceFault(host, f"did not accept the request (status {status}){quote}")


def _retry_after_s(header: str) -> float:
    """Parse a Retry-After header, which holds seconds or a date; 0 if it is missing or malformed."""
    header = header.strip()
    if header.isdecimal():
        return float(header[:9])
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    wait_s: float = (moment - datetime.now(UTC)).total_seconds()
    return max(0.0, wait_s)


async def extract_excerpt(response: httpx.Response, host: str) -> str:
    """Return the beginning of an error response, if it is plain text or JSON; else empty."""
    if not response.headers.get("content-type", "").startswith(("text/plain", "application/json")):
        return ""
    try:
        body = await read_body(response, host, 64 * 1024)
    except (ServiceFault, httpx.HTTPError):
        return ""
    return clean(body.decode("utf-8", "replace"), 200)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRequest:
    """A request to a service.

    Attributes:
        url: the address, without API keys.
        params: query parameters, without API keys.
        method: the HTTP method.
        body: the body of a POST.
        headers: additional headers, without API keys.
        credentials: the API keys.
        keep_s: how long the answer is cached; 0 for not at all.
        spacing_s: the provider's time between requests; the user's settings take precedence.
        absent: the HTTP statuses that mean "there is no such thing".
        accepted: the HTTP statuses of an answer.
    """

    url: str
    params: Sequence[tuple[str, str]] = ()
    method: Literal["GET", "HEAD", "POST"] = "GET"
    body: bytes | None = None
    headers: Sequence[tuple[str, str]] = ()
    credentials: Credentials = field(default_factory=Credentials)
    keep_s: float = 0.0
    spacing_s: float = 0.0
    absent: tuple[int, ...] = ()
    accepted: tuple[int, ...] = (200,)

    def to_wire(self) -> dict[str, Any]:
        """Return the question as JSON for another process on this machine; keys by their variables' names only."""
        named = ("url", "params", "method", "headers", "spacing_s", "absent", "accepted")
        return {
            **{name: getattr(self, name) for name in named},
            "body": None if self.body is None else b64encode(self.body).decode(),
            "keys": [
                [place, field, secret.variable, isinstance(secret, BearerKey)]
                for place in ("params", "headers")
                for field, secret in getattr(self.credentials, place).items()
            ],
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any], settings: OnlineSettings) -> "ServiceRequest":
        """Return the question from `to_wire`, with the keys in this process's environment.

        Raises:
            BadInput: a key is not in the environment.
        """
        keys: dict[str, dict[str, Secret]] = {"params": {}, "headers": {}}
        for place, field_name, variable, is_bearer in wire["keys"]:
            secret = key_from_environment(variable, parse_host(wire["url"]), settings)
            keys[place][field_name] = BearerKey(secret.reveal(), variable) if is_bearer else secret
        return cls(
            url=wire["url"],
            params=tuple((name, value) for name, value in wire["params"]),
            method=wire["method"],
            body=None if wire["body"] is None else b64decode(wire["body"]),
            headers=tuple((name, value) for name, value in wire["headers"]),
            credentials=Credentials(**keys),
            spacing_s=wire["spacing_s"],
            absent=tuple(wire["absent"]),
            accepted=tuple(wire["accepted"]),
        )

    @property
    def shown(self) -> str:
        """Return the request in one line, for messages."""
        query = urlencode(list(self.params))
        body = f" {self.body[:200].decode('utf-8', 'replace')}" if self.body else ""
        return f"{self.method} {self.url}{'?' if query else ''}{query}{body}"


class OnlineClient(AsyncClosing):
    """Sends requests to services as the user's settings allow. Use it as an async context manager, or close it.

    A client serves one event loop at a time; in a new loop it opens new connections.
    """

    def __init__(self, settings: OnlineSettings) -> None:
        """Create a client; nothing is sent yet."""
        self.settings = settings
        path = settings.cache_path or cache_dir() / "online.sqlite"
        self._cache = AnswerCache(path, settings.cache_max_bytes)
        self._record = AnswerRecord(settings.record.path) if settings.record else None
        self.sent = 0
        self._breakers: dict[str, Breaker] = {}
        self._http: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def aclose(self) -> None:
        """Close every connection; the client may be used again."""
        http, self._http = self._http, None
        if http is not None and self._loop is asyncio.get_running_loop():
            await http.aclose()

    async def json(self, question: ServiceRequest, check: Callable[[object], None] | None = None) -> object:
        """Return a service's JSON answer, parsed; None if the service reports that there is no such thing.

        ``check`` raises `ServiceFault` for an answer that reports a failure in its body; such an answer is not cached.
        """
        host = check_consent(question.url, self.settings)

        def decode(body: bytes) -> object:
            parsed = parse_json(body, host)
            if check is not None:
                check(parsed)
            return parsed

        return await self.ask(question, decode)

    async def ask(self, question: ServiceRequest, decode: Callable[[bytes], T]) -> T | None:
        """Return a service's answer, decoded; None if the service reports that there is no such thing.

        Raises:
            BadInput: the user has not allowed the host.
            ServiceFault: the service failed permanently, or in all tries that the settings allow.
        """
        check_consent(question.url, self.settings)
        key = question_key(question.method, question.url, question.params, question.body)
        if self._record is not None:
            return await self._ask_record(self._record, key, question, decode)
        if question.keep_s > 0:
            cached = await asyncio.to_thread(self._cache.get, key)
            if cached is not None:
                try:
                    return decode(cached)
                except ServiceFault:
                    await asyncio.to_thread(self._cache.forget, key)
        body, decoded = await self._send_with_retries(question, decode)
        if body is None or decoded is None:
            return None
        if question.keep_s > 0 and not question.credentials.are_leaked(body):
            await asyncio.to_thread(self._cache.put, key, body, question.keep_s)
        return decoded

    async def _ask_record(
        self, record: AnswerRecord, key: bytes, question: ServiceRequest, decode: Callable[[bytes], T]
    ) -> T | None:
        """Return the recorded answer, or send the question and record its outcome."""
        host, recording = parse_host(question.url), self.settings.record
        if recording is not None and recording.shared and not recording.only:
            return await self._ask_server(recording.path, question, decode)
        recorded = await asyncio.to_thread(record.get, key, failures=self.settings.only_recorded)
        if recorded is None and recording is not None and recording.only:
            raise NotRecorded(
                f"{recording.path}: holds no answer to {question.shown} (key {key.hex()[:16]}), and only recorded "
                "answers may be used"
            )
        if recorded is None:
            try:
                body, _ = await self._send_with_retries(question, decode)
                received = Recorded(body)
            except ServiceFault as fault:
                received = Recorded(trouble=fault.trouble)
            if received.body is not None and question.credentials.are_leaked(received.body):
                return decode(received.body)
            recorded = await asyncio.to_thread(record.keep, key, received)
        if recorded.trouble is not None:
            raise ServiceFault(host, recorded.trouble)
        return None if recorded.body is None else decode(recorded.body)

    async def _ask_server(self, record: Path, question: ServiceRequest, decode: Callable[[bytes], T]) -> T | None:
        """Return the answer of the process that sends requests for all workers on this machine."""
        # The server asks again if its recorded answer has the checksum `bad`.
        host, wire, bad = parse_host(question.url), question.to_wire(), None
        for attempt in range(1, self.settings.tries + 1):
            reply = await ask_shared(record, {"question": wire, "bad": bad})
            if "unusable" in reply:
                raise BadInput(reply["unusable"])
            if reply["trouble"] is not None:
                raise ServiceFault(host, reply["trouble"], retryable=reply["retryable"])
            if reply["body"] is None:
                return None
            body = b64decode(reply["body"])
            try:
                return decode(body)
            except ServiceFault as fault:
                if not fault.retryable or attempt == self.settings.tries:
                    raise
                bad = sha256(body).hexdigest()
        raise AssertionError("the last try either answers or raises")

    async def fetch(self, question: ServiceRequest) -> bytes | None:
        """Return a service's answer without cache and record; None if it reports that there is no such thing.

        Raises:
            BadInput: the user has not allowed the host.
            ServiceFault: the service failed permanently, or in all tries that the settings allow.
        """
        body, _ = await self._send_with_retries(question, lambda body: body)
        return body

    async def _send_with_retries(
        self, question: ServiceRequest, decode: Callable[[bytes], T]
    ) -> tuple[bytes | None, T | None]:
        """Send a question up to the allowed number of times; return the body and its decoded form."""
        host = check_consent(question.url, self.settings)
        settings, origin = self.settings, urlsplit(question.url).netloc.lower()
        breaker = self._breakers.setdefault(origin, Breaker(settings.breaker_failures, settings.breaker_rest_s))
        deadline: float | None = None
        for attempt in range(1, settings.tries + 1):
            await self._wait_for_turn(question, host, origin, deadline)
            # The time limit is for the service; the wait for the first slot in our own queue does not count.
            deadline = deadline or time.monotonic() + settings.total_s
            if not breaker.enter():
                rest_s = max(1, round(breaker.rest_left_s))
                raise ServiceFault(host, f"failed again and again and is left alone for {rest_s} s", retryable=True)
            try:
                async with asyncio.timeout(max(0.01, deadline - time.monotonic())):
                    body = await self._send(question, host)
                    decoded = None if body is None else decode(body)
            except (GeosleuthError, httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
                fault = as_fault(error, host, question.credentials)
                if not fault.retryable:
                    breaker.record_success()
                    raise fault from None
                breaker.failed()
                wait_s = max(self.backoff_s(attempt), fault.wait_s if isinstance(fault, TryLater) else 0.0)
                left_s = deadline - time.monotonic()
                if attempt == settings.tries or wait_s >= left_s or breaker.rest_left_s > 0:
                    raise after_tries(fault, attempt) from None
                if isinstance(fault, TryLater):
                    postpone(origin, wait_s)
                await asyncio.sleep(wait_s)
            except BaseException:
                breaker.release_probe()
                raise
            else:
                breaker.record_success()
                return body, decoded
        raise AssertionError("the last try either answers or raises")

    async def _wait_for_turn(self, question: ServiceRequest, host: str, origin: str, deadline: float | None) -> None:
        """Wait until the rate limit of an origin (host and port) allows the next request."""
        settings = self.settings
        spacing_s = settings.spacing_s.get(host, 0.0 if host in settings.private_hosts else question.spacing_s)
        longest_s = settings.queue_s if deadline is None else max(0.0, deadline - time.monotonic())
        wait_s = reserve(origin, spacing_s, longest_s)
        if wait_s is None:
            raise ServiceFault(host, f"too many requests wait for their turn (over {longest_s:.0f} s)", retryable=True)
        self._client()  # created before the slot comes, since that takes a while
        await asyncio.sleep(wait_s)
        while (wait_s := claim(origin, spacing_s)) > 0:  # noqa: ASYNC110  # waits for a time, not for an event
            await asyncio.sleep(wait_s)

    @asynccontextmanager
    async def stream(self, question: ServiceRequest) -> AsyncIterator[httpx.Response]:
        """Send a question once, without retries, follow redirects, and yield the response with its body unread.

        Raises:
            BadInput: the user has not allowed the host.
            ServiceFault: the service failed, refused the request, or cut its answer short.
        """
        host = check_consent(question.url, self.settings)
        try:
            async with self._response(question, host) as response:
                yield response
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise as_fault(error, host, question.credentials) from None

    async def _send(self, question: ServiceRequest, host: str) -> bytes | None:
        """Send a question once, follow redirects, and return the body; None for a status in ``absent``."""
        self.sent += 1
        async with self._response(question, host) as response:
            if response.status_code in question.absent:
                return None
            return await read_body(response, host, self.settings.max_bytes)

    @asynccontextmanager
    async def _response(self, question: ServiceRequest, host: str) -> AsyncIterator[httpx.Response]:
        """Send a question, follow redirects, and yield the response if its status is accepted or means absence."""
        query = urlencode(list(question.params))
        url = f"{question.url}{'&' if '?' in question.url else '?'}{query}" if query else question.url
        for _ in range(_MAX_REDIRECTS + 1):
            request = self._client().build_request(
                question.method,
                url,
                content=question.body,
                headers=list(question.headers),
                extensions={CREDENTIALS: question.credentials, "timeout": self._time_limits()},
            )
            response = await self._client().send(request, stream=True)
            try:
                if response.status_code in _REDIRECTS and LOCATION in response.extensions:
                    url = self._redirect_url(question, host, url, response)
                    continue
                if response.status_code in (*question.accepted, *question.absent):
                    yield response
                    return
                excerpt = await extract_excerpt(response, host)
                raise refusal(response, host, question.credentials.scrub(excerpt), question.credentials)
            finally:
                await response.aclose()
        raise ServiceFault(host, "redirects in circles")

    def _redirect_url(self, question: ServiceRequest, host: str, old: str, response: httpx.Response) -> str:
        if question.method == "POST" and response.status_code not in (307, 308):
            raise ServiceFault(host, "redirects a request that can't be sent elsewhere")
        new = resolve_redirect(old, str(response.extensions[LOCATION]))
        check_consent(new, self.settings)
        # A service may repeat the query with the key in it; drop the key here, since the transport adds it again.
        parts = urlsplit(new)
        kept = [
            pair
            for pair in parse_qsl(parts.query, keep_blank_values=True)
            if pair[0] not in question.credentials.params
        ]
        return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(kept), ""))

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._http is None or self._loop is not loop:
            contact = f" (+{self.settings.contact})" if self.settings.contact else ""
            self._http = httpx.AsyncClient(
                transport=GuardedTransport(self.settings),
                headers={
                    "user-agent": f"geosleuth/{__version__}{contact}",
                    "accept-encoding": "gzip",
                    "accept": "*/*",
                },
                follow_redirects=False,
                trust_env=False,
            )
            self._http.headers.pop("connection", None)
            self._loop = loop
        return self._http

    def _time_limits(self) -> dict[str, float]:
        settings = self.settings
        return {
            "connect": settings.connect_s,
            "read": settings.read_s,
            "write": settings.read_s,
            "pool": settings.total_s,
        }

    def backoff_s(self, attempt: int) -> float:
        """Return the wait after a failed try: exponential, with random jitter."""
        return backoff_s(attempt, self.settings.backoff_s, self.settings.backoff_max_s)
