"""Names on their way into a region: sorted runs on disk, cut into portions that several processes read.

Like `runs`, but names are in the order of a text. A run is a list of chunks, and the first name of each is known.
"""

import marshal
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

NameRow = tuple[int, str, int, int, str]  # class of length, key, owner, role, text
Place = tuple[int, str]  # class of length, key
_CHUNK: Final = 256
_PORTION: Final = 100_000


@dataclass(frozen=True, slots=True)
class NameRun:
    """A file of names: where each chunk begins and the last one ends, and the first name of each."""

    path: Path
    cuts: list[int]
    firsts: list[Place]

    def between(self, begin: Place | None, end: Place | None) -> Iterator[NameRow]:
        """Names from one place on and before another; without end where there is none."""
        # The last of the chunks that begin before it may hold names that do not.
        first = 0 if begin is None else max(0, bisect_left(self.firsts, begin) - 1)
        last = len(self.firsts) if end is None else bisect_left(self.firsts, end)
        if first >= last:
            return
        with self.path.open("rb") as stream:
            stream.seek(self.cuts[first])
            data = memoryview(stream.read(self.cuts[last] - self.cuts[first]))
        for one, other in pairwise(self.cuts[first : last + 1]):
            chunk = marshal.loads(data[one - self.cuts[first] : other - self.cuts[first]])  # noqa: S302  # our own
            for row in chunk:
                if (begin is None or row[:2] >= begin) and (end is None or row[:2] < end):
                    yield row


def write_name_run(path: Path, rows: list[NameRow]) -> NameRun | None:
    """Write names, sorted; None where there are none."""
    if not rows:
        return None
    rows.sort()
    cuts, firsts = [0], []
    with path.open("wb") as stream:
        for begin in range(0, len(rows), _CHUNK):
            chunk = rows[begin : begin + _CHUNK]
            firsts.append(chunk[0][:2])
            cuts.append(cuts[-1] + stream.write(marshal.dumps(chunk)))
    return NameRun(path, cuts, firsts)


@dataclass(frozen=True, slots=True)
class NamePortion:
    """All names of some runs from one place on and before another."""

    runs: Sequence[NameRun]
    begin: Place | None
    end: Place | None

    def rows(self) -> list[NameRow]:
        """Read them, sorted."""
        return sorted(row for run in self.runs for row in run.between(self.begin, self.end))


def name_portions(runs: Sequence[NameRun]) -> Iterator[NamePortion]:
    """All names in portions of about a hundred thousand, in order; a key is in one portion only."""
    firsts = sorted(first for run in runs for first in run.firsts)
    step = _PORTION // _CHUNK
    places = sorted(set(firsts[step::step]))
    for begin, end in pairwise([None, *places, None]):
        yield NamePortion(runs, begin, end)
