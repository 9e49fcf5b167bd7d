"""Tavily: ``POST /search`` with a JSON body; ``results`` hold ``title``, ``url``, ``content`` and a ``score``."""

import json
from collections.abc import Iterator
from typing import ClassVar

from geosleuth.atlas.online.http import Question
from geosleuth.atlas.online.replies import Object, number

from .pages import Row, WebService, listed
from .service import KeyPlace


class Tavily(WebService):
    """Tavily, with the key in ``TAVILY_API_KEY``. Only pages are asked for, no answer written by its model."""

    name: ClassVar[str] = "tavily"
    title: ClassVar[str] = "Tavily"
    base_url: ClassVar[str | None] = "https://api.tavily.com"
    key: ClassVar[KeyPlace | None] = KeyPlace("TAVILY_API_KEY", "bearer", "authorization")

    def asked(self, words: str, count: int) -> Question:
        """A basic search, which costs one credit."""
        wanted = {"query": words, "max_results": count, "search_depth": "basic", "include_answer": False}
        return self.question("/search", body=json.dumps(wanted).encode(), content_type="application/json")

    def rows(self, answer: Object) -> Iterator[Row]:
        """The pages, with Tavily's own scores."""
        for one in listed(answer, "results", self.host):
            yield Row(one.get("title"), [one.get("content")], one.get("url"), number(one.get("score")))
