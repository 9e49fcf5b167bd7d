"""The ways tools are offered: native calls, tagged text, MCP, a training environment; each derived from ``Tool``."""

from .environment import Background, EnvironmentBase, content_parts, environment_class, tool_methods
from .listed import describe_tagged, native_tools
from .outputs import output_schema
from .protocol import call_mcp, mcp_result, mcp_tools

__all__ = [
    "Background",
    "EnvironmentBase",
    "call_mcp",
    "content_parts",
    "describe_tagged",
    "environment_class",
    "mcp_result",
    "mcp_tools",
    "native_tools",
    "output_schema",
    "tool_methods",
]
