"""SmileGeo's swarm: elected members answer, review each other and discuss until they agree."""

from .locate import Team, locate_with_team, make_team
from .members import LiveMember, Surroundings, run_tokens
from .spec import SwarmSettings, TeamSpec, read_team
from .swarm import quote_answer, quote_text, run_swarm

__all__ = [
    "LiveMember",
    "Surroundings",
    "SwarmSettings",
    "Team",
    "TeamSpec",
    "locate_with_team",
    "make_team",
    "quote_answer",
    "quote_text",
    "read_team",
    "run_swarm",
    "run_tokens",
]
