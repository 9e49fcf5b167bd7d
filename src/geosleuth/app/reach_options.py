"""What may be reached, as options that several commands share."""

from typing import Annotated, Optional

import typer

PANEL = "What may be reached"

Maps = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="SERVICE", rich_help_panel=PANEL, help="An online map service; by default the atlas."),
]
WebSearch = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="SERVICE", rich_help_panel=PANEL, help="An online search; by default the atlas's texts."),
]
ImageSearch = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="SERVICE|FILE",
        rich_help_panel=PANEL,
        help="An online image search, or an index made by geosleuth photo index.",
    ),
]
Prior = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="FILE|geoclip:FOLDER|none",
        rich_help_panel=PANEL,
        show_default="the one of geosleuth prior learn",
        help="What places look like: for the detective, and as a tool for any model.",
    ),
]
Allow = Annotated[
    list[str],
    typer.Option(metavar="HOST", rich_help_panel=PANEL, help="A host that map and search services may ask."),
]
