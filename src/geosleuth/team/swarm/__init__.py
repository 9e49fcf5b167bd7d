"""The swarm of smileGeo: members are elected, review each other and discuss until they agree."""

from .locate import Seat, Team, locate_with_team, make_team
from .members import LiveMember, Surroundings, run_tokens
from .spec import AgentSpec, SwarmSettings, TeamSpec, read_team
from .swarm import first_failure, quoted, quoted_answer, quoted_comment, run_swarm

__all__ = [
    "AgentSpec",
    "LiveMember",
    "Seat",
    "Surroundings",
    "SwarmSettings",
    "Team",
    "TeamSpec",
    "first_failure",
    "locate_with_team",
    "make_team",
    "quoted",
    "quoted_answer",
    "quoted_comment",
    "read_team",
    "run_swarm",
    "run_tokens",
]
