"""Tools that an agent may call, each declared once; schemas for every surface are derived from the declaration."""

from .argument_types import Length
from .calls import (
    Case,
    FailureKind,
    ImageInfo,
    ImageSearch,
    Observation,
    Output,
    Similar,
    TextReader,
    ToolCall,
    WebSearch,
)
from .declare import Parameter, Tool, ToolFunction, as_tool, tool
from .surfaces import (
    call_mcp,
    describe_tagged,
    mcp_result,
    mcp_tools,
    native_tools,
    output_schema,
)
from .toolset import CALL_SECONDS, Toolset, image_info
from .viewer import Viewer

__all__ = [
    "CALL_SECONDS",
    "Case",
    "FailureKind",
    "ImageInfo",
    "ImageSearch",
    "Length",
    "Observation",
    "Output",
    "Parameter",
    "Similar",
    "TextReader",
    "Tool",
    "ToolCall",
    "ToolFunction",
    "Toolset",
    "Viewer",
    "WebSearch",
    "as_tool",
    "call_mcp",
    "describe_tagged",
    "image_info",
    "mcp_result",
    "mcp_tools",
    "native_tools",
    "output_schema",
    "tool",
]
