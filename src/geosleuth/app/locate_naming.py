"""What photos are called on the screen: file names can name a street, so they are told at ``exact`` alone."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from geosleuth.app.locate_beside import copy_of, sidecar_of
from geosleuth.errors import BadInput


def numbered(number: int) -> str:
    """What a photo is called where its name may not be told; the first is 0."""
    return f"photo {number + 1}"


@contextmanager
def names_left_out(photos: Sequence[Path], granularity: str) -> Iterator[None]:
    """Below ``exact``, refusals speak of photos, and of files beside them, by their numbers.

    Raises:
        BadInput: as it came, without the names.
    """
    try:
        yield
    except BadInput as error:
        told = str(error) if granularity == "exact" else without_names(str(error), photos)
        if told == str(error):
            raise
        # The error as it came has the name in it.
        raise BadInput(told) from None


def without_names(text: str, photos: Sequence[Path]) -> str:
    """A text with numbers in place of the photos' names, and of those of copies and sidecars."""
    names: dict[str, str] = {}
    for number, photo in enumerate(photos):
        called = numbered(number)
        for path, words in (
            (photo, called),
            (copy_of(photo), f"the copy of {called}"),
            (sidecar_of(photo), f"the sidecar of {called}"),
        ):
            names[str(path)] = words
        if photo.parent.name:
            names[str(photo.parent)] = "its folder"
    for name in sorted((name for name in names if name in text), key=len, reverse=True):
        text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", names[name], text)
    return text
