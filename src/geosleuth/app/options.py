"""Commands whose options are the fields of a dataclass: one object in place of fifty parameters."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from geosleuth.app.reach_options import Allow, ImageSearch, Maps, Prior, WebSearch
from geosleuth.app.thinking_options import (
    BaseUrl,
    Boxes,
    Calls,
    ChainsRead,
    ForceAnswer,
    McpAllow,
    McpServers,
    MethodName,
    Model,
    OfflineFlag,
    Parallel,
    ReplyTokens,
    Seconds,
    Seed,
    TeamFile,
    Temperature,
    Tokens,
    ToolNames,
    Turns,
    Usd,
    Verifier,
    WireName,
    Yes,
)

if TYPE_CHECKING:
    from geosleuth.pipeline.request import LocateRequest

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of every command that locates photos, by the names of `LocateRequest`."""

    model: Model = None
    base_url: BaseUrl = None
    parallel: Parallel = 1
    verifier: Verifier = None
    chains: ChainsRead = None
    team: TeamFile = None
    turns: Turns = None
    calls: Calls = None
    tokens: Tokens = None
    reply_tokens: ReplyTokens = None
    seconds: Seconds = None
    usd: Usd = None
    temperature: Temperature = None
    seed: Seed = None
    method: MethodName = None
    tools: ToolNames = None
    wire: WireName = None
    boxes: Boxes = "pixels"
    force_answer: ForceAnswer = False
    offline: OfflineFlag = False
    yes: Yes = False
    maps: Maps = None
    web_search: WebSearch = None
    image_search: ImageSearch = None
    prior: Prior = None
    allow: Allow = field(default_factory=list)
    mcp: McpServers = None
    mcp_allow: McpAllow = field(default_factory=list)


def request_of(options: Any, *parts: type, **more: Any) -> "LocateRequest":
    """Build the request of a command from those parts of its options that are fields of a request."""
    from geosleuth.pipeline.request import LocateRequest

    names = [one.name for part in parts for one in fields(part)]
    return LocateRequest.of(**{name: getattr(options, name) for name in names}, **more)


def takes(options: type[T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Make a command of a function of one object: typer sees a parameter for each field of its dataclass."""
    hints = get_type_hints(options, include_extras=True)
    parameters = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=_default(one), annotation=hints[one.name])
        for one in fields(options)  # type: ignore[arg-type]
    ]

    def made(work: Callable[[T], None]) -> Callable[..., None]:
        @wraps(work)
        def command(**given: Any) -> None:
            work(options(**given))

        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return made


def _default(one: "Field[Any]") -> Any:
    if one.default_factory is not MISSING:
        return one.default_factory()
    return inspect.Parameter.empty if one.default is MISSING else one.default
