"""Tries that were cut off: what their files tell about them."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from geosleuth.agent import Event, Spent, TrajectoryReader, spent_of
from geosleuth.answer import Answer
from geosleuth.errors import BadInput

from .folder import RunFolder
from .journal import TryRecord

# A team's members are written down after the team's own trajectory, which holds what they used.
_TOLD_ALREADY = re.compile(r".*\.run[0-9]+\.jsonl")


def cut_off_record(folder: RunFolder, id: str, number: int, sha256: str | None = None) -> TryRecord | None:  # noqa: A002
    """What the journal is to know of a try that was cut off; None where it left nothing behind."""
    name = folder.name_of(id)
    files = folder.files_of(name, number)
    if not files:
        return None
    spent, began, ended = _told_by(files)
    return TryRecord(
        image=name,
        id=id,
        number=number,
        outcome="interrupted",
        reason="cancelled",
        by="nobody",
        answer=Answer(),
        spent=spent,
        began=began,
        ended=ended,
        sha256=sha256,
    )


def spent_in(files: Iterable[Path]) -> Spent:
    """What the files of a try say that it used, by all who worked on it; as far as they can be read."""
    return _told_by(files)[0]


def _told_by(files: Iterable[Path]) -> tuple[Spent, datetime, datetime]:
    told = [_told(file) for file in files if not _TOLD_ALREADY.fullmatch(file.name)]
    now = datetime.now(UTC)
    return (
        sum((used for used, _, _ in told), Spent()),
        min((since for _, since, _ in told), default=now),
        max((until for _, _, until in told), default=now),
    )


def _told(file: Path) -> tuple[Spent, datetime, datetime]:
    """What a file says was used, from when to when; as far as it can be read."""
    events: list[Event] = []
    began = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    with suppress(BadInput), TrajectoryReader(file) as reader:
        began = reader.created
        for event in reader:
            events.append(event)  # noqa: PERF402  (what came before the damage is kept)
    spent = spent_of(events)
    return spent, began, began + timedelta(seconds=events[-1].at_s if events else 0.0)
