"""An answer with a marker street name in every place that can hold text, and its context."""

from datetime import UTC, datetime

from geosleuth.answer import Address, Answer, Candidate, Level
from geosleuth.answer.formats import AnswerContext
from geosleuth.geo import LatLon

MARKER = "Zzyzx Marker Street 7"
HOME = LatLon(43.73841, 7.42463)
"""In Monaco."""


def marked_answer() -> Answer:
    """Located, with the marker wherever it fits."""
    return Answer(
        point=HOME,
        address=Address(_level("Monaco"), _level(f"{MARKER} quarter"), _level(f"{MARKER}, Monaco")),
        probability=0.8,
        radius_km=0.2,
        explanation=f"The sign reads {MARKER}.",
        candidates=(
            Candidate(f"{MARKER}, Menton", LatLon(43.7712, 7.5013), 0.12, f"another {MARKER}"),
            Candidate(MARKER, None, 0.01),
        ),
    )


def _level(name: str) -> Level:
    return Level(name, (f"sign: {MARKER}",), f"it says {MARKER}", f"unless {MARKER} is faked")


def marked_context() -> AnswerContext:
    """With the marker in the texts that a caller fills in."""
    return AnswerContext(
        sha256="ab" * 32,
        file_name=f"{MARKER}.jpg",
        model="detective",
        method="default",
        when=datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC),
        tools=("read_text", "maps_geocode"),
        sources=("photo", f"OpenStreetMap, region {MARKER}", f"https://{MARKER}.example"),
        versions={f"region {MARKER}": "2026-01-01"},
        country_code="MC",
        city=MARKER,
    )


def holds_marker(text: str) -> bool:
    """Whether any word of the marker is in a text, however it is cut up."""
    return any(word in text.casefold() for word in ("zzyzx", "marker street"))


def holds_digits_of(point: LatLon, text: str) -> bool:
    """Whether a text gives the point to better than some hundred metres."""
    return f"{point.lat:.4f}" in text and f"{point.lon:.4f}" in text
