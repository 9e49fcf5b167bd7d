"""You.com: ``GET /v1/search``; ``results`` hold ``web`` and sometimes ``news``, each page with its ``snippets``."""

from collections.abc import Iterator
from typing import ClassVar

from geosleuth.atlas.online.http import Question
from geosleuth.atlas.online.replies import Object, need_object, objects

from .pages import Row, WebService, texts
from .service import KeyPlace


class You(WebService):
    """You.com, with the key in ``YDC_API_KEY``; pages first, then news."""

    name: ClassVar[str] = "you"
    title: ClassVar[str] = "You.com"
    base_url: ClassVar[str | None] = "https://ydc-index.io"
    key: ClassVar[KeyPlace | None] = KeyPlace("YDC_API_KEY", "header", "x-api-key")

    def asked(self, words: str, count: int) -> Question:
        """A search of pages and news; ``count`` holds for each of the two."""
        return self.question("/v1/search", {"query": words, "count": count})

    def rows(self, answer: Object) -> Iterator[Row]:
        """The pages; what You.com calls a description comes before the passages."""
        results = need_object(answer.get("results"), self.host, '"results"')
        for part in ("web", "news"):
            for one in objects(results, part):
                yield Row(one.get("title"), [one.get("description"), *texts(one.get("snippets"))], one.get("url"))
