"""Findings of a visual prior: shares of countries and of cells, and how far it can be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from geosleuth.evidence.country_prior import country_prior, normalize
from geosleuth.geo import CellGrid, LatLon, great_circle_km

if TYPE_CHECKING:
    from PIL.Image import Image

# Grid of the cells that shares are given for: about 220 km across.
GRID = CellGrid(2.0, equal_area=True)

# Distance that counts as roughly correct: the scale at which `Distribution.best` looks for its point.
NEAR_KM = 750.0

_TRIED = 300  # cells around which `best` looks, the likeliest


@dataclass(frozen=True, slots=True)
class Reach:
    """Distance of a picture from what a prior was learned from.

    Attributes:
        familiarity: the share of the collection's own photos, each held against other places than its own, that look
            less like the collection than this picture does; None where the prior can't tell.
        trust: how much of the answer rests on the picture, 0 to 1; the rest is what holds for any photo.
        says: the same in a sentence for people.
    """

    familiarity: float | None
    trust: float
    says: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of `GRID`: its id, the middle of the learned places in it, its radius, the country most of them are in."""

    id: int
    point: LatLon
    radius_km: float
    country: str
    share: float


@dataclass(frozen=True, slots=True)
class Best:
    """A point, and the probability that the photo was taken within ``radius_km`` of it."""

    point: LatLon
    radius_km: float
    probability: float


@dataclass(frozen=True, slots=True)
class Distribution:
    """Places where a picture may have been taken, by its look.

    Attributes:
        seen: P(country | picture) by ISO code for a picture of the kind that the prior knows; likeliest first, adds up
            to 1. It holds for photos mixed as in the collection.
        base: the shares of the countries in the collection itself, before any picture is seen.
        cells: the same as ``seen`` by cell, likeliest first; adds up to 1.
        reach: how far to trust it.
        source: what the prior is called.
    """

    seen: Mapping[str, float] = field(hash=False)
    base: Mapping[str, float] = field(hash=False)
    cells: tuple[Cell, ...]
    reach: Reach
    source: str

    @property
    def countries(self) -> dict[str, float]:
        """P(country), likeliest first, adds up to 1: what was seen as far as it can be trusted, the rest flat.

        Flat is not even: it is how photos of unknown origin spread over the world.
        """
        trust, flat = self.reach.trust, country_prior()
        codes = flat.keys() | self.seen.keys()
        return normalize({code: trust * self.seen.get(code, 0.0) + (1 - trust) * flat.get(code, 0.0) for code in codes})

    def best(self, radius_km: float = NEAR_KM) -> Best | None:
        """The cell with most probability around it; None where the prior knows no cells."""
        if not self.cells:
            return None
        lats = np.array([cell.point.lat for cell in self.cells])
        lons = np.array([cell.point.lon for cell in self.cells])
        shares = np.array([cell.share for cell in self.cells])
        tried = slice(_TRIED)
        within = (great_circle_km(lats[tried, None], lons[tried, None], lats, lons) <= radius_km) @ shares
        chosen = int(np.argmax(within))
        return Best(self.cells[chosen].point, radius_km, float(self.reach.trust * within[chosen]))


class VisualPrior(Protocol):
    """Says where a picture may have been taken by its look alone. May be used from several threads at once."""

    @property
    def name(self) -> str:
        """Return the name that findings are credited to."""
        ...

    def look(self, image: "Image") -> Distribution:
        """Return where the picture may have been taken.

        Raises:
            BadInput: what it looks with is missing or was changed.
            MissingExtra: a package it needs is not installed.
        """
        ...
