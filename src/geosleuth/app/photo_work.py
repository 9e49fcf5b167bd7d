"""What the ``photo`` commands do once their words are read; imported only when one runs."""

from datetime import datetime
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth.app.atlas_views import facts_view, plain
from geosleuth.app.console import show, show_json
from geosleuth.bench.plain import printable
from geosleuth.photo import Claims, open_photo
from geosleuth.photo.text import TextLine, read_text


def show_claims(file: Path, *, as_json: bool) -> None:
    """What the metadata of a photo claims."""
    found = open_photo(file).claims
    if as_json:
        show_json({name: _value(value) for name, value in plain(found).items()})
    else:
        show(_claims_view(found))


def show_text(file: Path, *, as_json: bool) -> None:
    """What is written in a photo."""
    lines = read_text(open_photo(file).photo.image)
    if as_json:
        show_json([plain(line) for line in lines])
    else:
        show(_text_view(lines))


def _value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _claims_view(found: Claims) -> RenderableType:
    point = found.point
    return facts_view(
        {
            "format": f"{found.format}, {found.size_px[0]} x {found.size_px[1]}, {found.file_bytes:,} bytes",
            "claims to be at": None if point is None else f"{point.lat:.5f}, {point.lon:.5f} (a claim, not evidence)",
            "claims to be taken": None if found.taken_at is None else str(_value(found.taken_at)),
            "camera": printable(" ".join(part for part in (found.camera_make, found.camera_model) if part)),
            "software": None if found.software is None else printable(found.software),
            "sha256": found.sha256,
            "notes": [printable(note) for note in found.notes],
        }
    )


def _text_view(lines: list[TextLine]) -> RenderableType:
    if not lines:
        return Text("no text found")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("text", "script", "sure", "where"):
        table.add_column(name, overflow="fold")
    for line in lines:
        left, top, right, bottom = (round(edge) for edge in line.bounds)
        where = f"{left}, {top} to {right}, {bottom}"
        table.add_row(printable(line.text), line.script, f"{line.confidence:.2f}", where)
    return table
