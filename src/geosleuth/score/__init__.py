"""How good is an answer: distances, levels, confidence, paired tests, rewards, and the published rows to stand beside.

``Truth`` lives here, above everything that answers: only scorers and trainers can hold one.
"""

from .confidence import Calibration, CalibrationBin, Selective, SelectivePoint, calibration, selective
from .levels import AnswerNames, LevelResult, TruthNames, match_levels, named_levels
from .metrics import LEVELS, NOT_GIVEN, NOT_NAMED, Accuracy, Summary, summarise, within
from .paired import Comparison, PairedAccuracy, compare_paired, easy, score_or_zero
from .published import Flag, Paper, PublishedRow, PublishedTable, papers, published_rows
from .rewards import PRESETS, Helpers, Judge, Reasoning, Reward, Rewards, read_reward
from .statistics import Estimate
from .truth import Truth

__all__ = [
    "LEVELS",
    "NOT_GIVEN",
    "NOT_NAMED",
    "PRESETS",
    "Accuracy",
    "AnswerNames",
    "Calibration",
    "CalibrationBin",
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
