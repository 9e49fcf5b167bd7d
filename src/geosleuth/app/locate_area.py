"""What the user knows beforehand, from the words of the command: where the place lies, and when the photo was taken."""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geosleuth.errors import BadInput
from geosleuth.geo import Box, Disc, Extent, LatLon
from geosleuth.names import continent_of, country_code, country_name, fold

if TYPE_CHECKING:
    from shapely import Geometry

_MOST_FILE_BYTES = 20_000_000
_HOW = "write a country, a region, S,W,N,E or LAT,LON,KM in degrees, or the name of a GeoJSON file"


@dataclass(frozen=True, slots=True)
class Area:
    """Where the place lies, as the user says.

    ``extent`` may be wider than what was meant: of a polygon it is the box around it, and ``shape`` the polygon itself.
    """

    words: str
    extent: Extent | None = None
    countries: tuple[str, ...] | None = None
    shape: "Geometry | None" = field(default=None, repr=False, compare=False)

    def contains(self, point: LatLon) -> bool:
        """Whether a point lies inside, as finely as is known; borders of countries are not looked at."""
        if self.shape is not None:
            import shapely

            return bool(shapely.intersects(self.shape, shapely.Point(point.lon, point.lat)))
        return self.extent is None or self.extent.contains(point)


def area_of(text: str | None) -> Area | None:
    """Read ``--within``.

    Raises:
        BadInput: it is neither a country, a region, a continent, a box, a circle nor a polygon file.
    """
    if text is None:
        return None
    words = text.strip()
    numbers = _numbers(words)
    if numbers is not None:
        return _of_numbers(words, numbers)
    if words.lower().endswith((".geojson", ".json")):
        return _of_file(Path(words).expanduser())
    # "Bavaria, Germany" reads as a country too.
    found = (_region(words) if "," in words else None) or _country(words) or _continent(words) or _region(words)
    if found is None:
        raise BadInput(f"--within {words[:60]!r} is no area that is known; {_HOW}")
    return found


def taken_of(text: str | None) -> datetime | None:
    """Read ``--taken``; only a time with its zone tells anything of the place.

    Raises:
        BadInput: it is no time.
    """
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise BadInput(
            f"--taken {text[:40]!r} is no time; write it as 2026-07-14T15:30+02:00, or without its zone"
        ) from error


def _numbers(words: str) -> list[float] | None:
    try:
        return [float(part) for part in words.split(",")]
    except ValueError:
        return None


def _of_numbers(words: str, numbers: list[float]) -> Area:
    try:
        if len(numbers) == 3:
            disc = Disc(LatLon(*numbers[:2]), numbers[2])
            return Area(f"within {disc.radius_km:g} km of {disc.centre.lat:g}, {disc.centre.lon:g}", disc)
        if len(numbers) == 4:
            # Corners are given as people draw boxes: from any of them.
            south, north = sorted((numbers[0], numbers[2]))
            return _boxed(Box(south, numbers[1], north, numbers[3]))
    except ValueError as error:
        raise BadInput(f"--within {words[:60]!r} is no area: {error}") from error
    raise BadInput(f"--within {words[:60]!r} is no area; {_HOW}")


def _boxed(box: Box, shape: "Geometry | None" = None) -> Area:
    words = f"latitudes {box.south:g} to {box.north:g}, longitudes {box.west:g} to {box.east:g}"
    return Area(words, box, shape=shape)


def _of_file(path: Path) -> Area:
    import shapely
    from shapely.geometry import shape as shape_of

    try:
        if path.stat().st_size > _MOST_FILE_BYTES:
            raise BadInput(f"{path}: is too large for an area; simplify it")
        plain = json.loads(path.read_bytes())
        shapes = [shape_of(one) for one in _geometries(plain)]
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except BadInput:
        raise
    except Exception as error:  # shapely and json complain in many ways about what is no GeoJSON
        raise BadInput(f"{path}: is no GeoJSON: {error}") from error
    kept = [shapely.make_valid(one) for one in shapes if one.geom_type in ("Polygon", "MultiPolygon")]
    if not kept:
        raise BadInput(f"{path}: holds no polygon")
    return _around(shapely.union_all(kept), str(path))


def _geometries(plain: Any) -> list[Any]:
    kind = plain.get("type") if isinstance(plain, dict) else None
    if kind == "FeatureCollection":
        return [one for feature in plain["features"] for one in _geometries(feature)]
    if kind == "Feature":
        return [plain["geometry"]] if plain["geometry"] else []
    if kind == "GeometryCollection":
        return list(plain["geometries"])
    return [plain]


def _around(shape: "Geometry", name: str) -> Area:
    west, south, east, north = shape.bounds
    try:
        return _boxed(Box(south, west, north, east), shape)
    except ValueError as error:
        raise BadInput(f"{name}: is no area on the Earth: {error}") from error


def _country(words: str) -> Area | None:
    code = country_code(words) if words else None
    return None if code is None else Area(country_name(code), countries=(code,))


def _continent(words: str) -> Area | None:
    from geosleuth.atlas.facts import all_countries

    codes = tuple(code for code in all_countries() if fold(continent_of(code) or "") == fold(words))
    return Area(words, countries=codes) if codes else None


def _region(words: str) -> Area | None:
    """A first-level region by its name or code, alone or before its country; the largest of that name."""
    import shapely

    from geosleuth.atlas.borders import Borders

    name, _, last = words.rpartition(",")
    inside = country_code(last) if name else None
    wanted = (name if inside else words).strip()
    borders = Borders.load()
    named: dict[str, set[int]] = {}
    for number, one in enumerate(borders.regions):
        if wanted and inside in (None, one.country) and _is_named(wanted, one.name, one.code):
            named.setdefault(one.country, set()).add(number)
    found: list[tuple[Any, str]] = []
    for code, numbers in named.items():
        west, south, east, north = borders.country_outline(code).geometry.bounds
        shapes = borders.shapes_in(Box(south, west, north, east), level="region")
        parts = [one.geometry for one in shapes if numbers & set(one.ids)]
        found += [(shapely.union_all(parts), code)] if parts else []
    if not found:
        return None
    shape, code = max(found, key=lambda one: one[0].area)
    return replace(_around(shape, words), words=f"{wanted}, {country_name(code)}", countries=(code,))


def _is_named(wanted: str, name: str, code: str) -> bool:
    return wanted.casefold() == code.casefold() or fold(wanted) == fold(name)
