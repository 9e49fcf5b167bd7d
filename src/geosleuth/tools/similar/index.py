"""Asking an index which photos look like a given one."""

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon, is_valid
from geosleuth.photo import OpenedPhoto, View, first_view
from geosleuth.photo.eyes import Encoder, Features, load_encoder
from geosleuth.tools.model import Similar

from .store import Halves, open_for_reading, pixel_digest, read_info, shown

if TYPE_CHECKING:
    from PIL.Image import Image

SOURCE: Final = "own photos"
_ROWS_AT_ONCE: Final = 256  # fits a core's cache, and is too little for threads that would wait for each other

Sameness = Literal["identical file", "identical picture"]
"""The very file that is asked about, or one with the same pixels and other metadata."""


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
    """The photos of an index, held in memory: 2.6 kB a photo with the bundled eyes. Searched from any thread.

    It is an `ImageSearch`. What the index holds is a snapshot: later runs of `build_index` are not noticed.
    """

    def __init__(
        self, encoder: Encoder, rows: tuple[_Row, ...], features: Halves, own: frozenset[bytes] = frozenset()
    ) -> None:
        self._encoder, self._rows, self._features, self._own = encoder, rows, features, own

    @classmethod
    def open(cls, path: Path, encoder: Encoder | None = None) -> "ImageIndex":
        """Read an index; the encoder is found as it was when the index was made, unless one is given.

        Raises:
            BadInput: there is no index, it can't be read, or its encoder is gone or was changed.
        """
        with open_for_reading(path) as conn:
            info = read_info(conn, path)
            eyes = encoder or load_encoder(info.spec)
            if eyes.name != info.encoder:
                raise BadInput(
                    f"{path}: it was made with the encoder {info.encoder!r}, not {eyes.name!r}; make it anew"
                )
            (count,) = conn.execute("SELECT count(*) FROM photo WHERE features IS NOT NULL").fetchone()
            features: Halves = np.empty((count, info.dimension), dtype=np.float16)
            rows = []
            query = "SELECT path, lat, lon, file_sha256, pixel_sha256, features FROM photo WHERE features IS NOT NULL"
            for number, (name, lat, lon, file_sha256, pixel_sha256, blob) in enumerate(conn.execute(query)):
                if not is_valid(lat, lon) or not isinstance(blob, bytes) or len(blob) != 2 * info.dimension:
                    raise BadInput(f"{path}: the index is damaged; delete it and make it anew")
                features[number] = np.frombuffer(blob, dtype="<f2")
                rows.append(_Row(shown(name), LatLon(lat, lon), file_sha256, pixel_sha256))
        return cls(eyes, tuple(rows), features)

    def searching_for(self, photos: Iterable[OpenedPhoto]) -> "ImageIndex":
        """The same index, which now knows the photos in question and so won't offer them as evidence for themselves.

        It matters for crops: what was cut out of a photo can't be told from the cut alone.
        """
        own = set(self._own)
        for opened in photos:
            own.add(bytes.fromhex(opened.claims.sha256))
            own.add(pixel_digest(first_view(opened.photo).image))
        return ImageIndex(self._encoder, self._rows, self._features, frozenset(own))

    @property
    def name(self) -> str:
        """What results are credited to."""
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
