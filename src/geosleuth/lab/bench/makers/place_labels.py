"""Columns added to a set: labels by reverse geocoding, tiers of difficulty, and splits that share no place.

Whole places (by name, or cells of about equal area) go to one part. Each country is split by itself, as far as its
places allow; rounding errors are carried to the next country, so that the whole set keeps the shares.
"""

import random
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, sin
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from geosleuth.atlas import Atlas
from geosleuth.atlas.base.geocode import MAX_REACH_FACTOR
from geosleuth.geo import EARTH_RADIUS_KM, Disc, FloatArray, distances_km
from geosleuth.lab.bench.report import Tiers
from geosleuth.lab.bench.sets.dataset import Item
from geosleuth.support.errors import BadInput

if TYPE_CHECKING:
    from geosleuth.atlas.protocol import Hit, Reverse

LEVELS = ("country", "region", "city")
# Fields of a label besides the names: source, levels filled, and nearest settlement with its distance.
FIELDS = ("label_source", "labelled", "nearest_settlement", "nearest_km")

TIER = "tier"
# Value of photos in the strip between two parts.
EXCLUDED_PART = ""
_MAX_GAP_KM = 1000.0
_COMPARED_AT_ONCE = 4096
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A photo with its names, and the fields that say where they come from."""

    item: Item
    fields: Mapping[str, str]


async def label(item: Item, atlas: Atlas, *, over: bool = False, within_km: float | None = None) -> Labelled:
    """Name the country, region and city of a photo's true point.

    A city is named if the point lies within two radii of the atlas's settlement; the radius is estimated from the
    population. Otherwise the city stays empty, and ``nearest_settlement`` says what is near.

    Args:
        item: the photo. Existing names stay.
        atlas: the atlas to query.
        over: replace existing names.
        within_km: name a settlement as the city up to this distance, regardless of its size.

    Raises:
        ServiceFault: an online atlas failed.
    """
    found = await atlas.reverse(item.truth.point)
    labels = dict(zip(LEVELS, _levels(found, within_km), strict=True))
    known = {level: getattr(item.truth, level) for level in LEVELS}
    filled = [level for level in LEVELS if labels[level] and (over or not known[level])]
    country, region, city = (labels[level] if level in filled else known[level] for level in LEVELS)
    truth = replace(item.truth, country=country, region=region, city=city)
    nearest = _settlement(found.places)
    fields = {
        "label_source": found.source if filled else "",
        "labelled": " ".join(filled),
        "nearest_settlement": nearest.place.name if nearest else "",
        "nearest_km": "" if nearest is None else f"{nearest.distance_km or 0.0:.1f}",
    }
    return Labelled(replace(item, truth=truth), fields)


def _levels(found: "Reverse", within_km: float | None) -> tuple[str | None, str | None, str | None]:
    nearest = _settlement(found.places)
    return found.country_name, found.region, nearest.place.name if nearest and _reaches(nearest, within_km) else None


def _settlement(places: "Iterable[Hit]") -> "Hit | None":
    """Return the first settlement; other nearest hits come from installed regions."""
    return next((hit for hit in places if hit.place.kind == "city"), None)


def _reaches(hit: "Hit", within_km: float | None) -> bool:
    away, extent = hit.distance_km or 0.0, hit.place.extent
    if within_km is not None:
        return away <= within_km
    return isinstance(extent, Disc) and away <= MAX_REACH_FACTOR * extent.radius_km


@dataclass(slots=True)
class Tiered:
    """Number of photos per tier, counted as labels arrive; ``unknown`` photos were not answered by all files."""

    easy: int = 0
    hard: int = 0
    unknown: int = 0


def with_tiers(items: Iterable[Item], tiers: Tiers, counted: Tiered) -> Iterator[tuple[Item, dict[str, str]]]:
    """Yield each photo with its tier: "easy", "hard", or empty if not all files answered. Photos are matched by id."""
    known = dict(zip(tiers.ids, tiers.easy.tolist(), strict=True))
    for item in items:
        is_easy = known.get(item.id)
        counted.easy += is_easy is True
        counted.hard += is_easy is False
        counted.unknown += is_easy is None
        yield item, {TIER: "" if is_easy is None else "easy" if is_easy else "hard"}


def read_shares(text: str) -> dict[str, float]:
    """Parse parts and shares such as "train=0.8,val=0.1,test=0.1"; any positive numbers, by proportion.

    Raises:
        BadInput: they are invalid, or are fractions that sum to more than 1.
    """
    shares: dict[str, float] = {}
    for word in text.split(","):
        name, _, value = (part.strip() for part in word.partition("="))
        try:
            share = float(value)
        except ValueError:
            share = 0.0
        if not (name.isidentifier() and name not in shares and isfinite(share) and share > 0):
            raise BadInput(f"--parts needs names and shares such as train=0.8,val=0.1,test=0.1; not {text[:60]!r}")
        shares[name] = share
    if len(shares) < 2:
        raise BadInput("--parts needs two parts or more, such as train=0.9,test=0.1")
    whole = sum(shares.values())
    if whole > 1 + 1e-9 and all(share < 1 for share in shares.values()):
        raise BadInput(f"--parts: the shares sum to {whole:g}, more than 1; write for example train=0.9,test=0.1")
    return {name: share / whole for name, share in shares.items()}


@dataclass(frozen=True, slots=True)
class LabelledPlace:
    """A photo to split: its country (any text), and the key of its place."""

    country: str
    place: Hashable


def split(photos: Sequence[LabelledPlace], shares: Mapping[str, float], *, seed: int) -> list[str]:
    """Return the part of each photo. It depends on the places and the seed, not on the order of the photos.

    Places are assigned in random order, each to the part that lacks most photos, so that no part exceeds its share by
    more than the largest place.
    """
    sizes: dict[str, dict[Hashable, int]] = {}
    countries: dict[Hashable, str] = {}
    for photo in sorted(photos, key=lambda photo: photo.country):
        # A place on a border, or one whose photos name two countries, is still one place.
        country = countries.setdefault(photo.place, photo.country)
        of_country = sizes.setdefault(country, {})
        of_country[photo.place] = of_country.get(photo.place, 0) + 1
    lacking = dict.fromkeys(shares, 0.0)
    part_of: dict[Hashable, str] = {}
    for country in sorted(sizes):
        places = sizes[country]
        for part, share in shares.items():
            lacking[part] += share * sum(places.values())
        order = sorted(places, key=repr)
        random.Random(f"split {seed} {country}").shuffle(order)  # noqa: S311  (no secret hangs on it)
        for place in order:
            part = max(lacking, key=lambda part: lacking[part])
            part_of[place] = part
            lacking[part] -= places[place]
    return [part_of[photo.place] for photo in photos]


def leave_strips(
    parts: Sequence[str], lats: Sequence[float], lons: Sequence[float], order: Iterable[str], *, gap_km: float
) -> list[str]:
    """Return the parts with photos removed so that any two of different parts lie at least so far from each other.

    Of two that are too near, the one whose part comes first in ``order`` is removed: usually the training part.

    Raises:
        BadInput: the distance is out of range.
    """
    if not (isfinite(gap_km) and 0 < gap_km <= _MAX_GAP_KM):
        raise BadInput(f"--strip takes a distance in km, above 0 and up to {_MAX_GAP_KM:g}, not {gap_km:g}")
    lat, lon = np.asarray(lats, dtype=np.float64), np.asarray(lons, dtype=np.float64)
    rank = {part: number for number, part in enumerate(order)}
    ranks = np.array([rank[part] for part in parts], dtype=np.int64)
    out = np.zeros(len(parts), dtype=bool)
    space = _in_space(lat, lon)
    for own in range(ranks.max(initial=0)):
        _mark_near(out, space, lat, lon, np.flatnonzero(ranks == own), np.flatnonzero(ranks > own), gap_km)
    return [EXCLUDED_PART if gone else part for gone, part in zip(out, parts, strict=True)]


def _in_space(lat: FloatArray, lon: FloatArray) -> FloatArray:
    phi, theta = np.radians(lat), np.radians(lon)
    return EARTH_RADIUS_KM * np.stack([np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)], axis=1)


def _mark_near(
    out: npt.NDArray[np.bool_],
    space: FloatArray,
    lat: FloatArray,
    lon: FloatArray,
    rows: Rows,
    others: Rows,
    gap_km: float,
) -> None:
    """Mark the rows that lie closer than the gap to any of the others.

    Both are halved until their bounding boxes lie apart, or wholly within the gap, or are small: crowds are never
    compared one by one, unless they are exactly a gap apart.
    """
    # As chords through the globe, with a margin for rounding on either side.
    straight_km = 2 * EARTH_RADIUS_KM * sin(gap_km / (2 * EARTH_RADIUS_KM))
    apart_km, within_km = straight_km * (1 + 1e-6) + 1e-9, straight_km * (1 - 1e-6) - 1e-9
    todo = [(rows, others)]
    while todo:
        rows, others = todo.pop()
        rows = rows[~out[rows]]
        if not (len(rows) and len(others)):
            continue
        low, high = space[rows].min(axis=0), space[rows].max(axis=0)
        other_low, other_high = space[others].min(axis=0), space[others].max(axis=0)
        between = np.maximum(0.0, np.maximum(other_low - high, low - other_high))
        across = np.maximum(other_high - low, high - other_low)
        if np.linalg.norm(between) > apart_km:
            continue
        if np.linalg.norm(across) < within_km:
            out[rows] = True
        elif len(rows) * len(others) <= _COMPARED_AT_ONCE:
            km = distances_km(lat[rows, None], lon[rows, None], lat[others], lon[others])
            out[rows] = (km < gap_km).any(axis=1)
        elif len(others) == 1 or (len(rows) > 1 and (high - low).max() >= (other_high - other_low).max()):
            todo += [(half, others) for half in _halves(space, rows, int(np.argmax(high - low)))]
        else:
            todo += [(rows, half) for half in _halves(space, others, int(np.argmax(other_high - other_low)))]


def _halves(space: FloatArray, rows: Rows, axis: int) -> tuple[Rows, Rows]:
    middle = len(rows) // 2
    order = np.argpartition(space[rows, axis], middle)
    return rows[order[:middle]], rows[order[middle:]]
