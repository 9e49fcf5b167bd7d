"""The field guide: what a street shows, and what that says about the country."""

from typing import TYPE_CHECKING

from geosleuth.support.lazy import export_names

if TYPE_CHECKING:
    from .differences import AttributeDifference, look_alike, most_telling, tell_apart
    from .sightings import (
        MAX_SIGHTINGS,
        Sighting,
        WeighedSightings,
        format_sighting,
        read_sightings,
        sighting_clue,
        weigh_sightings,
    )
    from .tables import Attribute, AttributeValue, FieldGuide, Grade, checklist, field_guide, place_code

__getattr__ = export_names(
    __name__,
    {
        "differences": (
            "AttributeDifference",
            "look_alike",
            "most_telling",
            "tell_apart",
        ),
        "sightings": (
            "MAX_SIGHTINGS",
            "Sighting",
            "WeighedSightings",
            "read_sightings",
            "format_sighting",
            "sighting_clue",
            "weigh_sightings",
        ),
        "tables": (
            "Attribute",
            "FieldGuide",
            "Grade",
            "AttributeValue",
            "checklist",
            "field_guide",
            "place_code",
        ),
    },
)

__all__ = [
    "MAX_SIGHTINGS",
    "Attribute",
    "AttributeDifference",
    "AttributeValue",
    "FieldGuide",
    "Grade",
    "Sighting",
    "WeighedSightings",
    "checklist",
    "field_guide",
    "format_sighting",
    "look_alike",
    "most_telling",
    "place_code",
    "read_sightings",
    "sighting_clue",
    "tell_apart",
    "weigh_sightings",
]
