"""The views of one run, by the handles that a model knows them by."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from geosleuth.support.errors import BadInput

from .photo import Photo
from .views import FIRST_VIEW_PIXELS, READABLE_SIDE_PX, BoxScale, View, crop, first_view, render

if TYPE_CHECKING:
    from PIL.Image import Image

_VIEWS_IN_MEMORY = 16


@dataclass(frozen=True, slots=True)
class _Place:
    photo: Photo
    box: tuple[int, int, int, int]
    size: tuple[int, int]


class Album:
    """Hands out views and remembers where each lies in its original.

    Handles are `image-1`, `image-2` and so on: easy for a model to repeat, the same in every replay, and telling
    nothing about the file. The newest views are kept as pixels; older ones are cut again when asked for, and come out
    the same. May be used from several threads at once.
    """

    def __init__(self, max_pixels: int = FIRST_VIEW_PIXELS) -> None:
        self._max_pixels = max_pixels
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}
        self._photos: dict[str, Photo] = {}
        self._recent: OrderedDict[str, View] = OrderedDict()
        self._first: Album | None = None

    @property
    def first(self) -> "Album":
        """The album that this one was copied from, itself where it is no copy: what is known of views may be shared."""
        return self._first or self

    def copy(self) -> "Album":
        """An album with the same views under the same handles, to which others can be added; pixels are shared."""
        made = Album(self._max_pixels)
        with self._lock:
            made._places, made._photos = dict(self._places), dict(self._photos)
            made._recent = OrderedDict(self._recent)
        made._first = self.first
        return made

    @property
    def handles(self) -> tuple[str, ...]:
        """All handles, oldest first."""
        with self._lock:
            return tuple(self._places)

    def add(self, photo: Photo) -> View:
        """The first view of a photo."""
        return self._store_view(photo, first_view(photo, self._max_pixels))

    def crop(self, handle: str, bbox: Sequence[float], scale: BoxScale = "pixels") -> View:
        """Cut a part of a view out of its original.

        Raises:
            BadInput: no view has this handle, or the box can't be used (see `to_pixels`).
        """
        return self.keep(self.preview(handle, bbox, scale))

    def preview(
        self, handle: str, bbox: Sequence[float], scale: BoxScale = "pixels", *, wide_side_px: int = READABLE_SIDE_PX
    ) -> View:
        """Cut as `crop` does, without giving the cut a place in the album yet.

        Several cuts may be made at once; `keep` then numbers them in an order that does not depend on chance.
        ``wide_side_px`` is how long the longer side of a narrow cut may get, see `geosleuth.photo.views.crop`.

        Raises:
            BadInput: no view has this handle, or the box can't be used (see `to_pixels`).
        """
        view = self[handle]
        photo = self._places[handle].photo
        return crop(view, bbox, photo, scale=scale, max_pixels=self._max_pixels, wide_side_px=wide_side_px)

    def keep(self, view: View) -> View:
        """Give a cut of one of this album's photos the next handle."""
        with self._lock:
            photo = self._photos[view.photo_handle]
        return self._store_view(photo, view)

    def part(self, handle: str, box: tuple[int, int, int, int], size: tuple[int, int]) -> "Image":
        """A part of the photo that a view shows, by its place in the original, in any size.

        Raises:
            BadInput: no view has this handle.
        """
        view = self[handle]
        with self._lock:
            photo = self._photos[view.photo_handle]
        return render(photo, box, size).image

    def find_number(self, view: View) -> int:
        """Return the number of the photo that a view shows, counted from 1 in order of arrival."""
        with self._lock:
            return list(self._photos).index(view.photo_handle) + 1

    def __getitem__(self, handle: str) -> View:
        with self._lock:
            place = self._places.get(handle)
            known = ", ".join(self._places) or "none yet"
            view = self._recent.get(handle)
        if place is None:
            raise BadInput(f"there is no image {str(handle)[:40]!r}; there are: {known}")
        if view is None:
            view = render(place.photo, place.box, place.size, handle)
            self._remember(view)
        return view

    def _store_view(self, photo: Photo, view: View) -> View:
        with self._lock:
            handle = f"image-{len(self._places) + 1}"
            self._places[handle] = _Place(photo, view.box_in_original, view.size)
            self._photos[photo.handle] = photo
        named = View(handle, view.image, view.box_in_original, photo.handle)
        self._remember(named)
        return named

    def _remember(self, view: View) -> None:
        with self._lock:
            self._recent[view.handle] = view
            self._recent.move_to_end(view.handle)
            while len(self._recent) > _VIEWS_IN_MEMORY:
                self._recent.popitem(last=False)
