"""Prior knowledge of the user: where the place lies, and when the photo was taken."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geosleuth.answer.coordinates import find_points
from geosleuth.geo import Box, Disc, Extent, LatLon, is_valid
from geosleuth.geo.extent import build_outline, check_edges_cross_little
from geosleuth.names import country_code, country_name, fold, get_continent, same_region
from geosleuth.names.cities import is_listed_region
from geosleuth.support.errors import BadInput
from geosleuth.support.files import read_json
from geosleuth.support.text.safe import one_line

from .request import LocateRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shapely import Geometry

_MAX_FILE_BYTES = 20_000_000
_MAX_CORNERS = 100_000
_MARGIN_DEG = 0.03
_MIN_CORNERS = 40  # of a country; in fewer it is too coarse, or nothing is left of it
_NAME_CHARS = 60
_TYPOS = 2
_ALIKE = 0.8
_NUMBER = r"\s*([+-]?\d+(?:\.\d+)?)\s*"
# Appended to an error message about an area; left out for callers who may not name files.
FILE_ALTERNATIVE = ", or the name of a GeoJSON file"

_HOW = f"write a country, a region, S,W,N,E or LAT,LON,KM in degrees{FILE_ALTERNATIVE}"


@dataclass(frozen=True, slots=True)
class Area:
    """Area of the place, as the user says: an extent, which may be an `Outline`, or some countries."""

    words: str
    extent: Extent | None = None
    countries: tuple[str, ...] | None = None

    def contains(self, point: LatLon) -> bool:
        """Return whether a point lies inside; off a coast the nearest country counts."""
        if self.extent is not None:
            return self.extent.contains(point)
        if self.countries is None:
            return True
        from geosleuth.atlas.borders import Borders

        region = Borders.load().find_region(point)
        return region is None or region.country in self.countries


def parse_area(text: str | None) -> Area | None:
    """Read ``--within``.

    Raises:
        BadInput: it is neither a country, a region, a continent, a box, a circle nor a polygon file.
    """
    if text is None:
        return None
    words = text.strip()
    numbers = _parse_numbers(words)
    if numbers is not None:
        return _of_numbers(words, numbers)
    if names_file(words):
        return _of_file(Path(words).expanduser())
    # "Bavaria, Germany" reads as a country too.
    region = _region(words) if "," in words else None
    if region is None and "," in words and country_code(words.rpartition(",")[2]) and _spelt_like(words):
        raise _build_unknown_area_error(words)  # and not the whole country
    found = region or _find_country_area(words) or _continent(words) or _region(words)
    if found is None:
        raise _build_unknown_area_error(words)
    return found


def _build_unknown_area_error(words: str) -> BadInput:
    meant = _spelt_like(words)
    near = f"did you mean {meant}? Otherwise " if meant else ""
    return BadInput(f"--within {words[:60]!r} is no area that is known; {near}{_HOW}")


def _spelt_like(words: str) -> str | None:
    """Return the country, continent or region whose name is spelt most like these words."""
    from geosleuth.atlas.base.build import admin1_table
    from geosleuth.atlas.facts import all_countries

    name, _, last = words[:_NAME_CHARS].rpartition(",")
    inside = country_code(last) if name else None
    wanted = fold(name if inside else words[:_NAME_CHARS])
    regions = {
        other
        for code, (own, _, others) in admin1_table().items()
        if inside in (None, code.partition(".")[0])
        for other in (own, *others)
    }
    wide = {item for code in all_countries() for item in (country_name(code), get_continent(code) or "") if not inside}
    for names in (wide, regions):
        folded = {fold(item): item for item in sorted(names) if abs(len(item) - len(wanted)) <= _TYPOS}
        if near := get_close_matches(wanted, folded, 1, _ALIKE):
            return f"{folded[near[0]]}, {country_name(inside)}" if inside else folded[near[0]]
    return None


def get_extent(area: Area) -> Extent | None:
    """The ground of an area, that of countries too; a little more than that along coasts and borders."""
    if area.extent is not None or not area.countries:
        return area.extent
    import shapely

    from geosleuth.atlas.borders import Borders

    borders, shapes = Borders.load(), []
    for code in area.countries:
        shape = borders.country_outline(code).geometry
        if shapely.get_num_coordinates(shape) < _MIN_CORNERS:
            shape = borders.country_outline(code, detail="full").geometry
        shapes.append(shape)
    return _widen_outlines(shapes, area.words).extent


def names_file(words: str) -> bool:
    """Return whether an area is given as the name of a file; servers read none for their clients."""
    return words.strip().lower().endswith((".geojson", ".json"))


def parse_taken(text: str | None) -> datetime | None:
    """Read ``--taken``; only a time with its zone tells anything of the place.

    Raises:
        BadInput: it is no time, or one to come.
    """
    if text is None:
        return None
    try:
        taken = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise BadInput(
            f"--taken {text[:40]!r} is no time; write it as 2026-07-14T15:30+02:00, or without its zone"
        ) from error
    # Without a zone it may be a day ahead of here.
    if taken.replace(tzinfo=taken.tzinfo or UTC) > datetime.now(UTC) + timedelta(days=1):
        raise BadInput(f"--taken {text[:40]!r} lies in the future; write when the photo was taken")
    return taken


def parse_point(text: str) -> LatLon:
    """Read a point as people write it.

    Raises:
        BadInput: it is none.
    """
    match = re.fullmatch(rf"{_NUMBER}[,;\s]{_NUMBER}", text)
    if match and is_valid(float(match[1]), float(match[2])):
        return LatLon(float(match[1]), float(match[2]))
    if match:
        raise BadInput(f"{text[:60]!r} is outside the globe; latitude lies between -90 and 90, longitude -180 and 180")
    found = find_points(f"coordinates: {text[:200]}")
    if not found:
        raise BadInput(f"{text[:60]!r} is no point; write LAT,LON in degrees, such as 48.8584,2.2945")
    return found[0].point


def _parse_numbers(words: str) -> list[float] | None:
    try:
        return [float(part) for part in words.split(",")]
    except ValueError:
        return None


def _of_numbers(words: str, numbers: list[float]) -> Area:
    try:
        if len(numbers) == 3:
            if numbers[2] == 0:
                raise BadInput(f"--within {words[:60]!r} is no area: its radius is 0 km; --check is for a point")
            disc = Disc(LatLon(*numbers[:2]), numbers[2])
            return Area(f"within {disc.radius_km:g} km of {disc.centre.lat:g}, {disc.centre.lon:g}", disc)
        if len(numbers) == 4:
            # Corners are given as people draw boxes: from any of them.
            south, north = sorted((numbers[0], numbers[2]))
            return _build_box_area(Box(south, numbers[1], north, numbers[3]))
    except ValueError as error:
        raise BadInput(f"--within {words[:60]!r} is no area: {error}") from error
    raise BadInput(f"--within {words[:60]!r} is no area; {_HOW}")


def _build_box_area(box: Box) -> Area:
    words = f"latitudes {box.south:g} to {box.north:g}, longitudes {box.west:g} to {box.east:g}"
    return Area(words, box)


def build_drawn_area(plain: "Mapping[str, Any]") -> Area:
    """Build an area from GeoJSON that the user drew.

    Raises:
        BadInput: it holds no polygon.
    """
    return _of_geojson(plain, "the area")


def _of_file(path: Path) -> Area:
    try:
        plain = read_json(path, _MAX_FILE_BYTES)
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInput(f"{path}: is no GeoJSON: {one_line(str(error))[:200]}") from error
    return _of_geojson(plain, str(path))


def _of_geojson(plain: Any, name: str) -> Area:
    from shapely import get_num_coordinates
    from shapely.geometry import shape as shape_of

    try:
        shapes = [shape_of(geometry) for geometry in _geometries(plain)]
    except Exception as error:  # shapely complains in many ways about what is no GeoJSON
        raise BadInput(f"{name}: is no GeoJSON: {one_line(str(error))[:200]}") from error
    kept = [shape for shape in shapes if shape.geom_type in ("Polygon", "MultiPolygon") and not shape.is_empty]
    if not kept:
        raise BadInput(f"{name}: holds no polygon; an area is a Polygon or a MultiPolygon")
    corners = sum(int(get_num_coordinates(item)) for item in kept)
    if corners > _MAX_CORNERS:
        raise BadInput(f"{name}: has {corners:,} corners; simplify it to {_MAX_CORNERS:,} at most")
    for item in kept:
        _check_edges(item, name)
    try:
        check_edges_cross_little(kept)
    except ValueError as error:
        raise BadInput(f"{name}: can't be searched: {error}") from error
    return _build_outline_area(kept, name)


def _check_edges(shape: "Geometry", name: str) -> None:
    """Refuse an edge half round the world: GeoJSON means the long way, and people the short way."""
    import numpy as np
    import shapely

    for part in shapely.get_parts(shape):
        for ring in (part.exterior, *part.interiors):
            lons = shapely.get_coordinates(ring)[:, 0]
            steps = np.abs(np.diff(lons))
            if not np.isfinite(lons).all():
                raise BadInput(f"{name}: is no GeoJSON: a coordinate is not a number")
            if ((steps > 180) & (steps < 360)).any():
                raise BadInput(
                    f"{name}: an edge spans more than 180 degrees of longitude; cut the polygon at the 180th meridian, "
                    "or go on counting beyond it (181, 182, …)"
                )


def _geometries(plain: Any) -> list[Any]:
    kind = plain.get("type") if isinstance(plain, dict) else None
    if kind == "FeatureCollection":
        return [geometry for feature in plain["features"] for geometry in _geometries(feature)]
    if kind == "Feature":
        return [plain["geometry"]] if plain["geometry"] else []
    if kind == "GeometryCollection":
        return list(plain["geometries"])
    return [plain]


def _build_outline_area(shapes: "Sequence[Geometry]", name: str) -> Area:
    from shapely.errors import ShapelyError

    try:
        outline = build_outline(shapes)
    except (ValueError, ShapelyError) as error:
        raise BadInput(f"{name}: is no area on the Earth: {error}") from error
    return replace(_build_box_area(outline), words=f"a polygon within {_build_box_area(outline).words}")


def _widen_outlines(shapes: "Sequence[Geometry]", name: str) -> Area:
    """Outlines are good to some 0.02 degrees, and piers and bridges reach beyond them."""
    import shapely

    world = shapely.box(-180, -90, 180, 90)
    return _build_outline_area([shapely.buffer(shape, _MARGIN_DEG).intersection(world) for shape in shapes], name)


def _find_country_area(words: str) -> Area | None:
    code = country_code(words) if words else None
    return None if code is None else Area(country_name(code), countries=(code,))


def _continent(words: str) -> Area | None:
    from geosleuth.atlas.facts import all_countries

    codes = tuple(code for code in all_countries() if fold(get_continent(code) or "") == fold(words))
    return Area(words, countries=codes) if codes else None


def _region(words: str) -> Area | None:
    """A first-level region by its name in some language or its code, alone or before its country.

    Of several of that name it is the largest.
    """
    import shapely

    from geosleuth.atlas.borders import Borders

    name, _, last = words.rpartition(",")
    inside = country_code(last) if name else None
    wanted = (name if inside else words).strip()
    borders, listed = Borders.load(), _find_region_names(wanted)
    open_to = [(at, one) for at, one in enumerate(borders.regions) if wanted and inside in (None, one.country)]
    chosen = [
        (at, one) for at, one in open_to if listed & {fold(one.name), one.code.casefold(), f"geonames:{one.geonames}"}
    ]
    if not chosen and is_listed_region(wanted, inside):
        where = {code for code in {one.country for _, one in open_to} if is_listed_region(wanted, code)}
        chosen = [
            (at, one) for at, one in open_to if one.country in where and same_region(wanted, one.name, one.country)
        ]
    named: dict[str, set[int]] = {}
    for at, item in chosen:
        named.setdefault(item.country, set()).add(at)
    found: list[tuple[Any, str, str]] = []
    for code, numbers in named.items():
        west, south, east, north = borders.country_outline(code).geometry.bounds
        shapes = borders.find_shapes(Box(south, west, north, east), level="region")
        parts = [item.geometry for item in shapes if numbers & set(item.ids)]
        called = borders.regions[min(numbers)].name
        found += [(shapely.union_all(parts), code, called)] if parts else []
    if not found:
        return None
    shape, code, called = max(found, key=lambda item: item[0].area)
    return replace(_widen_outlines([shape], words), words=f"{called}, {country_name(code)}", countries=(code,))


def _find_region_names(wanted: str) -> set[str]:
    """A region's name as it was given, and the codes of all regions that some language calls so."""
    from geosleuth.atlas.base.build import admin1_table

    names = {fold(wanted), wanted.casefold()}
    codes = {
        f"geonames:{code}"
        for code, (name, _, others) in admin1_table().items()
        if any(fold(other) in names for other in (name, *others))
    }
    return names | codes


def build_area(request: LocateRequest) -> Area | None:
    """Return where the place must lie, from words or from what was drawn.

    Raises:
        BadInput: both are given, or it can't be read.
    """
    if request.drawn is None:
        return parse_area(request.within)
    if request.within is not None:
        raise BadInput("say where it lies in words, or draw the area; not both")
    return build_drawn_area(request.drawn)
