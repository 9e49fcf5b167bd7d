"""Folders of photos with known places: from GPS tags, or from paths as in LLMGeo."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from geosleuth.photo import PhotoLimits
from geosleuth.photo.carrier import Unfit
from geosleuth.photo.containers import take_apart
from geosleuth.photo.exif import read_exif
from geosleuth.photo.metadata import Claims, gather_claims
from geosleuth.support.errors import BadInput

from .archives import ENDINGS
from .cards import CARDS
from .dataset import DataSet, Entry, Fault, FilePicture, Item, Strict
from .table_rows import clean_text

_LIMITS = PhotoLimits()

_NAME = re.compile(r"(?P<lon>-?\d+(?:\.\d+)?)_(?P<lat>-?\d+(?:\.\d+)?)_h(?P<heading>\d+)_p-?\d+_f\d+")


def open_exif(path: Path, photos: Path | None = None) -> DataSet:
    """Open a folder with its subfolders, or a single photo's folder.

    Raises:
        BadInput: it is not a folder.
    """
    root = photos or path
    if not root.is_dir():
        raise BadInput(f"{root}: no such folder; give a folder of photos with GPS tags, or a table")
    return DataSet(CARDS["exif"], root, Strict(_Folder(root)))


class _Folder:
    """Folder of photos; the first pass reads every file and remembers the results."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, tuple[int, int, Truth | Fault]] = {}

    def __call__(self) -> Iterator[Entry]:
        for path in photo_files(self._root):
            name = path.relative_to(self._root).as_posix()
            found = self._truth(path, name)
            yield found if isinstance(found, Fault) else Item(clean_text(name), FilePicture(path, self._root), found)

    def _truth(self, path: Path, name: str) -> Truth | Fault:
        try:
            status = path.stat()
        except OSError as error:
            return Fault(str(path), f"can't be read: {error.strerror or error}", expected=True)
        known = self._known.get(name)
        if known is None or known[:2] != (status.st_size, status.st_mtime_ns):
            known = (status.st_size, status.st_mtime_ns, self._read_truth(path))
            self._known[name] = known
        return known[2]

    def _read_truth(self, path: Path) -> Truth | Fault:
        try:
            claims = read_photo_claims(FilePicture(path, self._root).read())
        except BadInput as error:
            return Fault(str(path), str(error).removeprefix(f"{path}: "), expected=True)
        except Unfit as error:
            return Fault(str(path), str(error), expected=True)
        if claims.estimated:
            return Fault(str(path), "its place is an estimate from the picture, not measured", expected=True)
        if claims.point is None:
            return Fault(str(path), "no GPS tags", expected=True)
        return Truth(claims.point)


def read_photo_claims(data: bytes) -> Claims:
    """Return a photo's metadata without decoding its pixels.

    Raises:
        Unfit: it is not a photo that can be opened.
    """
    carrier = take_apart(data, _LIMITS)
    return gather_claims(data, carrier, read_exif(carrier.exif), [])


def photo_files(root: Path) -> Iterator[Path]:
    """Yield every photo below a folder by extension, in a stable order; links to folders are not followed."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in ENDINGS:
                yield Path(folder, name)


def open_llmgeo(path: Path, photos: Path | None = None) -> DataSet:
    """Open the test part: below ``dataset/test``, or the folder itself.

    Raises:
        BadInput: no photo has such a name.
    """
    root = photos or path
    for below in ("dataset/test", "test"):
        if (root / below).is_dir():
            root /= below
            break
    if not root.is_dir() or not any(_NAME.fullmatch(found.stem) for found in photo_files(root)):
        raise BadInput(f"{path}: no photos found; looked for dataset/test/h0/COUNTRY/LON_LAT_h0_p0_f90.jpg")
    return DataSet(CARDS["llmgeo"], root, Strict(lambda: _read_folder_entries(root)))


def _read_folder_entries(root: Path) -> Iterator[Entry]:
    for path in photo_files(root):
        said = _NAME.fullmatch(path.stem)
        if said is None:
            yield Fault(str(path), "its name does not tell where it was taken", expected=True)
            continue
        try:
            point = LatLon(float(said["lat"]), float(said["lon"]))
        except ValueError as error:
            yield Fault(str(path), str(error))
            continue
        name = path.relative_to(root).as_posix()
        fields = {"heading": said["heading"]}
        yield Item(clean_text(name), FilePicture(path, root), Truth(point, country=path.parent.name.upper()), fields)
