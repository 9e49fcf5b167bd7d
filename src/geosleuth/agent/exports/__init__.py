"""Trajectories in the dialects that trainers and other programs read: `export` makes a record of a trajectory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from geosleuth.agent.codec import from_line, to_line
from geosleuth.agent.conversation import split_stretches
from geosleuth.agent.method import Context
from geosleuth.agent.trajectory import Trajectory
from geosleuth.support import plugins
from geosleuth.support.errors import BadInput
from geosleuth.tools import Tool

from . import ms_swift, openai, sharegpt, tagged, trl
from .dialect import Talk, build_items, build_talk, image_path, list_offered_tools, write_images

__all__ = [
    "DIALECTS",
    "Dialect",
    "build_records",
    "export",
    "image_path",
    "record_line",
    "write_images",
]

Dialect = Literal["openai", "tagged", "sharegpt", "trl", "ms-swift"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
Writer = Callable[[Talk, Sequence[Tool], str], dict[str, Any]]
_WRITERS: Mapping[str, Writer] = {
    openai.NAME: openai.write,
    tagged.NAME: tagged.write,
    sharegpt.NAME: sharegpt.write,
    trl.NAME: trl.write,
    ms_swift.NAME: ms_swift.write,
}


def export(trajectory: Trajectory, dialect: str, *, tools: Iterable[Tool] | None = None) -> dict[str, Any]:
    """Return the record of a trajectory.

    Args:
        trajectory: the whole run; nothing is left out, even if the policy was shown only part of it.
        dialect: one of `DIALECTS`, or ``PACKAGE:NAME`` of another package.
        tools: where the tools of the run are described; left out, all tools there are.

    Raises:
        BadInput: there is no such dialect.
        BrokenPlugin: it is of another package, which can't be loaded or fails.
    """
    plugin = plugins.find("exporters", dialect)
    if plugin is not None:
        return _export_with_plugin(plugin, trajectory)
    record = _writer(dialect)(build_talk(trajectory), list_offered_tools(trajectory.started, tools), trajectory.id)
    return from_line(to_line(record))


def build_records(trajectory: Trajectory, context: Context, dialect: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield records of a run just as its policy was shown it.

    There is one, unless something was taken out of sight on the way: then each begins anew from what was left. With
    each comes how many of its first replies belong to those before it.

    Raises:
        BadInput: there is no such dialect.
    """
    write = _writer(dialect)
    whole = build_talk(trajectory)
    tools = list_offered_tools(trajectory.started)
    for messages, history in split_stretches(trajectory.events, context):
        record = write(replace(whole, items=build_items(messages)), tools, trajectory.id)
        yield from_line(to_line(record)), history


def record_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of a JSONL file."""
    return to_line(record)


def _export_with_plugin(plugin: plugins.Plugin, trajectory: Trajectory) -> dict[str, Any]:
    def record(given: Any) -> dict[str, Any]:
        made = given(trajectory)
        if not isinstance(made, Mapping):
            raise TypeError(f"it gives a {type(made).__name__}, not a record")
        return dict(made)

    return plugin.load(record)


def _writer(dialect: str) -> Writer:
    if dialect not in _WRITERS:
        raise BadInput(
            f"there is no dialect {dialect[:40]!r}; there are: {', '.join((*DIALECTS, *plugins.ids('exporters')))}"
        )
    return _WRITERS[dialect]
