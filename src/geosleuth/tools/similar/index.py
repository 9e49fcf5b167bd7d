"""Make an index of a folder of photos, bring it up to date, and ask it which photos look like a given one."""

import asyncio
import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from geosleuth.geo import LatLon, is_valid
from geosleuth.photo import OpenedPhoto, View, first_view, open_photo
from geosleuth.photo.image_encoder import Features, ImageEncoder, lasting_spec, load_encoder
from geosleuth.support.databases import run_transaction
from geosleuth.support.errors import BadInput
from geosleuth.tools.calls import Similar

from .index_file import (
    Halves,
    encode_key,
    format_key,
    open_for_change,
    open_for_reading,
    pixel_digest,
    read_coordinates,
    read_info,
)

if TYPE_CHECKING:
    from PIL.Image import Image

SOURCE: Final = "own photos"
_ROWS_AT_ONCE: Final = 256  # fits a core's cache, and is too little for threads that would wait for each other

Sameness = Literal["identical file", "identical picture"]
"""The very file that is asked about, or one with the same pixels and other metadata."""

ENDINGS: Final = frozenset({".jpg", ".jpeg", ".jpe", ".png", ".webp", ".tif", ".tiff", ".heic", ".heif"})
BATCH: Final = 16
_OPENERS: Final = 2  # photos open at once; a large one takes more than a gigabyte
NO_COORDINATES: Final = "no coordinates"
ESTIMATED_PLACE: Final = "estimated places"
NO_TROUBLE: Final = frozenset({NO_COORDINATES, ESTIMATED_PLACE})
CLOSED_FOLDER: Final = "the folder can't be read"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Match:
    """A photo of the index: its path under the folder it was found in, how alike it is (cosine), where it was taken.

    ``point`` is None where ``same`` is set: what a photo's own metadata claim is no evidence of where it was taken.
    """

    title: str
    score: float
    point: LatLon | None
    same: Sameness | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    title: str
    point: LatLon
    file_sha256: bytes
    pixel_sha256: bytes


class ImageIndex:
    """The photos of an index, held in memory: 2.6 kB a photo with the bundled image encoder. Searched from any thread.

    It is an `ImageSearch`. What the index holds is a snapshot: later runs of `build_index` are not noticed.
    """

    def __init__(
        self, encoder: ImageEncoder, rows: tuple[_Row, ...], features: Halves, own: frozenset[bytes] = frozenset()
    ) -> None:
        self._encoder, self._rows, self._features, self._own = encoder, rows, features, own

    @classmethod
    def open(cls, path: Path, encoder: ImageEncoder | None = None) -> "ImageIndex":
        """Read an index; the encoder is found as it was when the index was made, unless one is given.

        Raises:
            BadInput: there is no index, it can't be read, or its encoder is gone or was changed.
        """
        with open_for_reading(path) as conn:
            info = read_info(conn, path)
            encoder = encoder or load_encoder(info.spec)
            if encoder.name != info.encoder:
                raise BadInput(
                    f"{path}: it was made with the encoder {info.encoder!r}, not {encoder.name!r}; make it anew"
                )
            (count,) = conn.execute("SELECT count(*) FROM photo WHERE features IS NOT NULL").fetchone()
            features: Halves = np.empty((count, info.dimension), dtype=np.float16)
            rows = []
            query = "SELECT path, lat, lon, file_sha256, pixel_sha256, features FROM photo WHERE features IS NOT NULL"
            for number, (name, lat, lon, file_sha256, pixel_sha256, blob) in enumerate(conn.execute(query)):
                if not is_valid(lat, lon) or not isinstance(blob, bytes) or len(blob) != 2 * info.dimension:
                    raise BadInput(f"{path}: the index is damaged; delete it and make it anew")
                features[number] = np.frombuffer(blob, dtype="<f2")
                rows.append(_Row(format_key(name), LatLon(lat, lon), file_sha256, pixel_sha256))
        return cls(encoder, tuple(rows), features)

    def exclude(self, photos: Iterable[OpenedPhoto]) -> "ImageIndex":
        """Return the same index without the photos in question, so that they are not evidence for themselves.

        It matters for crops: what was cut out of a photo can't be told from the cut alone.
        """
        own = set(self._own)
        for opened in photos:
            own.add(bytes.fromhex(opened.claims.sha256))
            own.add(pixel_digest(first_view(opened.photo).image))
        return ImageIndex(self._encoder, self._rows, self._features, frozenset(own))

    @property
    def name(self) -> str:
        """Return the name that results are credited to."""
        return SOURCE

    @property
    def fingerprint(self) -> str:
        """Tells indexes apart, wherever they lie: by the encoder, and by every photo's name, place and pixels."""
        digest = hashlib.sha256(self._encoder.name.encode())
        for row in sorted(map(repr, self._rows)):
            digest.update(b"\n" + row.encode())
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self._rows)

    async def search(self, view: View, *, limit: int = 10) -> list[Similar]:
        """Up to ``limit`` photos, most alike first; one that is the photo in question says that and nothing else.

        Neither its point nor its file's name, which often tells the place, is evidence for it.
        """
        found = await asyncio.to_thread(self.find, view.image, limit=limit)
        return [Similar(match.same or match.title, match.score, SOURCE, None, match.point) for match in found]

    def find(self, image: "Image", *, limit: int = 10) -> list[Match]:
        """Up to ``limit`` photos like a picture, most alike first."""
        if not self._rows or limit < 1:
            return []
        scores = self._scores(self._encoder.features([image])[0])
        own = self._own | {pixel_digest(image)}
        best = np.argpartition(-scores, min(limit, len(scores)) - 1)[:limit]
        # By path where two are equally alike, so that the order does not depend on when each was added.
        ranked = sorted(best.tolist(), key=lambda number: (-scores[number], self._rows[number].title))
        return [_match(self._rows[number], float(scores[number]), own) for number in ranked]

    def _scores(self, wanted: Features) -> Features:
        scores = np.empty(len(self._features), dtype=np.float32)
        for start in range(0, len(scores), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            scores[part] = self._features[part].astype(np.float32) @ wanted
        return np.clip(scores, -1.0, 1.0)


def _match(row: _Row, score: float, own: frozenset[bytes]) -> Match:
    same: Sameness | None = None
    if row.file_sha256 in own:
        same = "identical file"
    elif row.pixel_sha256 in own:
        same = "identical picture"
    return Match(row.title, score, None if same else row.point, same)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A photo that is not in the index, by its path under the folder, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """Result of a run: numbers of photos added, kept from earlier runs, gone from the folder, and left out.

    ``total`` counts the photos of all folders that can now be found. ``unmatched`` are rows of the table of coordinates
    that no photo goes by.
    """

    added: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    unmatched: int
    total: int

    @property
    def reasons(self) -> Mapping[str, int]:
        """Return the number of photos left out for each reason."""
        return Counter(item.reason for item in self.skipped)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    key: bytes
    bytes: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class _Opened:
    file: _File
    point: LatLon | None
    file_sha256: bytes
    pixel_sha256: bytes
    image: "Image"
    # A place that was itself found by looking: to learn from it would be to believe oneself.
    estimated: bool

    @property
    def is_placed(self) -> bool:
        return self.point is not None and not self.estimated

    @property
    def reason(self) -> str:
        return NO_COORDINATES if self.point is None else ESTIMATED_PLACE


@dataclass(frozen=True, slots=True)
class _Refused:
    key: bytes
    reason: str


def build_index(
    folder: Path,
    out: Path,
    encoder: str = "bundled",
    progress: Progress = lambda _done, _total: None,
    *,
    coordinates: Path | None = None,
    only_listed: bool = False,
) -> IndexSummary:
    """Look at every geotagged photo of a folder and those under it, and keep what was seen in an index.

    Run again, only new and changed photos are looked at, and photos that are gone leave the index. Several folders may
    share an index. Places that a file says were estimated, as copies that geosleuth writes do, count as none. A run
    that is cut off loses at most the photos of its last few seconds. Hidden files and folders, and files that are not
    called like photos, are passed over.

    Args:
        folder: where the photos are.
        out: the index's file.
        encoder: which image encoder to use, see `load_encoder`.
        progress: called with photos done and photos to do.
        coordinates: a CSV table of path, lat, lon, which goes before what the photos claim.
        only_listed: look at the photos that the table names and at no others; none leaves the index.

    Raises:
        BadInput: there is nothing to look at, the table or the index can't be used, or the index has another encoder.
    """
    points = {} if coordinates is None else read_coordinates(coordinates, folder)
    files, closed = _photos_listed(folder, points) if only_listed else _list_photos(folder)
    network = load_encoder(encoder)
    with open_for_change(out, network, lasting_spec(encoder)) as conn:
        run = _Run(conn, _root(conn, folder), network, points, closed)
        todo = run.not_yet_known(files)
        with _openers() as pool:
            for start in range(0, len(todo), BATCH):
                progress(start, len(todo))
                run.take(list(pool.map(run.open, todo[start : start + BATCH])))
        progress(len(todo), len(todo))
        removed = 0 if only_listed else run.remove_all_but(files)
        (total,) = conn.execute("SELECT count(*) FROM photo WHERE features IS NOT NULL").fetchone()
    return IndexSummary(
        added=run.added,
        unchanged=run.unchanged,
        removed=removed,
        skipped=tuple(
            sorted((Skipped(format_key(item.key), item.reason) for item in run.refused), key=lambda item: item.path)
        ),
        unmatched=len(points.keys() - {file.key for file in files}),
        total=total,
    )


class _Run:
    """Run over a folder."""

    def __init__(
        self,
        conn: sqlite3.Connection,
        root: int,
        encoder: ImageEncoder,
        points: Mapping[bytes, LatLon],
        refused: Iterable[_Refused],
    ) -> None:
        self._conn, self._root, self._encoder, self._points = conn, root, encoder, points
        self.added = self.unchanged = 0
        self.refused = list(refused)

    def not_yet_known(self, files: Sequence[_File]) -> list[_File]:
        """Photos to look at. Of the others, those whose place the table now gives differently are moved."""
        query = "SELECT path, bytes, changed_ns, features IS NOT NULL, lat, lon FROM photo WHERE root = ?"
        known = {path: rest for path, *rest in self._conn.execute(query, (self._root,))}
        todo, moved = [], []
        for file in files:
            size, changed_ns, seen, lat, lon = known.get(file.key, (None, None, False, None, None))
            stated = self._points.get(file.key)
            if (size, changed_ns) != (file.bytes, file.changed_ns) or not (seen or stated is None):
                todo.append(file)
            elif seen:
                self.unchanged += 1
                if stated is not None and (stated.lat, stated.lon) != (lat, lon):
                    moved.append((stated.lat, stated.lon, self._root, file.key))
            else:
                self.refused.append(_Refused(file.key, NO_COORDINATES if lat is None else ESTIMATED_PLACE))
        with run_transaction(self._conn):
            self._conn.executemany("UPDATE photo SET lat = ?, lon = ? WHERE root = ? AND path = ?", moved)
        return todo

    def open(self, file: _File) -> _Opened | _Refused:
        """A photo as the agent would see it; called in several threads."""
        try:
            opened = open_photo(file.path)
        except BadInput as error:
            return _Refused(file.key, str(error).removeprefix(f"{file.path}: "))
        image = first_view(opened.photo).image
        digest = bytes.fromhex(opened.claims.sha256)
        stated = self._points.get(file.key)
        estimated = stated is None and opened.claims.estimated
        return _Opened(file, stated or opened.claims.point, digest, pixel_digest(image), image, estimated)

    def take(self, batch: Sequence[_Opened | _Refused]) -> None:
        """Look at a batch and write it down."""
        opened = [item for item in batch if isinstance(item, _Opened)]
        placed = [item for item in opened if item.is_placed]
        features = self._encoder.features([item.image for item in placed]).astype("<f2")
        seen = {one.file.key: row.tobytes() for one, row in zip(placed, features, strict=True)}
        with run_transaction(self._conn):
            self._conn.executemany(
                "INSERT OR REPLACE INTO photo (root, path, bytes, changed_ns, lat, lon, file_sha256, pixel_sha256, "
                "features) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        self._root, item.file.key, item.file.bytes, item.file.changed_ns,
                        item.point and item.point.lat, item.point and item.point.lon,
                        item.file_sha256, item.pixel_sha256, seen.get(item.file.key),
                    )
                    for item in opened
                ],
            )  # fmt: skip
        self.added += len(placed)
        self.refused += [item for item in batch if isinstance(item, _Refused)]
        self.refused += [_Refused(item.file.key, item.reason) for item in opened if not item.is_placed]

    def remove_all_but(self, files: Sequence[_File]) -> int:
        """Take out photos that are gone or can't be opened any more; what closed folders hold now is unknown."""
        unreadable = {item.key for item in self.refused if item.reason not in (*NO_TROUBLE, CLOSED_FOLDER)}
        present = {file.key for file in files} - unreadable
        closed = tuple(item.key + b"/" for item in self.refused if item.reason == CLOSED_FOLDER)
        rows = self._conn.execute("SELECT path FROM photo WHERE root = ?", (self._root,)).fetchall()
        gone = [(self._root, path) for (path,) in rows if path not in present and not path.startswith(closed)]
        with run_transaction(self._conn):
            self._conn.executemany("DELETE FROM photo WHERE root = ? AND path = ?", gone)
        return len(gone)


def _list_photos(folder: Path) -> tuple[list[_File], list[_Refused]]:
    """Return the photos, and files or folders that can't be read."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder; give the folder that holds the photos")
    found: list[_File] = []
    refused: list[_Refused] = []

    def refuse(error: OSError) -> None:
        refused.append(_Refused(encode_key(os.path.relpath(error.filename, folder)), CLOSED_FOLDER))

    for where, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(where) / name
            if not name.startswith(".") and path.suffix.lower() in ENDINGS:
                key = encode_key(os.path.relpath(path, folder))
                try:
                    status = path.stat()
                except OSError as error:
                    refused.append(_Refused(key, f"can't be read: {error.strerror or error}"))
                else:
                    found.append(_File(path, key, status.st_size, status.st_mtime_ns))
    if not found:
        raise BadInput(f"{folder}: there are no photos in it (JPEG, PNG, WebP, TIFF, HEIC); nothing was changed")
    return found, refused


def _photos_listed(folder: Path, points: Mapping[bytes, LatLon]) -> tuple[list[_File], list[_Refused]]:
    """Return the photos that a table names, and those that are missing."""
    found: list[_File] = []
    refused: list[_Refused] = []
    for key in sorted(points):
        path = folder / os.fsdecode(key)
        try:
            status = path.stat()
        except OSError as error:
            refused.append(_Refused(key, f"can't be read: {error.strerror or error}"))
        else:
            found.append(_File(path, key, status.st_size, status.st_mtime_ns))
    if not found:
        raise BadInput(f"{folder}: no photo that the table names is there; paths are relative to it, or absolute")
    return found, refused


def _root(conn: sqlite3.Connection, folder: Path) -> int:
    path = os.fsencode(folder.resolve())
    with run_transaction(conn):
        conn.execute("INSERT OR IGNORE INTO root (path) VALUES (?)", (path,))
        (number,) = conn.execute("SELECT id FROM root WHERE path = ?", (path,)).fetchone()
    return int(number)


@contextmanager
def _openers() -> Iterator[ThreadPoolExecutor]:
    """Provide threads that open photos; an interrupt does not wait for photos that are not begun."""
    pool = ThreadPoolExecutor(_OPENERS, thread_name_prefix="opening")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
