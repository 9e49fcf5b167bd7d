"""Exclusions by a person: texts and clues that are not about the place, and ground."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from geosleuth.evidence import Clue, Lookup, TextSeen
from geosleuth.evidence.country_prior import world_prior
from geosleuth.evidence.posterior import NAME_KINDS, SEPARATOR
from geosleuth.geo import Box, Extent, FloatArray, LatLon
from geosleuth.geo.extent import BoolArray
from geosleuth.names import fold

BY_A_PERSON: Final = "a person has ruled it out"
LESS_LIKELY: Final = "less likely with what a person has said since"
# Notes within this distance of each other are about one place.
SAME_PLACE_KM: Final = 5.0


_ID_DIGITS = 12
_NAME = "name"
_STATELESS = ""

_NAME_KIND: Final = next(iter(sorted(NAME_KINDS)))


def clue_id(kind: str, seen: str) -> str:
    """Return the id of a clue, the same in every run: its kind and the text or thing seen.

    Names of all kinds go by one id: a text is a street's name in one look-up and a shop's in another.
    """
    sort = _NAME if kind in NAME_KINDS else kind
    return "clue-" + sha256(f"{sort}\n{_fold_key(seen)}".encode()).hexdigest()[:_ID_DIGITS]


class RuledOut:
    """Texts, and ids of clues, that carry no weight."""

    def __init__(self, given: Iterable[str]) -> None:
        """Take in texts as they were read, and ids of clues, in any order."""
        self._given = frozenset(given)
        self._texts = frozenset(map(_fold_key, self._given)) - {""}

    def __bool__(self) -> bool:
        return bool(self._given)

    def line(self, line: TextSeen) -> bool:
        """Return whether nothing in a line counts."""
        return _fold_key(line.text) in self._texts

    def name(self, text: str) -> bool:
        """Return whether a text counts for nothing as a name."""
        return _fold_key(text) in self._texts or clue_id(_NAME_KIND, text) in self._given

    def lookup(self, wanted: Lookup) -> bool:
        """Return whether a text is not worth looking up."""
        return self.name(wanted.text) or self.line(wanted.where)

    def clue(self, clue: Clue) -> bool:
        """Return whether a clue has no weight: it, its text or part of that text was ruled out."""
        if clue_id(clue.kind, clue.seen) in self._given or _fold_key(clue.seen) in self._texts:
            return True
        if clue.where is not None and self.line(clue.where):
            return True
        parts = clue.seen.split(SEPARATOR) if SEPARATOR in clue.seen else ()
        return any(self.name(part) if clue.kind in NAME_KINDS else _fold_key(part) in self._texts for part in parts)


@dataclass(frozen=True, slots=True)
class Rest(Box):
    """All of an area, or of the Earth, but for some extents; as a `Box` it is the whole before they were cut out."""

    area: Extent | None
    gaps: tuple[Extent, ...]

    def __post_init__(self) -> None:
        """The area was checked where it was made."""

    @property
    def centre(self) -> LatLon:
        """The middle of the whole."""
        return LatLon(0.0, 0.0) if self.area is None else self.area.centre

    def contains(self, point: LatLon) -> bool:
        """Return whether the point lies in the area and in none of the gaps."""
        inside = self.area is None or self.area.contains(point)
        return inside and not any(gap.contains(point) for gap in self.gaps)

    def holds(self, lats: FloatArray, lons: FloatArray) -> BoolArray:
        """`contains` for many points at once."""
        inside = (Box(-90.0, -180.0, 90.0, 180.0) if self.area is None else self.area).holds(lats, lons)
        for gap in self.gaps:
            inside = inside & ~gap.holds(lats, lons)
        return inside


def subtract_extents(area: Extent | None, not_at: Collection[Extent]) -> Extent | None:
    """Return an area, or the Earth, without some extents; None is everything."""
    if not not_at:
        return area
    whole = area if isinstance(area, Box) else Box(-90.0, -180.0, 90.0, 180.0)
    return Rest(whole.south, whole.west, whole.north, whole.east, area, tuple(not_at))


def countries_left(countries: Collection[str] | None, not_in: Collection[str]) -> tuple[str, ...] | None:
    """The codes of the countries that are still possible; None is all of them, and none of them too (at sea)."""
    if not not_in:
        return None if countries is None else tuple(countries)
    gone = {code.upper() for code in not_in}
    open_to = (*world_prior().codes, _STATELESS) if countries is None else tuple(countries)
    return tuple(code for code in open_to if code.upper() not in gone)


def _fold_key(text: str) -> str:
    return fold(text) or text.strip()
