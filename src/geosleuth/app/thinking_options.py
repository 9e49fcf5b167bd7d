"""Who thinks, how, and what it may use, as options that several commands share."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from geosleuth.app.reach_options import PANEL

MODEL = "Models and budgets"
WAY = "How to go about it"

Model = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="NAME",
        rich_help_panel=MODEL,
        show_default="detective: no model, on this machine",
        help="Who thinks: detective, openai:…, anthropic:…, google:…, mistral:…, groq:…, openrouter:…, bedrock:…, "
        "ollama:…, server:NAME with --base-url, hf:DIRECTORY for weights on disk, replay:TRAJECTORY.",
    ),
]
BaseUrl = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="URL", rich_help_panel=MODEL, help="Where the model is served."),
]
Parallel = Annotated[
    int,
    typer.Option(
        min=1,
        max=64,
        rich_help_panel=MODEL,
        help="So many tries at once; a verifier decides. Budgets hold for each try, and for the verifier.",
    ),
]
Verifier = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="NAME",
        rich_help_panel=MODEL,
        show_default="in code: claims are checked against the atlas",
        help="The model that reads all tries and decides; same for the one that made them.",
    ),
]
ChainsRead = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        rich_help_panel=MODEL,
        show_default="whole up to 4 tries, then facts",
        help="What the verifier reads of each try: whole, or facts (what was observed).",
    ),
]
TeamFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(metavar="TEAM.YAML", rich_help_panel=MODEL, help="Several agents that review and discuss."),
]
Turns = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, rich_help_panel=MODEL, help="Replies of the model, at most."),
]
Calls = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=0, rich_help_panel=MODEL, help="Tool calls, at most."),
]
Tokens = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, rich_help_panel=MODEL, help="Tokens in and out together, at most."),
]
ReplyTokens = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, rich_help_panel=MODEL, help="Tokens of one reply, at most."),
]
Seconds = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(min=0.1, rich_help_panel=MODEL, help="Seconds, at most."),
]
Usd = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(min=0.0, rich_help_panel=MODEL, help="US dollars, at most."),
]
Temperature = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(min=0.0, max=2.0, rich_help_panel=MODEL, help="How freely replies are drawn."),
]
Seed = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(rich_help_panel=MODEL, help="For models that can repeat themselves."),
]
MethodName = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="NAME",
        rich_help_panel=WAY,
        show_default="the detective's, default for models, or the recording's own",
        help="A preset, see `geosleuth methods`, or PACKAGE:NAME of a plug-in.",
    ),
]
ToolNames = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="A,B,…",
        rich_help_panel=WAY,
        help="Only these tools; none for no tool. +NAME adds one to the method's own, +PACKAGE:NAME a plug-in's.",
    ),
]
WireName = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(rich_help_panel=WAY, help="How calls travel: native or tagged; by default as the method has it."),
]
Boxes = Annotated[
    str, typer.Option(rich_help_panel=WAY, help="How the model gives boxes: pixels, or thousandths (0 to 1000).")
]
ForceAnswer = Annotated[
    bool,
    typer.Option("--force-answer", rich_help_panel=WAY, help="Ask for a best guess, with its honest probability."),
]
OfflineFlag = Annotated[
    bool, typer.Option("--offline", rich_help_panel=PANEL, help="No network at all, not even this machine's own.")
]
McpServers = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        metavar="SERVERS.JSON",
        rich_help_panel=PANEL,
        help="MCP servers of your own, whose tools a model may use: those that --mcp-allow names.",
    ),
]
McpAllow = Annotated[
    list[str],
    typer.Option(metavar="SERVER.TOOL", rich_help_panel=PANEL, help="A tool of these servers. May be repeated."),
]
Yes = Annotated[
    bool,
    typer.Option("--yes", "-y", rich_help_panel=PANEL, help="Send the photo, or write a copy, without asking."),
]
