"""Street scenes from real geography, drawn on the spot, and an environment to train in."""

from .builder import Made, MadeScene, kind_of, make_scenes, read_scenes
from .design import Wants, address_of, design_scene, locatability_of, tags_of, truth_of
from .drawing import Drawing, draw_scene
from .layer import ensure_layer, world_atlas
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
    mark_from_dict,
    mark_to_dict,
    scene_from_dict,
    scene_to_dict,
)
from .towns import WorldTown
from .world import Noise, World, open_world

__all__ = [
    "Board",
    "Business",
    "Camera",
    "Clue",
    "ClueLevel",
    "Drawing",
    "Look",
    "Made",
    "MadeScene",
    "Mark",
    "Noise",
    "Scene",
    "SceneKind",
    "Sky",
    "Sort",
    "Split",
    "Spot",
    "Visibility",
    "Wants",
    "World",
    "WorldTown",
    "address_of",
    "design_scene",
    "draw_scene",
    "ensure_layer",
    "kind_of",
    "locatability_of",
    "make_scenes",
    "mark_from_dict",
    "mark_to_dict",
    "open_world",
    "read_scenes",
    "scene_from_dict",
    "scene_to_dict",
    "tags_of",
    "truth_of",
    "world_atlas",
]
