"""The factory: trajectories to learn from, made on the machinery of benchmark runs."""

from .attempt import Drawn, Kind, Maker, SceneFolder, SceneRange, Scenes, Worked, drawn_of, pack_scene
from .factory_run import Work, kept_files, made_in, photo_of, replay_difference, replays, run_factory, tally_in
from .recipe import STAND_IN, FactoryMaking, Recipe, atlas_of

__all__ = [
    "STAND_IN",
    "Drawn",
    "FactoryMaking",
    "Kind",
    "Maker",
    "Recipe",
    "SceneFolder",
    "SceneRange",
    "Scenes",
    "Work",
    "Worked",
    "atlas_of",
    "drawn_of",
    "kept_files",
    "made_in",
    "pack_scene",
    "photo_of",
    "replay_difference",
    "replays",
    "run_factory",
    "tally_in",
]
