"""``geosleuth tools``: what an agent may call, and any of it by hand."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from geosleuth.cli.options import Commands, JsonFlag

tools = Commands()

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these tools.")]


@tools.command("list")
def list_tools(*, as_json: JsonFlag = False) -> None:
    """List the tools: their names, arguments and what they do.

    Example: geosleuth tools list
    """
    from geosleuth.cli.handlers import tools as work

    work.show_tools(as_json=as_json)


@tools.command()
def schema(
    names: Names = None,
    *,
    surface: Annotated[
        Literal["native", "tagged", "mcp"], typer.Option(help="Whom it is for: native calls, tagged text, MCP.")
    ] = "native",
) -> None:
    """Describe the tools as models get to read them: JSON, or JSON lines between <tools> tags.

    Examples:

      geosleuth tools schema

      geosleuth tools schema search_web image_zoom_in_tool --surface tagged
    """
    from geosleuth.cli.handlers import tools as work

    work.show_schema(names or [], surface)


@tools.command()
def run(
    name: Annotated[str, typer.Argument(help="A name from `geosleuth tools list`, or one of its aliases.")],
    arguments: Annotated[str, typer.Argument(help="One JSON object.")] = "{}",
    *,
    photo: Annotated[
        list[Path], typer.Option(help="A photo to work on: image-1, image-2 and so on, in this order.")
    ] = [],  # noqa: B006
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Save the pictures that come back there, as image-2.png and so on."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Pictures in FOLDER may be replaced.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Run one tool by hand, just as an agent would, on the offline atlas.

    Examples:

      geosleuth tools run country_facts '{"country": "Monaco"}'

      geosleuth tools run image_zoom_in_tool --photo p.jpg '{"bbox_2d": [0, 0, 200, 150]}' --out cuts
    """
    from geosleuth.cli.handlers import tools as work

    work.run_tool(name, arguments, photo, out, overwrite=overwrite, as_json=as_json)
