"""Rewards: pure functions of distances, levels and texts, as the papers define them, and weighted sums of them.

Helpers that are slow or uncertain (a geocoder, an encoder, a judge) are passed in; nothing here calls one on its own.
"""

from .conclusions import Judge, Reasoning, agreements, judge_consistency, without_conclusions
from .encoders import (
    Encoder,
    FolderEncoder,
    NamedEncoder,
    UniversalEncoder,
    cosines,
    similarities,
)
from .reward import PARTS, PRESETS, Columns, Geocoder, Helpers, Reward, Rewards, Weighted, read_reward
from .terms import (
    compute_stepped,
    consistency,
    hierarchical,
    length_factor,
    linear,
    semantic,
    spatial,
    text_equality,
)

__all__ = [
    "PARTS",
    "PRESETS",
    "Columns",
    "Encoder",
    "FolderEncoder",
    "Geocoder",
    "Helpers",
    "Judge",
    "NamedEncoder",
    "Reasoning",
    "Reward",
    "Rewards",
    "UniversalEncoder",
    "Weighted",
    "agreements",
    "compute_stepped",
    "consistency",
    "cosines",
    "hierarchical",
    "judge_consistency",
    "length_factor",
    "linear",
    "read_reward",
    "semantic",
    "similarities",
    "spatial",
    "text_equality",
    "without_conclusions",
]
