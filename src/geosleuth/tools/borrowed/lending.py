"""Servers while they are asked: from their tools to tools of ours."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.tools.model import Case, Output
from geosleuth.tools.wording import one_line

from .config import Borrowing
from .connection import Connection, Offered
from .given import GivenTool, tool_name, usable_description, usable_schema
from .results import output_of, refusal_of

_SHOWN = 40


@asynccontextmanager
async def lent_tools(borrowing: Borrowing) -> AsyncIterator[tuple[GivenTool, ...]]:
    """The tools that may be used, while their servers are held; only servers with such a tool are started or asked.

    A server that can't be reached lends tools that say so when they are called: a run goes on without it.

    Raises:
        BadInput: the list allows nothing, or something that its server does not have; the message says what there is.
    """
    allowed = {
        one.name: [name for server, name in borrowing.allowed if server == one.name] for one in borrowing.lenders
    }
    wanted = [one for one in borrowing.lenders if allowed[one.name] or not borrowing.allowed]
    connections = [Connection(one) for one in wanted]
    try:
        await asyncio.gather(*(one.open() for one in connections))
        if not borrowing.allowed:
            raise BadInput(f"no tool of these servers is allowed yet; add --mcp-allow for each: {_all(connections)}")
        tools = [tool for one in connections for tool in _lent(one, allowed[one.lender.name])]
        names = [one.name for one in tools]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise BadInput(f"two of the allowed tools would both be called {twice}; allow one of them")
        yield tuple(tools)
    finally:
        await asyncio.gather(*(one.close() for one in connections))


def _lent(connection: Connection, names: list[str]) -> list[GivenTool]:
    offered = {one.name: one for one in connection.offered}
    server = connection.lender.name
    if connection.trouble is None and (unknown := [name for name in names if name not in offered]):
        raise BadInput(f"the MCP server {server} has no tool {unknown[0][:60]!r}; it has: {_all([connection])}")
    made = []
    for name in names:
        own = offered.get(name) or Offered(name, "It could not be asked what this tool does.", {})
        made.append(
            GivenTool(
                tool_name(server, name),
                usable_description(server, own.description),
                (),
                partial(_call, connection, name),
                input_schema=usable_schema(own.input_schema),
            )
        )
    return made


async def _call(connection: Connection, name: str, case: Case, *, arguments: Mapping[str, Any]) -> Output:  # noqa: ARG001  # every tool takes the case
    server = connection.lender.name
    result = await connection.call(name, dict(arguments))
    if result.is_error:
        raise BadInput(refusal_of(server, result))
    return await asyncio.to_thread(output_of, server, result)


def _all(connections: list[Connection]) -> str:
    listed = [f"{one.lender.name}.{one_line(tool.name, 60)}" for one in connections for tool in one.offered]
    silent = [f"{one.lender.name} can't be asked ({one.trouble})" for one in connections if one.trouble]
    more = [f"and {len(listed) - _SHOWN} more"] if len(listed) > _SHOWN else []
    return ", ".join([*listed[:_SHOWN], *more, *silent]) or "there is none"
