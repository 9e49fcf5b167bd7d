"""Other ways to put the same members together, to compare the swarm with.

Each follows its published call structure: who is asked, when, and what it sees. The words are ours. All count tokens
by the team's one tariff, and none ends because a member fails.
"""

from .questions import Vote, same_place, vote
from .strategies import RIVALS, Rival, Way, best_team, importance, rival

__all__ = ["RIVALS", "Rival", "Vote", "Way", "best_team", "importance", "rival", "same_place", "vote"]
