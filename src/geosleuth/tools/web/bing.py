"""Bing Visual Search, which Microsoft retired on 11 August 2025; for those who still have a server that speaks it.

``POST /images/visualsearch`` takes the photo as a form. ``tags`` hold ``actions``; those of the kinds "PagesIncluding"
and "VisualSearch" hold pictures with ``name`` and ``hostPageUrl``.
"""

import asyncio
from collections.abc import Iterator
from typing import ClassVar

from geosleuth.atlas.online.http import parse_json
from geosleuth.atlas.online.replies import Object, inner, need_object
from geosleuth.errors import ServiceFault
from geosleuth.photo import View
from geosleuth.tools.model import Similar

from .images import ImageService, multipart, objects_in, upload_bytes
from .service import KeyPlace


class Bing(ImageService):
    """Bing Visual Search at an address that the user gives; there is no public one any more."""

    name: ClassVar[str] = "bing"
    title: ClassVar[str] = "Bing Visual Search"
    base_url: ClassVar[str | None] = None
    no_address: ClassVar[str] = (
        "Microsoft retired the Bing Visual Search API on 11 August 2025; use serpapi, or, if your contract still has "
        "it, give its address in GEOSLEUTH_BING_URL (in Python: base_urls)"
    )
    key: ClassVar[KeyPlace | None] = KeyPlace("BING_SEARCH_V7_SUBSCRIPTION_KEY", "header", "ocp-apim-subscription-key")
    spacing_s: ClassVar[float] = 0.4

    async def _found(self, view: View) -> list[Similar]:
        form, content_type = multipart("image", await asyncio.to_thread(upload_bytes, view))
        question = self.question("/images/visualsearch", body=form, content_type=content_type)
        return await self.client.ask(question, self._matches) or []

    def _matches(self, body: bytes) -> list[Similar]:
        answer = need_object(parse_json(body, self.host), self.host)
        if not isinstance(answer.get("tags"), list):
            raise ServiceFault(self.host, 'answered in an unexpected shape: "tags" is not a list')
        # Pages with this very picture say more than pages with one like it.
        kinds = ("PagesIncluding", "VisualSearch")
        return self.similar(row for kind in kinds for row in _pictures(answer, kind))


def _pictures(answer: Object, kind: str) -> Iterator[tuple[object, object]]:
    for tag in objects_in(answer, "tags"):
        for action in objects_in(tag, "actions"):
            if action.get("actionType") == kind:
                yield from (
                    (one.get("name"), one.get("hostPageUrl")) for one in objects_in(inner(action, "data"), "value")
                )
