"""Episodes to train in: one photo, the agent's own tools and rules, a reward at the end."""

from .controls import Control, pose_control
from .episode import (
    Episode,
    Posed,
    Poser,
    Reading,
    Setting,
    build_photo_row,
    build_setting,
    offline_setting,
    pose_photo,
    pose_scene,
    scene_poser,
    scene_rows,
)
from .for_trl import GeoEnvironment, build_environment_class, build_prompt_column, hear_replies

__all__ = [
    "Control",
    "Episode",
    "GeoEnvironment",
    "Posed",
    "Poser",
    "Reading",
    "Setting",
    "build_environment_class",
    "build_photo_row",
    "build_prompt_column",
    "build_setting",
    "hear_replies",
    "offline_setting",
    "pose_control",
    "pose_photo",
    "pose_scene",
    "scene_poser",
    "scene_rows",
]
