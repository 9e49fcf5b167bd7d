"""Which land sees the sun stand so: by country, with the people there, and as a picture of the world."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput
from geosleuth.geo import EARTH_RADIUS_KM, FloatArray, LatLon, SunSight, subsolar_points, sun_seen_mask
from geosleuth.names import country_name

from .clocks import clock, nearest_town, towns

if TYPE_CHECKING:
    from PIL.Image import Image

Mask = npt.NDArray[np.bool_]

CELLS_A_DEGREE = 3
"""The picture's and the count's fineness: a third of a degree, 37 km at the equator."""

_SUN_MINUTES_A_DEGREE = 4
_BAND = "#f2960f"
_SUN = "#d1121f"
_GRATICULE = "#8eb9cf"


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
    world, known = _world(), towns()
    rows = np.clip(((90 - known.lats) * CELLS_A_DEGREE).astype(int), 0, len(world.lats) - 1)
    columns = np.clip(((known.lons + 180) * CELLS_A_DEGREE).astype(int), 0, len(world.lons) - 1)
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
    return Band(seen, _shares(seen, people))


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
    lines = np.arange(30 * CELLS_A_DEGREE, 360 * CELLS_A_DEGREE, 30 * CELLS_A_DEGREE)
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
    """The part of a picture that shows these cells with something around them, enlarged."""
    from PIL import Image

    rows, columns = np.flatnonzero(cells.any(axis=1)), np.flatnonzero(cells.any(axis=0))
    edge = 2 * CELLS_A_DEGREE
    left, right = max(0, int(columns[0]) - edge), min(image.width, int(columns[-1]) + 1 + edge)
    top, bottom = max(0, int(rows[0]) - edge), min(image.height, int(rows[-1]) + 1 + edge)
    times = max(1, min(image.width // (right - left), image.height // (bottom - top), 12))
    size = ((right - left) * times, (bottom - top) * times)
    return image.crop((left, top, right, bottom)).resize(size, Image.Resampling.NEAREST)


def _pixel(lat: float, lon: float) -> tuple[float, float]:
    return (lon + 180) * CELLS_A_DEGREE, (90 - lat) * CELLS_A_DEGREE


def _edges(countries: npt.NDArray[np.int16]) -> Mask:
    """Land cells whose neighbour to the right or below belongs to another country."""
    edges = np.zeros(countries.shape, dtype=np.bool_)
    edges[:, :-1] |= countries[:, :-1] != countries[:, 1:]
    edges[:-1] |= countries[:-1] != countries[1:]
    return edges & (countries > 0)


def _by_clock(country: str, zones: frozenset[str]) -> Mask:
    """The cells of a country that go by one of the clocks."""
    rows, columns, clocks = _clocks_of(country)
    own = np.zeros(_world().countries.shape, dtype=np.bool_)
    own[rows, columns] = np.isin(clocks, list(zones))
    return own


@lru_cache(maxsize=8)
def _clocks_of(country: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.str_]]:
    """Rows and columns of a country's cells, and the clock of each, judged by the nearest town."""
    world = _world()
    rows, columns = np.nonzero(world.codes[world.countries] == country)
    return rows, columns, towns().zones[nearest_town(world.lats[rows], world.lons[columns], country)]


def _shares(seen: Mask, people: Mask) -> tuple[CountryShare, ...]:
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
    """Whose land each cell of the world is; a second or so at first, since borders are read then."""
    from geosleuth.atlas.borders import Borders

    lats = 90 - (np.arange(180 * CELLS_A_DEGREE) + 0.5) / CELLS_A_DEGREE
    lons = -180 + (np.arange(360 * CELLS_A_DEGREE) + 0.5) / CELLS_A_DEGREE
    lat_grid, lon_grid = np.meshgrid(lats, lons, indexing="ij")
    countries = Borders.load().countries(lat_grid, lon_grid, waters=False)
    codes, numbers = np.unique(countries, return_inverse=True)
    if codes[0]:
        raise ValueError("a world without sea")
    half = 0.5 / CELLS_A_DEGREE
    heights = np.sin(np.radians(lats + half)) - np.sin(np.radians(lats - half))
    row_km2: FloatArray = EARTH_RADIUS_KM**2 * heights * math.radians(2 * half)
    return _World(lats, lons, numbers.reshape(countries.shape).astype(np.int16), codes, row_km2)
