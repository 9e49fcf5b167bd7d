"""Episodes to train in: one photo, the agent's own tools and rules, a reward at the end."""

from .controls import Control, pose_control
from .episode import (
    Episode,
    Posed,
    Poser,
    Reading,
    Setting,
    offline_setting,
    pose_photo,
    pose_scene,
    row_of,
    scene_poser,
    scene_rows,
    setting_of,
)
from .for_trl import GeoEnvironment, environment_for, hear_replies, prompt_for

__all__ = [
    "Control",
    "Episode",
    "GeoEnvironment",
    "Posed",
    "Poser",
    "Reading",
    "Setting",
    "environment_for",
    "hear_replies",
    "offline_setting",
    "pose_control",
    "pose_photo",
    "pose_scene",
    "prompt_for",
    "row_of",
    "scene_poser",
    "scene_rows",
    "setting_of",
]
