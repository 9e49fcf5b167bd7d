"""Im2GPS3k, YFCC4k and YFCC26k: photos from Flickr, and a table of GeoEstimation's with scene labels.

The tables have ``IMG_ID, AUTHOR, LAT, LON, S3_Label, S16_Label, S365_Label, Prob_indoor, Prob_natural, Prob_urban``.
The first that was published for Im2GPS3k calls latitudes LON and longitudes LAT; it is recognised and set right.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from geosleuth.errors import BadInput

from .cards import CARDS
from .faults import Entry, Fault, Strict
from .model import Card, DataSet
from .reading import Columns, check_header, degrees, entry_of, table_entries
from .shelf import Shelf
from .tables import Row, read_rows

_SCENES = {"0": "indoor", "1": "natural", "2": "urban"}
_COLUMNS = Columns(
    image=("IMG_ID", "img_id", "image_id"),
    id=("IMG_ID", "img_id", "image_id"),
    left_out=("AUTHOR", "Prob_indoor", "Prob_natural", "Prob_urban", "S3_Label"),
)
_EXCHANGED = replace(_COLUMNS, lat=_COLUMNS.lon, lon=_COLUMNS.lat)


@dataclass(frozen=True, slots=True)
class _Layout:
    tables: tuple[str, ...]
    folders: tuple[str, ...]


_LAYOUTS = {
    "im2gps3k": _Layout(
        ("im2gps3k_places365.csv", "im2gps3ktest.csv", "im2gps3k.csv"), ("images", "im2gps3ktest", "im2gps3k", "")
    ),
    "yfcc4k": _Layout(
        ("yfcc4k_places365.csv", "0aaaa.r.imagedata.txt", "yfcc4k.csv"), ("images", "yfcc4k", "yfcc4k/yfcc4k", "")
    ),
    "yfcc26k": _Layout(
        ("yfcc25600_places365.csv", "yfcc26k.csv"),
        ("images/yfcc25600", "images", "yfcc25600", "yfcc25600/images", "yfcc26k", ""),
    ),
}


def open_im2gps3k(path: Path, photos: Path | None = None) -> DataSet:
    """Im2GPS3k: ``im2gps3k_places365.csv`` and the photos of ``im2gps3ktest.zip``, unpacked or not."""
    return _open("im2gps3k", path, photos)


def open_yfcc4k(path: Path, photos: Path | None = None) -> DataSet:
    """YFCC4k: ``yfcc4k_places365.csv`` or the authors' own list, and the photos of ``yfcc4k.zip``."""
    return _open("yfcc4k", path, photos)


def open_yfcc26k(path: Path, photos: Path | None = None) -> DataSet:
    """YFCC26k: ``yfcc25600_places365.csv``, and photos as files or as the downloader's ``shard_*.msg``."""
    return _open("yfcc26k", path, photos)


def _open(name: str, path: Path, photos: Path | None) -> DataSet:
    layout = _LAYOUTS[name]
    table = find_table(path, layout.tables)
    shelf = Shelf(photos or table.parent, layout.folders)
    card = CARDS[name]
    if table.suffix == ".txt":
        return DataSet(card, table.parent, Strict(lambda: _listed(table, shelf)))
    check_header(table, _COLUMNS)
    columns = _COLUMNS
    if _is_exchanged(table):
        columns = _EXCHANGED
        card = _with_note(
            card, f"{table.name} on this disk has LAT and LON exchanged; they are read the right way round"
        )
    return DataSet(card, table.parent, Strict(lambda: table_entries(table, shelf, columns, change=_with_scene)))


def find_table(path: Path, names: tuple[str, ...], within: tuple[str, ...] = ("", "metadata", "meta")) -> Path:
    """The first table that is there, in a folder or one of its usual sub-folders; a file is taken as it is.

    Raises:
        BadInput: none is; the message names what was looked for.
    """
    if path.is_file():
        return path
    for folder in within:
        for name in names:
            if (path / folder / name).is_file():
                return path / folder / name
    raise BadInput(f"{path}: looked for {' or '.join(names)} there; the data set's files are told by its card")


def _with_note(card: Card, note: str) -> Card:
    return replace(card, faults=(*card.faults, note))


def _is_exchanged(table: Path) -> bool:
    """Whether some LAT can't be a latitude while every LON can be one."""
    impossible = False
    for _, row in read_rows(table):
        if isinstance(row, Fault):
            continue
        try:
            lat, lon = degrees(row.get("LAT"), "LAT"), degrees(row.get("LON"), "LON")
        except ValueError:
            continue
        if abs(lon) > 90:
            return False
        impossible |= abs(lat) > 90
    return impossible


def _with_scene(row: Row) -> Row:
    scene = _SCENES.get(str(row.get("S3_Label", "")).strip())
    return {**row, "scene": scene} if scene else row


def _listed(table: Path, shelf: Shelf) -> Iterator[Entry]:
    """The authors' list of YFCC4k: a path, a latitude and a longitude on each line."""
    known = _COLUMNS.known()
    try:
        with table.open(encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, 1):
                parts = line.split()
                if not parts:
                    continue
                if len(parts) < 3:
                    yield Fault(f"{table}:{number}", "a line is a photo's path, a latitude and a longitude")
                    continue
                name = PurePosixPath(parts[0].replace("\\", "/")).stem
                row = {"IMG_ID": name, "LAT": parts[1], "LON": parts[2]}
                yield entry_of(row, f"{table}:{number}", shelf.picture, _COLUMNS, known)
    except OSError as error:
        raise BadInput(f"{table}: can't be read: {error.strerror or error}") from error
