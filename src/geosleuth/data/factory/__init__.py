"""The factory: trajectories to learn from, made on the machinery of benchmark runs."""

from .model import Kind, Maker, Worked
from .packing import Drawn, drawn_of, pack_scene
from .recipe import STAND_IN, FactoryMaking, Recipe, atlas_of
from .replaying import replay_difference, replays
from .running import Work, run_factory
from .samples import kept_files, made_in, photo_of, tally_in
from .scenes import SceneFolder, SceneRange, Scenes

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
