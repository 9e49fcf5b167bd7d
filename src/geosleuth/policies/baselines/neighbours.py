"""The rows of a matrix with the greatest cosine: by going through all of them, or by a graph where they are many."""

import hashlib
import sys
import threading
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from geosleuth.atlas.folders import cache_dir
from geosleuth.errors import require
from geosleuth.files import replacing
from geosleuth.photo.eyes import Features

Way = Literal["auto", "exact", "usearch"]
Rows = npt.NDArray[np.int64]

MANY: Final = 500_000
"""From so many rows a graph is asked unless the user says otherwise; below, building one takes longer than it saves."""

_QUERIES_AT_ONCE: Final = 64
_CONNECTIVITY, _WIDTH_WHEN_BUILT, _WIDTH_WHEN_ASKED = 16, 128, 128


class Neighbours:
    """The nearest rows of a matrix of unit rows. May be asked from several threads."""

    def __init__(self, features: Features, way: Way = "auto", kept_in: Path | None = None) -> None:
        """Take the matrix; a graph is built or read when the first question comes.

        Args:
            features: rows of length 1.
            way: "exact" goes through all rows, "usearch" asks a graph, which may miss some; "auto" by their number.
            kept_in: where graphs are kept; by default among the package's caches.
        """
        self._features = features
        self._kept_in = kept_in
        self._lock = threading.Lock()
        self.exact = way == "exact" or (way == "auto" and len(features) < MANY)

    def search(self, wanted: Features, count: int) -> tuple[Rows, Features]:
        """The numbers of the nearest rows of each query, nearest first, and their cosines.

        Raises:
            MissingExtra: usearch is needed and not installed.
        """
        count = min(count, len(self._features))
        if not self.exact:
            with self._lock:
                # Built by whoever comes first; building takes minutes.
                graph = self._graph
            found = graph.search(wanted, count)
            keys = np.asarray(found.keys, dtype=np.int64).reshape(len(wanted), -1)
            cosines = 1 - np.asarray(found.distances, dtype=np.float32).reshape(len(wanted), -1)
            return keys, cosines
        parts = [
            self._all(wanted[start : start + _QUERIES_AT_ONCE], count)
            for start in range(0, len(wanted), _QUERIES_AT_ONCE)
        ]
        return np.concatenate([rows for rows, _ in parts]), np.concatenate([cosines for _, cosines in parts])

    def _all(self, wanted: Features, count: int) -> tuple[Rows, Features]:
        cosines = wanted @ self._features.T
        best = np.argpartition(-cosines, count - 1, axis=1)[:, :count].astype(np.int64)
        found = np.take_along_axis(cosines, best, axis=1)
        # By number where two are equally alike, so that the order is always the same.
        order = np.lexsort((best, -found), axis=1)
        return np.take_along_axis(best, order, axis=1), np.take_along_axis(found, order, axis=1)

    @cached_property
    def _graph(self) -> Any:
        usearch = _usearch()
        folder = self._kept_in or cache_dir() / "nearest"
        settings = f"{_CONNECTIVITY}-{_WIDTH_WHEN_BUILT}-{self._features.shape}"
        digest = hashlib.sha256(settings.encode())
        digest.update(np.ascontiguousarray(self._features).data)
        path = folder / f"{digest.hexdigest()[:24]}.usearch"
        graph = usearch.Index(
            ndim=self._features.shape[1], metric="cos", dtype="f32",
            connectivity=_CONNECTIVITY, expansion_add=_WIDTH_WHEN_BUILT, expansion_search=_WIDTH_WHEN_ASKED,
        )  # fmt: skip
        if path.is_file():
            try:
                graph.load(str(path))
                if len(graph) == len(self._features):
                    return graph
            except (RuntimeError, ValueError, OSError):
                pass  # made anew below
            graph.reset()
        graph.add(np.arange(len(self._features), dtype=np.uint64), self._features)
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as neighbour:
            graph.save(str(neighbour))
        return graph


def _usearch() -> Any:
    if "torch" not in sys.modules and find_spec("torch") is not None:
        # Loaded after usearch, torch 2.13 hangs in its own start; loaded before it, both work.
        require("torch", extra="weights")
    return require("usearch.index", extra="bench")


def recall(found: Rows, expected: Rows) -> float:
    """How many of the rows that should have been found were."""
    hits = [len(set(one) & set(other)) for one, other in zip(found.tolist(), expected.tolist(), strict=True)]
    return sum(hits) / expected.size
