"""Implementation of ``geosleuth methods`` and the ``tools`` commands; imported on demand."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType

from geosleuth.agent.methods import METHODS, method
from geosleuth.cli.preparation import offline_atlas
from geosleuth.geo.extent import plain
from geosleuth.photo import Album, encode, open_photo
from geosleuth.support.console import show_json, show_result, table_view, talk
from geosleuth.support.errors import BadInput, BrokenPlugin
from geosleuth.support.files import refuse_to_replace, write_bytes_atomically
from geosleuth.support.text.safe import printable
from geosleuth.tools import Case, Observation, Tool, ToolCall, describe_tagged, mcp_tools, native_tools
from geosleuth.tools.toolset import all_tools, with_plugins


def show_tools(*, as_json: bool) -> None:
    """Every tool, what it takes and what it does; a plug-in that can't be loaded is told on stderr."""
    tools, broken = with_plugins()
    for item in broken:
        talk(f"geosleuth: {item}")
    show_result([_tool_dict(tool) for tool in tools], _tools_view(list(tools)), as_json=as_json)


def show_schema(names: Sequence[str], surface: str) -> None:
    """The tools, or those named, as one kind of reader wants them."""
    chosen = all_tools().select(names) if names else all_tools()
    if surface == "tagged":
        sys.stdout.write(f"{describe_tagged(chosen)}\n")
    elif surface == "mcp":
        show_json([tool.model_dump(by_alias=True, exclude_none=True) for tool in mcp_tools(chosen)])
    else:
        show_json(native_tools(chosen))


def run_tool(
    name: str, arguments: str, photos: Sequence[Path], out: Path | None, *, overwrite: bool, as_json: bool
) -> None:
    """Carry out one call and show what an agent would see of it."""
    if out is not None and not out.is_dir():
        raise BadInput(f"{out}: there is no such folder; make it first")
    album = Album()
    for file in photos:
        album.add(open_photo(file).photo)
    case = Case(album, offline_atlas())
    (seen,) = asyncio.run(all_tools().run([ToolCall("call-1", name, arguments)], case))
    saved = [] if out is None else _save(case, [info.handle for info in seen.images], out, overwrite=overwrite)
    if as_json:
        show_json(plain(seen) | {"files": [str(path) for path in saved]})
    elif seen.failure is None:
        _say(seen, saved)
    else:
        talk(f"geosleuth: {seen.text}")
    if seen.failure is not None:
        raise typer.Exit(2)


def _say(seen: Observation, saved: list[Path]) -> None:
    lines = [*seen.text.splitlines(), *(info.caption.removesuffix(":") for info in seen.images)]
    # What photos and pages say may hold anything, terminal commands too.
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    for path in saved:
        talk(f"wrote {path}")
    if seen.images and not saved:
        talk("the picture is not saved; --out FOLDER saves it")


def _save(case: Case, handles: Sequence[str], folder: Path, *, overwrite: bool) -> list[Path]:
    files = {handle: folder / f"{handle}.png" for handle in handles}
    refuse_to_replace(files.values(), overwrite=overwrite)
    for handle, path in files.items():
        write_bytes_atomically(path, encode(case.album[handle], "png"))
    return list(files.values())


def _tool_dict(tool: Tool) -> dict[str, Any]:
    return {
        **tool.schema(),
        "summary": tool.summary,
        "aliases": list(tool.aliases),
        "needs": list(tool.needs),
        "result": tool.data_schema(),
    }


def _tools_view(tools: list[Tool]) -> RenderableType:
    rows = []
    for tool in tools:
        arguments = (
            parameter.name if parameter.is_required else f"[{parameter.name}]" for parameter in tool.parameters
        )
        rows.append((tool.name, " ".join(arguments), tool.summary))
    return table_view(("tool", "arguments", "what it does"), rows, unbroken=("tool",))


def show_methods(*, as_json: bool) -> None:
    """Every method with its summary and its paper; a plug-in that can't be loaded is told on stderr."""
    rows = []
    for name in METHODS:
        try:
            made = method(name)
        except BrokenPlugin as error:
            talk(f"geosleuth: {error}")
            continue
        rows.append({"name": name, "summary": made.summary, "paper": made.paper, "tools": list(made.tools)})
    told = ((str(row["name"]), str(row["summary"]), str(row["paper"] or "")) for row in rows)
    view = table_view(("method", "what it does", "paper"), told, unbroken=("method",))
    show_result(rows, view, as_json=as_json)
