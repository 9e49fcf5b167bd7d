"""The one client through which all online services are asked: pinned addresses, bounded bodies, paced requests.

A client that checks a name and then connects by name can be given another address the second time. Here the backend
that opens the connection does the look-up itself and connects to the very address it has checked, while the name stays
what TLS and the Host header show.

A request waits for its host's turn, is tried again with growing waits where the trouble may pass, gives way where a
host keeps failing, and is answered from the cache where it was asked before.
"""

import asyncio
import json
import logging
import math
import random
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
from types import TracebackType
from typing import Any, Literal, NoReturn, Self, TypeVar, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpcore
import httpx

from geosleuth import __version__
from geosleuth.atlas.folders import cache_dir
from geosleuth.errors import BadInput, GeosleuthError, NotRecorded, Offline, ServiceFault
from geosleuth.net import host_of

from .access import (
    BearerKey,
    Credentials,
    OnlineSettings,
    Secret,
    check_addresses,
    check_consent,
    key_from_environment,
    redirected,
)
from .cache import AnswerCache, question_key
from .record import AnswerRecord, Recorded
from .replies import clean
from .shared_record import ask_shared

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


_NOT_JSON = object()
MAX_DEPTH = 40
"""No service nests its answers half as deep."""


async def read_body(response: httpx.Response, host: str, max_bytes: int) -> bytes:
    """The whole body of a streamed response.

    Raises:
        ServiceFault: it is longer than allowed, packed in a way that was not asked for, or cut short.
    """
    packing = response.headers.get("content-encoding", "identity").strip().lower() or "identity"
    if packing not in ("identity", "gzip", "x-gzip"):
        raise ServiceFault(host, "sent its answer packed in a way that was not asked for")
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > max_bytes:
        raise _too_long(host, max_bytes)
    unpacker = None if packing == "identity" else zlib.decompressobj(wbits=31)
    body = bytearray()
    async for raw in response.aiter_raw():
        try:
            body += raw if unpacker is None else unpacker.decompress(raw, max_bytes + 1 - len(body))
        except zlib.error as error:
            raise ServiceFault(host, "sent a packed answer that can't be unpacked", retryable=True) from error
        if len(body) > max_bytes:
            raise _too_long(host, max_bytes)
    if unpacker is not None and not unpacker.eof:
        raise ServiceFault(host, "its answer was cut short", retryable=True)
    return bytes(body)


def parse_json(body: bytes, host: str) -> object:
    """What a JSON answer says.

    Raises:
        ServiceFault: it is not JSON, holds numbers that are none, or is nested absurdly.
    """
    parsed: object = _NOT_JSON
    with suppress(ValueError, RecursionError):
        parsed = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
    if parsed is _NOT_JSON:
        # Raised out here, for the parser's own error would carry the whole answer along.
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


class Breaker:
    """Closed: requests pass. Open, after failures in a row: none does. Half open, after a rest: one does."""

    def __init__(self, failures: int, rest_s: float) -> None:
        """Open after so many failures, for so long."""
        self._limit = failures
        self._rest_s = rest_s
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether the host is left alone, but for a probe."""
        return self._opened_at is not None

    @property
    def rest_left_s(self) -> float:
        """How long until the next request may pass; 0 where it may now."""
        if self._opened_at is None:
            return 0.0
        left = self._opened_at + self._rest_s - time.monotonic()
        return max(left, 0.1 if self._probing else 0.0)

    def enter(self) -> bool:
        """Whether a request may pass now; in the half-open state the one that passes is the probe."""
        if self._opened_at is None:
            return True
        if self.rest_left_s > 0:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        """The host answered: all is well again."""
        self._failures = 0
        self._opened_at = None
        self._probing = False

    def failed(self) -> None:
        """The host failed once more."""
        self._failures += 1
        if self._probing or self._failures >= self._limit:
            self._opened_at = time.monotonic()
        self._probing = False

    def abandoned(self) -> None:
        """The request was given up before the host could answer; another one may probe."""
        self._probing = False


_lock = threading.Lock()
_next_free: dict[str, float] = {}
_last_sent: dict[str, float] = {}


def reserve(host: str, spacing_s: float, longest_s: float) -> float | None:
    """Take the next free moment of a host; the seconds until then, or None where that is longer than bearable.

    The moments belong to the whole process, so that two atlases can't together ask twice as often. A moment that is
    taken and not used is lost.
    """
    with _lock:
        now = time.monotonic()
        moment = max(now, _next_free.get(host, 0.0))
        if moment - now > longest_s:
            return None
        _next_free[host] = moment + spacing_s
        return moment - now


def claim(host: str, spacing_s: float) -> float:
    """Take this very moment, once a reserved one has come; 0 on success, else the seconds that are still missing.

    A program that was busy wakes up late, and two requests whose moments have both passed would leave together.
    """
    with _lock:
        now = time.monotonic()
        missing_s = _last_sent.get(host, -math.inf) + spacing_s - now
        if missing_s > 0:
            return missing_s
        _last_sent[host] = now
        return 0.0


def postpone(host: str, wait_s: float) -> None:
    """Leave a host alone for a while, as it asked."""
    with _lock:
        _next_free[host] = max(_next_free.get(host, 0.0), time.monotonic() + wait_s)


class Busy(ServiceFault):
    """The service asks to come back later; ``wait_s`` says when."""

    def __init__(self, host: str, trouble: str, wait_s: float) -> None:
        super().__init__(host, trouble, retryable=True)
        self.wait_s = wait_s


def as_fault(error: Exception, host: str, credentials: Credentials) -> ServiceFault:
    """What an error of the client, the network or the decoder means for the one who asked."""
    if isinstance(error, ServiceFault):
        return error
    if isinstance(error, GeosleuthError):
        return ServiceFault(host, credentials.scrub(str(error)))
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return ServiceFault(host, "did not answer in time", retryable=True)
    if isinstance(error, httpx.InvalidURL):
        return ServiceFault(host, "has an address that can't be asked")
    if isinstance(error, httpx.ConnectError):
        return Offline(host, "can't be reached; are you online, and is the service up?")
    return ServiceFault(host, "its answer was cut short", retryable=True)


def after_tries(fault: ServiceFault, attempts: int) -> ServiceFault:
    """The fault that is raised in the end, with how often it was tried."""
    times = "" if attempts == 1 else f" (tried {attempts} times)"
    if isinstance(fault, Offline):
        return Offline(fault.host, fault.trouble + times)
    return ServiceFault(fault.host, fault.trouble + times, retryable=True)


def refusal(response: httpx.Response, host: str, excerpt: str, credentials: Credentials) -> ServiceFault:
    """What a status other than 200 means."""
    status = response.status_code
    said = f': "{excerpt}"' if excerpt else ""
    if status in (401, 403):
        keys = " and ".join(secret.variable for secret in credentials.secrets)
        hint = f"; check the key in {keys}" if keys else "; its terms of use may say why"
        return ServiceFault(host, f"refused the request (status {status}){hint}{said}")
    if status == httpx.codes.TOO_MANY_REQUESTS or status >= 500:
        trouble = "is asked too often" if status == httpx.codes.TOO_MANY_REQUESTS else "failed"
        wait_s = _retry_after_s(response.headers.get("retry-after", ""))
        if wait_s > 0:
            return Busy(host, f"{trouble} (status {status}) and asks to wait {wait_s:.0f} s{said}", wait_s)
        return ServiceFault(host, f"{trouble} (status {status}){said}", retryable=True)
    return ServiceFault(host, f"did not accept the request (status {status}){said}")


def _retry_after_s(header: str) -> float:
    """The wait a service asks for, in seconds or as a date; 0 where it asks for none."""
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


async def excerpt_of(response: httpx.Response, host: str) -> str:
    """The beginning of what a failing service says, where that is plain text or JSON."""
    if not response.headers.get("content-type", "").startswith(("text/plain", "application/json")):
        return ""
    try:
        body = await read_body(response, host, 64 * 1024)
    except (ServiceFault, httpx.HTTPError):
        return ""
    return clean(body.decode("utf-8", "replace"), 200)


T = TypeVar("T")

_MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_random = random.SystemRandom()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing to ask a service. Keys travel apart from the rest, in ``credentials``.

    ``spacing_s`` is the provider's own distance between requests, which the user's settings may overrule;
    ``absent`` lists the statuses that mean "there is no such thing", ``accepted`` those of an answer.
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
        """Return the question for another process of this machine: keys by the names of their variables alone."""
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
    def from_wire(cls, wire: Mapping[str, Any], settings: OnlineSettings) -> "Question":
        """Return the question again, with the keys that this process's environment holds.

        Raises:
            BadInput: a key is not in the environment.
        """
        keys: dict[str, dict[str, Secret]] = {"params": {}, "headers": {}}
        for place, field_name, variable, is_bearer in wire["keys"]:
            secret = key_from_environment(variable, host_of(wire["url"]), settings)
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
        """What is asked, in a line for messages."""
        query = urlencode(list(self.params))
        body = f" {self.body[:200].decode('utf-8', 'replace')}" if self.body else ""
        return f"{self.method} {self.url}{'?' if query else ''}{query}{body}"


class OnlineClient:
    """Asks services by the user's settings. Use it as an async context manager, or close it.

    One client serves one event loop at a time; in a new loop it starts with fresh connections.
    """

    def __init__(self, settings: OnlineSettings) -> None:
        """Make a client; nothing is sent yet."""
        self.settings = settings
        path = settings.cache_path or cache_dir() / "online.sqlite"
        self._cache = AnswerCache(path, settings.cache_max_bytes)
        self._record = AnswerRecord(settings.record.path) if settings.record else None
        self.sent = 0
        self._breakers: dict[str, Breaker] = {}
        self._http: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection; the client may be used again."""
        http, self._http = self._http, None
        if http is not None and self._loop is asyncio.get_running_loop():
            await http.aclose()

    async def json(self, question: Question, check: Callable[[object], None] | None = None) -> object:
        """What a service answers in JSON; None where it says that there is no such thing.

        ``check`` looks at the parsed answer and raises `ServiceFault` where it reports a failure in its body; only an
        answer that passes is kept.
        """
        host = check_consent(question.url, self.settings)

        def decode(body: bytes) -> object:
            parsed = parse_json(body, host)
            if check is not None:
                check(parsed)
            return parsed

        return await self.ask(question, decode)

    async def ask(self, question: Question, decode: Callable[[bytes], T]) -> T | None:
        """What a service answers, decoded; None where it says that there is no such thing.

        Raises:
            BadInput: the user has not allowed the host.
            ServiceFault: the service failed for good, or for as long as the settings allow to try.
        """
        check_consent(question.url, self.settings)
        key = question_key(question.method, question.url, question.params, question.body)
        if self._record is not None:
            return await self._recorded(self._record, key, question, decode)
        if question.keep_s > 0:
            kept = await asyncio.to_thread(self._cache.get, key)
            if kept is not None:
                try:
                    return decode(kept)
                except ServiceFault:
                    await asyncio.to_thread(self._cache.forget, key)
        body, decoded = await self._persist(question, decode)
        if body is None or decoded is None:
            return None
        if question.keep_s > 0 and not any(secret.is_in(body) for secret in question.credentials.secrets):
            await asyncio.to_thread(self._cache.put, key, body, question.keep_s)
        return decoded

    async def _recorded(
        self, record: AnswerRecord, key: bytes, question: Question, decode: Callable[[bytes], T]
    ) -> T | None:
        """What a service answered when it was first asked; it is asked now where it never was."""
        host, recording = host_of(question.url), self.settings.record
        if recording is not None and recording.shared and not recording.only:
            return await self._from_server(recording.path, question, decode)
        kept = await asyncio.to_thread(record.get, key, failures=self.settings.only_recorded)
        if kept is None and recording is not None and recording.only:
            raise NotRecorded(
                f"{recording.path}: holds no answer to {question.shown} (key {key.hex()[:16]}), and nobody may be asked"
            )
        if kept is None:
            try:
                body, _ = await self._persist(question, decode)
                came = Recorded(body)
            except ServiceFault as fault:
                came = Recorded(trouble=fault.trouble)
            if came.body is not None and any(secret.is_in(came.body) for secret in question.credentials.secrets):
                return decode(came.body)
            kept = await asyncio.to_thread(record.keep, key, came)
        if kept.trouble is not None:
            raise ServiceFault(host, kept.trouble)
        return None if kept.body is None else decode(kept.body)

    async def _from_server(self, record: Path, question: Question, decode: Callable[[bytes], T]) -> T | None:
        """What the one process of this machine answers that asks for all."""
        host, wire, bad = host_of(question.url), question.to_wire(), None
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

    async def fetch(self, question: Question) -> bytes | None:
        """What a service answers now, past cache and record; None where it says that there is no such thing.

        Raises:
            BadInput: the user has not allowed the host.
            ServiceFault: the service failed for good, or for as long as the settings allow to try.
        """
        body, _ = await self._persist(question, lambda body: body)
        return body

    async def _persist(self, question: Question, decode: Callable[[bytes], T]) -> tuple[bytes | None, T | None]:
        host = check_consent(question.url, self.settings)
        settings, origin = self.settings, urlsplit(question.url).netloc.lower()
        breaker = self._breakers.setdefault(origin, Breaker(settings.breaker_failures, settings.breaker_rest_s))
        deadline: float | None = None
        for attempt in range(1, settings.tries + 1):
            await self._wait_for_turn(question, host, origin, deadline)
            # The time limit is for the service; waiting in our own queue for the first turn does not count.
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
                    breaker.succeeded()
                    raise fault from None
                breaker.failed()
                wait_s = max(self.backoff_s(attempt), fault.wait_s if isinstance(fault, Busy) else 0.0)
                left_s = deadline - time.monotonic()
                if attempt == settings.tries or wait_s >= left_s or breaker.rest_left_s > 0:
                    raise after_tries(fault, attempt) from None
                if isinstance(fault, Busy):
                    postpone(origin, wait_s)
                await asyncio.sleep(wait_s)
            except BaseException:
                breaker.abandoned()
                raise
            else:
                breaker.succeeded()
                return body, decoded
        raise AssertionError("the last try either answers or raises")

    async def _wait_for_turn(self, question: Question, host: str, origin: str, deadline: float | None) -> None:
        settings = self.settings
        spacing_s = settings.spacing_s.get(host, 0.0 if host in settings.private_hosts else question.spacing_s)
        longest_s = settings.queue_s if deadline is None else max(0.0, deadline - time.monotonic())
        wait_s = reserve(origin, spacing_s, longest_s)
        if wait_s is None:
            raise ServiceFault(host, f"too many requests wait for their turn (over {longest_s:.0f} s)", retryable=True)
        self._client()  # made before the moment comes, since the first one takes its time
        await asyncio.sleep(wait_s)
        while (wait_s := claim(origin, spacing_s)) > 0:  # noqa: ASYNC110  # time is waited for, not an event
            await asyncio.sleep(wait_s)

    @asynccontextmanager
    async def stream(self, question: Question) -> AsyncIterator[httpx.Response]:
        """A service's answer with its body unread, redirects followed; sent once, whatever the settings say of tries.

        Raises:
            BadInput: the user has not allowed the host.
            ServiceFault: the service failed, refused, or broke off in the middle of its answer.
        """
        host = check_consent(question.url, self.settings)
        try:
            async with self._opened(question, host) as response:
                yield response
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise as_fault(error, host, question.credentials) from None

    async def _send(self, question: Question, host: str) -> bytes | None:
        """One try, redirects included."""
        self.sent += 1
        async with self._opened(question, host) as response:
            if response.status_code in question.absent:
                return None
            return await read_body(response, host, self.settings.max_bytes)

    @asynccontextmanager
    async def _opened(self, question: Question, host: str) -> AsyncIterator[httpx.Response]:
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
                    url = self._redirected(question, host, url, response)
                    continue
                if response.status_code in (*question.accepted, *question.absent):
                    yield response
                    return
                excerpt = await excerpt_of(response, host)
                raise refusal(response, host, question.credentials.scrub(excerpt), question.credentials)
            finally:
                await response.aclose()
        raise ServiceFault(host, "redirects in circles")

    def _redirected(self, question: Question, host: str, old: str, response: httpx.Response) -> str:
        if question.method == "POST" and response.status_code not in (307, 308):
            raise ServiceFault(host, "redirects a request that can't be sent elsewhere")
        new = redirected(old, str(response.extensions[LOCATION]))
        check_consent(new, self.settings)
        # A service repeats the query it was sent, key and all; the key is added again on the wire.
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
        """How long to wait after a try that failed, chance mixed in."""
        longest_s = min(self.settings.backoff_max_s, self.settings.backoff_s * 2.0 ** (attempt - 1))
        return longest_s * _random.uniform(0.5, 1.0)
