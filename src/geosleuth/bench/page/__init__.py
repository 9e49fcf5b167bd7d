"""The report of ``bench score`` as one self-contained HTML page."""

from .page import render_page

__all__ = ["render_page"]
