"""Answers as files for other programs: one module per format, each a pure function of answers and their context.

A `LocatedAnswer` is an answer with its `AnswerContext`, both of them capped already where not all may be told;
formats write what they are given and hide nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from geosleuth.support.errors import BadInput

from .context import AnswerContext, LocatedAnswer, Polygons, circle_polygons
from .csv_rows import CSV_HEADER, DARWIN_CORE_TERMS, csv_row, darwin_core_row, to_csv, to_darwin_core
from .geojson import DOCUMENT_FORMAT, area_geometry, document, geojson, to_geojson, to_json
from .kml import to_kml
from .xmp import to_xmp


@dataclass(frozen=True, slots=True)
class Format:
    """A file format for findings; ``many`` says whether one file may hold several."""

    name: str
    ending: str
    media_type: str
    render: Callable[[Sequence[LocatedAnswer]], str] = field(repr=False)
    many: bool = True


_ALL = (
    Format("json", ".json", "application/json", to_json),
    Format("geojson", ".geojson", "application/geo+json", to_geojson),
    Format("kml", ".kml", "application/vnd.google-earth.kml+xml", to_kml),
    Format("csv", ".csv", "text/csv", to_csv),
    Format("darwin-core", ".dwc.csv", "text/csv", to_darwin_core),
    Format("xmp", ".xmp", "application/rdf+xml", to_xmp, many=False),
)
FORMATS: Mapping[str, Format] = {item.name: item for item in _ALL}


def find_format(path: Path, *, beside: str = "") -> Format:
    """Return the format of a file's extension.

    Args:
        path: the file.
        beside: another extension that the caller takes, for the complaint.

    Raises:
        BadInput: there is none.
    """
    name = path.name.lower()
    fits = [item for item in _ALL if name.endswith(item.ending)]
    if not fits:
        endings = ", ".join(filter(None, (beside, *(item.ending for item in _ALL))))
        raise BadInput(f"{path}: unknown file extension; use one of {endings}")
    return max(fits, key=lambda fit: len(fit.ending))


def render_as(name: str, entries: Sequence[LocatedAnswer]) -> str:
    """Return the findings in the named format.

    Raises:
        BadInput: the format is unknown, or it holds one finding and several were given.
    """
    if name not in FORMATS:
        raise BadInput(f"unknown format {name[:40]!r}; choose from {', '.join(FORMATS)}")
    chosen = FORMATS[name]
    if not chosen.many and len(entries) != 1:
        raise BadInput(f"a {name} file holds one finding; write one file per photo")
    return chosen.render(entries)


__all__ = [
    "CSV_HEADER",
    "DARWIN_CORE_TERMS",
    "DOCUMENT_FORMAT",
    "FORMATS",
    "AnswerContext",
    "Format",
    "LocatedAnswer",
    "Polygons",
    "area_geometry",
    "circle_polygons",
    "csv_row",
    "darwin_core_row",
    "document",
    "find_format",
    "geojson",
    "render_as",
    "to_csv",
    "to_darwin_core",
    "to_geojson",
    "to_json",
    "to_kml",
    "to_xmp",
]
