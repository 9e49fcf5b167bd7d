"""Recorded answers: each file is an agent, and what is learned is whom to trust when.

``panel`` puts the agents' answers side by side, ``features`` turns them into features, ``trust`` answers with a
probability and a reason. ``learn_trust`` learns trust from images with known truth and evaluates it on
others; it holds truths, and code that answers can't import it.
"""

from .panel import SAME_PLACE_KM, Panel, PanelReply, fold_numbers, number_groups
from .trust import WITHIN_KM, trust_from_json, trust_to_json

__all__ = [
    "SAME_PLACE_KM",
    "WITHIN_KM",
    "Panel",
    "PanelReply",
    "fold_numbers",
    "number_groups",
    "trust_from_json",
    "trust_to_json",
]
