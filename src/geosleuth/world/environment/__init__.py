"""Episodes to train in: one photo, the agent's own tools and rules, a reward at the end."""

from .episode import (
    AnswerBy,
    Episode,
    Posed,
    Poser,
    Reading,
    Setting,
    StepResult,
    geocoder_of,
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
    "AnswerBy",
    "Episode",
    "GeoEnvironment",
    "Posed",
    "Poser",
    "Reading",
    "Setting",
    "StepResult",
    "environment_for",
    "geocoder_of",
    "hear_replies",
    "offline_setting",
    "pose_photo",
    "pose_scene",
    "prompt_for",
    "row_of",
    "scene_poser",
    "scene_rows",
    "setting_of",
]
