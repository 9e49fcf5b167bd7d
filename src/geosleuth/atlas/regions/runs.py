"""External merge sort of rows: sorted runs on disk, merged in portions that several processes can read.

Each process writes its rows as a run, sorted by an integer key. Merging reads only the keys, so a portion is a list of
row positions; a process that gets a portion reads its rows from the runs. Rows never pass between processes, and memory
does not grow with their number.
"""

import marshal
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .pbf import Ints, compute_starts

Row = tuple[Any, ...]
_MERGED_AT_ONCE: Final = 1 << 20  # rows, roughly
_SAMPLE_EVERY: Final = 1 << 10  # rows


@dataclass(frozen=True, slots=True)
class SortedRun:
    """A file of sorted rows: all keys, all tie-breakers, the offsets of the rows, and the rows."""

    path: Path
    count: int

    def order(self, begin: int, end: int) -> tuple[Ints, Ints]:
        """Return keys and tie-breakers of a range of rows."""
        both = np.memmap(self.path, dtype="<i8", mode="r", shape=(2, self.count))
        return np.array(both[0, begin:end]), np.array(both[1, begin:end])

    def samples(self) -> Ints:
        """Return every ``_SAMPLE_EVERY``-th key."""
        return np.array(np.memmap(self.path, dtype="<i8", mode="r", shape=(self.count,))[::_SAMPLE_EVERY])

    def before(self, keys: Ints) -> Ints:
        """Return for each of some keys how many rows have a smaller one."""
        return np.memmap(self.path, dtype="<i8", mode="r", shape=(self.count,)).searchsorted(keys)

    def rows(self, begin: int, end: int) -> Iterator[Row]:
        """Yield a range of rows."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            offsets = os.pread(handle, 8 * (end - begin + 1), 16 * self.count + 8 * begin)
            cuts = np.frombuffer(offsets, dtype="<i8").tolist()
            data = memoryview(os.pread(handle, cuts[-1] - cuts[0], 24 * self.count + 8 + cuts[0]))
        finally:
            os.close(handle)
        for start, stop in pairwise(cuts):
            yield marshal.loads(data[start - cuts[0] : stop - cuts[0]])  # noqa: S302  # what this import wrote


def write_run(path: Path, rows: Sequence[Row], keys: Ints, ties: Ints) -> SortedRun | None:
    """Write rows sorted by key, then by tie-breaker; return None if there are no rows."""
    if not rows:
        return None
    order = np.lexsort((ties, keys))
    packed = [marshal.dumps(rows[at]) for at in order.tolist()]
    cuts = compute_starts(np.fromiter(map(len, packed), dtype=np.int64, count=len(packed)))
    with path.open("wb") as stream:
        for column in (keys[order], ties[order], cuts):
            stream.write(column.astype("<i8").tobytes())
        stream.writelines(packed)
    return SortedRun(path, len(rows))


@dataclass(frozen=True, slots=True)
class Portion:
    """Consecutive rows of the merged order."""

    runs: Sequence[SortedRun]
    run_of: NDArray[np.int32]  # index into runs, for each row
    places: Ints  # position in its run, for each row
    keys: Ints

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.keys)

    def cut(self, begin: int, end: int) -> "Portion":
        """Return a range of the rows, with only the runs that they need."""
        used, run_of = np.unique(self.run_of[begin:end], return_inverse=True)
        runs = [self.runs[at] for at in used.tolist()]
        return Portion(runs, run_of.astype(np.int32), self.places[begin:end], self.keys[begin:end])

    def concatenate(self, other: "Portion") -> "Portion":
        """Return this portion and another one as one."""
        return Portion(
            [*self.runs, *other.runs],
            np.concatenate([self.run_of, other.run_of + np.int32(len(self.runs))]),
            np.concatenate([self.places, other.places]),
            np.concatenate([self.keys, other.keys]),
        )

    def rows(self) -> list[Row]:
        """Read the rows."""
        readers = []
        for number, run in enumerate(self.runs):
            places = self.places[self.run_of == number]  # consecutive, since the run is sorted
            readers.append(run.rows(int(places[0]), int(places[-1]) + 1) if len(places) else iter(()))
        return [next(readers[number]) for number in self.run_of.tolist()]


def merge_runs(runs: Sequence[SortedRun]) -> Iterator[Portion]:
    """Yield all rows of some runs in sorted order, about a million at a time."""
    if not runs:
        return
    samples = np.sort(np.concatenate([run.samples() for run in runs]))
    edges = np.unique(samples[_MERGED_AT_ONCE // _SAMPLE_EVERY :: _MERGED_AT_ONCE // _SAMPLE_EVERY])
    cuts = np.array([[0, *run.before(edges).tolist(), run.count] for run in runs])
    for begins, ends in pairwise(cuts.T):
        parts = [run.order(begin, end) for run, begin, end in zip(runs, begins.tolist(), ends.tolist(), strict=True)]
        keys, ties = (np.concatenate(column) for column in zip(*parts, strict=True))
        counts = ends - begins
        run_of = np.repeat(np.arange(len(runs), dtype=np.int32), counts)
        places = np.concatenate([np.arange(begin, end) for begin, end in zip(begins, ends, strict=True)])
        order = np.lexsort((ties, keys))
        yield Portion(runs, run_of[order], places[order], keys[order])


def portions(runs: Sequence[SortedRun], size: int) -> Iterator[Portion]:
    """Yield all rows of some runs in sorted order, in portions of one size; the last may be smaller."""
    waiting: Portion | None = None
    for chunk in merge_runs(runs):
        whole = chunk if waiting is None else waiting.concatenate(chunk)
        full = len(whole) // size * size
        for begin in range(0, full, size):
            yield whole.cut(begin, begin + size)
        waiting = whole.cut(full, len(whole))
    if waiting is not None and len(waiting):
        yield waiting
