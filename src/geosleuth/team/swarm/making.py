"""From a team's description to the team itself: models that can be asked, methods, tools, and whom to trust."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from geosleuth.agent import Budget, Method
from geosleuth.agent.methods import method as method_of
from geosleuth.policies import EndpointSettings, Policy, Sampling, Wire, consent_line, make_policy
from geosleuth.team import Society, StrangersSociety
from geosleuth.tools import Toolset
from geosleuth.tools.catalogue import all_tools

from .members import LiveMember, Surroundings
from .settings import SwarmSettings
from .spec import AgentSpec, TeamSpec

_OF_A_REPLYS_TIME = 0.95


@dataclass(frozen=True, slots=True)
class Seat:
    """An agent of a team that is ready to work, wherever its photos come from."""

    spec: AgentSpec
    policy: Policy
    method: Method
    toolset: Toolset
    budget: Budget
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class Team:
    """A team that can begin. Agents with the same model at the same address share one policy.

    ``learned`` says whether the society knows something that the team learned, or all stand alike.
    """

    name: str
    seats: tuple[Seat, ...]
    settings: SwarmSettings
    society: Society
    learned: bool = False

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Every policy once, in the agents' order."""
        return tuple({id(seat.policy): seat.policy for seat in self.seats}.values())

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that photos are sent to."""
        return frozenset(host for policy in self.policies for host in policy.hosts)

    @property
    def tools(self) -> frozenset[str]:
        """The names of all tools that some agent may use."""
        return frozenset(name for seat in self.seats for name in seat.toolset.names)

    def consent_lines(self) -> tuple[str, ...]:
        """Who gets to see the photos, a line for each model."""
        return tuple(dict.fromkeys(consent_line(policy) for policy in self.policies))

    def members(
        self, around: Surroundings, *, sampling: Sampling | None = None, wire: Wire | None = None
    ) -> tuple[LiveMember, ...]:
        """The agents in their surroundings.

        Args:
            around: what their tools may touch.
            sampling: for whatever agents leave open.
            wire: in place of the methods' own.
        """
        return tuple(
            LiveMember(
                name=seat.spec.name,
                policy=seat.policy,
                method=seat.method,
                toolset=seat.toolset,
                around=around,
                persona=seat.spec.persona,
                prompt=seat.spec.prompt,
                budget=self._in_time(seat.budget),
                sampling=_merged(seat, sampling),
                wire=wire,
            )
            for seat in self.seats
        )

    def _in_time(self, budget: Budget) -> Budget:
        """Within the time of one reply, so that an agent ends with what it has instead of being called off."""
        limit = self.settings.seconds_per_reply
        if limit is None:
            return budget
        most = _OF_A_REPLYS_TIME * limit
        return replace(budget, seconds=most if budget.seconds is None else min(most, budget.seconds))

    async def load(self) -> None:
        """Let models on this machine load now: what is wrong with them shows only then."""
        for policy in self.policies:
            if load := getattr(policy, "load", None):
                await load()

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        for policy in self.policies:
            await policy.aclose()


def make_team(
    spec: TeamSpec,
    *,
    offline: bool = False,
    society: Society | None = None,
    endpoints: EndpointSettings | None = None,
) -> Team:
    """A team that can begin; nothing is sent before its first reply.

    Args:
        spec: the team's description.
        offline: refuse whatever is not on this machine's own disk.
        society: whom to trust, in place of what the description names. A file that is not there yet means that the
            team has learned nothing; so does one beside a description that names none, if it is of other agents.
        endpoints: how the models' servers are asked.

    Raises:
        UserError: a model, a key, an extra or the learned state must be mended first.
    """
    made: dict[tuple[str, str | None], Policy] = {}
    for agent in spec.agents:
        key = (agent.model, agent.base_url)
        if key not in made:
            made[key] = make_policy(agent.model, base_url=agent.base_url, settings=endpoints, offline=offline)
    seats = tuple(_seat(agent, made[agent.model, agent.base_url]) for agent in spec.agents)
    society = society or _society(spec) or StrangersSociety(len(seats))
    learned = not isinstance(society, StrangersSociety) and getattr(society, "version", 1) > 0
    return Team(spec.name, seats, spec.settings, society, learned)


def _society(spec: TeamSpec) -> Society | None:
    from geosleuth.team.network import TrainedSociety, is_state_of

    if spec.society is not None and spec.society.exists():
        return TrainedSociety.open(spec.society, spec.names)
    if spec.beside is not None and is_state_of(spec.beside, spec.names):
        return TrainedSociety.open(spec.beside, spec.names)
    return None


def _merged(seat: Seat, others: Sampling | None) -> Sampling:
    """The agent's own words first, then those for everybody, then its method's."""
    told = {name: value for name, value in asdict(others or Sampling()).items() if value is not None}
    return replace(seat.sampling, **{**told, **seat.spec.sampling})


def _seat(agent: AgentSpec, policy: Policy) -> Seat:
    method = method_of(agent.method)
    limits: dict[str, Any] = {**agent.limits}
    drawn: dict[str, Any] = {**agent.sampling}
    budget, sampling = replace(method.budget, **limits), replace(method.sampling, **drawn)
    return Seat(agent, policy, method, method.toolset(all_tools(), agent.tools), budget, sampling)
