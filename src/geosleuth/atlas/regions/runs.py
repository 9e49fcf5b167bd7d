"""Rows on their way into a region: sorted runs on disk, read back in one order by several processes.

Each process writes its rows as a run, sorted by a number. The runs are merged a portion at a time, and the rows of a
portion that are in one run are one piece of its file. So rows are never handed from process to process, and memory does
not grow with their number.
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

from .pbf import Ints, starts_of

Row = tuple[Any, ...]
_AT_ONCE: Final = 1 << 20
_SAMPLE: Final = 1 << 10


@dataclass(frozen=True, slots=True)
class Run:
    """A file of rows: all keys, all ties, where each row begins and the last one ends, and the rows."""

    path: Path
    count: int

    def order(self, begin: int, end: int) -> tuple[Ints, Ints]:
        """Keys and ties of some rows."""
        both = np.memmap(self.path, dtype="<i8", mode="r", shape=(2, self.count))
        return np.array(both[0, begin:end]), np.array(both[1, begin:end])

    def samples(self) -> Ints:
        """Keys at even distances."""
        return np.array(np.memmap(self.path, dtype="<i8", mode="r", shape=(self.count,))[::_SAMPLE])

    def before(self, keys: Ints) -> Ints:
        """How many rows come before each of some keys."""
        return np.memmap(self.path, dtype="<i8", mode="r", shape=(self.count,)).searchsorted(keys)

    def rows(self, begin: int, end: int) -> Iterator[Row]:
        """Some rows, in their order."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            offsets = os.pread(handle, 8 * (end - begin + 1), 16 * self.count + 8 * begin)
            cuts = np.frombuffer(offsets, dtype="<i8").tolist()
            data = memoryview(os.pread(handle, cuts[-1] - cuts[0], 24 * self.count + 8 + cuts[0]))
        finally:
            os.close(handle)
        for one, other in pairwise(cuts):
            yield marshal.loads(data[one - cuts[0] : other - cuts[0]])  # noqa: S302  # what this import wrote


def write_run(path: Path, rows: Sequence[Row], keys: Ints, ties: Ints) -> Run | None:
    """Write rows sorted by their keys, and by their ties where those are the same; None where there are no rows."""
    if not rows:
        return None
    order = np.lexsort((ties, keys))
    packed = [marshal.dumps(rows[at]) for at in order.tolist()]
    cuts = starts_of(np.fromiter(map(len, packed), dtype=np.int64, count=len(packed)))
    with path.open("wb") as stream:
        for column in (keys[order], ties[order], cuts):
            stream.write(column.astype("<i8").tobytes())
        stream.writelines(packed)
    return Run(path, len(rows))


@dataclass(frozen=True, slots=True)
class Portion:
    """Rows that follow each other in the order of all runs: the run of each, its place there, and its key."""

    runs: Sequence[Run]
    run_of: NDArray[np.int32]
    places: Ints
    keys: Ints

    def __len__(self) -> int:
        """How many rows."""
        return len(self.keys)

    def cut(self, begin: int, end: int) -> "Portion":
        """Some of them, with no runs but their own."""
        used, run_of = np.unique(self.run_of[begin:end], return_inverse=True)
        runs = [self.runs[at] for at in used.tolist()]
        return Portion(runs, run_of.astype(np.int32), self.places[begin:end], self.keys[begin:end])

    def followed_by(self, other: "Portion") -> "Portion":
        """Both."""
        return Portion(
            [*self.runs, *other.runs],
            np.concatenate([self.run_of, other.run_of + np.int32(len(self.runs))]),
            np.concatenate([self.places, other.places]),
            np.concatenate([self.keys, other.keys]),
        )

    def rows(self) -> list[Row]:
        """Read them."""
        readers = []
        for number, run in enumerate(self.runs):
            mine = self.places[self.run_of == number]
            readers.append(run.rows(int(mine[0]), int(mine[-1]) + 1) if len(mine) else iter(()))
        return [next(readers[number]) for number in self.run_of.tolist()]


def in_order(runs: Sequence[Run]) -> Iterator[Portion]:
    """All rows of some runs, sorted, about a million at a time."""
    if not runs:
        return
    samples = np.sort(np.concatenate([run.samples() for run in runs]))
    edges = np.unique(samples[_AT_ONCE // _SAMPLE :: _AT_ONCE // _SAMPLE])
    cuts = np.array([[0, *run.before(edges).tolist(), run.count] for run in runs])
    for begins, ends in pairwise(cuts.T):
        of_run = [run.order(begin, end) for run, begin, end in zip(runs, begins.tolist(), ends.tolist(), strict=True)]
        keys, ties = (np.concatenate(column) for column in zip(*of_run, strict=True))
        counts = ends - begins
        run_of = np.repeat(np.arange(len(runs), dtype=np.int32), counts)
        places = np.concatenate([np.arange(begin, end) for begin, end in zip(begins, ends, strict=True)])
        order = np.lexsort((ties, keys))
        yield Portion(runs, run_of[order], places[order], keys[order])


def portions(runs: Sequence[Run], size: int) -> Iterator[Portion]:
    """The same in portions of one size, but for the last."""
    waiting: Portion | None = None
    for chunk in in_order(runs):
        whole = chunk if waiting is None else waiting.followed_by(chunk)
        full = len(whole) // size * size
        for begin in range(0, full, size):
            yield whole.cut(begin, begin + size)
        waiting = whole.cut(full, len(whole))
    if waiting is not None and len(waiting):
        yield waiting
