"""Answers that are already known: each file is an agent, and what is learned is whom to trust when.

``panel`` puts what the agents said side by side, ``design`` turns it into figures, ``trust`` answers and says how sure
it is and why. ``learning`` learns a trust from images of known truth and measures it on others;
it holds truths, and what answers can't import it.
"""

from .panel import SAME_PLACE_KM, Panel, Said, fold_numbers, groups_of
from .trust import WITHIN_KM, trust_from_json, trust_to_json

__all__ = [
    "SAME_PLACE_KM",
    "WITHIN_KM",
    "Panel",
    "Said",
    "fold_numbers",
    "groups_of",
    "trust_from_json",
    "trust_to_json",
]
