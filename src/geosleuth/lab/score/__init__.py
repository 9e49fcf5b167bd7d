"""Scoring: distances, levels, confidence, paired tests, rewards, and published figures to compare with.

``Truth`` is defined here, above everything that answers: only scorers and trainers can hold one.
"""

from .levels import AnswerNames, Truth, TruthNames, match_levels, named_levels
from .metrics import (
    LEVELS,
    NOT_GIVEN,
    NOT_NAMED,
    Accuracy,
    Calibration,
    Comparison,
    Estimate,
    Selective,
    Summary,
    calibration,
    compare_paired,
    easy,
    score_or_zero,
    selective,
    summarise,
    within,
)
from .published import Flag, PublishedRow, papers, published_rows

__all__ = [
    "LEVELS",
    "NOT_GIVEN",
    "NOT_NAMED",
    "Accuracy",
    "AnswerNames",
    "Calibration",
    "Comparison",
    "Estimate",
    "Flag",
    "PublishedRow",
    "Selective",
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
    "score_or_zero",
    "selective",
    "summarise",
    "within",
]
