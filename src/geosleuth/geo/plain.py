"""Values as plain JSON."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from .extent import Box, Disc, Extent


def plain(value: Any) -> Any:
    """Return a value as plain JSON values: dataclasses become objects, extents their numbers, paths their text."""
    if isinstance(value, Box | Disc):
        return extent_dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def extent_dict(extent: Extent) -> dict[str, Any]:
    """A box or a disc."""
    if isinstance(extent, Disc):
        return {"lat": extent.centre.lat, "lon": extent.centre.lon, "radius_km": extent.radius_km}
    return {"south": extent.south, "west": extent.west, "north": extent.north, "east": extent.east}
