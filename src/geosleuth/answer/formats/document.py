"""The finding as one JSON document: the answer in its full form, and where it comes from."""

import json
from collections.abc import Sequence
from typing import Any

from geosleuth.answer.precision import to_precision
from geosleuth.answer.wire import answer_to_dict
from geosleuth.text import legible

from .context import Context, Entry

DOCUMENT_FORMAT = "geosleuth-finding/1"


def document(entry: Entry) -> dict[str, Any]:
    """One finding; what is not known is left out."""
    answer, context = entry
    return {
        "format": DOCUMENT_FORMAT,
        "located": answer.located,
        "answer": answer_to_dict(to_precision(answer)),
        **context_fields(context),
    }


def context_fields(context: Context) -> dict[str, Any]:
    """The context as plain values; what is not known is left out."""
    values = {
        "photo": _known({"sha256": context.sha256, "file": context.file_name}),
        "country_code": context.country_code,
        "city": context.city,
        "model": context.model,
        "method": context.method,
        "when": context.when_text,
        "tools": list(context.tools),
        "sources": list(context.sources),
        "versions": {"geosleuth": context.geosleuth, **context.versions},
        "granularity": context.granularity,
    }
    return _known(values)


def to_json(entries: Sequence[Entry]) -> str:
    """One finding as a document, several as a list of them."""
    documents = [document(entry) for entry in entries]
    return dump(documents[0] if len(documents) == 1 else documents)


def dump(plain: Any, *, indent: int | None = 2) -> str:
    """JSON for people and programs, without direction characters; half a surrogate pair is written as an escape."""
    text = legible(json.dumps(plain, ensure_ascii=False, indent=indent, allow_nan=False)) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), indent=indent, allow_nan=False) + "\n"
    return text


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value not in ([], {})}
