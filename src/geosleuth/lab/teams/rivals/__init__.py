"""Other ways to combine the same members, for comparison with the swarm.

Each follows its published call structure: who is asked, when, and what it sees. The prompts are ours. All count tokens
by the team's own rule, and none ends because a member fails.
"""

from .strategies import RIVALS, best_team, importance, rival

__all__ = [
    "RIVALS",
    "best_team",
    "importance",
    "rival",
]
