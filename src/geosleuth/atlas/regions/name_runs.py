"""External merge sort of names: sorted runs on disk, cut into portions that several processes can read.

Like `runs`, but sorted by text. A run is a series of chunks; the first key of each chunk is kept in memory.
"""

import marshal
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

NameRow = tuple[int, str, int, int, str]  # class of length, key, owner, role, text
SortKey = tuple[int, str]  # class of length, key
_CHUNK_ROWS: Final = 256
_PORTION_ROWS: Final = 100_000


@dataclass(frozen=True, slots=True)
class NameRun:
    """A file of sorted names in chunks."""

    path: Path
    cuts: list[int]  # offset of each chunk, and the end of the last
    firsts: list[SortKey]  # first key of each chunk

    def between(self, begin: SortKey | None, end: SortKey | None) -> Iterator[NameRow]:
        """Yield the names from one key up to another, which is excluded; None stands for no bound."""
        # The last chunk that starts before the bound may contain names behind it.
        first = 0 if begin is None else max(0, bisect_left(self.firsts, begin) - 1)
        last = len(self.firsts) if end is None else bisect_left(self.firsts, end)
        if first >= last:
            return
        with self.path.open("rb") as stream:
            stream.seek(self.cuts[first])
            data = memoryview(stream.read(self.cuts[last] - self.cuts[first]))
        for start, stop in pairwise(self.cuts[first : last + 1]):
            chunk = marshal.loads(data[start - self.cuts[first] : stop - self.cuts[first]])  # noqa: S302  # our own
            for row in chunk:
                if (begin is None or row[:2] >= begin) and (end is None or row[:2] < end):
                    yield row


def write_name_run(path: Path, rows: list[NameRow]) -> NameRun | None:
    """Sort names and write them; return None if there are none."""
    if not rows:
        return None
    rows.sort()
    cuts, firsts = [0], []
    with path.open("wb") as stream:
        for begin in range(0, len(rows), _CHUNK_ROWS):
            chunk = rows[begin : begin + _CHUNK_ROWS]
            firsts.append(chunk[0][:2])
            cuts.append(cuts[-1] + stream.write(marshal.dumps(chunk)))
    return NameRun(path, cuts, firsts)


@dataclass(frozen=True, slots=True)
class NamePortion:
    """All names of some runs from one key up to another, which is excluded; None stands for no bound."""

    runs: Sequence[NameRun]
    begin: SortKey | None
    end: SortKey | None

    def rows(self) -> list[NameRow]:
        """Read the names in sorted order."""
        return sorted(row for run in self.runs for row in run.between(self.begin, self.end))


def name_portions(runs: Sequence[NameRun]) -> Iterator[NamePortion]:
    """Yield all names in sorted portions of about 100,000; all names of a key are in the same portion."""
    firsts = sorted(first for run in runs for first in run.firsts)
    step = _PORTION_ROWS // _CHUNK_ROWS
    bounds = sorted(set(firsts[step::step]))
    for begin, end in pairwise([None, *bounds, None]):
        yield NamePortion(runs, begin, end)
