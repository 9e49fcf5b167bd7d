"""Learning whom to trust: from photos with a known place to labels, from labels to a network.

The only part of a team that holds truths. ``rounds`` finds out, for one picture, who is right and whose reviews
supported right answers; ``training`` teaches the network to predict that; ``learning_db`` stores both.
"""

from .learning import LearningBudget, LearnSummary, learn, without_claims
from .learning_db import Lesson, Notebook, Overview, find_best, overview
from .rounds import (
    PAPER_ROUNDS,
    PAPER_TRAINING,
    QUICK_TRAINING,
    Heard,
    LearnSettings,
    Observation,
    RememberingMember,
    TrainSettings,
    learn_picture,
    swarm_stages,
)
from .training import Examples, train

__all__ = [
    "PAPER_ROUNDS",
    "PAPER_TRAINING",
    "QUICK_TRAINING",
    "Examples",
    "Heard",
    "LearnSettings",
    "LearnSummary",
    "LearningBudget",
    "Lesson",
    "Notebook",
    "Observation",
    "Overview",
    "RememberingMember",
    "TrainSettings",
    "find_best",
    "learn",
    "learn_picture",
    "overview",
    "swarm_stages",
    "train",
    "without_claims",
]
