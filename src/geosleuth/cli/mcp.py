"""``geosleuth mcp``: the tools and `locate` for clients of the Model Context Protocol."""

from dataclasses import field
from pathlib import Path

from geosleuth.cli.options import (  # fmt: skip
    MODEL,
    PANEL,
    Allow,
    BaseUrl,
    ImageSearch,
    Maps,
    MapsUrl,
    Model,
    OfflineFlag,
    Options,
    Prior,
    Seconds,
    Turns,
    Usd,
    WebSearch,
    Yes,
    build_request,
    flag,
    option,
)

_WAY = "How clients reach it"


class DoorOptions(Options):
    """Options for how clients reach the server, and which files it may read."""

    http: bool = flag("Serve over Streamable HTTP, not stdin and stdout.", panel=_WAY)
    host: str = option("127.0.0.1", "Where to listen with --http; beyond this machine a token must be set.", panel=_WAY)
    port: int = option(8712, "The port; 0 is any that is free.", panel=_WAY, min=0, max=65535)
    allowed_host: list[str] = option([], "Another name that clients know this machine by.", panel=_WAY, metavar="NAME")
    token_file: Path | None = option(
        None,
        "Every request must show the token in this file.",
        panel=_WAY,
        metavar="FILE",
        show_default="GEOSLEUTH_TOKEN, if set",
    )
    photos: list[Path] = option(
        [],
        "Read photos only from this folder. May be repeated.",
        panel=PANEL,
        metavar="FOLDER",
        show_default="any folder; with --http none",
    )


class ServedOptions(Options):
    """Model and data sources of ``locate``, named as fields of a request."""

    offline: OfflineFlag = False
    maps: Maps = None
    maps_url: MapsUrl = field(default_factory=list)
    web_search: WebSearch = None
    image_search: ImageSearch = None
    prior: Prior = None
    allow: Allow = field(default_factory=list)
    model: Model = None
    base_url: BaseUrl = None
    yes: Yes = False
    turns: Turns = None
    seconds: Seconds = None
    usd: Usd = None
    granularity: str = option(
        "exact",
        "locate returns nothing finer than this: country, region, city, street or exact.",
        panel=MODEL,
        metavar="LEVEL",
    )


class McpOptions(ServedOptions, DoorOptions):
    """All options of the command."""


def mcp(options: McpOptions) -> None:
    """Serve the tools over the Model Context Protocol: every tool, open_photo for handles, and locate as one.

    Over stdin and stdout for the client that starts it, or over HTTP on this machine. Nothing leaves the machine unless
    a model or a service is named here; clients can't name one. Budgets hold for each call of locate.

    Examples:

      geosleuth mcp

      geosleuth mcp --photos ~/Pictures --offline

      geosleuth mcp --http --port 8712

      geosleuth mcp --model openai:gpt-5 --yes --usd 0.20
    """
    from geosleuth.cli.handlers.mcp import serve_tools

    serve_tools(build_request(options, ServedOptions), options)
