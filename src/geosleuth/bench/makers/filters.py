"""Leaving out photos that make no fair question: those that nobody could locate, and those that everybody can.

GeoBench was made so. The filters read what `looks` wrote into a table, or a set's own columns of the same meaning.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from geosleuth.bench.sets.model import Item
from geosleuth.errors import BadInput

from .looks import HEURISTIC, LANDMARK, RATED_BY

Reason = str
"""Why a photo is left out: "non-localisable", "landmark", "small"."""

LEAST_LOCATABILITY = 4.0
"""Below it stand rooms, close-ups and plain pictures, on the scale of `locatability`."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What to leave out; None and False leave nothing out.

    Attributes:
        least: the least locatability that stays.
        landmarks: leave out trivially famous landmarks.
        least_size: the least width and height in pixels, whichever way the photo is turned.
        column: where the locatability stands.
    """

    least: float | None = LEAST_LOCATABILITY
    landmarks: bool = True
    least_size: tuple[int, int] | None = None
    column: str = "locatability"

    def reason(self, item: Item) -> Reason | None:
        """Why the photo is left out; None where it stays.

        Raises:
            BadInput: it has not been rated.
        """
        if self.least_size is not None:
            sides = sorted((self._number(item, "width"), self._number(item, "height")))
            if any(side < least for side, least in zip(sides, sorted(self.least_size), strict=True)):
                return "small"
        if self.least is not None and self._number(item, self.column) < self.least:
            return "non-localisable"
        if self.landmarks:
            if LANDMARK not in item.fields and RATED_BY not in item.fields:
                raise BadInput(f"{item.id}: nobody looked for landmarks; run geosleuth dataset rate first")
            if item.fields.get(LANDMARK, ""):
                return "landmark"
        return None

    def _number(self, item: Item, column: str) -> float:
        text = item.fields.get(column, "")
        try:
            return float(text)
        except ValueError:
            trouble = f"has no {column}" if not text else f"{column} is {text[:20]!r}, not a number"
            raise BadInput(f"{item.id}: {trouble}; run geosleuth dataset rate first") from None


@dataclass(slots=True)
class Sieved:
    """What came of a filter, counted as it goes. ``by_heuristic`` counts photos that no model looked at."""

    kept: int = 0
    dropped: Counter[Reason] = field(default_factory=Counter)
    by_heuristic: int = 0


def sieve(
    items: Iterable[Item], wanted: Filter, counted: Sieved, drop: Callable[[Item, Reason], None] = lambda _i, _r: None
) -> Iterator[Item]:
    """The photos that stay, as a stream; ``drop`` gets the others, each with its reason.

    Raises:
        BadInput: a photo has not been rated.
    """
    for item in items:
        reason = wanted.reason(item)
        counted.by_heuristic += item.fields.get(RATED_BY) == HEURISTIC
        if reason is None:
            counted.kept += 1
            yield item
        else:
            counted.dropped[reason] += 1
            drop(item, reason)
