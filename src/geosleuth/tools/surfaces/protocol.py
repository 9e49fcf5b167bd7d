"""Tools in the Model Context Protocol."""

import asyncio
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from geosleuth.errors import require
from geosleuth.photo import encode
from geosleuth.tools.declare import Tool
from geosleuth.tools.model import Case, ToolCall
from geosleuth.tools.toolset import CALL_SECONDS, Toolset

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock
    from mcp.types import Tool as ProtocolTool


def mcp_tools(tools: Iterable[Tool]) -> "list[ProtocolTool]":
    """The tools as an MCP server lists them.

    Raises:
        MissingExtra: the SDK is not installed.
    """
    types = require("mcp.types", extra="serve")
    listed = (tool.schema() for tool in tools)
    return [
        types.Tool(name=one["name"], description=one["description"], input_schema=one["parameters"]) for one in listed
    ]


async def call_mcp(
    toolset: Toolset, case: Case, name: str, arguments: Mapping[str, Any] | None, *, seconds: float = CALL_SECONDS
) -> "CallToolResult":
    """Carry out one call of an MCP client.

    What the tool says comes first, then each picture behind its caption. A call that gave nothing is a result marked
    as an error, so that the model behind the client reads what would be right. Where it came from is in the metadata,
    under "sources".

    Raises:
        MissingExtra: the SDK is not installed.
    """
    types = require("mcp.types", extra="serve")
    (seen,) = await toolset.run([ToolCall("mcp", name, arguments or {})], case, seconds=seconds)
    content: list[ContentBlock] = [types.TextContent(text=seen.text)]
    for info in seen.images:
        data = await asyncio.to_thread(encode, case.album[info.handle])
        picture = types.ImageContent(data=b64encode(data).decode(), mime_type="image/jpeg")
        content += [types.TextContent(text=info.caption), picture]
    result: CallToolResult = types.CallToolResult(
        content=content, is_error=seen.failure is not None, _meta={"sources": list(seen.sources)}
    )
    return result
