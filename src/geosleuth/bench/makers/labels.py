"""Three-level labels by reverse geocoding: country, region, city, each with where it comes from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from geosleuth.atlas import Atlas
from geosleuth.atlas.base.geocode import REACHES
from geosleuth.bench.sets.model import Item
from geosleuth.geo import Disc

if TYPE_CHECKING:
    from geosleuth.atlas.model import Hit, Reverse

LEVELS = ("country", "region", "city")
FIELDS = ("label_source", "labelled", "nearest_settlement", "nearest_km")
"""What a label adds beside the names: who says so, which levels it filled, and the settlement next to the point."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A photo with its names, and the fields that say where they come from."""

    item: Item
    fields: Mapping[str, str]


async def label(item: Item, atlas: Atlas, *, over: bool = False, within_km: float | None = None) -> Labelled:
    """Name the country, region and city of a photo's true point.

    A city is named where the atlas's settlement reaches the point: its point lies within two of its radii, which are
    reckoned from its people. Elsewhere the city stays empty, and ``nearest_settlement`` says what is near.

    Args:
        item: the photo. Names that it has already stay.
        atlas: who is asked.
        over: replace names that it has already.
        within_km: name a settlement as the city up to this distance, whatever its size.

    Raises:
        ServiceFault: an online atlas failed.
    """
    found = await atlas.reverse(item.truth.point)
    told = dict(zip(LEVELS, _levels(found, within_km), strict=True))
    known = {level: getattr(item.truth, level) for level in LEVELS}
    filled = [level for level in LEVELS if told[level] and (over or not known[level])]
    country, region, city = (told[level] if level in filled else known[level] for level in LEVELS)
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
    """The first settlement; what else stands nearest comes from added regions."""
    return next((hit for hit in places if hit.place.kind == "city"), None)


def _reaches(hit: "Hit", within_km: float | None) -> bool:
    away, extent = hit.distance_km or 0.0, hit.place.extent
    if within_km is not None:
        return away <= within_km
    return isinstance(extent, Disc) and away <= REACHES * extent.radius_km
