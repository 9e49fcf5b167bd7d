"""Where exports look for their images: ``images/<trajectory>/<handle>.jpg``, beside the export or wherever they lie."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from geosleuth.agent.rebuilding import Rebuilt
from geosleuth.agent.trajectory import Trajectory
from geosleuth.errors import BadInput
from geosleuth.files import write_bytes_atomically
from geosleuth.photo import encode

_OURS = re.compile(r"(?:.*/)?images/[^/]+/([^/]*)\.jpg", re.DOTALL)


def image_path(trajectory_id: str, handle: str) -> str:
    """Where the image of a handle belongs, below the folder of the images; safe for any id and handle."""
    return f"images/{_segment(trajectory_id)}/{_segment(handle)}.jpg"


def _segment(name: str) -> str:
    quoted = quote(name, safe=" ", errors="surrogatepass")
    return quoted.replace(".", "%2E") if not quoted.strip(".") else quoted


class Handles:
    """Gives the images of a record their handles, in the order they come up.

    A path that an export of ours wrote says its handle; any other image gets the next free ``image-N``.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        """Take the paths that placeholders stand for, in their order."""
        self._waiting: Iterator[str] = iter(paths)
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        """The handle of the image at a path."""
        if path not in self._known:
            ours = _OURS.fullmatch(path)
            self._known[path] = unquote(ours[1], errors="surrogatepass") if ours else self._fresh()
        return self._known[path]

    def next(self) -> str:
        """The handle of the image that the next placeholder stands for.

        Raises:
            BadInput: there are more placeholders than images.
        """
        path = next(self._waiting, None)
        if path is None:
            raise BadInput("there are more places for images than images")
        return self.of(path)

    def _fresh(self) -> str:
        number = 1
        while f"image-{number}" in self._known.values():
            number += 1
        return f"image-{number}"


def paths_of(given: object) -> list[str]:
    """The paths of a record's list of images; entries may be objects with a path.

    Raises:
        BadInput: it is no list of paths.
    """
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    entries = given if isinstance(given, list) else [None]
    paths = [one.get("path") or one.get("url") if isinstance(one, dict) else one for one in entries]
    if not all(isinstance(path, str) for path in paths):
        raise BadInput('"images" must be a list of paths')
    return [str(path) for path in paths]


def write_images(trajectory: Trajectory, rebuilt: Rebuilt, folder: Path) -> tuple[str, ...]:
    """Write the images that exports of a trajectory refer to, as JPEG files without metadata.

    Args:
        trajectory: whose images.
        rebuilt: its album, see `rebuild_album`.
        folder: what the paths of the exports are relative to.

    Returns:
        The handles that were not written: pictures from elsewhere, such as maps, which no photo shows.

    Raises:
        BadInput: they can't be written there.
    """
    handles = dict.fromkeys(image.handle for image in trajectory.images)
    for handle in handles:
        if handle in rebuilt.missing:
            continue
        path = folder / image_path(trajectory.id, handle)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{path.parent}: can't be made: {error.strerror or error}") from error
        write_bytes_atomically(path, encode(rebuilt.album[handle]))
    return tuple(handle for handle in handles if handle in rebuilt.missing)
