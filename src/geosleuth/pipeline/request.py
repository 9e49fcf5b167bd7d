"""One request: the same typed fields for the command line, HTTP, MCP, benchmark runs and Python."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from geosleuth.agent import Method
from geosleuth.models.feedback import Rejected
from geosleuth.support.errors import BadInput
from geosleuth.tools import Tool
from geosleuth.tools.declare import as_tool

ToolChoice = str | Tool | Callable[..., Any]
"""A tool by its name, a tool itself, or a function to make one of."""

_NO_TOOLS = "none"
REPLAY = "replay:"

_Word = TypeVar("_Word", bound=str)


def tool_choice(
    tools: str | Sequence[ToolChoice] | None, recorded: tuple[str, ...] | None
) -> Sequence[str | Tool] | None:
    """Return the tools that the caller asks for, as `Method.toolset` takes them; by default those of a recording.

    Names that begin with a plus sign, and functions, are added to the others.

    Raises:
        BadInput: nothing is named, or a function can't be a tool.
    """
    if tools is None:
        return recorded
    given = tools.split(",") if isinstance(tools, str) else tools
    chosen = [item.strip() if isinstance(item, str) else _build_tool(item) for item in given]
    named = [item for item in chosen if item]
    if named == [_NO_TOOLS]:
        return []
    if not named:
        raise BadInput(f"--tools names no tool; write --tools {_NO_TOOLS} for no tool at all")
    return named


def _build_tool(given: Tool | Callable[..., Any]) -> Tool:
    try:
        return as_tool(given)
    except TypeError as error:
        raise BadInput(f"{error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateRequest:
    """Options of ``geosleuth locate`` by their names, each as it was given.

    `geosleuth.pipeline.plan.make_plan` reads them. What is None is left to the method, the recording or the machine.

    Attributes:
        model: the model, such as "ollama:qwen3-vl"; None is the detective on this machine.
        parallel: how many attempts a verifier chooses from.
        turns, calls, tokens, seconds, usd: the budget of one attempt, at most.
        reply_tokens, thinking_tokens: how long a reply may be, and how long a model that thinks may think beforehand.
        requests: how many requests a model's host gets at once.
        within: where the place must lie, as text; ``drawn`` is a GeoJSON geometry in its place.
        rejected: the clues and places that a person has ruled out.
        yes: photos may leave this machine, and copies be written, without asking.
        panorama: how panoramas are shown, "views" or "planar"; None is the method's own way.
        prompts: a folder with words of the user's own for the method, see `geosleuth.agent.prompt_files`.
        policy_card: how the model was trained, which is how it is played: a file, or "none"; by default the one beside
            its weights (`geosleuth.agent.policy_card`).
        out, trajectory, write_exif, sidecars: the files to write; ``overwrite`` lets them replace others.
    """

    model: str | None = None
    base_url: str | None = None
    parallel: int = 1
    verifier: str | None = None
    chains: str | None = None
    team: Path | None = None
    turns: int | None = None
    calls: int | None = None
    tokens: int | None = None
    reply_tokens: int | None = None
    thinking_tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None
    requests: int | None = None
    temperature: float | None = None
    seed: int | None = None
    method: str | Method | None = None
    prompts: Path | None = None
    tools: str | Sequence[ToolChoice] | None = None
    wire: str | None = None
    policy_card: str | None = None
    panorama: str | None = None
    boxes: str = "auto"
    within: str | None = None
    drawn: Mapping[str, Any] | None = None
    rejected: Rejected | None = None
    hint: str | None = None
    area: str | None = None
    taken: str | None = None
    drives_on: str | None = None
    seen: str | None = None
    check: str | None = None
    force_answer: bool = False
    granularity: str = "exact"
    offline: bool = False
    yes: bool = False
    maps: str | None = None
    maps_url: tuple[str, ...] = ()
    web_search: str | None = None
    image_search: str | None = None
    image_url: str | None = None
    prior: str | None = None
    allow: tuple[str, ...] = ()
    mcp: Path | None = None
    mcp_allow: tuple[str, ...] = ()
    trajectory: Path | None = None
    out: tuple[str, ...] = ()
    overwrite: bool = False
    write_exif: bool = False
    sidecars: bool = False

    @classmethod
    def from_options(cls, **given: Any) -> "LocateRequest":
        """Build a request by keyword; lists may stand for tuples.

        Raises:
            BadInput: a field is unknown.
        """
        known = [field.name for field in fields(cls)]
        if unknown := sorted(set(given) - set(known)):
            near = get_close_matches(unknown[0], known, 1)
            raise BadInput(
                f"unknown {'fields' if len(unknown) > 1 else 'field'}: {', '.join(unknown)[:200]}"
                + (f"; did you mean {near[0]}?" if near else "")
            )
        told: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in given.items()}
        return cls(**told)


def check_choice(word: str, choices: Sequence[_Word], option: str) -> _Word:
    """Return the choice that a word names.

    Raises:
        BadInput: it names none.
    """
    for choice in choices:
        if word == choice:
            return choice
    raise BadInput(f"{option} is {word[:40]!r}; it must be {' or '.join(choices)}")


def join_words(*parts: str | None, by: str = "; ") -> str | None:
    """Return the parts that say something, joined; None if none does."""
    return by.join(part for part in parts if part) or None


def get_recording_path(model: str) -> Path:
    """Return the file that ``replay:FILE`` names."""
    name = model.removeprefix(REPLAY).strip()
    if not name:
        raise BadInput(f"{REPLAY} lacks the recording; write {REPLAY}FILE")
    return Path(name).expanduser()
