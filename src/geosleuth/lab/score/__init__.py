"""Scoring: distances, levels, confidence, paired tests, rewards, and published figures to compare with.

``Truth`` is defined here, above everything that answers: only scorers and trainers can hold one.
"""

from .levels import AnswerNames, Truth, TruthNames, find_named_levels, match_levels
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
from .published import Flag, PublishedRow, list_published_rows, papers

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
    "find_named_levels",
    "list_published_rows",
    "match_levels",
    "papers",
    "score_or_zero",
    "selective",
    "summarise",
    "within",
]
