"""A finding as people read it: one HTML page, a summary of many, a card for the terminal."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .card import card

if TYPE_CHECKING:
    from .finding_page import report_html
    from .pictures import pictures_of
    from .summary import SummaryRow, small_jpeg, summary_html, summary_row

_MODULES = {
    "finding_page": ("report_html",),
    "pictures": ("pictures_of",),
    "summary": ("SummaryRow", "small_jpeg", "summary_html", "summary_row"),
}

__all__ = [
    "SummaryRow",
    "card",
    "pictures_of",
    "report_html",
    "small_jpeg",
    "summary_html",
    "summary_row",
]


def __getattr__(name: str) -> Any:
    # Loaded when it is asked for: who names a call or a photo's digest draws no page.
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
