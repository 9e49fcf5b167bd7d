"""The factory: makes trajectories for training with the engine of benchmark runs."""

from .factory_run import (
    Work,
    compute_tally,
    list_kept_files,
    read_made,
    read_photo,
    replay_difference,
    replays,
    run_factory,
)
from .maker import STAND_IN, Recipe, Services, open_atlas
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
    "compute_tally",
    "list_kept_files",
    "open_atlas",
    "read_made",
    "read_photo",
    "replay_difference",
    "replays",
    "run_factory",
]
