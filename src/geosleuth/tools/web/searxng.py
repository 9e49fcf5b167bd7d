"""SearXNG: ``GET /search`` with ``format=json``; ``results`` hold ``title``, ``url`` and ``content``."""

from collections.abc import Iterator
from typing import ClassVar

from geosleuth.atlas.online.http import Question
from geosleuth.atlas.online.replies import Object

from .pages import Row, WebService, listed


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

    def asked(self, words: str, count: int) -> Question:  # noqa: ARG002  # SearXNG sends whole pages of results
        """A general search in any language."""
        return self.question("/search", {"q": words, "format": "json", "categories": "general"}, absent=(403,))

    def rows(self, answer: Object) -> Iterator[Row]:
        """The pages; SearXNG's scores have no upper end and are left out."""
        for one in listed(answer, "results", self.host):
            yield Row(one.get("title"), [one.get("content")], one.get("url"))
