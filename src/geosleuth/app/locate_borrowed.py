"""``--mcp``: tools of the user's own MCP servers beside ours, from the command's words to a run's tools."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from geosleuth.errors import BadInput, require
from geosleuth.policies.detective import Detective
from geosleuth.tools import Toolset

if TYPE_CHECKING:
    from geosleuth.app.locate_setup import Plan, Wishes
    from geosleuth.tools.borrowed import Borrowing

_BETWEEN = "__"


def borrowed_of(wishes: "Wishes") -> "Borrowing | None":
    """Read ``--mcp`` and ``--mcp-allow``; None where no server is named. Nothing is started or asked yet.

    Raises:
        UserError: they must be mended.
    """
    if wishes.mcp is None:
        if wishes.mcp_allow:
            raise BadInput("--mcp-allow names a tool of an MCP server; name the file of servers with --mcp")
        return None
    if wishes.offline:
        raise BadInput(
            "--mcp asks servers that can reach the network, which --offline rules out; leave one of them out"
        )
    if wishes.team is not None:
        raise BadInput("--mcp lends tools to one model; leave out --mcp or --team")
    if wishes.model in (None, Detective.name):
        raise BadInput("--mcp lends tools to a model, and the detective asks none; name a model with --model")
    require("mcp", extra="serve")
    from geosleuth.tools.borrowed import borrowing_of

    return borrowing_of(wishes.mcp, wishes.mcp_allow)


def own_names(recorded: Iterable[str]) -> tuple[str, ...]:
    """The names of a recording's tools without those that it had borrowed."""
    return tuple(name for name in recorded if _BETWEEN not in name)


async def with_borrowed(plan: "Plan", held: AsyncExitStack) -> "Plan":
    """The plan with the borrowed tools among its own; their servers are let go with ``held``.

    Raises:
        BadInput: a tool is allowed that its server does not have.
    """
    if plan.borrowed is None:
        return plan
    from geosleuth.tools.borrowed import lent_tools

    lent = await held.enter_async_context(lent_tools(plan.borrowed))
    return replace(plan, toolset=Toolset([*plan.toolset, *lent]))
