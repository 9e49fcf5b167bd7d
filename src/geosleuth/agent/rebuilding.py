"""The album of a run, made again from its photos and its trajectory."""

from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth.errors import BadInput
from geosleuth.photo import Album, Photo
from geosleuth.photo.views import FIRST_VIEW_PIXELS, render
from geosleuth.tools import ImageInfo

from .trajectory import Trajectory

_GREY = (128, 128, 128)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """An album with every handle of a trajectory.

    ``missing`` are the handles of pictures that came from elsewhere, such as maps: their places are kept so that all
    handles stay the same, and their pixels are plain grey. They are not to be shown.
    """

    album: Album
    missing: frozenset[str]


def rebuild_album(trajectory: Trajectory, photos: Sequence[Photo], *, max_pixels: int = FIRST_VIEW_PIXELS) -> Rebuilt:
    """Cut every picture of a trajectory again, under its old handle.

    Args:
        trajectory: says which part of which photo each handle shows.
        photos: those the run began with, in the same order.
        max_pixels: what the run's album allowed, see `Method.first_view_pixels`.

    Raises:
        BadInput: these are not the photos of that run.
    """
    own = len({image.photo for image in trajectory.task.images})
    if len(photos) != own:
        raise BadInput(f"this run began with {own} photos, not {len(photos)}")
    album = Album(max_pixels)
    by_number: dict[int, Photo] = {}
    missing = set()
    for image in trajectory.images:
        if image.photo > own:
            missing.add(image.handle)
        if image.photo not in by_number:
            photo = photos[image.photo - 1] if image.photo <= own else _stand_in(image)
            by_number[image.photo] = photo
            view = album.add(photo)
        else:
            photo = by_number[image.photo]
            if not _inside(image.box_in_original, photo.size):
                raise _not_the_same(image)
            view = album.keep(render(photo, image.box_in_original, image.size))
        if (view.handle, view.size, view.box_in_original) != (image.handle, image.size, image.box_in_original):
            raise _not_the_same(image)
    return Rebuilt(album, frozenset(missing))


def _stand_in(image: ImageInfo) -> Photo:
    from PIL import Image

    return Photo(Image.new("RGB", (image.box_in_original[2], image.box_in_original[3]), _GREY))


def _inside(box: tuple[int, int, int, int], size: tuple[int, int]) -> bool:
    left, top, right, bottom = box
    return 0 <= left < right <= size[0] and 0 <= top < bottom <= size[1]


def _not_the_same(image: ImageInfo) -> BadInput:
    width, height = image.size
    return BadInput(
        f"{image.handle} of this run showed {width} x {height} pixels of photo {image.photo}; the photo given does not "
        "fit that: give the same photos in the same order"
    )
