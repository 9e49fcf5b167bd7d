"""Google Lens through Serper: ``POST /lens`` with the address of a picture; ``organic`` holds ``title`` and ``link``.

Serper takes an address and no file. It works with photos that the user has put on the web already, as a whole.
"""

import json
from typing import ClassVar

from geosleuth.atlas.online.http import parse_json
from geosleuth.atlas.online.replies import need_object
from geosleuth.errors import ServiceFault
from geosleuth.photo import View
from geosleuth.tools.model import Similar

from .images import ImageService, objects_in
from .service import KeyPlace


class Serper(ImageService):
    """Serper, with the key in ``SERPER_API_KEY`` and the addresses of the photos."""

    name: ClassVar[str] = "serper"
    title: ClassVar[str] = "Serper"
    base_url: ClassVar[str | None] = "https://google.serper.dev"
    key: ClassVar[KeyPlace | None] = KeyPlace("SERPER_API_KEY", "header", "x-api-key")
    takes_addresses_only: ClassVar[bool] = True

    async def _found(self, view: View) -> list[Similar]:
        wanted = {"url": self.address_of(view), "hl": self.client.settings.language.partition("-")[0]}
        question = self.question("/lens", body=json.dumps(wanted).encode(), content_type="application/json")
        return await self.client.ask(question, self._matches) or []

    def _matches(self, body: bytes) -> list[Similar]:
        answer = need_object(parse_json(body, self.host), self.host)
        if "organic" not in answer and "searchParameters" not in answer:
            raise ServiceFault(self.host, 'answered in an unexpected shape: "organic" is missing')
        return self.similar((one.get("title"), one.get("link")) for one in objects_in(answer, "organic"))
