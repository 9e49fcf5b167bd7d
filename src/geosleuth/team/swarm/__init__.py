"""The swarm of smileGeo: members are elected, review each other and discuss until they agree."""

from .counting import run_tokens
from .locating import locate_with_team
from .making import Seat, Team, make_team
from .members import LiveMember, Surroundings
from .quoting import quoted, quoted_answer, quoted_comment
from .settings import SwarmSettings
from .spec import AgentSpec, TeamSpec, read_team
from .swarm import first_failure, run_swarm

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
