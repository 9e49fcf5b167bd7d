"""Google Lens through SerpApi: the photo is uploaded to SerpApi's own ``/image``, then searched with by its id.

An id is good for ten minutes. ``visual_matches`` hold ``title``, ``link``, ``source`` and ``thumbnail``.
"""

import asyncio
import re
from typing import ClassVar

from geosleuth.atlas.online.http import parse_json
from geosleuth.atlas.online.replies import Object, inner, need_object, text
from geosleuth.errors import ServiceFault
from geosleuth.photo import View
from geosleuth.tools.model import Similar

from .images import ImageService, multipart, objects_in, upload_bytes
from .service import KeyPlace

_IMAGE_ID = re.compile(r"[\w.=-]{1,500}", re.ASCII)


class SerpApi(ImageService):
    """SerpApi, with the key in ``SERPAPI_API_KEY``. Its answers are never kept."""

    name: ClassVar[str] = "serpapi"
    title: ClassVar[str] = "SerpApi"
    base_url: ClassVar[str | None] = "https://serpapi.com"
    key: ClassVar[KeyPlace | None] = KeyPlace("SERPAPI_API_KEY", "param", "api_key")

    async def _found(self, view: View) -> list[Similar]:
        form, content_type = multipart("image", await asyncio.to_thread(upload_bytes, view))
        upload = self.question("/image", body=form, content_type=content_type, keep=False)
        image_id = await self.client.ask(upload, self._image_id)
        wanted = {
            "engine": "google_lens",
            "type": "visual_matches",
            "image_id": image_id or "",
            "hl": self.client.settings.language.partition("-")[0],
        }
        return await self.client.ask(self.question("/search.json", wanted, keep=False), self._matches) or []

    def _image_id(self, body: bytes) -> str:
        answer = need_object(parse_json(body, self.host), self.host)
        found = answer.get("image_id")
        if isinstance(found, str) and _IMAGE_ID.fullmatch(found):
            return found
        raise ServiceFault(self.host, f"did not take the picture{self._reason(answer)}")

    def _matches(self, body: bytes) -> list[Similar]:
        answer = need_object(parse_json(body, self.host), self.host)
        # "No results" is an error by SerpApi's words and none by its status.
        went_well = inner(answer, "search_metadata").get("status") in ("Success", "Cached")
        if "visual_matches" not in answer and not went_well:
            raise ServiceFault(self.host, f"could not search{self._reason(answer)}")
        return self.similar((one.get("title"), one.get("link")) for one in objects_in(answer, "visual_matches"))

    def _reason(self, answer: Object) -> str:
        said = text(answer, "error")
        return f': "{self.credentials.scrub(said)}"' if said else ""
