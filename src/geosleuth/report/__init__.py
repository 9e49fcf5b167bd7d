"""A finding as people read it: one HTML page, a summary of many, a card for the terminal."""

from typing import TYPE_CHECKING

from geosleuth.support.lazy import export_names

if TYPE_CHECKING:
    from .finding_page import report_html
    from .pictures import cut_pictures
    from .summary import SummaryRow, small_jpeg, summary_html, summary_row

# Who names a call or a photo's digest draws no page.
__getattr__ = export_names(
    __name__,
    {
        "finding_page": ("report_html",),
        "pictures": ("cut_pictures",),
        "summary": ("SummaryRow", "small_jpeg", "summary_html", "summary_row"),
    },
)

__all__ = [
    "SummaryRow",
    "cut_pictures",
    "report_html",
    "small_jpeg",
    "summary_html",
    "summary_row",
]
