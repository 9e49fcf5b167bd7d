"""The MCP server: every tool, and `locate` as one, for whoever speaks the Model Context Protocol."""

from .opening import Source
from .service import Service
from .serving import make_server
from .shelf import Shelf
from .transports import serve_http, serve_stdio

__all__ = ["Service", "Shelf", "Source", "make_server", "serve_http", "serve_stdio"]
