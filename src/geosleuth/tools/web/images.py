"""Image search by SerpApi and Serper: a picture goes out, pages with pictures like it come back.

SerpApi's id of an upload is good for ten minutes. ``visual_matches`` hold ``title``, ``link``, ``source`` and
``thumbnail``. Serper takes an address and no file. It works with photos that the user has put on the web already, as a
whole.
"""

import asyncio
import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from geosleuth.atlas.online import OnlineClient
from geosleuth.atlas.online.http import parse_json
from geosleuth.atlas.online.replies import Object, inner, need_object, text
from geosleuth.photo import Photo, View, encode
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.support.service_use import asking_service
from geosleuth.tools.calls import Similar

from .search_service import KeyPlace, SearchService, plain, web_address

# What the strictest service takes is 500 KB; no search looks at more detail than this.
_MAX_BYTES = 490_000
_LONGEST_SIDE_PX = 1200
_TITLE_CHARS = 200

_IMAGE_ID = re.compile(r"[\w.=-]{1,500}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Published:
    """A photo that the user has already put on the web, and its address there."""

    photo: Photo
    url: str

    def has_whole_photo(self, view: View) -> bool:
        """Return whether a view shows the whole of the photo; the address of a part of it is not known."""
        return view.photo_handle == self.photo.handle and view.box_in_original == (0, 0, *self.photo.size)


class ImageService(SearchService):
    """An image search; each service says how it is asked and how its answer reads."""

    takes_addresses_only: ClassVar[bool] = False

    def __init__(self, client: OnlineClient, published: Sequence[Published] = ()) -> None:
        """Ask through a client. Nothing is sent yet.

        Raises:
            BadInput: addresses of photos were given to a service that is sent the photo, or not to one that needs them.
        """
        if published and not self.takes_addresses_only:
            raise BadInput(f"{self.name} is sent the photo itself; leave its address on the web (--image-url) out")
        if self.takes_addresses_only and not published:
            raise BadInput(
                f"{self.name} takes only the address of a picture that is on the web already, and geosleuth uploads "
                "your photo to no third place for it; give that address with --image-url, or use serpapi"
            )
        for item in published:
            if web_address(item.url) is None:
                raise BadInput(f"not the address of a picture on the web: {item.url[:100]!r}; it starts with https://")
        super().__init__(client)
        self._published = tuple(published)

    async def search(self, view: View, *, limit: int = 10) -> list[Similar]:
        """Up to ``limit`` pages with pictures like the view, as the service ranks them."""
        if limit < 1:
            return []
        with asking_service(self.name):
            return (await self._search_image(view))[:limit]

    async def _search_image(self, view: View) -> list[Similar]:
        raise NotImplementedError

    def get_address(self, view: View) -> str:
        """Return the address of the picture that a view shows.

        Raises:
            BadInput: none was given for this picture, or the view is only a part of it.
        """
        for item in self._published:
            if item.has_whole_photo(view):
                return item.url.strip()
        raise BadInput(
            f"{self.name} can search only with the whole of a photo whose address was given, not with a part of it "
            "or with another picture; leave the box out"
        )

    def similar(self, rows: Iterator[tuple[object, object]]) -> list[Similar]:
        """Pictures from titles and addresses as the service tells them; those without an address are left out."""
        found: dict[str, Similar] = {}
        hide = self.credentials.scrub
        for title, url in rows:
            address = web_address(url)
            if address is not None:
                words = plain(title, _TITLE_CHARS) or address
                found.setdefault(address, Similar(hide(words), None, self.name, hide(address)))
        return list(found.values())


def list_objects(answer: Object, field: str) -> Iterator[Object]:
    """Yield the objects in a list of an answer; none if there is no such list."""
    found = answer.get(field)
    return (item for item in (found if isinstance(found, list) else ())[:200] if isinstance(item, dict))


def upload_bytes(view: View) -> bytes:
    """The view as a JPEG that every service takes, without metadata of any kind."""
    longest = _LONGEST_SIDE_PX
    while True:
        try:
            return encode(_no_longer_than(view, longest), "jpeg", quality=85, max_bytes=_MAX_BYTES)
        except BadInput:
            longest //= 2


def multipart(field: str, content: bytes) -> tuple[bytes, str]:
    """A form with one JPEG file in it, and its content type. The same file makes the same form."""
    boundary = f"geosleuth-{hashlib.sha256(content).hexdigest()[:32]}"
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="image.jpg"\r\n'
        "Content-Type: image/jpeg\r\n\r\n"
    )
    return head.encode() + content + f"\r\n--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def _no_longer_than(view: View, longest_px: int) -> View:
    width, height = view.size
    scale = longest_px / max(width, height)
    if scale >= 1:
        return view
    size = (max(1, math.floor(width * scale)), max(1, math.floor(height * scale)))
    return replace(view, image=view.image.resize(size, reducing_gap=3.0))


class SerpApi(ImageService):
    """SerpApi, with the key in ``SERPAPI_API_KEY``. Its answers are never kept."""

    name: ClassVar[str] = "serpapi"
    title: ClassVar[str] = "SerpApi"
    base_url: ClassVar[str | None] = "https://serpapi.com"
    key: ClassVar[KeyPlace | None] = KeyPlace("SERPAPI_API_KEY", "param", "api_key")

    async def _search_image(self, view: View) -> list[Similar]:
        form, content_type = multipart("image", await asyncio.to_thread(upload_bytes, view))
        upload = self.asking("/image", body=form, content_type=content_type, keep=False)
        image_id = await self.client.ask(upload, self._image_id)
        wanted = {
            "engine": "google_lens",
            "type": "visual_matches",
            "image_id": image_id or "",
            "hl": self.client.settings.language.partition("-")[0],
        }
        return await self.client.ask(self.asking("/search.json", wanted, keep=False), self._matches) or []

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
        return self.similar((item.get("title"), item.get("link")) for item in list_objects(answer, "visual_matches"))

    def _reason(self, answer: Object) -> str:
        said = text(answer, "error")
        return f': "{self.credentials.scrub(said)}"' if said else ""


class Serper(ImageService):
    """Serper, with the key in ``SERPER_API_KEY`` and the addresses of the photos."""

    name: ClassVar[str] = "serper"
    title: ClassVar[str] = "Serper"
    base_url: ClassVar[str | None] = "https://google.serper.dev"
    key: ClassVar[KeyPlace | None] = KeyPlace("SERPER_API_KEY", "header", "x-api-key")
    takes_addresses_only: ClassVar[bool] = True

    async def _search_image(self, view: View) -> list[Similar]:
        wanted = {"url": self.get_address(view), "hl": self.client.settings.language.partition("-")[0]}
        question = self.asking("/lens", body=json.dumps(wanted).encode(), content_type="application/json")
        return await self.client.ask(question, self._matches) or []

    def _matches(self, body: bytes) -> list[Similar]:
        answer = need_object(parse_json(body, self.host), self.host)
        if "organic" not in answer and "searchParameters" not in answer:
            raise ServiceFault(self.host, 'answered in an unexpected shape: "organic" is missing')
        return self.similar((item.get("title"), item.get("link")) for item in list_objects(answer, "organic"))
