"""Tools that MCP servers lend to a model."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from geosleuth.models.detective import Detective
from geosleuth.support.errors import BadInput, require
from geosleuth.tools import Toolset

from .request import LocateRequest

if TYPE_CHECKING:
    from geosleuth.tools.borrowed import Borrowing

_BETWEEN = "__"


def parse_borrowed(request: LocateRequest) -> "Borrowing | None":
    """Read ``--mcp`` and ``--mcp-allow``; None where no server is named. Nothing is started or asked yet.

    Raises:
        UserError: the user must fix the options.
    """
    if request.mcp is None:
        if request.mcp_allow:
            raise BadInput("--mcp-allow names a tool of an MCP server; name the file of servers with --mcp")
        return None
    if request.offline:
        raise BadInput(
            "--mcp asks servers that can reach the network, which --offline rules out; leave one of them out"
        )
    if request.team is not None:
        raise BadInput("--mcp lends tools to one model; leave out --mcp or --team")
    if request.model in (None, Detective.name):
        raise BadInput("--mcp lends tools to a model, and the detective asks none; name a model with --model")
    require("mcp", extra="serve")
    from geosleuth.tools.borrowed import read_borrowing

    return read_borrowing(request.mcp, request.mcp_allow)


def own_names(recorded: Iterable[str]) -> tuple[str, ...]:
    """The names of a recording's tools without those that it had borrowed."""
    return tuple(name for name in recorded if _BETWEEN not in name)


async def with_borrowed(toolset: Toolset, borrowed: "Borrowing | None", held: AsyncExitStack) -> Toolset:
    """Return the tools with the borrowed ones among them; their servers are let go with ``held``.

    Raises:
        BadInput: a tool is allowed that its server does not have.
    """
    if borrowed is None:
        return toolset
    from geosleuth.tools.borrowed import lent_tools

    return Toolset([*toolset, *await held.enter_async_context(lent_tools(borrowed))], toolset.missing)
