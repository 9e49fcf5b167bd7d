"""Tools in the Model Context Protocol."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from geosleuth.errors import BadInput, require
from geosleuth.photo import View, encode
from geosleuth.tools.declare import Tool
from geosleuth.tools.model import Case, ImageInfo, Observation, ToolCall
from geosleuth.tools.toolset import CALL_SECONDS, Toolset

from .outputs import output_schema

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock
    from mcp.types import Tool as ProtocolTool

_LEAST_SIDE_PX = 64
_LEAST_QUALITY = 30
PICTURE_BYTES = 560_000
"""What all pictures of one result may take: clients refuse messages of more than a mebibyte, and JSON swells them."""


def mcp_tools(
    tools: Iterable[Tool], *, open_world: Collection[str] = (), not_idempotent: Collection[str] = ()
) -> "list[ProtocolTool]":
    """The tools as an MCP server lists them, with what they take, what comes back, and how far they reach.

    None of our tools changes anything. Those named in ``open_world`` ask beyond this machine; calling those in
    ``not_idempotent`` again is not the same as calling them once.

    Raises:
        MissingExtra: the SDK is not installed.
    """
    types = require("mcp.types", extra="serve")
    return [
        types.Tool(
            name=one.name,
            description=one.description,
            input_schema=one.schema()["parameters"],
            output_schema=output_schema(one),
            annotations=types.ToolAnnotations(
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=one.name not in not_idempotent,
                open_world_hint=one.name in open_world,
            ),
        )
        for one in tools
    ]


async def call_mcp(
    toolset: Toolset,
    case: Case,
    name: str,
    arguments: Mapping[str, Any] | None,
    *,
    seconds: float = CALL_SECONDS,
    photo: str | None = None,
) -> "CallToolResult":
    """Carry out one call of an MCP client, see `mcp_result`; ``photo`` is what the client calls this case.

    Raises:
        MissingExtra: the SDK is not installed.
    """
    (seen,) = await toolset.run([ToolCall("mcp", name, arguments or {})], case, seconds=seconds)
    return await mcp_result(seen, case, photo=photo)


async def mcp_result(seen: Observation, case: Case | None = None, *, photo: str | None = None) -> "CallToolResult":
    """What an MCP client gets to see of an observation.

    What the tool says comes first, then each picture behind its caption; beside it the same for programs, as
    `output_schema` describes it. A call that gave nothing is a result marked as an error, so that the model behind the
    client reads what would be right. Where it came from is in the metadata too, under "sources".

    Raises:
        MissingExtra: the SDK is not installed.
    """
    types = require("mcp.types", extra="serve")
    content: list[ContentBlock] = [types.TextContent(text=seen.text)]
    if case is not None:
        for info in seen.images:
            content += await asyncio.to_thread(_shown, info, case, photo, PICTURE_BYTES // len(seen.images))
    meta = {"sources": list(seen.sources)}
    if seen.failure is not None:
        failed: CallToolResult = types.CallToolResult(content=content, is_error=True, _meta=meta)
        return failed
    structured = {
        "data": seen.data,
        "sources": list(seen.sources),
        "images": [_image_data(info, photo) for info in seen.images],
    }
    # By way of JSON: tools may hold numbers of other libraries.
    done: CallToolResult = types.CallToolResult(
        content=content, structured_content=json.loads(json.dumps(structured, allow_nan=False)), _meta=meta
    )
    return done


def _shown(info: ImageInfo, case: Case, photo: str | None, max_bytes: int) -> "list[ContentBlock]":
    types = require("mcp.types", extra="serve")
    data, smaller = _fitting(case.album[info.handle], max_bytes)
    caption = info.caption if photo is None else f"{photo} {info.caption}"
    if smaller:
        caption = f"{caption} shown smaller than it is; boxes count in these pixels all the same:"
    picture = types.ImageContent(data=b64encode(data).decode(), mime_type="image/jpeg")
    return [types.TextContent(text=caption), picture]


def _fitting(view: View, max_bytes: int) -> tuple[bytes, bool]:
    """A view as a file of at most so many bytes, and whether it had to be made smaller for that."""
    shown = view
    while True:
        try:
            return encode(shown, max_bytes=max_bytes), shown is not view
        except BadInput:
            width, height = shown.size
            if min(width, height) < _LEAST_SIDE_PX:
                return encode(shown, quality=_LEAST_QUALITY), True
            less = shown.image.resize((width * 2 // 3, height * 2 // 3))
            shown = View(view.handle, less, view.box_in_original, view.photo_handle)


def _image_data(info: ImageInfo, photo: str | None) -> dict[str, Any]:
    return {
        "handle": info.handle,
        **({} if photo is None else {"photo": photo}),
        "width": info.size[0],
        "height": info.size[1],
        "box": list(info.box_in_original),
    }
