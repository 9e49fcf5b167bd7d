"""What the server's own tools give back, as JSON schemas."""

from typing import Any

from geosleuth.pipeline.result import result_schema
from geosleuth.tools.surfaces import TEXT, WHOLE, envelope, many, record


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


def located_schema() -> dict[str, Any]:
    """What ``locate`` gives: the document of ``geosleuth locate --json``."""
    return envelope(result_schema())
