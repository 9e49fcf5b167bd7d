"""LLMGeo: ``dataset/test/h0/arg/-58.58_-36.18_h0_p0_f90.jpg``; heading, country and point are in the path."""

import re
from collections.abc import Iterator
from pathlib import Path

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.score import Truth

from .cards import CARDS
from .exif_folder import photo_files
from .faults import Entry, Fault, Strict
from .model import DataSet, Item
from .reading import clean_text
from .shelf import InsidePicture

_NAME = re.compile(r"(?P<lon>-?\d+(?:\.\d+)?)_(?P<lat>-?\d+(?:\.\d+)?)_h(?P<heading>\d+)_p-?\d+_f\d+")


def open_llmgeo(path: Path, photos: Path | None = None) -> DataSet:
    """The test part: below ``dataset/test``, or the folder itself.

    Raises:
        BadInput: no photo there is named so.
    """
    root = photos or path
    for below in ("dataset/test", "test"):
        if (root / below).is_dir():
            root /= below
            break
    if not root.is_dir() or not any(_NAME.fullmatch(found.stem) for found in photo_files(root)):
        raise BadInput(f"{path}: looked for dataset/test/h0/COUNTRY/LON_LAT_h0_p0_f90.jpg")
    return DataSet(CARDS["llmgeo"], root, Strict(lambda: _entries(root)))


def _entries(root: Path) -> Iterator[Entry]:
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
        yield Item(clean_text(name), InsidePicture(path, root), Truth(point, country=path.parent.name.upper()), fields)
