"""Other ways to put the same members together, to compare the swarm with.

Each follows its published call structure: who is asked, when, and what it sees. The words are ours. All count tokens
by the team's one tariff, and none ends because a member fails.
"""

from .strategies import RIVALS, best_team, importance, rival

__all__ = [
    "RIVALS",
    "best_team",
    "importance",
    "rival",
]
