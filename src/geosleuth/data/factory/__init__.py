"""The factory: makes trajectories for training with the engine of benchmark runs."""

from .factory_run import Work, kept_files, made_in, photo_of, replay_difference, replays, run_factory, tally_in
from .maker import STAND_IN, Recipe, atlas_of
from .trial import Kind, SceneFolder, SceneRange, Scenes

__all__ = [
    "STAND_IN",
    "Kind",
    "Recipe",
    "SceneFolder",
    "SceneRange",
    "Scenes",
    "Work",
    "atlas_of",
    "kept_files",
    "made_in",
    "photo_of",
    "replay_difference",
    "replays",
    "run_factory",
    "tally_in",
]
