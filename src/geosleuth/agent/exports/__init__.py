"""Trajectories in the dialects that others speak, and back again without loss.

`export` makes a record of a trajectory, `import_` a trajectory of a record; `record_line` and `records_in` are their
files. A dialect's own fields carry all that they can; `roundtrip` keeps the rest.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from geosleuth.agent.codec import from_line, to_line
from geosleuth.agent.conversation import stretches_of
from geosleuth.agent.method import Context
from geosleuth.agent.trajectory import Trajectory
from geosleuth.models import Wire
from geosleuth.support import plugins
from geosleuth.support.errors import BadInput
from geosleuth.support.files import MAX_JSON_BYTES, byte_lines
from geosleuth.tools import Tool

from . import ms_swift, openai, sharegpt, tagged, trl
from .dialect import Cuts, Talk, image_path, items_of, offered, plain_json, talk_of, write_images
from .roundtrip import IMPORTED, KEY, frame_text, read_frame, rebuilt

__all__ = [
    "DIALECTS",
    "IMPORTED",
    "KEY",
    "Dialect",
    "export",
    "image_path",
    "import_",
    "played",
    "record_line",
    "records_in",
    "write_images",
]

Dialect = Literal["openai", "tagged", "sharegpt", "trl", "ms-swift"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


@dataclass(frozen=True, slots=True)
class _Dialect:
    write: Callable[[Talk, Sequence[Tool], str], tuple[dict[str, Any], Cuts]]
    read: Callable[[Mapping[str, Any], Cuts], Talk]
    carries: frozenset[str]
    wire: Wire = "native"


_DIALECTS: Mapping[str, _Dialect] = {
    openai.NAME: _Dialect(openai.write, openai.read, openai.CARRIES),
    tagged.NAME: _Dialect(tagged.write, tagged.read, tagged.CARRIES, "tagged"),
    sharegpt.NAME: _Dialect(sharegpt.write, sharegpt.read, sharegpt.CARRIES),
    trl.NAME: _Dialect(trl.write, trl.read, trl.CARRIES),
    ms_swift.NAME: _Dialect(ms_swift.write, ms_swift.read, ms_swift.CARRIES),
}


def export(trajectory: Trajectory, dialect: str, *, tools: Iterable[Tool] | None = None) -> dict[str, Any]:
    """The record of a trajectory; `import_` gives back an equal one.

    Args:
        trajectory: the whole run; nothing is left out, whatever the policy was shown of it.
        dialect: one of `DIALECTS`, or ``PACKAGE:NAME`` of another package; its records can't be imported.
        tools: where the tools of the run are described; left out, all tools there are.

    Raises:
        BadInput: there is no such dialect, or it can't tell these events.
        BrokenPlugin: it is of another package, which can't be loaded or fails.
    """
    plugin = plugins.find("exporters", dialect)
    if plugin is not None:
        return _exported(plugin, trajectory)
    spoken = _spoken(dialect)
    talk = talk_of(trajectory)
    record, cuts = spoken.write(talk, offered(trajectory.started, tools), trajectory.id)
    # What JSON makes of it is what will be read, and what the frame must fit.
    record = from_line(to_line(record))
    back = spoken.read(record, cuts)
    return record | {KEY: frame_text(trajectory, talk, back, carries=spoken.carries, cuts=cuts)}


def played(trajectory: Trajectory, context: Context, dialect: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield records of a run just as its policy was shown it; they can't be imported.

    There is one, unless something was taken out of sight on the way: then each begins anew from what was left. With
    each comes how many of its first replies belong to those before it.

    Raises:
        BadInput: there is no such dialect.
    """
    spoken = _spoken(dialect)
    whole = talk_of(trajectory)
    tools = offered(trajectory.started)
    for messages, history in stretches_of(trajectory.events, context):
        record, _ = spoken.write(replace(whole, items=items_of(messages)), tools, trajectory.id)
        yield from_line(to_line(record)), history


def import_(record: Mapping[str, Any], dialect: str) -> Trajectory:
    """The trajectory of a record, as its messages are now.

    A record from elsewhere gives what it has: its method and policy are `IMPORTED`, and it has no answer and no end.

    Raises:
        BadInput: there is no such dialect, or the record is not in it, or is of another version.
    """
    spoken = _spoken(dialect)
    frame = read_frame(record)
    talk = spoken.read(record, frame.cuts if frame else {})
    if not talk.items:
        raise BadInput("nobody says anything in this record")
    foreign_id = sha256(plain_json(record).encode()).hexdigest()[:16]
    return rebuilt(talk, frame, foreign_id=foreign_id, wire=spoken.wire)


def record_line(record: Mapping[str, Any]) -> bytes:
    """A record as one line of a JSONL file."""
    return to_line(record)


def records_in(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of a file with their numbers from 1: JSON lines, one in memory at a time, or one JSON list.

    Raises:
        BadInput: it can't be read; the message gives the record.
    """
    try:
        with path.open("rb") as stream:
            first = stream.read(1)
            while first.isspace():
                first = stream.read(1)
            stream.seek(0)
            yield from (_listed if first == b"[" else _lines)(path, stream)
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def _lines(path: Path, stream: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(byte_lines(path, stream.readline, "record"), 1):
        if not line.strip():
            continue
        try:
            record = from_line(line)
        except BadInput as error:
            raise BadInput(f"{path}, line {number}: {error}") from error
        yield number, record


def _listed(path: Path, stream: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    data = stream.read(MAX_JSON_BYTES + 1)
    if len(data) > MAX_JSON_BYTES:
        raise BadInput(f"{path}: a JSON list of more than 512 MiB; write one record per line")
    try:
        records = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: is neither JSON lines nor a JSON list") from error
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise BadInput(f"{path}, record {number}: is not an object")
        yield number, record


def _exported(plugin: plugins.Plugin, trajectory: Trajectory) -> dict[str, Any]:
    def record(given: Any) -> dict[str, Any]:
        made = given(trajectory)
        if not isinstance(made, Mapping):
            raise TypeError(f"it gives a {type(made).__name__}, not a record")
        return dict(made)

    return plugin.load(record)


def _spoken(dialect: str) -> _Dialect:
    if dialect not in _DIALECTS:
        raise BadInput(
            f"there is no dialect {dialect[:40]!r}; there are: {', '.join((*DIALECTS, *plugins.ids('exporters')))}"
        )
    return _DIALECTS[dialect]
