"""The context of an answer in a file, the circle of its uncertainty, and text safe for each format."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from geosleuth import __version__
from geosleuth.answer.answer import Answer, Candidate, Extent, is_the_answer, whole_percent
from geosleuth.answer.granularity import Granularity, cap_sources
from geosleuth.geo import EARTH_RADIUS_KM, LatLon, choose_decimals, coordinates, destinations
from geosleuth.support.lazy import lazy_pattern
from geosleuth.support.text.safe import legible

if TYPE_CHECKING:
    from shapely import Polygon

Ring = list[tuple[float, float]]
Polygons = list[list[Ring]]
_HALF_ROUND_KM = float(np.pi) * EARTH_RADIUS_KM
_CORNERS = 96
_DECIMALS = 7

ESTIMATED = "estimated from the picture by geosleuth"
CONFIRMED = f"{ESTIMATED}, confirmed by a person"
SET_BY_PERSON = "set by a person in geosleuth"
Reviewed = Literal["confirmed", "corrected"]
"""What a person did with a place: a confirmed one stays an estimate, one that they put in its place is their own."""
_NOT_XML = lazy_pattern("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Characters that start a formula in spreadsheets; full-width forms count on Japanese systems.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def circle_polygons(centre: LatLon, radius_km: float, *, corners: int = _CORNERS) -> Polygons:
    """Return the circle as one or more polygons, each an outer ring and its holes.

    Points are (longitude, latitude), as in GeoJSON and KML; rings are closed, outer ones run counter-clockwise, holes
    clockwise, and no polygon crosses the antimeridian. Distances are great-circle ones, as everywhere.
    """
    import shapely

    # Rounded by geometry and not number by number: adjacent pieces stay joined, and none crosses itself.
    shape = shapely.set_precision(_shape(centre, min(radius_km, _HALF_ROUND_KM), corners), 10.0**-_DECIMALS)
    polygons = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon" and part.area > 0]
    return [list_rings(polygon) for polygon in polygons]


def _shape(centre: LatLon, radius_km: float, corners: int) -> Any:
    import shapely
    from shapely.affinity import translate

    world = shapely.box(-180, -90, 180, 90)
    if radius_km >= _HALF_ROUND_KM * (1 - 1e-9):
        return world
    poles_km = [_HALF_ROUND_KM * (90 - sign * centre.lat) / 180 for sign in (1, -1)]
    # A circle through a pole has no longitude there: it is drawn two metres wider.
    radius_km = next((km + 0.002 for km in poles_km if abs(km - radius_km) < 0.001), radius_km)
    north, south = (km < radius_km for km in poles_km)
    if north and south:
        # The complement of a smaller circle around the antipode.
        opposite = LatLon(-centre.lat, centre.lon - 180 if centre.lon > 0 else centre.lon + 180)
        return world.difference(_shape(opposite, _HALF_ROUND_KM - radius_km, corners))
    unrolled = _build_unrolled_circle(centre, radius_km, corners, pole=90 if north else -90 if south else None)
    copies = (translate(unrolled, xoff=by) for by in (-360.0, 0.0, 360.0))
    parts = [world.intersection(copy) for copy in copies if copy.intersects(world)]
    return shapely.union_all(parts, grid_size=10.0**-_DECIMALS)


def _build_unrolled_circle(centre: LatLon, radius_km: float, corners: int, pole: float | None) -> "Polygon":
    """Return one polygon whose longitudes may run past 180; over a pole it goes all the way round."""
    import shapely

    bearings = np.linspace(0.0, 360.0, corners + 1)
    lats, lons = destinations(centre.lat, centre.lon, bearings, radius_km)
    lons = np.unwrap(lons, period=360.0)
    # Unwrapping may end a full turn away from its start only if the circle goes round a pole.
    line = np.stack([lons, lats], axis=1)
    if pole is None:
        line[-1] = line[0]
    else:
        line = np.concatenate([line, [[lons[-1], pole], [lons[0], pole]]])
    polygon = shapely.Polygon(line)
    return polygon if polygon.is_valid else shapely.make_valid(polygon)


def list_rings(polygon: "Polygon") -> list[Ring]:
    """Return a polygon's outer ring, counter-clockwise, and its holes, clockwise."""
    from shapely.geometry.polygon import orient

    turned = orient(polygon, sign=1.0)
    return [
        [(round(float(lon), _DECIMALS), round(float(lat), _DECIMALS)) for lon, lat in ring.coords]
        for ring in (turned.exterior, *turned.interiors)
    ]


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """The origin of an answer.

    Attributes:
        sha256: of the photo's file, in hexadecimal.
        file_name: the photo's name for people; None if it must not be shown.
        model: the model, such as "detective" or "openai:gpt-5".
        method: the method, such as "default".
        when: the time of the answer, with a time zone.
        tools: the enabled tools.
        sources: the sources of the evidence.
        versions: of other components, by name, such as an installed region.
        granularity: the permitted precision; ``exact`` where nothing was held back, however coarse the finding is.
        country_code: ISO 3166-1 alpha-2 of the answer's country, if looked up.
        city: the answer's city, if looked up: an answer gives only its finest place.
        outline: the country that is the whole finding, as polygons; empty if the finding is a circle.
        extent: what the answer's point means; of a country or a wide circle no coordinates are written.
        candidate_areas: for each candidate, in order, the polygons of a country that it is, empty for one that can't be
            drawn, and None for a point; as many as there are, and the rest are points.
        reviewed: whether a person has confirmed or corrected the place.
        geosleuth: this program's version.
    """

    sha256: str | None = None
    file_name: str | None = None
    model: str | None = None
    method: str | None = None
    when: datetime | None = None
    tools: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    granularity: Granularity = "exact"
    country_code: str | None = None
    city: str | None = None
    outline: Polygons = field(default_factory=list, hash=False, repr=False)
    extent: Extent = "point"
    candidate_areas: tuple[Polygons | None, ...] = field(default=(), hash=False, repr=False)
    reviewed: Reviewed | None = None
    geosleuth: str = __version__

    @property
    def wide(self) -> bool:
        """Return whether the finding is a country or region, and no point."""
        return self.extent != "point"

    @property
    def cap(self) -> Granularity | None:
        """Return the permitted precision where something finer was held back; None where nothing was."""
        return None if self.granularity == "exact" else self.granularity

    def others(self, answer: Answer) -> list[tuple[Candidate, Polygons | None]]:
        """Return the candidates but for the answer itself, each with the polygons of a country; None for a point."""
        missing = len(answer.candidates) - len(self.candidate_areas)
        areas = (*self.candidate_areas, *[None] * missing)
        return [pair for pair in zip(answer.candidates, areas, strict=False) if not is_the_answer(pair[0], answer)]

    @property
    def place_method(self) -> str:
        """Return how the place was found, in ASCII."""
        if self.reviewed == "corrected":
            return SET_BY_PERSON
        return CONFIRMED if self.reviewed else ESTIMATED

    @property
    def producer(self) -> str:
        """Return program and model in one line."""
        return f"geosleuth {self.geosleuth}" + (f", model {self.model}" if self.model else "")

    @property
    def when_text(self) -> str | None:
        """Return the time as ISO 8601, to the second."""
        return None if self.when is None else self.when.isoformat(timespec="seconds")

    def coarsen(self, granularity: Granularity) -> "AnswerContext":
        """Return the context of a capped answer.

        File names, versions and most sources can contain the name of a place: they are removed. The answer's country
        stays; its city, if permitted, is in the capped answer itself.
        """
        if granularity == "exact":
            return replace(self, granularity=granularity)
        return replace(
            self,
            file_name=None,
            sources=cap_sources(self.sources, granularity),
            versions={},
            granularity=granularity,
            city=None,
        )


class LocatedAnswer(NamedTuple):
    """An answer and its context."""

    answer: Answer
    context: AnswerContext

    @property
    def point(self) -> LatLon | None:
        """Return the point to write; None where there is none, and for a country or region."""
        return get_writable_point(self.answer, self.context)


def extent_words(answer: Answer, context: AnswerContext) -> str | None:
    """Return what the finding is: ``country``, ``circle`` or ``point``; None where there is no place."""
    return context.extent if answer.located else None


def get_writable_point(answer: Answer, context: AnswerContext) -> LatLon | None:
    """Return an answer's point where it may be written as one: a country or region is no point."""
    return None if context.wide else answer.point


def xml_text(text: str) -> str:
    """Return the text without direction characters and those that XML can't hold; the writer escapes it."""
    return legible(_NOT_XML.sub("", text))


def cell(text: str | None) -> str:
    """Return a text as a table cell: one line, and never a formula."""
    if not text:
        return ""
    line = " ".join(xml_text(text).split())
    return f"'{line}" if line.startswith(_FORMULA) or text.startswith(_FORMULA) else line


def degrees(value: float, radius_km: float | None) -> str:
    """Return a coordinate in decimal degrees, with as many digits as its radius justifies."""
    return f"{value:.{choose_decimals(radius_km)}f}"


def metres(radius_km: float) -> int:
    """Return a radius in whole metres, rounded up: an uncertainty of 0 would be a claim."""
    return max(1, ceil(radius_km * 1000 - 1e-6))


def odds(answer: Answer, *, whole: bool = False) -> str | None:
    """Return the confidence in words; None if not stated. ``whole`` is for a finding that is a country."""
    if answer.probability is None:
        return None
    within = f" to lie within {answer.radius_km:g} km" if answer.radius_km else ""
    within = f" to lie in {answer.address.country.conclusion}" if whole else within
    return f"{whole_percent(answer.probability)}% sure{within}"


def candidate_line(candidate: Candidate) -> str:
    """Return a candidate in a few words."""
    name = candidate.name or (coordinates(candidate.point) if candidate.point else "unnamed")
    return name if candidate.probability is None else f"{name} ({whole_percent(candidate.probability)}%)"
