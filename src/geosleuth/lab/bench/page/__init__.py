"""The report of ``bench score`` as one self-contained HTML page, and the head that such pages share."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .score_page import NO_SCRIPT, page_head, render_page

__all__ = ["NO_SCRIPT", "page_head", "render_page"]


def __getattr__(name: str) -> Any:
    # Loaded when it is asked for: most who come for the markup draw no scores.
    if name in __all__:
        return getattr(import_module(f"{__name__}.score_page"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
