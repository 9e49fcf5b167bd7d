"""Which features of the regions a word stands for, by name or by category, and where each of them is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely
from numpy.typing import NDArray

from geosleuth.geo import Extent, FloatArray
from geosleuth.names import fold

from .spots import among, check_positions, inside, of_category, positions, rows_of, street_ids
from .store import OpenRegion, RegionStore

_REMEMBERED: Final = 20_000
_POOL: Final = 400
_CUT_BELOW_BEST: Final = 0.08
_LEAST_SCORE: Final = 0.75
_LEAST_WITH_ALL_WORDS: Final = 0.6
_LEAST_BESIDE_KIND: Final = 0.95
_STREET_STEP_DEG: Final = 0.0001  # about 11 m


@dataclass(frozen=True, slots=True)
class Candidates:
    """Features that one word may stand for, and their positions: one each, or a row of them along a street."""

    owners: list[tuple[int, int]]  # number of the region, id of the feature
    scores: FloatArray  # one for each owner
    keys: NDArray[np.int64]  # one for each owner: equal where two regions hold the same object
    lats: FloatArray
    lons: FloatArray
    owner_of: NDArray[np.int64]  # index into owners, for each position

    def __len__(self) -> int:
        """How many features."""
        return len(self.owners)


def resolve(
    store: RegionStore, regions: Sequence[OpenRegion], text: str, within: Extent | None, known: dict[str, int]
) -> Candidates:
    """Everything that a name or a category may mean; ``known`` numbers objects across calls and regions."""
    owners: list[tuple[int, int]] = []
    scores: list[float] = []
    keys: list[int] = []
    spots: list[FloatArray] = [np.empty((0, 2))]
    owner_of: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    seen: set[int] = set()
    for number, region in enumerate(regions):
        with store.explained(region.info.name):
            found = _meant(region, text, within)
            ids = sorted(found)
            numbers = _object_numbers(region, ids, known, alone=len(regions) == 1)
            fresh = [feature for feature in ids if feature in numbers and numbers[feature] not in seen]
            at, positions_of = _places(region, np.array(fresh, dtype=np.int64))
        if within is not None:
            kept = inside(within, at[:, 1], at[:, 0])
            at, positions_of = at[kept], positions_of[kept]
        spots.append(at)
        owner_of.append(positions_of + len(owners))
        owners.extend((number, feature) for feature in fresh)
        scores.extend(found[feature] for feature in fresh)
        keys.extend(numbers[feature] for feature in fresh)
        seen.update(keys[len(keys) - len(fresh) :])
    placed = np.concatenate(spots)
    return Candidates(
        owners, np.array(scores), np.array(keys, dtype=np.int64), placed[:, 1], placed[:, 0], np.concatenate(owner_of)
    )


def _meant(region: OpenRegion, text: str, within: Extent | None) -> dict[int, float]:
    """Feature ids with how well they fit."""
    reach = among(region, within, None)
    # A street may pass through the extent though its middle lies outside; its positions are looked at one by one later.
    if reach is not None:
        reach = np.union1d(reach, street_ids(region))
    of_kind = of_category(region, text)
    if reach is not None:
        of_kind = np.intersect1d(of_kind, reach, assume_unique=True)
    found = dict.fromkeys(of_kind.tolist(), 1.0)
    if "=" in text:
        return found
    # "Casino" is a kind and a chain of shops: both are meant, but not everything that is spelled a little like it.
    least = _LEAST_BESIDE_KIND if found else 0.0
    for owner, score in _named(region, text, reach).items():
        if score >= least:
            found[owner] = max(score, found.get(owner, 0.0))
    return found


def _named(region: OpenRegion, text: str, reach: NDArray[np.int64] | None) -> dict[int, float]:
    """Features of that name. The exact ones are all taken; of the rest those with every word, or spelled nearly so."""
    key = fold(text)
    if not key:
        return {}
    found: dict[int, float] = {}
    rows = region.conn.execute(
        "SELECT owner, key FROM name WHERE key = ? OR (key >= ? AND key < ?)", (key, f"{key} ", f"{key}!")
    )
    for owner, name in rows:
        found[owner] = max(found.get(owner, 0.0), 1.0 if name == key else 0.6 + 0.35 * len(key) / len(name))
    hits = region.index.search(text, limit=_POOL, among=reach)
    words = set(key.split())
    for hit in hits:
        least = max(_LEAST_SCORE, hits[0].score - _CUT_BELOW_BEST)
        if words <= set(fold(hit.text).split()):
            least = _LEAST_WITH_ALL_WORDS
        if hit.score >= least:
            found[hit.owner] = max(hit.score, found.get(hit.owner, 0.0))
    if reach is None:
        return found
    kept = np.intersect1d(np.array(sorted(found), dtype=np.int64), reach, assume_unique=True)
    return {owner: found[owner] for owner in kept.tolist()}


def _object_numbers(region: OpenRegion, ids: Sequence[int], known: dict[str, int], *, alone: bool) -> dict[int, int]:
    """A number for each object. In one region the feature's id will do; over several the source's own id must."""
    if alone:
        return {feature: feature for feature in ids}
    names = {number: row[1] for number, row in rows_of(region, ids).items()}
    return {number: known.setdefault(f"{region.info.kind}:{osm}", len(known)) for number, osm in names.items()}


def _places(region: OpenRegion, ids: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.int64]]:
    """(lon, lat) rows, and for each row which of the ids it belongs to."""
    lats, lons = positions(region)
    streets = np.flatnonzero(np.isin(ids, street_ids(region), assume_unique=True))
    points = np.setdiff1d(np.arange(len(ids)), streets, assume_unique=True)
    spots = [np.column_stack([lons[ids[points]], lats[ids[points]]])]
    belongs = [points]
    for at in streets.tolist():
        along = _along_street(region, int(ids[at]))
        spots.append(along)
        belongs.append(np.full(len(along), at))
    return np.concatenate(spots), np.concatenate(belongs).astype(np.int64)


def _along_street(region: OpenRegion, street: int) -> FloatArray:
    """Positions along all the ways of a street; remembered, since they take a while to make."""
    key = f"street {street}"
    points = region.memory.get(key)
    if not isinstance(points, np.ndarray):
        geoms = [geom for (geom,) in region.conn.execute("SELECT geom FROM street_way WHERE street = ?", (street,))]
        lines = shapely.segmentize(shapely.from_wkb(geoms), _STREET_STEP_DEG)
        points = np.unique(shapely.get_coordinates(lines), axis=0)
        check_positions(points[:, 1], points[:, 0])
        if len(region.memory) < _REMEMBERED:
            region.memory[key] = points
    return points
