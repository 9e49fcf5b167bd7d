"""Designing scenes: what is where, what it shows, and what is honest to say."""

from .scene_design import (
    HIDDEN_SHARE,
    LEVEL_SHARES,
    MISLEADING_SHARE,
    MIXED_KINDS,
    SIZE,
    SMALL_SHARE,
    Wants,
    build_address,
    build_tags,
    build_truth,
    compute_locatability,
    design_scene,
)

__all__ = [
    "HIDDEN_SHARE",
    "LEVEL_SHARES",
    "MISLEADING_SHARE",
    "MIXED_KINDS",
    "SIZE",
    "SMALL_SHARE",
    "Wants",
    "build_address",
    "build_tags",
    "build_truth",
    "compute_locatability",
    "design_scene",
]
