"""One row a finding, for spreadsheets. The header never changes its order; new columns only come at its end."""

import csv
import io
from collections.abc import Iterable, Sequence

from geosleuth.answer.model import Answer

from .context import Context, Entry
from .text import candidate_line, cell, degrees

CSV_HEADER = (
    "file", "sha256", "located", "lat", "lon", "radius_km", "probability", "country", "country_code", "region",
    "precise", "explanation", "candidates", "granularity", "model", "method", "when", "sources", "geosleuth",
)  # fmt: skip


def csv_row(answer: Answer, context: Context) -> list[str]:
    """The cells under `CSV_HEADER`; what is not known is empty. Texts that a spreadsheet would run get a ``'``."""
    point, address = answer.point, answer.address
    return [
        cell(context.file_name),
        cell(context.sha256),
        "yes" if answer.located else "no",
        "" if point is None else degrees(point.lat, answer.radius_km),
        "" if point is None else degrees(point.lon, answer.radius_km),
        _number(answer.radius_km),
        _number(answer.probability),
        cell(address.country.conclusion),
        cell(context.country_code),
        cell(address.region.conclusion),
        cell(address.precise.conclusion),
        cell(answer.explanation),
        cell("; ".join(candidate_line(one) for one in answer.candidates)),
        context.granularity,
        cell(context.model),
        cell(context.method),
        cell(context.when_text),
        cell("; ".join(context.sources)),
        cell(context.geosleuth),
    ]


def to_csv(entries: Sequence[Entry]) -> str:
    """Header and rows, as RFC 4180 has them."""
    return table(CSV_HEADER, (csv_row(*entry) for entry in entries))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Comma-separated lines with quotes where they are needed."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
