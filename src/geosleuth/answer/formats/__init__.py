"""Answers as files that other programs read: one module a format, each a pure function of answers and their context.

An `Entry` is an answer with its `Context`. `capped_entry` makes one that tells nothing finer than allowed; formats
write down what they are given and hide nothing.
"""

from .circle import Polygons, circle_polygons
from .context import Context, Entry, capped_entry
from .csv_rows import CSV_HEADER, csv_row, to_csv
from .darwin_core import DARWIN_CORE_TERMS, darwin_core_row, to_darwin_core
from .document import DOCUMENT_FORMAT, document, to_json
from .geojson import area_geometry, geojson, to_geojson
from .kml import to_kml
from .registry import FORMATS, Format, format_of, render_as
from .xmp import to_xmp

__all__ = [
    "CSV_HEADER",
    "DARWIN_CORE_TERMS",
    "DOCUMENT_FORMAT",
    "FORMATS",
    "Context",
    "Entry",
    "Format",
    "Polygons",
    "area_geometry",
    "capped_entry",
    "circle_polygons",
    "csv_row",
    "darwin_core_row",
    "document",
    "format_of",
    "geojson",
    "render_as",
    "to_csv",
    "to_darwin_core",
    "to_geojson",
    "to_json",
    "to_kml",
    "to_xmp",
]
