"""POI-centred sets: so many cities, so many points of interest in each, one photo of each."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import degrees, pi
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from geosleuth.atlas import Place
from geosleuth.evidence.country_prior import TOWN_PEOPLE_PER_KM2
from geosleuth.geo import EARTH_RADIUS_KM, FloatArray, LatLon, great_circle_km
from geosleuth.lab.bench.sets.dataset import Item
from geosleuth.names import country_name
from geosleuth.support.errors import BadInput

from .photo_tables import TablePlace, field_names, writing_table

if TYPE_CHECKING:
    from geosleuth.atlas.regions import Regions

FIELDS = ("poi", "poi_name", "poi_kind", "poi_lat", "poi_lon", "poi_metres")
_NEAR_ONE_PHOTO = 30
_CITY_KM = 30.0
City = tuple[str, str]
"""Name and country: two cities of one name are two."""

_NO_POI = ("street", "crossing", "address", "city", "region", "country")


@dataclass(frozen=True, slots=True)
class Poi:
    """A point of interest; ``city`` and ``country`` are names, None if unknown."""

    id: str
    name: str
    kind: str
    point: LatLon
    city: str | None = None
    country: str | None = None


@dataclass(frozen=True, slots=True)
class PoiPhoto:
    """A photo and its point of interest."""

    item: Item
    poi: Poi
    metres: float


@dataclass(frozen=True, slots=True)
class PoiSet:
    """The chosen photos, and how many there were to choose from in each city."""

    photos: tuple[PoiPhoto, ...]
    per_city: dict[str, int]
    at_hand: dict[str, int]


class PoiSource(Protocol):
    """A source of points of interest."""

    def near(self, point: LatLon, within_m: float) -> list[tuple[float, Poi]]:
        """Return those within a distance, with their distance in metres, nearest first."""
        ...


class TablePois:
    """Points of interest of the user's own table."""

    def __init__(self, places: Iterable[TablePlace]) -> None:
        """Take the rows; their cities come from the table, or from GeoNames if it names none."""
        self._pois = [
            Poi(
                place.id,
                place.name,
                place.fields.get("kind", ""),
                place.truth.point,
                place.truth.city,
                place.truth.country,
            )
            for place in places
        ]
        lats = np.array([item.point.lat for item in self._pois])
        self._order = np.argsort(lats, kind="stable")
        self._lats = lats[self._order]
        self._lons = np.array([item.point.lon for item in self._pois])[self._order]

    def near(self, point: LatLon, within_m: float) -> list[tuple[float, Poi]]:
        """Return those within a distance, nearest first."""
        # The difference in latitude is at most the distance; a little is added for rounding.
        reach = degrees(within_m / 1000 / EARTH_RADIUS_KM) + 1e-9
        band = slice(*np.searchsorted(self._lats, (point.lat - reach, point.lat + reach)))
        metres = great_circle_km(point.lat, point.lon, self._lats[band], self._lons[band]) * 1000
        near = np.flatnonzero(metres <= within_m)
        found = zip(metres[near].tolist(), self._order[band][near].tolist(), strict=True)
        return [(away, self._pois[at]) for away, at in sorted(found)]


class AtlasPois:
    """Points of interest of the installed regions; streets, addresses and towns are excluded."""

    def __init__(self, regions: "Regions", category: str | None = None) -> None:
        """Query these regions, for one category such as "restaurant" or for all."""
        self._regions, self._category = regions, category

    def near(self, point: LatLon, within_m: float) -> list[tuple[float, Poi]]:
        """Return those within a distance, nearest first; at most 30."""
        hits = self._regions.nearby(point, within_m, category=self._category, limit=_NEAR_ONE_PHOTO)
        return [
            (
                (hit.distance_km or 0.0) * 1000,
                Poi(hit.place.id, hit.place.name, hit.place.kind, hit.place.point, None, hit.place.country),
            )
            for hit in hits
            if _is_poi(hit.place)
        ]


def _is_poi(place: Place) -> bool:
    key, _, value = place.kind.partition("=")
    unnamed = place.name.casefold() == value.replace("_", " ").casefold()
    return bool(place.name) and not unnamed and place.kind not in _NO_POI and key not in ("highway", "place")


def choose_pois(
    items: Iterable[Item],
    source: PoiSource,
    *,
    within_m: float = 100.0,
    cities: int | None = None,
    per_city: int | None = None,
    fewest: int = 1,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _done: None,
) -> PoiSet:
    """Choose one photo for each point of interest, the same number in each city.

    Photos and points of interest are paired nearest first, each at most once. A city is that of the point of interest,
    else the photo's own, else the nearest GeoNames city of 15,000 people and more relative to its size, up to 30 km
    away; pairs without one are left out. The cities with the most pairs are chosen; within a city the draw is random.

    Args:
        items: photos with their places.
        source: the points of interest.
        within_m: the largest distance of a photo from its point of interest.
        cities: how many cities; None for all.
        per_city: how many photos of each; None for as many as the smallest chosen city has.
        fewest: cities with fewer pairs are left out.
        seed: of the random draws.
        progress: called with the number of photos processed.

    Raises:
        BadInput: no photo is near any point of interest, or too few cities have enough of them.
    """
    pairs = _pair_photos(items, source, within_m, progress)
    if not pairs:
        raise BadInput(
            f"no photo lies within {within_m:g} m of a point of interest; add a region, or allow more metres"
        )
    by_city: dict[City, list[PoiPhoto]] = defaultdict(list)
    for pair, city in zip(pairs, _find_cities(pairs), strict=True):
        if city is not None:
            by_city[city].append(pair)
    least = max(fewest, per_city or 1)
    ranked = sorted(by_city, key=lambda city: (-len(by_city[city]), city))
    chosen = [city for city in ranked if len(by_city[city]) >= least][:cities]
    if not chosen or (cities is not None and len(chosen) < cities):
        raise BadInput(
            f"{len(chosen)} cities have {least} photos of points of interest or more"
            f"{'' if cities is None else f', and {cities} are wanted'}; ask for fewer, or give more photos"
        )
    count = per_city or min(len(by_city[city]) for city in chosen)
    chance = np.random.default_rng(seed)
    photos: list[PoiPhoto] = []
    for city in sorted(chosen):
        group = sorted(by_city[city], key=lambda pair: (pair.poi.id, pair.item.id))
        drawn = np.sort(chance.choice(len(group), count, replace=False))
        photos += [_add_city(group[at], city) for at in drawn.tolist()]
    at_hand = {_format_city(city): len(by_city[city]) for city in sorted(by_city)}
    return PoiSet(tuple(photos), dict.fromkeys(map(_format_city, sorted(chosen)), count), at_hand)


def write_pois(path: Path, found: PoiSet) -> None:
    """Write the set as a table that can be opened as a data set.

    Raises:
        BadInput: it can't be written.
    """
    with writing_table(path, field_names((photo.item for photo in found.photos), *FIELDS)) as write:
        for photo in found.photos:
            poi = photo.poi
            values = (poi.id, poi.name, poi.kind, repr(poi.point.lat), repr(poi.point.lon), f"{photo.metres:.1f}")
            write(photo.item, dict(zip(FIELDS, values, strict=True)))


def _pair_photos(
    items: Iterable[Item], source: PoiSource, within_m: float, progress: Callable[[int], None]
) -> list[PoiPhoto]:
    near: list[PoiPhoto] = []
    for number, item in enumerate(items, 1):
        near += [PoiPhoto(item, poi, metres) for metres, poi in source.near(item.truth.point, within_m)]
        progress(number)
    used: set[tuple[str, str]] = set()
    pairs = []
    for pair in sorted(near, key=lambda entry: (entry.metres, entry.poi.id, entry.item.id)):
        keys = {("poi", pair.poi.id), ("photo", pair.item.id)}
        if not keys & used:
            used |= keys
            pairs.append(pair)
    return pairs


def _find_cities(pairs: Sequence[PoiPhoto]) -> list[City | None]:
    towns: _Towns | None = None
    found: list[City | None] = []
    for pair in pairs:
        truth = pair.item.truth
        named = pair.poi.city or truth.city
        if named is None:
            towns = towns or _load_city_index()
            found.append(towns.find_nearest(pair.poi.point))
        else:
            found.append((named, pair.poi.country or truth.country or ""))
    return found


@dataclass(frozen=True, slots=True)
class _Towns:
    lats: FloatArray
    lons: FloatArray
    reach_km: FloatArray
    names: tuple[City, ...]

    def find_nearest(self, point: LatLon) -> City | None:
        """Return the nearest town relative to its size, unless it is too far: suburbs belong to the city around."""
        away_km = great_circle_km(point.lat, point.lon, self.lats, self.lons)
        nearest = int(np.argmin(np.where(away_km <= _CITY_KM, away_km / self.reach_km, np.inf)))
        return self.names[nearest] if away_km[nearest] <= _CITY_KM else None


def _load_city_index() -> _Towns:
    from geosleuth.names.country_names import cities_by_country

    known = [(city, country_name(code)) for code, cities in cities_by_country().items() for city in cities]
    return _Towns(
        np.array([one.lat for one, _ in known]),
        np.array([one.lon for one, _ in known]),
        np.sqrt(np.array([max(one.population, 1) for one, _ in known]) / (TOWN_PEOPLE_PER_KM2 * pi)),
        tuple((one.names[0], country) for one, country in known),
    )


def _add_city(pair: PoiPhoto, city: City) -> PoiPhoto:
    """Return the photo with its city added to its truth, unless it has one."""
    truth = pair.item.truth
    named = replace(truth, city=truth.city or city[0], country=truth.country or city[1] or None)
    return replace(pair, item=replace(pair.item, truth=named))


def _format_city(city: City) -> str:
    return ", ".join(part for part in city if part)
