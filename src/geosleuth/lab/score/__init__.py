"""Scoring: distances, levels, confidence, paired tests, rewards, and published figures to compare with.

``Truth`` is defined here, above everything that answers: only scorers and trainers can hold one.
"""

from .levels import AnswerNames, LevelResult, Truth, TruthNames, match_levels, named_levels
from .metrics import (
    LEVELS,
    NOT_GIVEN,
    NOT_NAMED,
    Accuracy,
    Calibration,
    Comparison,
    Estimate,
    PairedAccuracy,
    Selective,
    SelectivePoint,
    Summary,
    calibration,
    compare_paired,
    easy,
    score_or_zero,
    selective,
    summarise,
    within,
)
from .published import Flag, Paper, PublishedRow, PublishedTable, papers, published_rows
from .rewards import PRESETS, Helpers, Judge, Reasoning, Reward, Rewards, read_reward

__all__ = [
    "LEVELS",
    "NOT_GIVEN",
    "NOT_NAMED",
    "PRESETS",
    "Accuracy",
    "AnswerNames",
    "Calibration",
    "Comparison",
    "Estimate",
    "Flag",
    "Helpers",
    "Judge",
    "LevelResult",
    "PairedAccuracy",
    "Paper",
    "PublishedRow",
    "PublishedTable",
    "Reasoning",
    "Reward",
    "Rewards",
    "Selective",
    "SelectivePoint",
    "Summary",
    "Truth",
    "TruthNames",
    "calibration",
    "compare_paired",
    "easy",
    "match_levels",
    "named_levels",
    "papers",
    "published_rows",
    "read_reward",
    "score_or_zero",
    "selective",
    "summarise",
    "within",
]
