"""The MCP server: every tool, and `locate` as one, for clients of the Model Context Protocol."""

from .own_tools import Shelf, Source
from .server import make_server, serve_http, serve_stdio
from .service import Service

__all__ = ["Service", "Shelf", "Source", "make_server", "serve_http", "serve_stdio"]
