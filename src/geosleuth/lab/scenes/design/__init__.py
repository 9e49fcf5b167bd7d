"""Designing scenes: what is where, what it shows, and what is honest to say."""

from .scene_design import (
    HIDDEN_SHARE,
    LEVEL_SHARES,
    MISLEADING_SHARE,
    MIXED_KINDS,
    SIZE,
    SMALL_SHARE,
    Wants,
    address_of,
    design_scene,
    locatability_of,
    tags_of,
    truth_of,
)

__all__ = [
    "HIDDEN_SHARE",
    "LEVEL_SHARES",
    "MISLEADING_SHARE",
    "MIXED_KINDS",
    "SIZE",
    "SMALL_SHARE",
    "Wants",
    "address_of",
    "design_scene",
    "locatability_of",
    "tags_of",
    "truth_of",
]
