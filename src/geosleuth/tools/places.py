"""Places in tool calls: points, places and areas as models write them, and how far a place's name reaches."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth.answer.coordinates import parse_point
from geosleuth.atlas import Hit, Place
from geosleuth.atlas.place_extent import get_extent
from geosleuth.atlas.protocol import get_level
from geosleuth.geo import Box, Disc, Extent, LatLon, distance_km
from geosleuth.names import fold
from geosleuth.support.errors import BadInput

from .calls import Case
from .viewer import format_point, format_question, one_line, place_words

_AROUND_A_POINT_KM = 10.0
# What people call near a town.
_AROUND_KM = 25.0

_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_THREE_OR_FOUR = re.compile(rf"[\[(]?\s*{_NUMBER}(?:\s*[,;]\s*{_NUMBER}){{2,3}}\s*[\])]?")
_READ_CHARS = 200
_LOOKED_AT = 12
# Misspelled names score above this; places that share no more than a word with the text score below.
_SURE_OF_SPELLING = 0.8
# Entries of one place in several sources lie closer together than this, places of the same name farther apart.
_SAME_PLACE_KM = 10.0


def around(point: LatLon) -> Disc:
    """The ground that a bare point stands for: a town's worth."""
    return Disc(point, _AROUND_A_POINT_KM)


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Meaning of a text: a point, the place it stands for, and other places of the same name."""

    name: str
    point: LatLon
    place: Place | None = None
    others: tuple[Hit, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def ground(self) -> Extent:
        """The ground in and around it: a settlement with its outskirts, a region or country as it is."""
        ground = (self.place and get_extent(self.place)) or around(self.point)
        return Disc(ground.centre, max(_AROUND_KM, ground.radius_km)) if isinstance(ground, Disc) else ground


async def look_up(case: Case, text: str) -> Whereabouts | None:
    """Return the coordinates or known place that a text means; None if the atlas knows no likely place.

    Raises:
        BadInput: coordinates out of range.
    """
    point = parse_point(text)
    if point is not None:
        return Whereabouts(format_point(point), point)
    hits = await case.atlas.geocode(text, limit=_LOOKED_AT)
    sure = [hit for hit in hits if hit.match != "fuzzy"]
    sure = sure or [hit for hit in hits[:1] if _is_misspelling(hit)]
    if not sure:
        return None
    best = _choose_hit(sure).place
    others = [
        hit
        for hit in sure
        if distance_km(hit.place.point, best.point) > _SAME_PLACE_KM and not hit.place.kind.startswith("boundary=")
    ]
    missing = next(hit.missing for hit in sure if hit.place is best)
    name = f"{place_words(best)}, the {get_level(best)} of it" if missing else place_words(best)
    return Whereabouts(name, best.point, best, tuple(others), missing)


async def find(case: Case, text: str, argument: str) -> Whereabouts:
    """Return the place that a text means; raise if there is none.

    Raises:
        BadInput: it is empty, out of range, or a name that the atlas does not know.
    """
    if not one_line(text):
        raise BadInput(f"{argument} is empty; write a place's name, or its coordinates as 'lat,lon'")
    found = await look_up(case, text)
    if found is None:
        raise BadInput(
            f"the atlas knows no place {format_question(text)} ({argument}); give its coordinates as 'lat,lon'"
        )
    return found


async def find_area(case: Case, text: str) -> Extent | None:
    """An area: a place's name, "south,west,north,east" or "lat,lon,radius_km"; None for an empty text, everywhere.

    Raises:
        BadInput: it is none of these.
    """
    if not one_line(text):
        return None
    if _THREE_OR_FOUR.fullmatch(text[:_READ_CHARS].strip()):
        try:
            return _parse_area([float(number) for number in re.findall(_NUMBER, text)])
        except ValueError as error:
            raise BadInput(f"{format_question(text)} is no area: {error}") from error
    found = await find(case, text, "area")
    if found.place is None:
        return around(found.point)
    return await asyncio.to_thread(get_extent, found.place) or around(found.point)


def _is_misspelling(hit: Hit) -> bool:
    """Return whether a text plainly misspells a place's own name.

    A name similar to an alternative name does not count.
    """
    return hit.score >= _SURE_OF_SPELLING and fold(hit.matched) == fold(hit.place.name)


def _choose_hit(sure: Sequence[Hit]) -> Hit:
    """Return the best hit; a country or city of the world goes before a piece of its border in an added region."""
    if sure[0].place.kind.startswith(("boundary=", "place=")):
        return next((hit for hit in sure if "=" not in hit.place.kind), sure[0])
    return sure[0]


def _parse_area(numbers: list[float]) -> Extent:
    if len(numbers) == 4:
        return Box(*numbers)
    return Disc(LatLon(numbers[0], numbers[1]), numbers[2])
