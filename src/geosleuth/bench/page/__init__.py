"""The report of ``bench score`` as one self-contained HTML page, and the head that such pages share."""

from .score_page import NO_SCRIPT, page_head, render_page

__all__ = ["NO_SCRIPT", "page_head", "render_page"]
