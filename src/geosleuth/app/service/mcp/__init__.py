"""The MCP server: every tool, and `locate` as one, for whoever speaks the Model Context Protocol."""

from .server import make_server
from .service import Service
from .shelf import Shelf
from .sources import Source
from .transports import serve_http, serve_stdio

__all__ = ["Service", "Shelf", "Source", "make_server", "serve_http", "serve_stdio"]
