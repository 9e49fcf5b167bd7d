"""``team.yaml``: who is in a team, how it works, how long it may take, and where it keeps what it learned.

name: three-views
society: team.sqlite
settings: {answerers: 2, reviewers: 2, rounds: 10, within_km: 50}
agents:
  - {name: botanist, model: "server:qwen3-vl", base_url: "http://127.0.0.1:8000/v1", persona: You know plants.}
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from geosleuth.agent.methods import METHODS
from geosleuth.errors import BadInput
from geosleuth.policies import Sampling
from geosleuth.team import AGREE_WITHIN_KM
from geosleuth.tools.toolset import all_tools

from .strict_yaml import Value, read_yaml

Walk = Literal["onward", "neighbours"]
"""How reviewers are drawn: along one walk that goes on from reviewer to reviewer, or each from the answer agent's own
links."""


@dataclass(frozen=True, slots=True)
class SwarmSettings:
    """The numbers of a swarm.

    Attributes:
        answerers: how many members are elected to answer (K).
        reviewers: how many others look at each answer (R).
        rounds: turns that each answer agent has in the discussion, at most (Z).
        within_km: how far apart the places of answers that agree may lie (th).
        seconds_per_reply: how long one reply may take; None is as long as the member itself allows.
        seconds: how long all of it may take; what is known by then decides. None is no limit.
        tokens: once the providers have counted so many, nobody is asked any more; None is no limit.
        usd: once so much is spent, nobody is asked any more; a reply whose price is not known ends it.
        walk: how reviewers are drawn.
        waits_for_news: an answer agent takes its next turn only when another one has said something since its last;
            without, it speaks in every round, as the paper has it.
    """

    answerers: int = 2
    reviewers: int = 2
    rounds: int = 10
    within_km: float = AGREE_WITHIN_KM
    seconds_per_reply: float | None = 300.0
    seconds: float | None = 1800.0
    tokens: int | None = None
    usd: float | None = None
    walk: Walk = "onward"
    waits_for_news: bool = True

    def __post_init__(self) -> None:
        """Refuse what makes no swarm."""
        if self.answerers < 1:
            raise BadInput("a swarm needs an answer agent; set answerers to 1 or more")
        if self.reviewers < 0 or self.rounds < 0:
            raise BadInput("reviewers and rounds are counts; set them to 0 or more")
        if not 0.0 <= self.within_km <= 20_100.0:
            raise BadInput("within_km is a distance on Earth; set it to 0 or more")
        if any(limit is not None and not limit > 0.0 for limit in (self.seconds_per_reply, self.seconds)):
            raise BadInput("a time limit must be above 0 seconds; leave it out for none")
        if self.walk not in ("onward", "neighbours"):
            raise BadInput(f"walk is {str(self.walk)[:40]!r}; it must be onward or neighbours")


NO_SOCIETY = "none"
"""The society of a team that is to learn nothing, and to use nothing that was learned."""

_MOST_AGENTS = 64
_MOST_WORDS = 20_000
_SETTINGS = (
    "answerers",
    "reviewers",
    "rounds",
    "within_km",
    "seconds_per_reply",
    "seconds",
    "tokens",
    "usd",
    "walk",
    "waits_for_news",
)
_AGENT = ("name", "model", "base_url", "method", "tools", "persona", "prompt", "limits", "sampling")


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One agent as the file describes it; None is what its method has.

    ``limits`` are fields of the agent's budget, for each of its replies.
    """

    name: str
    model: str
    base_url: str | None = None
    method: str = "smilegeo"
    tools: tuple[str, ...] | None = None
    persona: str | None = None
    prompt: str | None = None
    limits: dict[str, int | float] = field(default_factory=dict, hash=False)
    sampling: dict[str, int | float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class TeamSpec:
    """A team as the file describes it.

    ``society`` is where it keeps whom to trust, as the file says. Where it says nothing, ``beside`` is the file's own
    name with ``.db``: what is learned goes there, and is used if it is there and of these agents. Both are None in a
    team that is to learn nothing.
    """

    name: str
    agents: tuple[AgentSpec, ...]
    settings: SwarmSettings = field(default_factory=SwarmSettings)
    society: Path | None = None
    beside: Path | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The agents' names, in order."""
        return tuple(agent.name for agent in self.agents)


def read_team(path: Path) -> TeamSpec:
    """Read a team's file. Nothing is opened, made or sent.

    Raises:
        BadInput: something in it must be mended; one line says where and what.
    """
    path = path.expanduser()
    told = read_yaml(path).fields(("name", "agents", "settings", "society"), ("agents",))
    agents = tuple(_agent(one) for one in told["agents"].items(_MOST_AGENTS))
    if not agents:
        raise told["agents"].complain("is empty; list at least one agent")
    known: set[str] = set()
    for one, agent in zip(told["agents"].items(_MOST_AGENTS), agents, strict=True):
        if agent.name.casefold() in known:
            raise one.complain(f"is called {agent.name!r} like another one; give each agent a name of its own")
        known.add(agent.name.casefold())
    named = told["society"].text(1_000) if "society" in told else None
    off = named is not None and named.casefold() == NO_SOCIETY
    return TeamSpec(
        told["name"].text(60) if "name" in told else path.stem,
        agents,
        _settings(told["settings"]) if "settings" in told else SwarmSettings(),
        None if named is None or off else path.parent / Path(named).expanduser(),
        path.with_suffix(".db") if named is None else None,
    )


def _agent(entry: Value) -> AgentSpec:
    told = entry.fields(_AGENT, ("name", "model"))
    name, method = told["name"].text(60), "smilegeo"
    if "\n" in name or len(name) < 2:
        raise told["name"].complain("must be one line of two letters or more: other agents' texts are searched for it")
    if "method" in told:
        method = told["method"].text().casefold()
        if method not in METHODS or method == "detective":
            models = ", ".join(one for one in METHODS if one != "detective")
            raise told["method"].complain(f"is {method[:40]!r}; there are {models}")
    return AgentSpec(
        name,
        told["model"].text(),
        told["base_url"].text(1_000) if "base_url" in told else None,
        method,
        _tools(told["tools"]) if "tools" in told else None,
        told["persona"].text(_MOST_WORDS) if "persona" in told else None,
        told["prompt"].text(_MOST_WORDS) if "prompt" in told else None,
        _limits(told["limits"]) if "limits" in told else {},
        _sampling(told["sampling"]) if "sampling" in told else {},
    )


def _tools(value: Value) -> tuple[str, ...]:
    names = tuple(one.text() for one in value.items(100))
    try:
        all_tools().select(names)
    except BadInput as error:
        raise value.complain(f"are wrong: {error}") from error
    return names


def _limits(value: Value) -> dict[str, int | float]:
    told = value.fields(("turns", "calls", "tokens", "seconds", "usd"))
    lowest = {"turns": 1, "calls": 0, "tokens": 1}
    return {name: one.whole(lowest[name]) if name in lowest else one.number(above=True) for name, one in told.items()}


def _sampling(value: Value) -> dict[str, int | float]:
    told = value.fields(Sampling.__slots__)
    read: dict[str, int | float] = {}
    for name, one in told.items():
        match name:
            case "temperature":
                read[name] = one.number(0.0, 10.0)
            case "top_p":
                read[name] = one.number(0.0, 1.0, above=True)
            case "seed":
                read[name] = one.whole()
            case _:
                read[name] = one.whole(1)
    return read


def _settings(value: Value) -> SwarmSettings:
    told = value.fields(_SETTINGS)
    read: dict[str, Any] = {}
    for name, one in told.items():
        match name:
            case "answerers":
                read[name] = one.whole(1, _MOST_AGENTS)
            case "tokens":
                read[name] = one.whole(1)
            case "reviewers" | "rounds":
                read[name] = one.whole(0, 1_000)
            case "within_km":
                read[name] = one.number(0.0, 20_000.0)
            case "walk":
                read[name] = one.text()
            case "waits_for_news":
                read[name] = one.truth()
            case _:
                read[name] = one.number(above=True)
    try:
        return SwarmSettings(**read)
    except BadInput as error:
        raise value.complain(f"are wrong: {error}") from error
