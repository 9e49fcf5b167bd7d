"""The factory: makes trajectories for training with the engine of benchmark runs."""

from .factory_run import Work, kept_files, made_in, photo_of, replay_difference, replays, run_factory, tally_in
from .maker import STAND_IN, Recipe, Services, atlas_of
from .trial import Kind, PhotoSet, SceneFolder, SceneRange, Scenes

__all__ = [
    "STAND_IN",
    "Kind",
    "PhotoSet",
    "Recipe",
    "SceneFolder",
    "SceneRange",
    "Scenes",
    "Services",
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
