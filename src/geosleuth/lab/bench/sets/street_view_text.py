"""Street View Text: ``test.xml`` and ``train.xml`` with addresses and boxes around words, and ``img/``.

The set has addresses and no points. Those of ``points.csv`` (image, lat, lon) beside the XML are used if it exists;
otherwise the truth is the centre of the address's city.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput

from .archives import BadName, Shelf
from .cards import CARDS
from .dataset import DataSet, DatasetBox, Entry, Fault, Item, Strict, box_of_pixels
from .table_rows import USUAL, clean_text, degrees, flatten_row, parse_text, pick, read_rows, us_address

_MAX_BYTES = 64 * 1024 * 1024
_PARTS = ("test.xml", "train.xml")


def open_street_view_text(path: Path, photos: Path | None = None) -> DataSet:
    """Open both parts; the field ``split`` distinguishes them.

    Raises:
        BadInput: there is no such XML file, or it is damaged.
    """
    folder = next((found for found in (path, path / "svt1") if any((found / part).is_file() for part in _PARTS)), path)
    files = [path] if path.is_file() else [folder / part for part in _PARTS if (folder / part).is_file()]
    if not files or any(file.suffix.lower() != ".xml" for file in files):
        raise BadInput(f"{path}: looked for test.xml and train.xml (with imageName, address, taggedRectangles)")
    root = files[0].parent
    points = _points(root / "points.csv")
    shelf = Shelf(photos or root, ("", "img"))
    return DataSet(CARDS["street-view-text"], root, Strict(lambda: _read_svt_entries(files, shelf, points)))


@dataclass(slots=True)
class _Image:
    name: str = ""
    address: str = ""
    size: tuple[float, float] | None = None
    boxes: list[list[float]] = field(default_factory=list)


def _read_svt_entries(files: list[Path], shelf: Shelf, points: dict[str, LatLon]) -> Iterator[Entry]:
    for file in files:
        for number, image in enumerate(_images(file), 1):
            where = f"{file}, image {number}"
            try:
                yield _item(image, shelf, points, file.stem, where)
            except (BadName, ValueError) as error:
                yield Fault(where, str(error))


def _item(image: _Image, shelf: Shelf, points: dict[str, LatLon], split: str, where: str) -> Entry:
    city, state, centre = us_address(image.address) or (None, None, None)
    point = points.get(image.name, centre)
    if point is None:
        return Fault(where, f"no point: no known city of the United States in {image.address[:80]!r}", expected=True)
    fields = {"split": split, "point": "points.csv" if image.name in points else "city centre"}
    truth = Truth(point, country="United States", region=state, city=city)
    return Item(clean_text(image.name), shelf.picture(image.name), truth, fields, _boxes(image))


def _boxes(image: _Image) -> tuple[DatasetBox, ...]:
    if image.size is None or min(image.size) <= 0:
        return ()
    found = []
    for edges in image.boxes:
        try:
            found.append(box_of_pixels("text", edges, image.size))
        except ValueError:
            continue  # Some boxes of the set lie outside their picture.
    return tuple(found)


def _images(file: Path) -> Iterator[_Image]:
    """Yield the images of one file; XML entities are refused, so that nothing can expand."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = reader.refuse
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise BadInput(f"{file}: larger than {_MAX_BYTES / 1024**2:g} MiB, so not a file of this set")
        with file.open("rb") as stream:
            while data := stream.read(1 << 16):
                parser.Parse(data, False)  # noqa: FBT003
                yield from reader.take()
            parser.Parse(b"", True)  # noqa: FBT003
        yield from reader.take()
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise BadInput(f"{file}: not the set's XML: {str(error)[:80]}") from error
    except OSError as error:
        raise BadInput(f"{file}: can't be read: {error.strerror or error}") from error


class _Reader:
    def __init__(self) -> None:
        self._done: list[_Image] = []
        self._image: _Image | None = None
        self._words: list[str] = []

    def start(self, name: str, values: dict[str, str]) -> None:
        self._words.clear()
        tag = name.lower()
        if tag == "image":
            self._image = _Image()
        elif self._image is not None and tag == "resolution":
            self._image.size = (float(values["x"]), float(values["y"]))
        elif self._image is not None and tag == "taggedrectangle":
            left, top, width, height = (float(values[key]) for key in ("x", "y", "width", "height"))
            self._image.boxes.append([left, top, left + width, top + height])

    def end(self, name: str) -> None:
        tag, text = name.lower(), "".join(self._words).strip()
        if self._image is None:
            return
        if tag == "imagename":
            self._image.name = text
        elif tag == "address":
            self._image.address = text
        elif tag == "image":
            self._done.append(self._image)
            self._image = None

    def text(self, text: str) -> None:
        self._words.append(text)

    def refuse(self, *_declared: Any) -> None:
        raise ValueError("it declares entities")

    def take(self) -> list[_Image]:
        done, self._done = self._done, []
        return done


def _points(table: Path) -> dict[str, LatLon]:
    """Return points by image name, from a table that the user may have written."""
    if not table.is_file():
        return {}
    points = {}
    for number, row in read_rows(table):
        if isinstance(row, Fault):
            raise BadInput(f"{row.where}: {row.reason}")
        cells = flatten_row(row, USUAL)
        name = parse_text(pick(cells, USUAL.image))
        try:
            if name is None:
                raise ValueError("the image is missing")
            lat, lon = degrees(pick(cells, USUAL.lat), "lat"), degrees(pick(cells, USUAL.lon), "lon")
            points[name] = LatLon(lat, lon)
        except ValueError as error:
            raise BadInput(f"{table}:{number}: {error}") from error
    return points
