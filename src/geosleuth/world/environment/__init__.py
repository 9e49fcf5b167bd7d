"""Episodes to train in: one photo, the agent's own tools and rules, a reward at the end."""

from .episode import Episode, Told
from .for_trl import GeoEnvironment, environment_for, hear_replies, prompt_for
from .posing import Posed, Poser, pose_photo, row_of
from .scenes import Reading, pose_scene, scene_poser, scene_rows
from .setting import AnswerBy, Setting, geocoder_of, offline_setting, setting_of

__all__ = [
    "AnswerBy",
    "Episode",
    "GeoEnvironment",
    "Posed",
    "Poser",
    "Reading",
    "Setting",
    "Told",
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
