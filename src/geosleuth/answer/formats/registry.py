"""All formats by name and by file ending."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from geosleuth.errors import BadInput

from .context import Entry
from .csv_rows import to_csv
from .darwin_core import to_darwin_core
from .document import to_json
from .geojson import to_geojson
from .kml import to_kml
from .xmp import to_xmp


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write findings down; ``many`` says whether one file may hold several."""

    name: str
    ending: str
    media_type: str
    render: Callable[[Sequence[Entry]], str] = field(repr=False)
    many: bool = True


_ALL = (
    Format("json", ".json", "application/json", to_json),
    Format("geojson", ".geojson", "application/geo+json", to_geojson),
    Format("kml", ".kml", "application/vnd.google-earth.kml+xml", to_kml),
    Format("csv", ".csv", "text/csv", to_csv),
    Format("darwin-core", ".dwc.csv", "text/csv", to_darwin_core),
    Format("xmp", ".xmp", "application/rdf+xml", to_xmp, many=False),
)
FORMATS: Mapping[str, Format] = {one.name: one for one in _ALL}


def format_of(path: Path) -> Format:
    """The format that a file's ending asks for.

    Raises:
        BadInput: none does.
    """
    name = path.name.lower()
    fits = [one for one in _ALL if name.endswith(one.ending)]
    if not fits:
        endings = ", ".join(one.ending for one in _ALL)
        raise BadInput(f"{path}: no format goes by this ending; there are {endings}")
    return max(fits, key=lambda one: len(one.ending))


def render_as(name: str, entries: Sequence[Entry]) -> str:
    """The findings in the named format.

    Raises:
        BadInput: there is no such format, or it holds one finding and several were given.
    """
    if name not in FORMATS:
        raise BadInput(f"there is no format {name[:40]!r}; there are {', '.join(FORMATS)}")
    chosen = FORMATS[name]
    if not chosen.many and len(entries) != 1:
        raise BadInput(f"a {name} file holds one finding; write one for each photo")
    return chosen.render(entries)
