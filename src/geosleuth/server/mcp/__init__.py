"""The MCP server: every tool, and `locate` as one, for clients of the Model Context Protocol."""

from .own_tools import PhotoShelf, PhotoSource
from .server import make_server, serve_http, serve_stdio
from .service import McpService

__all__ = ["McpService", "PhotoShelf", "PhotoSource", "make_server", "serve_http", "serve_stdio"]
