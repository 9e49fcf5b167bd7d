"""Parts of a set that share no place: what is learned of a street must not be tested on that street.

Whole places (by name, or cells of about equal area) go to one part. Each country is shared out by itself, as far as its
places allow; what rounding leaves over is carried to the next country, so that the whole set keeps the shares.
"""

import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput
from geosleuth.geo import EARTH_RADIUS_KM, distances_km

LEFT_OUT = ""
"""The part of photos in the strip between parts."""

_MOST_GAP_KM = 1000.0


def read_shares(text: str) -> dict[str, float]:
    """Parts and their shares from words such as "train=0.8,val=0.1,test=0.1"; any positive numbers, by proportion.

    Raises:
        BadInput: they are not.
    """
    shares: dict[str, float] = {}
    for word in text.split(","):
        name, _, value = (part.strip() for part in word.partition("="))
        try:
            share = float(value)
        except ValueError:
            share = 0.0
        if not (name.isidentifier() and name not in shares and isfinite(share) and share > 0):
            raise BadInput(f"--parts takes names and shares such as train=0.8,val=0.1,test=0.1; not {text[:60]!r}")
        shares[name] = share
    if len(shares) < 2:
        raise BadInput("--parts needs two parts or more, such as train=0.9,test=0.1")
    return {name: share / sum(shares.values()) for name, share in shares.items()}


@dataclass(frozen=True, slots=True)
class Placed:
    """A photo, for splitting: its country (any text), and what its place is told by."""

    country: str
    place: Hashable


def split(photos: Sequence[Placed], shares: Mapping[str, float], *, seed: int) -> list[str]:
    """The part of each photo. It hangs on the places and the seed, not on the order of the photos.

    Places are dealt out in random order, each to the part that lacks most photos, so that no part gets more than its
    share and the largest place.
    """
    sizes: dict[str, dict[Hashable, int]] = {}
    countries: dict[Hashable, str] = {}
    for one in sorted(photos, key=lambda one: one.country):
        # A place on a border, or one whose photos name two countries, is still one place.
        country = countries.setdefault(one.place, one.country)
        of_country = sizes.setdefault(country, {})
        of_country[one.place] = of_country.get(one.place, 0) + 1
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
    return [part_of[one.place] for one in photos]


def leave_strips(
    parts: Sequence[str], lats: Sequence[float], lons: Sequence[float], order: Iterable[str], *, gap_km: float
) -> list[str]:
    """The parts again, with photos left out so that any two of different parts lie at least so far from each other.

    Of two that are too near, the one whose part comes first in ``order`` goes: usually what is trained on.

    Raises:
        BadInput: a distance that is no such gap.
    """
    if not (isfinite(gap_km) and 0 < gap_km <= _MOST_GAP_KM):
        raise BadInput(f"--strip takes a distance in km, above 0 and up to {_MOST_GAP_KM:g}, not {gap_km:g}")
    lat, lon = np.asarray(lats, dtype=np.float64), np.asarray(lons, dtype=np.float64)
    rank = {part: number for number, part in enumerate(order)}
    ranks = np.array([rank[part] for part in parts], dtype=np.int64)
    out = np.zeros(len(parts), dtype=bool)
    boxes = _boxes(lat, lon, gap_km)
    for key, rows in boxes.items():
        near = np.concatenate([boxes[other] for other in _around(key) if other in boxes])
        if (ranks[near] == ranks[rows[0]]).all() and (ranks[rows] == ranks[rows[0]]).all():
            continue
        for row in rows:
            finer = near[ranks[near] > ranks[row]]
            if len(finer) and (distances_km(lat[row], lon[row], lat[finer], lon[finer]) < gap_km).any():
                out[row] = True
    return [LEFT_OUT if gone else part for gone, part in zip(out, parts, strict=True)]


Key = tuple[int, int, int]


def _boxes(
    lat: npt.NDArray[np.float64], lon: npt.NDArray[np.float64], gap_km: float
) -> dict[Key, npt.NDArray[np.int64]]:
    """Rows by boxes in space a gap wide: whatever is nearer than the gap lies in the same box or next to it."""
    phi, theta = np.radians(lat), np.radians(lon)
    across = np.stack([np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)], axis=1)
    # A little wider, since the ellipsoid's distances are up to 0.6 % off the sphere's.
    keys = np.floor(across * EARTH_RADIUS_KM / (gap_km * 1.01)).astype(np.int64)
    rows: dict[Key, list[int]] = {}
    for number, (x, y, z) in enumerate(keys.tolist()):
        rows.setdefault((x, y, z), []).append(number)
    return {key: np.array(found) for key, found in rows.items()}


def _around(key: Key) -> Iterable[Key]:
    steps = (-1, 0, 1)
    return ((key[0] + x, key[1] + y, key[2] + z) for x in steps for y in steps for z in steps)
