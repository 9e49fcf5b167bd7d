"""What photos of a data set are known by, for features that are worked out elsewhere."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from geosleuth.agent.locating import album_photos
from geosleuth.bench.sets.model import DataSet
from geosleuth.errors import BadInput
from geosleuth.photo import first_view, open_photo
from geosleuth.policies.baselines.answering import picture_key

HEADER = ("id", "image", "sha256", "pixels")


@dataclass(frozen=True, slots=True)
class Digest:
    """A photo's id, where its file lies, the SHA-256 of the file, and of its pixels as whoever answers sees them."""

    id: str
    image: str
    sha256: str
    pixels: str


def digests(data: DataSet) -> Iterator[Digest | BadInput]:
    """The digests of all photos, in the set's order; what is wrong with a photo that can't be opened."""
    for item in data:
        try:
            content = item.picture.read()
            views = [first_view(photo).image for photo, _ in album_photos(open_photo(content))]
        except BadInput as error:
            yield error
            continue
        yield Digest(item.id, item.picture.where, hashlib.sha256(content).hexdigest(), picture_key(views))
