"""Bringing people's notes into a store of trajectories, one at a time; what the store has already is passed over."""

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass

from geosleuth.data.factory.attempt import pictures
from geosleuth.data.factory.timeless import id_of, timeless
from geosleuth.data.geoagent import recorded
from geosleuth.data.model import Made, Rejected, Sample
from geosleuth.data.rejection import judge_assembled
from geosleuth.errors import BadInput
from geosleuth.photo import Claims, OpenedPhoto, View, encode, first_view, open_photo
from geosleuth.score import Truth

from .normalising import Normaliser
from .reading import Note

SOURCE = "imported"
_QUALITY = 92


@dataclass(frozen=True, slots=True)
class _Opened:
    photo: OpenedPhoto
    content: bytes


def _never(_key: str) -> bool:
    return False


async def import_notes(
    notes: Iterable[Note], normaliser: Normaliser, *, is_known: Callable[[str], bool] = _never, split: str = "train"
) -> AsyncIterator[Made]:
    """A record of each note, as a run of GeoAgent's method; notes that can't be brought into the form are rejected.

    Photos lose their metadata and their names: what is kept are pixels.

    Raises:
        ServiceFault: a model failed.
    """
    for note in notes:
        key = key_of(note)
        if is_known(key):
            continue
        try:
            yield await _made(note, key, normaliser, split)
        except BadInput as error:
            yield Rejected(key=key, scene=key, source=SOURCE, reason="unusable_note", detail=str(error))


def key_of(note: Note) -> str:
    """What a note is called in a store: nothing of its file's name, which may tell the place."""
    return f"note-{hashlib.sha256(note.id.encode()).hexdigest()[:16]}"


async def _made(note: Note, key: str, normaliser: Normaliser, split: str) -> Made:
    opened = _pixels(note)
    record = await normaliser(note)
    finding = await recorded(opened.photo, record, by=normaliser.name)
    trajectory = timeless(finding.trajectory, id_of({"by": normaliser.name}, key))
    verdict = judge_assembled(trajectory)
    meta = {"levels": [bool(name) for name in record.conclusions], "country": note.country}
    if not verdict.kept or finding.album is None:
        return Rejected(key=key, scene=key, source=SOURCE, reason=verdict.reasons[0], detail=verdict.detail, meta=meta)
    images = pictures(trajectory, finding.album, opened.content)
    truth = None if note.point is None else Truth(note.point, note.country, note.region, note.precise)
    return Sample(
        key=key, trajectory=trajectory, images=images, scene=key, source=SOURCE, split=split, truth=truth, meta=meta
    )


def _pixels(note: Note) -> _Opened:
    """The photo without its metadata, and a JPEG file of it that has none either."""
    opened = open_photo(note.photo)
    bare = Claims(opened.claims.format, opened.claims.file_bytes, opened.claims.sha256, opened.claims.size_px)
    photo = OpenedPhoto(opened.photo, bare)
    whole: View = first_view(photo.photo, max_pixels=photo.photo.size[0] * photo.photo.size[1])
    return _Opened(photo, encode(whole, quality=_QUALITY))
