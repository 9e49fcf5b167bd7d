"""The one client through which all online services are asked.

A request waits for its host's turn, is tried again with growing waits where the trouble may pass, gives way where a
host keeps failing, and is answered from the cache where it was asked before.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpx

from geosleuth import __version__
from geosleuth.atlas.folders import cache_dir
from geosleuth.errors import GeosleuthError, ServiceFault

from . import pace
from .body import parse_json, read_body
from .breaker import Breaker
from .cache import AnswerCache, question_key
from .consent import check_consent, redirected
from .guard import CREDENTIALS, LOCATION, GuardedTransport
from .keys import Credentials
from .settings import OnlineSettings
from .trouble import Busy, after_tries, as_fault, excerpt_of, refusal

T = TypeVar("T")

_MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_random = random.SystemRandom()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing to ask a service. Keys travel apart from the rest, in ``credentials``.

    ``spacing_s`` is the provider's own distance between requests, which the user's settings may overrule;
    ``absent`` lists the statuses that mean "there is no such thing".
    """

    url: str
    params: Sequence[tuple[str, str]] = ()
    method: Literal["GET", "POST"] = "GET"
    body: bytes | None = None
    headers: Sequence[tuple[str, str]] = ()
    credentials: Credentials = field(default_factory=Credentials)
    keep_s: float = 0.0
    spacing_s: float = 0.0
    absent: tuple[int, ...] = ()


class OnlineClient:
    """Asks services by the user's settings. Use it as an async context manager, or close it.

    One client serves one event loop at a time; in a new loop it starts with fresh connections.
    """

    def __init__(self, settings: OnlineSettings) -> None:
        """Make a client; nothing is sent yet."""
        self.settings = settings
        path = settings.cache_path or cache_dir() / "online.sqlite"
        self._cache = AnswerCache(path, settings.cache_max_bytes)
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
                wait_s = max(self._backoff_s(attempt), fault.wait_s if isinstance(fault, Busy) else 0.0)
                left_s = deadline - time.monotonic()
                if attempt == settings.tries or wait_s >= left_s or breaker.rest_left_s > 0:
                    raise after_tries(fault, attempt) from None
                if isinstance(fault, Busy):
                    pace.postpone(origin, wait_s)
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
        wait_s = pace.reserve(origin, spacing_s, longest_s)
        if wait_s is None:
            raise ServiceFault(host, f"too many requests wait for their turn (over {longest_s:.0f} s)", retryable=True)
        self._client()  # made before the moment comes, since the first one takes its time
        await asyncio.sleep(wait_s)
        while (wait_s := pace.claim(origin, spacing_s)) > 0:  # noqa: ASYNC110  # time is waited for, not an event
            await asyncio.sleep(wait_s)

    async def _send(self, question: Question, host: str) -> bytes | None:
        """One try, redirects included."""
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
                if response.status_code in question.absent:
                    return None
                if response.status_code == httpx.codes.OK:
                    return await read_body(response, host, self.settings.max_bytes)
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

    def _backoff_s(self, attempt: int) -> float:
        longest_s = min(self.settings.backoff_max_s, self.settings.backoff_s * 2.0 ** (attempt - 1))
        return longest_s * _random.uniform(0.5, 1.0)
