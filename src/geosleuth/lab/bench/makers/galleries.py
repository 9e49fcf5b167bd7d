"""A gallery for the baseline ``nearest:`` from any data set and encoder."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from geosleuth.agent.locate import album_photos
from geosleuth.lab.baselines.gallery import open_encoder
from geosleuth.lab.baselines.options import picture_key
from geosleuth.lab.bench.memory import Memory
from geosleuth.lab.bench.sets.dataset import DataSet
from geosleuth.photo import first_view, open_photo
from geosleuth.photo.image_encoder import Features, ImageEncoder, lasting_spec, unit_rows
from geosleuth.support.errors import BadInput
from geosleuth.support.files import replacing, write_text_atomically

from .photo_tables import format_rows

_HEADER: Final = ("id", "lat", "lon", "pixels")
_QUESTION: Final = "gallery:1"
_KEY_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class BuiltGallery:
    """Number of photos in a gallery, the number before this run, and the errors of those left out."""

    photos: int
    known: int
    left_out: tuple[str, ...]


def make_gallery(
    data: DataSet,
    encoder: str,
    out: Path,
    memory: Memory,
    progress: Callable[[int], None] = lambda _done: None,
    *,
    trust_code: bool = False,
) -> BuiltGallery:
    """Encode every photo of a set and write the folder that ``nearest:`` reads.

    What was encoded is kept by the photo's content, so that an interrupted run continues when started again. Panoramas
    are encoded as models see them: the mean of the flat views.

    Args:
        data: photos with their places.
        encoder: the image encoder, see `encoder_of`.
        out: the folder; a finished one is not changed.
        memory: keeps features.
        progress: called with the number of photos done.
        trust_code: whether the encoder may be a file that runs code when it is loaded.

    Raises:
        BadInput: the folder can't be written or is a gallery, the encoder is unknown, or no photo can be opened.
        MissingExtra: a package that the encoder needs is not installed.
    """
    network = open_encoder(encoder, trust_code=trust_code)
    if (out / "features.npy").exists():
        raise BadInput(f"{out}: already holds a gallery; give another folder")
    spec = lasting_spec(encoder)
    weights = _build_encoder_key(spec)
    rows: list[Features] = []
    places: list[list[str]] = []
    left_out: list[str] = []
    known = 0
    for done, item in enumerate(data, 1):
        try:
            content = item.picture.read()
            sha256 = hashlib.sha256(content).hexdigest()
            kept = memory.find(_QUESTION, weights, sha256)
            if kept is None:
                kept = _encode_photo(content, network)
                memory.keep(_QUESTION, weights, sha256, kept, paid=False)
            else:
                known += 1
        except BadInput as error:
            left_out.append(f"{item.id}: {error}")
            continue
        point = item.truth.point
        rows.append(np.frombuffer(kept[_KEY_BYTES:], dtype="<f4"))
        # Line ends would split the row.
        name = " ".join(item.id.split())
        places.append([name, repr(point.lat), repr(point.lon), kept[:_KEY_BYTES].decode("ascii")])
        progress(done)
    if not rows:
        raise BadInput(f"{out}: no photo could be encoded")
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_text_atomically(out / "encoder", f"{spec}\n")
        write_text_atomically(out / "places.csv", format_rows(_HEADER, places))
        with replacing(out / "features.npy") as neighbour, neighbour.open("wb") as stream:
            np.save(stream, np.stack(rows))
    except OSError as error:
        raise BadInput(f"{out}: can't be written: {error.strerror or error}") from error
    return BuiltGallery(len(rows), known, tuple(left_out))


def _build_encoder_key(spec: str) -> str:
    """Return the encoder's name with its files' state: other weights at a path are another encoder."""
    path = Path(spec)
    files = [path] if path.is_file() else sorted(path.rglob("*")) if path.is_dir() else []
    states = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return f"{spec} {hashlib.sha256(repr(states).encode()).hexdigest()}" if states else spec


def _encode_photo(content: bytes, encoder: ImageEncoder) -> bytes:
    """Return the picture's key followed by its features, as bytes."""
    views = [first_view(photo).image for photo, _ in album_photos(open_photo(content))]
    row = unit_rows(encoder.features(views).mean(axis=0, keepdims=True))
    return picture_key(views).encode("ascii") + np.ascontiguousarray(row, dtype="<f4").tobytes()
