"""From the database's rows to the service's types, and from requests to plain JSON and back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from .model import CaseRow, PhotoRow, RunRequest, RunRow, StreamEvent

_SEARCHED_CHARACTERS = 100_000


def when(seconds: float | None) -> datetime | None:
    """A stored time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def moment(seconds: float) -> datetime:
    """A stored time that is always there."""
    return datetime.fromtimestamp(seconds, UTC)


def readable(text: str) -> str:
    """A text that can be kept: half a surrogate pair is none."""
    return text.encode("utf-8", "replace").decode()


def searched(*texts: str) -> str:
    """What searches look at, in one line and one case."""
    return " ".join(readable(" ".join(texts)).casefold().split())[:_SEARCHED_CHARACTERS]


def request_to_dict(request: RunRequest) -> dict[str, Any]:
    """A request as plain JSON."""
    return {**asdict(request), "send_to": list(request.send_to)}


def request_from_dict(plain: Mapping[str, Any]) -> RunRequest:
    """A stored request; what another version knew beyond ours is left out."""
    known = {field.name for field in fields(RunRequest)}
    kept = {name: value for name, value in plain.items() if name in known}
    return RunRequest(**{**kept, "send_to": tuple(kept.get("send_to") or ())})


def case_row(row: Sequence[Any], photos: Sequence[PhotoRow], runs: Sequence[RunRow]) -> CaseRow:
    """A case."""
    case_id, title, notes, created, changed = row
    return CaseRow(case_id, title, notes, moment(created), moment(changed), tuple(photos), tuple(runs))


def photo_row(row: Sequence[Any]) -> PhotoRow:
    """A photo."""
    case, number, name, size, width, height, form, kind, sha256, added = row
    return PhotoRow(case, number, name, size, width, height, form, kind, sha256, moment(added))


def run_row(row: Sequence[Any]) -> RunRow:
    """A run."""
    run_id, case, parent, state, request, rejected, photos, granularity, created, started, ended, answer, trouble = row
    return RunRow(
        id=run_id,
        case=case,
        parent=parent,
        state=state,
        request=request_from_dict(json.loads(request)),
        granularity=granularity,
        photos=tuple(json.loads(photos)),
        created=moment(created),
        started=when(started),
        ended=when(ended),
        answer=None if answer is None else json.loads(answer),
        trouble=trouble,
        rejected=json.loads(rejected),
    )


def told_row(row: Sequence[Any]) -> StreamEvent:
    """Something told."""
    told_id, kind, data, at = row
    return StreamEvent(told_id, kind, json.loads(data), at)
