"""A photo of a set as a row of a table that can be opened as a set again."""

from typing import Any

from .model import Item

OWN = ("id", "image", "lat", "lon", "country", "region", "city", "boxes")
"""The columns that say what a photo is and where; all others are fields to slice by."""


def own_columns(item: Item, image: str) -> dict[str, Any]:
    """What a photo is and where, by column; what is not known is left out. ``image`` is what its file is called."""
    truth = item.truth
    values = (
        item.id,
        image,
        truth.point.lat,
        truth.point.lon,
        truth.country,
        truth.region,
        truth.city,
        [{"kind": box.kind, "box": [box.left, box.top, box.right, box.bottom]} for box in item.boxes] or None,
    )
    return {name: value for name, value in zip(OWN, values, strict=True) if value is not None}
