"""Tools of MCP servers that the user names, as tools of an agent: only those on the user's list."""

from .config import Borrowing, Lender, borrowing_of, read_lenders
from .given import GivenTool, tool_name
from .lending import lent_tools

__all__ = ["Borrowing", "GivenTool", "Lender", "borrowing_of", "lent_tools", "read_lenders", "tool_name"]
