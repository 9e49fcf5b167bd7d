"""Street scenes from real geography, drawn on the spot, and an environment to train in."""

from .builder import MadeScene, make_scenes, read_scenes
from .design import Wants, build_address, build_tags, build_truth, compute_locatability, design_scene
from .drawing import Drawing, draw_scene
from .scene import (
    Board,
    Business,
    Camera,
    Mark,
    Scene,
    SceneClue,
    SceneKind,
    SceneLook,
    Sky,
    Sort,
    Split,
    Spot,
    Visibility,
    scene_from_dict,
    scene_to_dict,
)
from .towns import WorldTown
from .world import World, open_world, world_atlas

__all__ = [
    "Board",
    "Business",
    "Camera",
    "Drawing",
    "MadeScene",
    "Mark",
    "Scene",
    "SceneClue",
    "SceneKind",
    "SceneLook",
    "Sky",
    "Sort",
    "Split",
    "Spot",
    "Visibility",
    "Wants",
    "World",
    "WorldTown",
    "build_address",
    "build_tags",
    "build_truth",
    "compute_locatability",
    "design_scene",
    "draw_scene",
    "make_scenes",
    "open_world",
    "read_scenes",
    "scene_from_dict",
    "scene_to_dict",
    "world_atlas",
]
