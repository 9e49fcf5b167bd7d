"""How long was worked, where many things are done at once: time that is shared counts once, pauses do not."""

from bisect import bisect_left, bisect_right
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MOST_SPANS = 4096


class WorkedTime:
    """Spans of time put together, in whatever order they come.

    It remembers the newest few thousand spans that do not touch. A gap that is older than those stays a gap, also where
    somebody says later that they worked through it.
    """

    def __init__(self) -> None:
        """Begin with no time."""
        self._begins: list[int] = []
        self._ends: list[int] = []
        self._since = 0
        self._total = 0

    @property
    def seconds(self) -> float:
        """How long that is together."""
        return self._total / 1_000_000

    def add(self, began: datetime, ended: datetime) -> None:
        """Put a span to the others; one that ends before it begins counts for nothing."""
        begin, end = (max((moment - _EPOCH) // _MICROSECOND, self._since) for moment in (began, ended))
        if end <= begin:
            return
        touched = slice(bisect_left(self._ends, begin), bisect_right(self._begins, end))
        begins, ends = self._begins[touched], self._ends[touched]
        if begins:
            begin, end = min(begin, begins[0]), max(end, ends[-1])
        self._begins[touched], self._ends[touched] = [begin], [end]
        self._total += end - begin - (sum(ends) - sum(begins))
        if len(self._begins) > _MOST_SPANS:
            half = _MOST_SPANS // 2
            self._since = self._ends[half - 1]
            del self._begins[:half], self._ends[:half]
