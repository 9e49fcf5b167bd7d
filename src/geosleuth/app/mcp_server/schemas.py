"""What the server's own tools give back, as JSON schemas."""

from typing import Any

from geosleuth.answer.granularity import GRANULARITIES
from geosleuth.tools.surfaces.outputs import NUMBER, POINT, TEXT, WHOLE, YES_NO, envelope, many, maybe, record

_LEVEL = record(
    {"conclusion": TEXT, "clues": many(TEXT), "reasoning": TEXT, "uncertainty": TEXT},
    optional=("conclusion", "clues", "reasoning", "uncertainty"),
)


def opened_schema() -> dict[str, Any]:
    """What ``open_photo`` gives."""
    return envelope(
        record(
            {
                "photo": {**TEXT, "description": "the handle that other tools take as photo"},
                "width": WHOLE,
                "height": WHOLE,
                "kind": TEXT,
                "notes": many(TEXT),
            }
        )
    )


def finding_schema() -> dict[str, Any]:
    """What ``locate`` gives: the document of ``geosleuth locate --json``."""
    candidate = record(
        {"name": TEXT, **POINT, "probability": NUMBER, "evidence": TEXT},
        optional=("name", "lat", "lon", "probability", "evidence"),
    )
    answer = {
        "format": TEXT,
        **POINT,
        "country": _LEVEL,
        "region": _LEVEL,
        "precise": _LEVEL,
        "probability": NUMBER,
        "radius_km": NUMBER,
        "explanation": TEXT,
        "candidates": many(candidate),
    }
    spent = {
        "turns": WHOLE,
        "calls": WHOLE,
        "failed_calls": WHOLE,
        "withheld_calls": WHOLE,
        "seconds": NUMBER,
        "input_tokens": maybe(WHOLE),
        "output_tokens": maybe(WHOLE),
        "usd": maybe(NUMBER),
    }
    photo = {
        "sha256": TEXT,
        "claimed_point": maybe(record(POINT)),
        "claim_conflicts": maybe(YES_NO),
        "claim_estimated": YES_NO,
    }
    check = {
        "claimed": record(POINT),
        "verdict": {**TEXT, "enum": ["for", "against", "undecided"]},
        "reason": TEXT,
        "speaks_for": many(TEXT),
        "speaks_against": many(TEXT),
    }
    return envelope(
        record(
            {
                "answer": record(answer, optional=set(answer) - {"format"}),
                "answered_by": TEXT,
                "ended": maybe(TEXT),
                "trouble": maybe(TEXT),
                "model": TEXT,
                "method": TEXT,
                "tools": many(TEXT),
                "spent": record(spent),
                "granularity": {**TEXT, "enum": list(GRANULARITIES)},
                "pool": many({"type": "object"}),
                "trajectory": TEXT,
                "photos": many(record(photo)),
                "team": {"type": "object"},
                "check": record(check),
            },
            optional=("team", "check"),
        )
    )
