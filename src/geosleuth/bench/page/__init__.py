"""The report of ``bench score`` as one self-contained HTML page, and the head that such pages share."""

from .page import page_head, render_page

__all__ = ["page_head", "render_page"]
