"""Image search: a picture goes out, pages with pictures like it come back."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from geosleuth.atlas.online import OnlineClient
from geosleuth.atlas.online.replies import Object
from geosleuth.errors import BadInput
from geosleuth.photo import Photo, View, encode
from geosleuth.tools.model import Similar

from .plain import plain, web_address
from .service import SearchService

# What the strictest service takes is 500 KB; no search looks at more detail than this.
_MOST_BYTES = 490_000
_LONGEST_SIDE_PX = 1200
_TITLE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Published:
    """A photo that the user has already put on the web, and its address there."""

    photo: Photo
    url: str

    def shown_by(self, view: View) -> bool:
        """Whether a view shows the whole of the photo; the address of a part of it is not known."""
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
        for one in published:
            if web_address(one.url) is None:
                raise BadInput(f"not the address of a picture on the web: {one.url[:100]!r}; it starts with https://")
        super().__init__(client)
        self._published = tuple(published)

    async def search(self, view: View, *, limit: int = 10) -> list[Similar]:
        """Up to ``limit`` pages with pictures like the view, as the service ranks them."""
        return [] if limit < 1 else (await self._found(view))[:limit]

    async def _found(self, view: View) -> list[Similar]:
        raise NotImplementedError

    def address_of(self, view: View) -> str:
        """The address of the picture that a view shows.

        Raises:
            BadInput: none was given for this picture, or the view is only a part of it.
        """
        for one in self._published:
            if one.shown_by(view):
                return one.url.strip()
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


def objects_in(answer: Object, field: str) -> Iterator[Object]:
    """The objects in a list of an answer; none where there is no such list."""
    found = answer.get(field)
    return (one for one in (found if isinstance(found, list) else ())[:200] if isinstance(one, dict))


def upload_bytes(view: View) -> bytes:
    """The view as a JPEG that every service takes, without metadata of any kind."""
    longest = _LONGEST_SIDE_PX
    while True:
        try:
            return encode(_no_longer_than(view, longest), "jpeg", quality=85, max_bytes=_MOST_BYTES)
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
