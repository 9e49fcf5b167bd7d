"""Brave: ``GET /web/search``; ``web.results`` hold ``title``, ``url`` and ``description``, which comes with tags."""

from collections.abc import Iterator
from typing import ClassVar

from geosleuth.atlas.online.http import Question
from geosleuth.atlas.online.replies import Object, inner
from geosleuth.errors import ServiceFault

from .pages import Row, WebService, listed, texts
from .service import KeyPlace

_MOST_WORDS = 50


class Brave(WebService):
    """Brave Search, with the key in ``BRAVE_API_KEY``."""

    name: ClassVar[str] = "brave"
    title: ClassVar[str] = "Brave Search"
    base_url: ClassVar[str | None] = "https://api.search.brave.com/res/v1"
    key: ClassVar[KeyPlace | None] = KeyPlace("BRAVE_API_KEY", "header", "x-subscription-token")
    spacing_s: ClassVar[float] = 1.0

    def asked(self, words: str, count: int) -> Question:
        """A search of pages; Brave refuses queries of more than 50 words."""
        shorter = " ".join(words.split()[:_MOST_WORDS])
        return self.question("/web/search", {"q": shorter, "count": count, "result_filter": "web"})

    def rows(self, answer: Object) -> Iterator[Row]:
        """The pages; the whole part is missing where none was found."""
        if "web" not in answer and "query" not in answer:
            raise ServiceFault(self.host, 'answered in an unexpected shape: neither "web" nor "query" is there')
        if "web" not in answer:
            return
        for one in listed(inner(answer, "web"), "results", self.host):
            yield Row(one.get("title"), [one.get("description"), *texts(one.get("extra_snippets"))], one.get("url"))
