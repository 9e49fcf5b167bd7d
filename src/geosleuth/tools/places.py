"""Where a call means: points, places and areas as models write them, and how far a place's name reaches."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth.answer.coordinates import written_point
from geosleuth.atlas import Hit, Place
from geosleuth.atlas.protocol import level_of
from geosleuth.errors import BadInput
from geosleuth.geo import Box, Disc, Extent, FloatArray, LatLon, distance_km, distances_km
from geosleuth.names import fold

from .calls import Case
from .viewer import asked, at, one_line, place_words

# The disc of a settlement holds its dense part; what people call by its name reaches about twice as far.
_SETTLEMENT_REACH = 2.0
# A region may consist of several polygons; all of them reach to within so many degrees of its main town.
_REGION_DEG = 8.0
_AROUND_A_POINT_KM = 10.0
# What people call near a town.
_AROUND_KM = 25.0


def ground_of(place: Place) -> Extent:
    """The ground of a place. Slow at the first country or region, a second or so: borders are read then."""
    outline = _outline(place)
    if outline is not None:
        (west, south), (east, north) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
        return Box(south, west, north, east)
    if isinstance(place.extent, Disc):
        return Disc(place.extent.centre, _SETTLEMENT_REACH * place.extent.radius_km)
    return around(place.point) if _is_point(place.extent) else place.extent


def around(point: LatLon) -> Disc:
    """The ground that a bare point stands for: a town's worth."""
    return Disc(point, _AROUND_A_POINT_KM)


def radius_km_of(place: Place) -> float | None:
    """How far the ground of a place reaches from its point, None where only the point is known. Slow at first too."""
    outline, extent = _outline(place), place.extent
    if outline is not None:
        far = distances_km(place.point.lat, place.point.lon, outline[:, 1], outline[:, 0])
        return float(far.max())
    if isinstance(extent, Disc):
        return _SETTLEMENT_REACH * extent.radius_km or None
    corners = [(lat, lon) for lat in (extent.south, extent.north) for lon in (extent.west, extent.east)]
    return max(distances_km(place.point.lat, place.point.lon, lat, lon) for lat, lon in corners) or None


def _is_point(extent: Box) -> bool:
    return extent.south == extent.north and extent.width_deg == 0


def _outline(place: Place) -> FloatArray | None:
    """Longitudes and latitudes of the border of a country or a region, of which the base atlas knows no size."""
    import shapely

    owner, _, code = place.id.partition(":")
    if owner == "country":
        shapes = _country(code)
    elif owner == "admin1":
        shapes = _region(place, code)
    else:
        return None
    corners: FloatArray = shapely.get_coordinates(shapes)
    return corners if len(corners) else None


def _country(code: str) -> list[object]:
    from geosleuth.atlas.borders import Borders

    borders = Borders.load()
    try:
        light = borders.country_outline(code).geometry
        # The smallest countries have no corner left in the light outlines.
        return [borders.country_outline(code, detail="full").geometry] if light.is_empty else [light]
    except BadInput:  # a territory that has a code and no polygon
        return []


def _region(place: Place, code: str) -> list[object]:
    from geosleuth.atlas.borders import Borders

    borders, lat, lon = Borders.load(), place.point.lat, place.point.lon
    near = Box(
        max(-90.0, lat - _REGION_DEG),
        max(-180.0, lon - _REGION_DEG),
        min(90.0, lat + _REGION_DEG),
        min(180.0, lon + _REGION_DEG),
    )
    return [
        shape.geometry
        for shape in borders.shapes_in(near, level="region")
        if any(borders.regions[number].geonames == code for number in shape.ids)
    ]


_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_THREE_OR_FOUR = re.compile(rf"[\[(]?\s*{_NUMBER}(?:\s*[,;]\s*{_NUMBER}){{2,3}}\s*[\])]?")
_READ_CHARS = 200
_LOOKED_AT = 12

# Misspelled names score above this; places that share no more than a word with the text score below.
_SURE_OF_SPELLING = 0.8
# Entries of one place in several sources lie closer together than this, places of the same name farther apart.
_SAME_PLACE_KM = 10.0


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a text was taken to mean: a point, the place it stands for, and others that go by the same name."""

    name: str
    point: LatLon
    place: Place | None = None
    others: tuple[Hit, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def ground(self) -> Extent:
        """The ground in and around it: a settlement with its outskirts, a region or country as it is."""
        ground = around(self.point) if self.place is None else ground_of(self.place)
        return Disc(ground.centre, max(_AROUND_KM, ground.radius_km)) if isinstance(ground, Disc) else ground


async def look_up(case: Case, text: str) -> Whereabouts | None:
    """What a text means: coordinates, or a place that the atlas knows; None where it knows none that may be meant.

    Raises:
        BadInput: coordinates out of range.
    """
    point = written_point(text)
    if point is not None:
        return Whereabouts(at(point), point)
    hits = await case.atlas.geocode(text, limit=_LOOKED_AT)
    sure = [hit for hit in hits if hit.match != "fuzzy"]
    sure = sure or [hit for hit in hits[:1] if _is_misspelling(hit)]
    if not sure:
        return None
    best = _meant(sure).place
    others = [
        hit
        for hit in sure
        if distance_km(hit.place.point, best.point) > _SAME_PLACE_KM and not hit.place.kind.startswith("boundary=")
    ]
    missing = next(hit.missing for hit in sure if hit.place is best)
    name = f"{place_words(best)}, the {level_of(best)} of it" if missing else place_words(best)
    return Whereabouts(name, best.point, best, tuple(others), missing)


async def find(case: Case, text: str, argument: str) -> Whereabouts:
    """What a text means, where it must mean something.

    Raises:
        BadInput: it is empty, out of range, or a name that the atlas does not know.
    """
    if not one_line(text):
        raise BadInput(f"{argument} is empty; write a place's name, or its coordinates as 'lat,lon'")
    found = await look_up(case, text)
    if found is None:
        raise BadInput(f"the atlas knows no place {asked(text)} ({argument}); give its coordinates as 'lat,lon'")
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
            return _written_area([float(number) for number in re.findall(_NUMBER, text)])
        except ValueError as error:
            raise BadInput(f"{asked(text)} is no area: {error}") from error
    found = await find(case, text, "area")
    if found.place is None:
        return around(found.point)
    return await asyncio.to_thread(ground_of, found.place)


def _is_misspelling(hit: Hit) -> bool:
    """Whether a place's own name was plainly meant; something like one of its by-names is too far off."""
    return hit.score >= _SURE_OF_SPELLING and fold(hit.matched) == fold(hit.place.name)


def _meant(sure: Sequence[Hit]) -> Hit:
    """The best hit; a country or city of the world before a scrap of its border in an added region."""
    if sure[0].place.kind.startswith(("boundary=", "place=")):
        return next((hit for hit in sure if "=" not in hit.place.kind), sure[0])
    return sure[0]


def _written_area(numbers: list[float]) -> Extent:
    if len(numbers) == 4:
        return Box(*numbers)
    return Disc(LatLon(numbers[0], numbers[1]), numbers[2])
