"""Street scenes from real geography, drawn on the spot, and an environment to train in."""

from .model import (
    Board,
    Business,
    Camera,
    Clue,
    ClueLevel,
    Look,
    Mark,
    Scene,
    SceneKind,
    Sky,
    Sort,
    Split,
    Spot,
    Visibility,
)

__all__ = [
    "Board",
    "Business",
    "Camera",
    "Clue",
    "ClueLevel",
    "Look",
    "Mark",
    "Scene",
    "SceneKind",
    "Sky",
    "Sort",
    "Split",
    "Spot",
    "Visibility",
]
