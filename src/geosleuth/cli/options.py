"""Options that several commands share, and commands whose options are the fields of a dataclass."""

import copy
import inspect
from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, dataclass_transform, get_args, get_type_hints

import typer

if TYPE_CHECKING:
    from geosleuth.pipeline.request import LocateRequest

PANEL = "What may be reached"

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
PhotoFile = Annotated[Path, typer.Argument(help="JPEG, PNG, WebP, TIFF or HEIC.")]
EncoderSpec = Annotated[
    str, typer.Option(metavar="SPEC", help="bundled, an .onnx file, or a folder with a transformers model.")
]

Maps = Annotated[
    str | None,
    typer.Option(
        metavar="SERVICE",
        rich_help_panel=PANEL,
        help="An online map service, the atlas behind it; by default the atlas.",
    ),
]
MapsUrl = Annotated[
    list[str],
    typer.Option(metavar="URL", rich_help_panel=PANEL, help="Your own server of that service. May be repeated."),
]
WebSearch = Annotated[
    str | None,
    typer.Option(metavar="SERVICE", rich_help_panel=PANEL, help="An online search; by default the atlas's texts."),
]
ImageSearch = Annotated[
    str | None,
    typer.Option(
        metavar="SERVICE|FILE",
        rich_help_panel=PANEL,
        help="An online image search, or an index made by geosleuth photo index.",
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|geoclip:FOLDER|none",
        rich_help_panel=PANEL,
        show_default="the one of geosleuth prior learn",
        help="What places look like: for the detective, and as a tool for any model.",
    ),
]
Allow = Annotated[
    list[str], typer.Option(metavar="HOST", rich_help_panel=PANEL, help="A host that map and search services may ask.")
]


MODEL = "Models and budgets"
WAY = "How to go about it"

Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=MODEL,
        show_default="the one of geosleuth setup, or else none",
        help="Who thinks: none (the detective, on this machine), openai:…, anthropic:…, google:…, mistral:…, "
        "groq:…, openrouter:…, bedrock:…, ollama:…, server:NAME with --base-url, hf:DIRECTORY for weights on disk, "
        "replay:TRAJECTORY.",
    ),
]
BaseUrl = Annotated[str | None, typer.Option(metavar="URL", rich_help_panel=MODEL, help="Where the model is served.")]
Turns = Annotated[int | None, typer.Option(min=1, rich_help_panel=MODEL, help="Replies of the model, at most.")]
Tokens = Annotated[int | None, typer.Option(min=1, rich_help_panel=MODEL, help="Tokens in and out together, at most.")]
ReplyTokens = Annotated[
    int | None, typer.Option(min=1, rich_help_panel=MODEL, help="Tokens of one reply, at most; thinking comes on top.")
]
Seconds = Annotated[float | None, typer.Option(min=0.1, rich_help_panel=MODEL, help="Seconds, at most.")]
Usd = Annotated[float | None, typer.Option(min=0.0, rich_help_panel=MODEL, help="US dollars, at most.")]
PromptsFolder = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="FOLDER",
        rich_help_panel=WAY,
        help="Your own prompts for the method: see docs/how-to/add-a-method.md.",
    ),
]
PolicyCardFile = Annotated[
    str | None,
    typer.Option(
        "--policy-card",
        metavar="FILE|none",
        rich_help_panel=WAY,
        show_default="policy_card.json beside the weights",
        help="How the model was trained, which is how it is played; none to play it otherwise.",
    ),
]
OfflineFlag = Annotated[
    bool, typer.Option("--offline", rich_help_panel=PANEL, help="No network at all, not even this machine's own.")
]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", rich_help_panel=PANEL, help="Send the photo, or write a copy, without asking.")
]


ProfileName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=WAY,
        help="A set-up by its name: a paper's (smilegeo, geoagent, spotagent, geovista, twm), or your own, see "
        "geosleuth setup. Options beside it win.",
    ),
]


T = TypeVar("T")
Work = TypeVar("Work", bound=Callable[..., Any])

_TYPER = "typer"

# Options listed last in every help.
_LAST_OPTIONS = ("overwrite", "as_json")


def option(default: T, words: str, *names: str, panel: str | None = None, **details: Any) -> T:
    """Declare a field that is an option; without names, it is called as the field is."""
    return cast("T", _declare_field(typer.Option(*names, help=words, rich_help_panel=panel, **details), default))


def flag(words: str, *names: str, panel: str | None = None) -> bool:
    """Declare a field that is true where its option is given."""
    return cast("bool", _declare_field(typer.Option(*names, help=words, rich_help_panel=panel), default=False))


def declare_required(words: str, *names: str, panel: str | None = None, **details: Any) -> Any:
    """Declare a field that is an option without a default."""
    return _declare_field(typer.Option(*names, help=words, rich_help_panel=panel, **details), MISSING)


def argument(words: str, default: Any = MISSING, **details: Any) -> Any:
    """Declare a field that is an argument."""
    return _declare_field(typer.Argument(help=words, **details), default)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """Base of a command's options: subclasses are dataclasses whose fields are options.

    Where one says in ``shown`` which fields are used most, `--help` leaves the others to `--help-all`.
    """

    def __init_subclass__(cls) -> None:
        """Make it a dataclass."""
        dataclass(frozen=True, kw_only=True)(cls)


class JsonOptions(Options):
    """The options of a command that prints an answer."""

    as_json: JsonFlag = False


class WritingOptions(JsonOptions):
    """The options of a command that writes files, too."""

    overwrite: Overwrite = False


def _declare_field(told: Any, default: Any) -> Any:
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata={_TYPER: told})
    return field(default=default, metadata={_TYPER: told})


class RunOptions(Options):
    """The options of every command that locates photos, by the names of `LocateRequest`, and a profile."""

    profile: ProfileName = None
    model: Model = None
    base_url: BaseUrl = None
    parallel: int = option(
        1,
        "So many tries at once; a verifier decides. Budgets hold for each try, and for the verifier.",
        panel=MODEL,
        min=1,
        max=64,
    )
    verifier: str | None = option(
        None,
        "The model that reads all tries and decides; same for the one that made them.",
        panel=MODEL,
        metavar="NAME",
        show_default="rule-based: claims are checked against the atlas",
    )
    chains: str | None = option(
        None,
        "What the verifier reads of each try: whole, or facts (what was observed).",
        panel=MODEL,
        show_default="whole up to 4 tries, then facts",
    )
    team: Path | None = option(None, "Several agents that review and discuss.", panel=MODEL, metavar="TEAM.YAML")
    turns: Turns = None
    calls: int | None = option(None, "Tool calls, at most.", panel=MODEL, min=0)
    tokens: Tokens = None
    reply_tokens: ReplyTokens = None
    thinking_tokens: int | None = option(
        None,
        "Tokens that a reply may think with beforehand, at most.",
        panel=MODEL,
        min=0,
        show_default="8192, once the model is seen to think",
    )
    seconds: Seconds = None
    usd: Usd = None
    temperature: float | None = option(None, "How freely replies are drawn.", panel=MODEL, min=0.0, max=2.0)
    seed: int | None = option(None, "For models that can repeat themselves.", panel=MODEL)
    method: str | None = option(
        None,
        "A preset, see `geosleuth methods`, or PACKAGE:NAME of a plug-in.",
        panel=WAY,
        metavar="NAME",
        show_default="the detective's, default for models, or the recording's own",
    )
    prompts: PromptsFolder = None
    tools: str | None = option(
        None,
        "Only these tools; none for no tool. +NAME adds one to the method's own, +PACKAGE:NAME a plug-in's.",
        panel=WAY,
        metavar="A,B,…",
    )
    wire: str | None = option(None, "How calls travel: native or tagged; by default as the method has it.", panel=WAY)
    policy_card: PolicyCardFile = None
    panorama: str | None = option(
        None,
        "How panoramas are shown: cut into views, or planar (whole).",
        panel=WAY,
        show_default="planar for geovista, else views",
    )
    boxes: str = option(
        "auto",
        "How the model gives boxes: pixels, thousandths (0 to 1000), fractions (0 to 1); auto is as it was "
        "trained, which one question finds out.",
        panel=WAY,
    )
    force_answer: bool = flag("Ask for a best guess, with its honest probability.", panel=WAY)
    offline: OfflineFlag = False
    yes: Yes = False
    maps: Maps = None
    maps_url: MapsUrl = field(default_factory=list)
    web_search: WebSearch = None
    image_search: ImageSearch = None
    prior: Prior = None
    allow: Allow = field(default_factory=list)
    mcp: Path | None = option(
        None,
        "MCP servers of your own, whose tools a model may use: those that --mcp-allow names.",
        panel=PANEL,
        metavar="SERVERS.JSON",
    )
    mcp_allow: list[str] = option([], "A tool of these servers. May be repeated.", panel=PANEL, metavar="SERVER.TOOL")


def build_request(options: Any, *parts: type, **more: Any) -> "LocateRequest":
    """Build the request of a command from those parts of its options that are fields of a request."""
    from geosleuth.pipeline.defaults import with_default_model
    from geosleuth.pipeline.request import LocateRequest

    names = [item.name for part in parts for item in fields(part) if item.name != "profile"]
    return with_default_model(LocateRequest.from_options(**{name: getattr(options, name) for name in names}, **more))


def _print_all_options(ctx: typer.Context, *, value: bool) -> None:
    if value:
        for option in ctx.command.params:
            option.hidden = False  # type: ignore[attr-defined]  # arguments have it too, from Typer
        typer.echo(ctx.get_help())
        raise typer.Exit


_HelpAll = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_print_all_options, help="Show every option and exit.")
]


def _hide(hint: Any) -> Any:
    """Return the annotation of an option that `--help` leaves out; the same option elsewhere is still shown."""
    kind, option = get_args(hint)
    option = copy.copy(option)
    option.hidden = True
    return Annotated[kind, option]


class Commands(typer.Typer):
    """A group of commands, each a function of its options as one object, or of words by themselves."""

    def __init__(self, **details: Any) -> None:
        """Make a group without commands."""
        super().__init__(no_args_is_help=True, **details)

    def command(self, name: str | None = None, **details: Any) -> Callable[[Work], Work]:
        """Make a command of a function, which stays as it is."""
        register = super().command(name, **details)

        def register_work(work: Work) -> Work:
            asked = [parameter.annotation for parameter in inspect.signature(work).parameters.values()]
            is_whole = len(asked) == 1 and isinstance(asked[0], type) and issubclass(asked[0], Options)
            register(_taking(asked[0], work) if is_whole else work)
            return work

        return register_work


def _taking(options: type[T], work: Callable[[T], None]) -> Callable[..., None]:
    """Return a command that Typer sees a parameter of for each field of a function's options.

    Where a profile is named, its options come in place of those that were left out.
    """
    shown: Collection[str] | None = getattr(options, "shown", None)
    hints = get_type_hints(options, include_extras=True)
    for item in fields(options):  # type: ignore[arg-type]
        if (told := item.metadata.get(_TYPER)) is not None:
            if hints[item.name] is bool and told.default is ...:
                # Without a name, Typer would add --no-NAME.
                told.param_decls = (f"--{item.name.replace('_', '-')}",)
            hints[item.name] = Annotated[hints[item.name], told]
    if shown is not None:
        known = {item.name: _default(item) for item in fields(options)}  # type: ignore[arg-type]
        left_out = [name for name, default in known.items() if default is not inspect.Parameter.empty]
        hints |= {name: _hide(hints[name]) for name in left_out if name not in shown}
    declared = fields(options)  # type: ignore[arg-type]
    ordered = sorted(declared, key=lambda item: _LAST_OPTIONS.index(item.name) + 1 if item.name in _LAST_OPTIONS else 0)
    parameters = [
        inspect.Parameter(
            item.name, inspect.Parameter.KEYWORD_ONLY, default=_default(item), annotation=hints[item.name]
        )
        for item in ordered
    ]

    if shown is not None:
        parameters.append(inspect.Parameter("_", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_HelpAll))
    may_be_new = bool(getattr(options, "names_new_profile", False))
    if any(parameter.name == "profile" for parameter in parameters):
        parameters.append(inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))

    @wraps(work)
    def command(*, ctx: typer.Context | None = None, _: bool = False, **given: Any) -> None:
        work(options(**_with_profile(given, ctx, may_be_new=may_be_new)))

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _with_profile(given: dict[str, Any], ctx: typer.Context | None, *, may_be_new: bool) -> dict[str, Any]:
    if ctx is None or given.get("profile") is None:
        return given
    from geosleuth.pipeline.profiles import list_profiles, read_profile

    if may_be_new and given["profile"] not in list_profiles():
        return given
    left_out = [
        name for name in given if (source := ctx.get_parameter_source(name)) is None or "DEFAULT" in source.name
    ]
    told = {name: value for name, value in given.items() if name not in left_out}
    found = read_profile(given["profile"]).beside(told)
    return given | {name: value for name, value in found.items() if name in given}


def _default(item: "Field[Any]") -> Any:
    if item.default_factory is not MISSING:
        return item.default_factory()
    return inspect.Parameter.empty if item.default is MISSING else item.default
