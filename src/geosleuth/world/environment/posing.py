"""What an episode is about: photos to look at, and apart from them where they were taken."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geosleuth.bench.sets import Item
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon, is_valid
from geosleuth.photo import OpenedPhoto, open_photo
from geosleuth.score import Truth
from geosleuth.tools import TextReader


@dataclass(frozen=True, slots=True)
class Posed:
    """Photos of one place, and the truth about it. The truth goes to the reward and nowhere else.

    ``truth`` is None where rewards are worked out elsewhere, such as by a trainer that keeps tools and truths apart.
    ``reader`` reads text in place of the text reading that comes with the package, see `geosleuth.world.clue_reader`.
    """

    photos: tuple[OpenedPhoto, ...]
    truth: Truth | None = field(default=None, repr=False)
    reader: TextReader | None = None


Poser = Callable[[Mapping[str, Any]], Posed]
"""Makes what an episode is about from a row; the row's other columns are left alone.

Raises `BadInput` where the row can't be used.
"""


def row_of(item: Item) -> dict[str, Any]:
    """A photo of a data set as a row that `pose_photo` takes.

    Raises:
        BadInput: the photo lies inside another file; rows can only name photos that are files of their own.
    """
    path, truth = Path(item.picture.where), item.truth
    if not path.is_file():
        raise BadInput(f"{path}: rows need photos that are files of their own; unpack the data set first")
    return {
        "photo": str(path.absolute()),
        "lat": truth.point.lat,
        "lon": truth.point.lon,
        "country": truth.country,
        "region": truth.region,
        "city": truth.city,
    }


def pose_photo(row: Mapping[str, Any], folder: Path | None = None) -> Posed:
    """An episode about a photo on disk: columns ``photo``, ``lat``, ``lon`` and, where known, the names of the place.

    Args:
        row: ``photo`` is a path, or the content of a file; the names are ``country``, ``region`` and ``city``.
        folder: what a path that is not absolute counts from.

    Raises:
        BadInput: a column is missing or can't be used, or the photo can't be opened.
    """
    photo = row.get("photo")
    if isinstance(photo, str | Path):
        photo = Path(folder or ".") / photo
    elif not isinstance(photo, bytes):
        raise BadInput("the row has no photo; its column 'photo' must hold a path or the content of a file")
    return Posed((open_photo(photo),), truth_of_row(row))


def truth_of_row(row: Mapping[str, Any]) -> Truth:
    """Where the photo of a row was taken.

    Raises:
        BadInput: there is no point, or it lies nowhere on Earth.
    """
    lat, lon = _number(row.get("lat")), _number(row.get("lon"))
    if lat is None or lon is None or not is_valid(lat, lon):
        raise BadInput("the row has no true point; its columns 'lat' and 'lon' must be degrees on Earth")
    names = {name: str(row[name]) for name in ("country", "region", "city") if row.get(name)}
    return Truth(LatLon(lat, lon), **names)


def _number(value: Any) -> float | None:
    is_one = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_one else None
