"""What an index holds, for those who learn from it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon, is_valid

from .store import Halves, open_for_reading, read_info


@dataclass(frozen=True, slots=True)
class Contents:
    """Photos of one folder with what was seen in them, a row each; ``encoder`` and ``spec`` say with which eyes."""

    points: tuple[LatLon, ...]
    features: Halves
    encoder: str
    spec: str


def read_contents(path: Path, folder: Path, told: Mapping[bytes, LatLon] | None = None) -> Contents:
    """The photos of a folder, in the order of their paths; only those in ``told``, at its points, where that is given.

    Raises:
        BadInput: there is no index, or it can't be read.
    """
    root = os.fsencode(folder.resolve())
    query = (
        "SELECT photo.path, lat, lon, features FROM photo JOIN root ON root.id = photo.root "
        "WHERE root.path = ? AND features IS NOT NULL ORDER BY photo.path"
    )
    with open_for_reading(path) as conn:
        info = read_info(conn, path)
        points, rows = [], []
        for key, lat, lon, blob in conn.execute(query, (root,)):
            if told is not None and key not in told:
                continue
            if not is_valid(lat, lon) or not isinstance(blob, bytes) or len(blob) != 2 * info.dimension:
                raise BadInput(f"{path}: the index is damaged; delete it and make it anew")
            points.append(LatLon(lat, lon) if told is None else told[key])
            rows.append(np.frombuffer(blob, dtype="<f2"))
    features: Halves = np.stack(rows).astype(np.float16) if rows else np.empty((0, info.dimension), dtype=np.float16)
    return Contents(tuple(points), features, info.encoder, info.spec)
