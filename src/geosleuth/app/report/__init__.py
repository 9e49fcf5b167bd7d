"""A finding as people read it: one HTML page, a summary of many, a card for the terminal."""

from .card import card
from .finding_page import report_html
from .pictures import pictures_of
from .summary import SummaryRow, small_jpeg, summary_html, summary_row

__all__ = [
    "SummaryRow",
    "card",
    "pictures_of",
    "report_html",
    "small_jpeg",
    "summary_html",
    "summary_row",
]
