"""Splitting images so that nothing in one part tells about another."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from geosleuth.geo import LatLon, distances_km

from .panel import IntArray

SAME_PLACE_KM = 0.1
"""Images taken nearer to each other than this show the same place: they are never split."""
_LEAST_KM_A_DEGREE = 110.0


def groups_of(
    keys: Sequence[Sequence[Hashable]], places: Sequence[LatLon] = (), within_km: float = SAME_PLACE_KM
) -> IntArray:
    """Number the images so that any two that belong together, directly or through others, have one number.

    Args:
        keys: for each image what it must not share with another part, such as its name.
        places: for each image where it was; those within ``within_km`` of each other belong together.
        within_km: how near that is.
    """
    parent = list(range(len(keys)))

    def root(of: int) -> int:
        while parent[of] != of:
            parent[of] = parent[parent[of]]
            of = parent[of]
        return of

    def join(row: int, other_row: int) -> None:
        one, other = root(row), root(other_row)
        parent[max(one, other)] = min(one, other)

    first: dict[Hashable, int] = {}
    for row, own in enumerate(keys):
        for key in own:
            join(first.setdefault(key, row), row)
    for row, other_row in _near(places, within_km):
        join(row, other_row)
    return np.array([root(row) for row in range(len(keys))], dtype=np.int64)


def _near(places: Sequence[LatLon], within_km: float) -> Iterator[tuple[int, int]]:
    """All pairs of places within that distance."""
    if not places:
        return
    lat, lon = np.array([place.lat for place in places]), np.array([place.lon for place in places])
    order = np.argsort(lat, kind="stable")
    lat, lon = lat[order], lon[order]
    # No two places are nearer than their latitudes, so that only a few have to be measured.
    ends = np.searchsorted(lat, lat + within_km / _LEAST_KM_A_DEGREE, side="right")
    for at, end in enumerate(ends):
        if end > at + 1:
            apart = distances_km(lat[at + 1 : end], lon[at + 1 : end], lat[at], lon[at])
            for other in np.flatnonzero(apart <= within_km):
                yield int(order[at]), int(order[at + 1 + other])


def fold_numbers(groups: IntArray, folds: int, seed: int) -> IntArray:
    """For each image its fold; whole groups stay together, and the folds are about equally large."""
    names, where = np.unique(groups, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of_group = np.empty(len(names), dtype=np.int64)
    fold_of_group[order] = np.arange(len(names)) % folds
    numbers: IntArray = fold_of_group[where]
    return numbers
