"""Web search by Brave, DuckDuckGo, SearXNG, Tavily and You.com: a query goes out, pages come back as documents.

A result is a link of class ``result__a`` and a passage of class ``result__snippet`` (``result-link`` and
``result-snippet`` on the lite page). Links lead over DuckDuckGo's own address, with the page's in ``uddg``.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from geosleuth.atlas import Document
from geosleuth.atlas.online.http import ServiceRequest, parse_json
from geosleuth.atlas.online.replies import Object, clean, inner, need_object, number, objects, query_text
from geosleuth.support.errors import ServiceFault
from geosleuth.support.service_use import asking_service
from geosleuth.support.text.html import TolerantParser

from .search_service import KeyPlace, SearchService, plain, web_address

_QUERY_CHARS = 400
_TITLE_CHARS = 200
_SNIPPET_CHARS = 800
_MAX_ROWS = 200
_MAX_PIECES = 5

_MAX_WORDS = 50
_TITLES = frozenset({"result__a", "result-link"})
_SNIPPETS = frozenset({"result__snippet", "result-snippet"})
# A page of results has some ten thousand characters.
_MAX_CHARS = 300_000
_MAX_RESULTS = 100
_CHALLENGE = "wants proof that a person is searching; wait a while, or use another search service"


@dataclass(frozen=True, slots=True)
class WebPageRow:
    """One page as a service tells of it; nothing here is trusted to be what it should be."""

    title: object
    pieces: Iterable[object]
    url: object
    score: float | None = None


class WebService(SearchService):
    """A web search; each service says how it is asked and how its answer reads."""

    most: ClassVar[int] = 20
    """The most pages that may be asked for at once."""

    refused: ClassVar[str] = "did not answer"
    """What the statuses that a question calls absent mean here."""

    async def search(self, query: str, *, limit: int = 10) -> list[Document]:
        """Up to ``limit`` pages, as the service ranks them."""
        words = query_text(query, _QUERY_CHARS)
        if not words or limit < 1:
            return []
        question = self.build_request(words, min(limit, self.most))
        with asking_service(self.name):
            found = await self.client.ask(question, lambda body: self._decode(body, limit))
            if found is None:
                raise ServiceFault(self.host, self.refused)
        return found

    def build_request(self, words: str, count: int) -> ServiceRequest:
        """Return the request to send."""
        raise NotImplementedError

    def rows(self, answer: Object) -> Iterator[WebPageRow]:
        """The pages in a parsed answer.

        Raises:
            ServiceFault: the answer has another shape than the service documents.
        """
        raise NotImplementedError

    def read(self, body: bytes) -> Iterator[WebPageRow]:
        """The pages in an answer; JSON, unless a service overrides this."""
        return self.rows(need_object(parse_json(body, self.host), self.host))

    def _decode(self, body: bytes, limit: int) -> list[Document]:
        # All of it while the client still listens, so that an answer that can't be read is not kept.
        found: dict[str, Document] = {}
        for row in islice(self.read(body), _MAX_ROWS):
            url = web_address(row.url)
            if url is None or url in found:
                continue
            document = self._build_document(row, url, rank=len(found) + 1)
            if document is not None:
                found[url] = document
            if len(found) == limit:
                break
        return list(found.values())

    def _build_document(self, row: WebPageRow, url: str, rank: int) -> Document | None:
        title = plain(row.title, _TITLE_CHARS)
        pieces = dict.fromkeys(plain(piece, _SNIPPET_CHARS) for piece in islice(row.pieces, _MAX_PIECES))
        snippet = clean(" … ".join(piece for piece in pieces if piece), _SNIPPET_CHARS)
        if not (title or snippet):
            return None
        hide = self.credentials.scrub
        score = row.score if row.score is not None and 0 <= row.score <= 1 else 1 / rank
        identity = hashlib.sha256(url.encode()).hexdigest()[:16]
        return Document(f"{self.name}:{identity}", hide(title or url), hide(snippet), score, self.name, hide(url))


def iterate_objects(answer: Object, field: str, host: str) -> Iterator[Object]:
    """Yield the objects in a list that an answer must have; skip anything else.

    Raises:
        ServiceFault: there is no such list.
    """
    found = answer.get(field)
    if not isinstance(found, list):
        raise ServiceFault(host, f'answered in an unexpected shape: "{field}" is not a list')
    return (item for item in found if isinstance(item, dict))


def texts(value: object) -> list[object]:
    """A list as it is, a single value as a list of one."""
    return value if isinstance(value, list) else [value]


class Brave(WebService):
    """Brave Search, with the key in ``BRAVE_API_KEY``."""

    name: ClassVar[str] = "brave"
    title: ClassVar[str] = "Brave Search"
    base_url: ClassVar[str | None] = "https://api.search.brave.com/res/v1"
    key: ClassVar[KeyPlace | None] = KeyPlace("BRAVE_API_KEY", "header", "x-subscription-token")
    spacing_s: ClassVar[float] = 1.0

    def build_request(self, words: str, count: int) -> ServiceRequest:
        """Return a search of pages; Brave refuses queries of more than 50 words."""
        shorter = " ".join(words.split()[:_MAX_WORDS])
        return self.asking("/web/search", {"q": shorter, "count": count, "result_filter": "web"})

    def rows(self, answer: Object) -> Iterator[WebPageRow]:
        """The pages; the whole part is missing where none was found."""
        if "web" not in answer and "query" not in answer:
            raise ServiceFault(self.host, 'answered in an unexpected shape: neither "web" nor "query" is there')
        if "web" not in answer:
            return
        for item in iterate_objects(inner(answer, "web"), "results", self.host):
            yield WebPageRow(
                item.get("title"), [item.get("description"), *texts(item.get("extra_snippets"))], item.get("url")
            )


class DuckDuckGo(WebService):
    """DuckDuckGo's plain page; it may ask for proof of being human at any time, and then there is no result."""

    name: ClassVar[str] = "duckduckgo"
    title: ClassVar[str] = "DuckDuckGo"
    base_url: ClassVar[str | None] = "https://html.duckduckgo.com/html"
    refused: ClassVar[str] = _CHALLENGE
    spacing_s: ClassVar[float] = 2.0
    keep_hours: ClassVar[float] = 24.0

    def build_request(self, words: str, count: int) -> ServiceRequest:  # noqa: ARG002  # there is one page of results
        """Return the request of the page's own form, for any region; status 202 comes with the challenge."""
        form = urlencode({"q": words, "kl": "wt-wt"}).encode()
        return self.asking("/", body=form, content_type="application/x-www-form-urlencoded", absent=(202,))

    def read(self, body: bytes) -> Iterator[WebPageRow]:
        """The results on a page, advertisements left out.

        Raises:
            ServiceFault: the page is a challenge, or none that can be read.
        """
        page = _Page()
        # Fed and not closed: what an unfinished tag hides is not worth the time that it may cost.
        page.feed(body.decode("utf-8", "replace")[:_MAX_CHARS])
        if not page.results and page.is_challenge:
            raise ServiceFault(self.host, _CHALLENGE)
        if not page.results and not page.says_nothing_found:
            raise ServiceFault(self.host, "answered a page without results that can be read; it may have changed")
        for result in page.results:
            address = _target(result.href)
            if address is not None and not result.is_advertisement:
                yield WebPageRow("".join(result.title), ["".join(result.snippet)], address)


def _target(href: str) -> str | None:
    """Return the target of a result's link; None for an advertisement."""
    try:
        parts = urlsplit(urljoin("https://duckduckgo.com/", href.strip()))
        own = (parts.hostname or "").removeprefix("html.").removeprefix("lite.") == "duckduckgo.com"
        inside = parse_qs(parts.query).get("uddg", [""])[0] if own else ""
        if own and not inside and parts.path == "/y.js":
            return None
    except ValueError:
        return None
    if inside:
        return None if inside.startswith("https://duckduckgo.com/y.js") else inside
    return parts.geturl()


class _Result:
    def __init__(self, href: str, *, is_advertisement: bool) -> None:
        self.href = href
        self.is_advertisement = is_advertisement
        self.title: list[str] = []
        self.snippet: list[str] = []


class _Page(TolerantParser):
    def __init__(self) -> None:
        super().__init__()
        self.results: list[_Result] = []
        self.is_challenge = False
        self.says_nothing_found = False
        self._in_advertisement = False
        self._into: list[str] | None = None
        self._until = ""
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        classes = frozenset((known.get("class") or "").split())
        if known.get("id") == "challenge-form" or any(name.startswith("anomaly") for name in classes):
            self.is_challenge = True
        if "no-results" in classes:
            self.says_nothing_found = True
        if "result" in classes or "result-sponsored" in classes:
            self._in_advertisement = bool(classes & {"result--ad", "result-sponsored"})
        if tag == "a" and classes & _TITLES and len(self.results) < _MAX_RESULTS:
            self.results.append(_Result(known.get("href") or "", is_advertisement=self._in_advertisement))
            self._catch(tag, self.results[-1].title)
        elif classes & _SNIPPETS and self.results:
            self._catch(tag, self.results[-1].snippet)
        elif self._into is not None and tag == self._until:
            self._depth += 1

    def handle_endtag(self, tag: str) -> None:
        if self._into is not None and tag == self._until:
            self._depth -= 1
            if self._depth == 0:
                self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into.append(data)
        elif "No results" in data:
            self.says_nothing_found = True

    def _catch(self, tag: str, into: list[str]) -> None:
        self._into, self._until, self._depth = into, tag, 1


class SearXNG(WebService):
    """A SearXNG server that the user names; it may stand in the own network (``private_hosts``)."""

    name: ClassVar[str] = "searxng"
    title: ClassVar[str] = "SearXNG"
    base_url: ClassVar[str | None] = None
    no_address: ClassVar[str] = (
        "searxng is a server that you or someone you trust runs: "
        "give its address in GEOSLEUTH_SEARXNG_URL (in Python: base_urls)"
    )
    refused: ClassVar[str] = (
        "refused the request (status 403); a SearXNG server answers in JSON only where its settings.yml "
        "lists json under search: formats, and many public ones don't"
    )
    spacing_s: ClassVar[float] = 1.0
    keep_hours: ClassVar[float] = 24.0

    def build_request(self, words: str, count: int) -> ServiceRequest:  # noqa: ARG002  # SearXNG sends whole pages of results
        """Return a general search in any language."""
        return self.asking("/search", {"q": words, "format": "json", "categories": "general"}, absent=(403,))

    def rows(self, answer: Object) -> Iterator[WebPageRow]:
        """The pages; SearXNG's scores have no upper end and are left out."""
        for item in iterate_objects(answer, "results", self.host):
            yield WebPageRow(item.get("title"), [item.get("content")], item.get("url"))


class Tavily(WebService):
    """Tavily, with the key in ``TAVILY_API_KEY``. Only pages are asked for, no answer written by its model."""

    name: ClassVar[str] = "tavily"
    title: ClassVar[str] = "Tavily"
    base_url: ClassVar[str | None] = "https://api.tavily.com"
    key: ClassVar[KeyPlace | None] = KeyPlace("TAVILY_API_KEY", "bearer", "authorization")

    def build_request(self, words: str, count: int) -> ServiceRequest:
        """Return a basic search, which costs one credit."""
        wanted = {"query": words, "max_results": count, "search_depth": "basic", "include_answer": False}
        return self.asking("/search", body=json.dumps(wanted).encode(), content_type="application/json")

    def rows(self, answer: Object) -> Iterator[WebPageRow]:
        """The pages, with Tavily's own scores."""
        for item in iterate_objects(answer, "results", self.host):
            yield WebPageRow(item.get("title"), [item.get("content")], item.get("url"), number(item.get("score")))


class You(WebService):
    """You.com, with the key in ``YDC_API_KEY``; pages first, then news."""

    name: ClassVar[str] = "you"
    title: ClassVar[str] = "You.com"
    base_url: ClassVar[str | None] = "https://ydc-index.io"
    key: ClassVar[KeyPlace | None] = KeyPlace("YDC_API_KEY", "header", "x-api-key")

    def build_request(self, words: str, count: int) -> ServiceRequest:
        """Return a search of pages and news; ``count`` applies to each of the two."""
        return self.asking("/v1/search", {"query": words, "count": count})

    def rows(self, answer: Object) -> Iterator[WebPageRow]:
        """The pages; what You.com calls a description comes before the passages."""
        results = need_object(answer.get("results"), self.host, '"results"')
        for part in ("web", "news"):
            for item in objects(results, part):
                yield WebPageRow(
                    item.get("title"), [item.get("description"), *texts(item.get("snippets"))], item.get("url")
                )
