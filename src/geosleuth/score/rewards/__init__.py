"""Rewards: pure functions of distances, levels and texts, as the papers define them, and sums of them by weight.

Whoever is slow or unsure (a geocoder, an encoder, a judge) is passed in; nothing here asks anybody by itself.
"""

from .calibration import LevelFit, ThresholdFit, fit_thresholds, name_pairs
from .columns import Columns, Geocoder, Helpers
from .conclusions import Unnamer
from .encoders import FolderEncoder, UniversalEncoder
from .encoding import Encoder, cosines
from .judging import Judge, Reasoning, agreements, judged, without_conclusions
from .of_distance import linear, spatial, stepped
from .of_levels import city_only, consistency, hierarchical, length_factor, semantic, text_equality
from .parts import PARTS
from .reward import PRESETS, Reward, Rewards, Weighted, read_reward
from .similarity import similarities

__all__ = [
    "PARTS",
    "PRESETS",
    "Columns",
    "Encoder",
    "FolderEncoder",
    "Geocoder",
    "Helpers",
    "Judge",
    "LevelFit",
    "Reasoning",
    "Reward",
    "Rewards",
    "ThresholdFit",
    "UniversalEncoder",
    "Unnamer",
    "Weighted",
    "agreements",
    "city_only",
    "consistency",
    "cosines",
    "fit_thresholds",
    "hierarchical",
    "judged",
    "length_factor",
    "linear",
    "name_pairs",
    "read_reward",
    "semantic",
    "similarities",
    "spatial",
    "stepped",
    "text_equality",
    "without_conclusions",
]
