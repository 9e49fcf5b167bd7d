"""Splitting images so that nothing in one part tells about another."""

from collections.abc import Hashable, Sequence

import numpy as np

from .panel import IntArray


def groups_of(keys: Sequence[Sequence[Hashable]]) -> IntArray:
    """Number the images so that any two that share a key, directly or through others, have one number.

    Args:
        keys: for each image what it must not share with another part: its name, its place.
    """
    parent = list(range(len(keys)))

    def root(of: int) -> int:
        while parent[of] != of:
            parent[of] = parent[parent[of]]
            of = parent[of]
        return of

    first: dict[Hashable, int] = {}
    for row, own in enumerate(keys):
        for key in own:
            one, other = root(first.setdefault(key, row)), root(row)
            parent[max(one, other)] = min(one, other)
    return np.array([root(row) for row in range(len(keys))], dtype=np.int64)


def fold_numbers(groups: IntArray, folds: int, seed: int) -> IntArray:
    """For each image its fold; whole groups stay together, and the folds are about equally large."""
    names, where = np.unique(groups, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of_group = np.empty(len(names), dtype=np.int64)
    fold_of_group[order] = np.arange(len(names)) % folds
    numbers: IntArray = fold_of_group[where]
    return numbers
