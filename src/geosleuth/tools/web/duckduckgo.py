"""DuckDuckGo without a key: its page for browsers without scripts, read as HTML. There is no interface for programs.

A result is a link of class ``result__a`` and a passage of class ``result__snippet`` (``result-link`` and
``result-snippet`` on the lite page). Links lead over DuckDuckGo's own address, with the page's in ``uddg``.
"""

from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from geosleuth.atlas.online.http import Question
from geosleuth.errors import ServiceFault

from .pages import Row, WebService
from .plain import TolerantParser

_TITLES = frozenset({"result__a", "result-link"})
_SNIPPETS = frozenset({"result__snippet", "result-snippet"})
# A page of results has some ten thousand characters.
_MOST_CHARS = 300_000
_MOST_RESULTS = 100
_CHALLENGE = "wants proof that a person is searching; wait a while, or use another search service"


class DuckDuckGo(WebService):
    """DuckDuckGo's plain page; it may ask for proof of being human at any time, and then there is no result."""

    name: ClassVar[str] = "duckduckgo"
    title: ClassVar[str] = "DuckDuckGo"
    base_url: ClassVar[str | None] = "https://html.duckduckgo.com/html"
    refused: ClassVar[str] = _CHALLENGE
    spacing_s: ClassVar[float] = 2.0
    keep_hours: ClassVar[float] = 24.0

    def asked(self, words: str, count: int) -> Question:  # noqa: ARG002  # there is one page of results
        """The page's own form, for no region in particular; status 202 comes with the challenge."""
        form = urlencode({"q": words, "kl": "wt-wt"}).encode()
        return self.question("/", body=form, content_type="application/x-www-form-urlencoded", absent=(202,))

    def read(self, body: bytes) -> Iterator[Row]:
        """The results on a page, advertisements left out.

        Raises:
            ServiceFault: the page is a challenge, or none that can be read.
        """
        page = _Page()
        # Fed and not closed: what an unfinished tag hides is not worth the time that it may cost.
        page.feed(body.decode("utf-8", "replace")[:_MOST_CHARS])
        if not page.results and page.is_challenge:
            raise ServiceFault(self.host, _CHALLENGE)
        if not page.results and not page.says_nothing_found:
            raise ServiceFault(self.host, "answered a page without results that can be read; it may have changed")
        for result in page.results:
            address = _target(result.href)
            if address is not None and not result.is_advertisement:
                yield Row("".join(result.title), ["".join(result.snippet)], address)


def _target(href: str) -> str | None:
    """Where a result's link leads; None for an advertisement's."""
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
        if tag == "a" and classes & _TITLES and len(self.results) < _MOST_RESULTS:
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
