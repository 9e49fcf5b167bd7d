"""``team.yaml``: a team's agents, settings, limits, and the file of what it learned.

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
from geosleuth.models import Sampling
from geosleuth.support.errors import BadInput
from geosleuth.teams import AGREE_WITHIN_KM
from geosleuth.tools.toolset import all_tools

from .strict_yaml import YamlValue, read_yaml

Walk = Literal["onward", "neighbours"]
"""How reviewers are drawn: along one walk from reviewer to reviewer, or each from the answer agent's own
links."""

# Value of ``society`` for a team that neither learns nor uses what was learned.
NO_SOCIETY = "none"
_MAX_AGENTS = 64
_MAX_WORDS = 20_000
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
_AGENT = (
    "name", "model", "base_url", "policy_card", "method", "prompts", "tools", "persona", "prompt", "limits", "sampling",
    "context_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SwarmSettings:
    """The settings of a swarm.

    Attributes:
        answerers: how many members are elected to answer (K).
        reviewers: how many others review each answer (R).
        rounds: the most turns of each answer agent in the discussion (Z).
        within_km: the largest distance between the places of answers that agree (th).
        seconds_per_reply: the time limit of one reply; None for the member's own.
        seconds: the time limit of the run; the answers so far decide. None for no limit.
        tokens: stop asking once providers have counted so many; None for no limit.
        usd: stop asking once so much is spent, or after a reply of unknown price; None for no limit.
        walk: how reviewers are drawn.
        waits_for_news: an answer agent takes its next turn only after another one has spoken since its last;
            otherwise it speaks in every round, as in the paper.
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
        """Check the settings."""
        if self.answerers < 1:
            raise BadInput("a swarm needs an answer agent; set answerers to 1 or more")
        if self.reviewers < 0 or self.rounds < 0:
            raise BadInput("reviewers and rounds must not be negative; set them to 0 or more")
        if not 0.0 <= self.within_km <= 20_100.0:
            raise BadInput("within_km must not be negative; set it to 0 or more")
        if any(limit is not None and not limit > 0.0 for limit in (self.seconds_per_reply, self.seconds)):
            raise BadInput("a time limit must be above 0 seconds; leave it out for none")
        if self.walk not in ("onward", "neighbours"):
            raise BadInput(f"walk is {str(self.walk)[:40]!r}; it must be onward or neighbours")


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent of the file; None is its method's default, and that is smileGeo's, or the one that its model learned.

    ``policy_card`` says how the model was trained, where no card lies beside its weights: a file, or "none".
    ``prompts`` is a folder with words of the user's own, see `geosleuth.agent.prompt_files`.
    ``limits`` are fields of the agent's budget, for each of its replies. ``context_tokens`` is how much its model can
    take: what others said is cut to fit, as smileGeo does, before it is asked.
    """

    name: str
    model: str
    base_url: str | None = None
    policy_card: str | None = None
    method: str | None = None
    tools: tuple[str, ...] | None = None
    persona: str | None = None
    prompt: str | None = None
    limits: dict[str, int | float] = field(default_factory=dict, hash=False)
    sampling: dict[str, int | float] = field(default_factory=dict, hash=False)
    context_tokens: int | None = None
    prompts: Path | None = None


@dataclass(frozen=True, slots=True)
class TeamSpec:
    """A team as described by its file.

    ``society`` is the file of what it learned, if the team's file names one. Otherwise ``beside`` is the file's own
    name with ``.db``: learning writes there, and it is used if it exists and belongs to these agents. Both are None
    for a team that is not to learn.
    """

    name: str
    agents: tuple[AgentSpec, ...]
    settings: SwarmSettings = field(default_factory=SwarmSettings)
    society: Path | None = None
    beside: Path | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the agents' names, in order."""
        return tuple(agent.name for agent in self.agents)


def read_team(path: Path) -> TeamSpec:
    """Read a team's file. Nothing is opened, made or sent.

    Raises:
        BadInput: the file is invalid; one line says where and why.
    """
    path = path.expanduser()
    entries = read_yaml(path).fields(("name", "agents", "settings", "society"), ("agents",))
    agents = tuple(_agent(item, path.parent) for item in entries["agents"].items(_MAX_AGENTS))
    if not agents:
        raise entries["agents"].complain("is empty; list at least one agent")
    known: set[str] = set()
    for item, agent in zip(entries["agents"].items(_MAX_AGENTS), agents, strict=True):
        if agent.name.casefold() in known:
            raise item.complain(f"has the name {agent.name!r} of another agent; give each its own")
        known.add(agent.name.casefold())
    named = entries["society"].text(1_000) if "society" in entries else None
    off = named is not None and named.casefold() == NO_SOCIETY
    return TeamSpec(
        entries["name"].text(60) if "name" in entries else path.stem,
        agents,
        _settings(entries["settings"]) if "settings" in entries else SwarmSettings(),
        None if named is None or off else path.parent / Path(named).expanduser(),
        path.with_suffix(".db") if named is None else None,
    )


def _agent(entry: YamlValue, folder: Path) -> AgentSpec:
    entries = entry.fields(_AGENT, ("name", "model"))
    name, method = entries["name"].text(60), None
    if "\n" in name or len(name) < 2:
        raise entries["name"].complain("must be one line of at least two letters: other agents' texts are searched")
    if "method" in entries:
        method = entries["method"].text().casefold()
        if method not in METHODS or method == "detective":
            models = ", ".join(item for item in METHODS if item != "detective")
            raise entries["method"].complain(f"is {method[:40]!r}; choose one of {models}")
    return AgentSpec(
        name,
        entries["model"].text(),
        entries["base_url"].text(1_000) if "base_url" in entries else None,
        entries["policy_card"].text(1_000) if "policy_card" in entries else None,
        method,
        _tools(entries["tools"]) if "tools" in entries else None,
        entries["persona"].text(_MAX_WORDS) if "persona" in entries else None,
        entries["prompt"].text(_MAX_WORDS) if "prompt" in entries else None,
        _limits(entries["limits"]) if "limits" in entries else {},
        _sampling(entries["sampling"]) if "sampling" in entries else {},
        entries["context_tokens"].whole(1_000) if "context_tokens" in entries else None,
        folder / Path(entries["prompts"].text(1_000)).expanduser() if "prompts" in entries else None,
    )


def _tools(value: YamlValue) -> tuple[str, ...]:
    names = tuple(item.text() for item in value.items(100))
    try:
        all_tools().select(names)
    except BadInput as error:
        raise value.complain(f"are invalid: {error}") from error
    return names


def _limits(value: YamlValue) -> dict[str, int | float]:
    entries = value.fields(("turns", "calls", "tokens", "seconds", "usd"))
    lowest = {"turns": 1, "calls": 0, "tokens": 1}
    return {
        name: one.whole(lowest[name]) if name in lowest else one.number(above=True) for name, one in entries.items()
    }


def _sampling(value: YamlValue) -> dict[str, int | float]:
    entries = value.fields(Sampling.__slots__)
    read: dict[str, int | float] = {}
    for name, item in entries.items():
        match name:
            case "temperature":
                read[name] = item.number(0.0, 10.0)
            case "top_p":
                read[name] = item.number(0.0, 1.0, above=True)
            case "seed":
                read[name] = item.whole()
            case _:
                read[name] = item.whole(1)
    return read


def _settings(value: YamlValue) -> SwarmSettings:
    entries = value.fields(_SETTINGS)
    read: dict[str, Any] = {}
    for name, item in entries.items():
        match name:
            case "answerers":
                read[name] = item.whole(1, _MAX_AGENTS)
            case "tokens":
                read[name] = item.whole(1)
            case "reviewers" | "rounds":
                read[name] = item.whole(0, 1_000)
            case "within_km":
                read[name] = item.number(0.0, 20_000.0)
            case "walk":
                read[name] = item.text()
            case "waits_for_news":
                read[name] = item.truth()
            case _:
                read[name] = item.number(above=True)
    try:
        return SwarmSettings(**read)
    except BadInput as error:
        raise value.complain(f"are invalid: {error}") from error
