"""A gallery for the baseline ``nearest:`` from any data set and encoder."""

import csv
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from geosleuth.agent.locate import album_photos
from geosleuth.lab.bench.sets.dataset import DataSet, Item
from geosleuth.models.baselines.baseline_spec import picture_key
from geosleuth.models.baselines.gallery import encoder_of
from geosleuth.photo import first_view, open_photo
from geosleuth.photo.image_encoder import Features, ImageEncoder, lasting_spec, unit_rows
from geosleuth.support.errors import BadInput
from geosleuth.support.files import replacing, write_text_atomically

_HEADER: Final = ("id", "lat", "lon", "pixels")
_TOGETHER: Final = 16


@dataclass(frozen=True, slots=True)
class Made:
    """How many photos a gallery has, how many it had before, and the errors of those left out."""

    photos: int
    known: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _PartialGallery:
    """A gallery in progress: rows of features and lines of places, which grow together."""

    rows: Path
    lines: Path
    width: int

    def ids(self) -> list[str]:
        """Return its photos; the partial rest of an interrupted run is removed."""
        if not self.rows.is_file() or not self.lines.is_file():
            self.rows.write_bytes(b"")
            self.lines.write_bytes(b"")
            return []
        text = self.lines.read_bytes()
        whole = text[: text.rfind(b"\n") + 1].decode("utf-8")
        places = list(csv.reader(io.StringIO(whole)))
        count = min(len(places), self.rows.stat().st_size // (4 * self.width))
        os.truncate(self.rows, count * 4 * self.width)
        self.lines.write_text(_lines(places[:count]), encoding="utf-8")
        return [place[0] for place in places[:count]]

    def add(self, features: Features, places: list[list[str]]) -> None:
        with self.rows.open("ab") as stream:
            stream.write(np.ascontiguousarray(features, dtype="<f4").tobytes())
        with self.lines.open("a", encoding="utf-8", newline="") as stream:
            stream.write(_lines(places))


def make_gallery(
    data: DataSet,
    encoder: str,
    out: Path,
    progress: Callable[[int], None] = lambda _done: None,
    *,
    trust_code: bool = False,
) -> Made:
    """Encode every photo of a set and write the folder that ``nearest:`` reads.

    An interrupted run loses the photos of its last batch and continues when started again. Panoramas are encoded as
    models see them: the mean of the flat views.

    Args:
        data: photos with their places.
        encoder: the image encoder, see `encoder_of`.
        out: the folder; a finished one is not changed.
        progress: called with the number of photos done.
        trust_code: whether the encoder may be a file that runs code when it is loaded.

    Raises:
        BadInput: the folder can't be written or is a gallery, the encoder is unknown, or no photo can be opened.
        MissingExtra: a package that the encoder needs is not installed.
    """
    network = encoder_of(encoder, trust_code=trust_code)
    if (out / "features.npy").exists():
        raise BadInput(f"{out}: already holds a gallery; give another folder")
    spec = lasting_spec(encoder)
    try:
        out.mkdir(parents=True, exist_ok=True)
        encoder_file = out / "encoder"
        if encoder_file.is_file() and encoder_file.read_text(encoding="utf-8").strip() != spec:
            raise BadInput(f"{out}: was begun with another encoder; give another folder")
        write_text_atomically(encoder_file, f"{spec}\n")
        half = _PartialGallery(out / "features.part", out / "places.part", network.dimension)
        known = half.ids()
        left_out = _look(data, network, half, frozenset(known), progress)
        count = _finish(half, out)
    except OSError as error:
        raise BadInput(f"{out}: can't be written: {error.strerror or error}") from error
    return Made(count, len(known), tuple(left_out))


def _look(
    data: DataSet, encoder: ImageEncoder, half: _PartialGallery, known: frozenset[str], progress: Callable[[int], None]
) -> list[str]:
    left_out: list[str] = []
    rows: list[Features] = []
    places: list[list[str]] = []
    done = 0
    for done, item in enumerate(data, 1):
        if _one_line(item.id) not in known:
            try:
                row, place = _seen(item, encoder)
            except BadInput as error:
                left_out.append(f"{item.id}: {error}")
                continue
            rows.append(row)
            places.append(place)
        if len(rows) == _TOGETHER:
            half.add(np.concatenate(rows), places)
            rows, places = [], []
        progress(done)
    if rows:
        half.add(np.concatenate(rows), places)
    progress(done)
    return left_out


def _seen(item: Item, encoder: ImageEncoder) -> tuple[Features, list[str]]:
    views = [first_view(photo).image for photo, _ in album_photos(open_photo(item.picture.read()))]
    point = item.truth.point
    row = unit_rows(encoder.features(views).mean(axis=0, keepdims=True))
    return row, [item.id, repr(point.lat), repr(point.lon), picture_key(views)]


def _finish(half: _PartialGallery, out: Path) -> int:
    features = np.fromfile(half.rows, dtype="<f4").reshape(-1, half.width)
    if not len(features):
        raise BadInput(f"{out}: no photo could be encoded")
    text = half.lines.read_text(encoding="utf-8")
    write_text_atomically(out / "places.csv", _lines([list(_HEADER)]) + text)
    with replacing(out / "features.npy") as neighbour, neighbour.open("wb") as stream:
        np.save(stream, features)
    for path in (half.rows, half.lines):
        path.unlink()
    return len(features)


def _lines(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_one_line(cell) for cell in row] for row in rows)
    return text.getvalue()


def _one_line(cell: str) -> str:
    """Return the cell on one line: line ends would split the row."""
    return " ".join(cell.split())
