"""Rows for spreadsheets, and Darwin Core rows with their georeference terms. The order of columns never changes.

Collections can join the rows to their records by ``associatedMedia``. Nothing here is a verified georeference, and the
rows say so.
"""

import csv
import io
from collections.abc import Iterable, Sequence

from geosleuth.answer.answer import Answer

from .context import (
    ESTIMATED,
    AnswerContext,
    LocatedAnswer,
    candidate_line,
    cell,
    degrees,
    extent_words,
    get_writable_point,
    metres,
    odds,
)

CSV_HEADER = (
    "file", "sha256", "located", "lat", "lon", "radius_km", "probability", "country", "country_code", "region",
    "precise", "explanation", "candidates", "granularity", "model", "method", "when", "sources", "geosleuth",
    "extent",
)  # fmt: skip

DARWIN_CORE_TERMS = (
    "associatedMedia", "decimalLatitude", "decimalLongitude", "geodeticDatum", "coordinateUncertaintyInMeters",
    "country", "countryCode", "stateProvince", "municipality", "locality", "verbatimLocality", "georeferencedBy",
    "georeferencedDate", "georeferenceProtocol", "georeferenceSources", "georeferenceVerificationStatus",
    "georeferenceRemarks", "dataGeneralizations", "informationWithheld",
)  # fmt: skip


def csv_row(answer: Answer, context: AnswerContext) -> list[str]:
    """Return the cells under `CSV_HEADER`; unknown ones are empty. Texts that a spreadsheet would run get a ``'``."""
    point, address = get_writable_point(answer, context), answer.address
    return [
        cell(context.file_name),
        cell(context.sha256),
        "yes" if answer.located else "no",
        "" if point is None else degrees(point.lat, answer.radius_km),
        "" if point is None else degrees(point.lon, answer.radius_km),
        "" if context.wide else _format_number(answer.radius_km),
        _format_number(answer.probability),
        cell(address.country.conclusion),
        cell(context.country_code),
        cell(address.region.conclusion),
        cell(address.precise.conclusion),
        cell(answer.explanation),
        cell("; ".join(candidate_line(one) for one, _ in context.others(answer))),
        cell(context.cap),
        cell(context.model),
        cell(context.method),
        cell(context.when_text),
        cell("; ".join(context.sources)),
        cell(context.geosleuth),
        cell(extent_words(answer, context)),
    ]


def to_csv(entries: Sequence[LocatedAnswer]) -> str:
    """Return header and rows in RFC 4180 format."""
    return table(CSV_HEADER, (csv_row(*entry) for entry in entries))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return comma-separated lines with quotes where needed."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def darwin_core_row(answer: Answer, context: AnswerContext) -> list[str]:
    """Return the cells under `DARWIN_CORE_TERMS`; an unlocated answer has no coordinates and no datum."""
    point, address = get_writable_point(answer, context), answer.address
    media = [f"sha256:{context.sha256}" if context.sha256 else None, context.file_name]
    return [
        cell(" | ".join(part for part in media if part)),
        "" if point is None else degrees(point.lat, answer.radius_km),
        "" if point is None else degrees(point.lon, answer.radius_km),
        "" if point is None else "WGS84",
        "" if point is None or answer.radius_km is None else str(metres(answer.radius_km)),
        cell(address.country.conclusion),
        cell(context.country_code),
        cell(address.region.conclusion),
        cell(context.city),
        cell(address.precise.conclusion),
        cell(str(address)),
        cell(context.producer),
        cell(context.when_text),
        cell(f"{ESTIMATED} {context.geosleuth}" + (f", method {context.method}" if context.method else "")),
        cell(" | ".join(context.sources)),
        "unable to georeference" if answer.point is None else "requires verification",
        cell(_remarks(answer, context)),
        f"coordinates given to the {context.cap} only" if context.cap and point is not None else "",
        f"any place finer than the {context.cap}" if context.cap else "",
    ]


def to_darwin_core(entries: Sequence[LocatedAnswer]) -> str:
    """Return header and rows, comma-separated."""
    return table(DARWIN_CORE_TERMS, (darwin_core_row(*entry) for entry in entries))


def _remarks(answer: Answer, context: AnswerContext) -> str:
    sure, others = odds(answer, whole=context.extent == "country"), context.others(answer)
    parts = [
        "No place could be determined from the picture." if answer.point is None else "An estimate from the picture.",
        "No coordinates: the finding is a country or region, and no point in it." if context.wide else None,
        f"{sure}, by its own estimate." if sure else None,
        answer.explanation,
        f"Also considered: {'; '.join(candidate_line(one) for one, _ in others)}." if others else None,
    ]
    return " ".join(part for part in parts if part)
