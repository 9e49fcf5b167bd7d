"""The ways tools are offered: native calls, tagged text, MCP, a training environment; each derived from ``Tool``."""

from .environment import EnvironmentBase, environment_class
from .listed import describe_tagged, native_tools
from .outputs import output_schema
from .protocol import call_mcp, mcp_result, mcp_tools

__all__ = [
    "EnvironmentBase",
    "call_mcp",
    "describe_tagged",
    "environment_class",
    "mcp_result",
    "mcp_tools",
    "native_tools",
    "output_schema",
]
