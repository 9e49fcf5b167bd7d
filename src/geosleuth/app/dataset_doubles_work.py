"""What ``dataset duplicates`` does once its words are read; imported only when it runs."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from geosleuth.app.console import CTRL_C, SOME_FAILED, cancelled_by_ctrl_c, progress, show, show_json, talk
from geosleuth.app.dataset_make_work import check_outputs
from geosleuth.bench.makers.duplicates import (
    NO_PRINT,
    Pair,
    first_of_each,
    groups_of,
    pairs_across,
    pairs_within,
    prints,
)
from geosleuth.bench.makers.memory import Memory, open_memory
from geosleuth.bench.makers.rating import each, printing
from geosleuth.bench.makers.tables import field_names, writing_table, written_rows
from geosleuth.bench.sets import DataSet, open_set
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically

_JOBS = 2
_TOLD_FAILURES = 5


def find_duplicates(
    spec: str,
    against: str | None,
    *,
    bits: int,
    out: Path | None,
    kept: Path | None,
    jobs: int | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Take the print of every photo, and tell which are alike.

    Raises:
        UserError: something must be mended.
        typer.Exit: it was stopped, or some photos could not be opened.
    """
    check_outputs([out, kept], [spec, *([against] if against else [])], overwrite=overwrite)
    if out is not None and out.suffix.lower() != ".csv":
        raise BadInput(f"{out}: pairs are written as .csv")
    data, other = open_set(spec), open_set(against) if against else None
    try:
        ours, theirs = asyncio.run(_print_all(data, other, jobs or _JOBS))
    except asyncio.CancelledError:
        talk("stopped; the prints taken are kept, and the same command goes on")
        raise typer.Exit(CTRL_C) from None
    pairs, groups, stays = _alike(ours, theirs, bits)
    if out is not None:
        write_text_atomically(out, _pair_rows(pairs, ours, theirs or ours))
        talk(f"wrote {out}")
    if kept is not None:
        _write_kept(kept, data, stays)
        talk(f"wrote {kept}")
    failed = ours.failed + (theirs.failed if theirs else 0)
    document = {
        "photos": len(ours.ids), "against": len(theirs.ids) if theirs else None, "pairs": len(pairs),
        "groups": groups, "doubles": stays.count(False), "not_opened": failed, "bits": bits,
    }  # fmt: skip
    if as_json:
        show_json(document)
    else:
        table = Table("what", "count", box=SIMPLE_HEAD)
        for name, value in document.items():
            if value is not None:
                table.add_row(name.replace("_", " "), str(value))
        show(table)
    if failed:
        raise typer.Exit(SOME_FAILED)


@dataclass(slots=True)
class _Prints:
    """The ids and prints of a set in its order; a photo that can't be opened has none."""

    ids: list[str] = field(default_factory=list)
    prints: list[bytes] = field(default_factory=list)
    failed: int = 0


def _alike(ours: _Prints, theirs: _Prints | None, bits: int) -> tuple[list[Pair], int | None, list[bool]]:
    """The pairs, how many groups they make within one set, and which photos stay."""
    count = len(ours.ids)
    if theirs is None:
        pairs = pairs_within(prints(ours.prints), most_bits=bits)
        groups = groups_of(count, pairs)
        return pairs, len(groups), first_of_each(count, groups)
    pairs = pairs_across(prints(ours.prints), prints(theirs.prints), most_bits=bits)
    found = {pair.first for pair in pairs}
    return pairs, None, [number not in found for number in range(count)]


def _pair_rows(pairs: Sequence[Pair], ours: _Prints, theirs: _Prints) -> str:
    rows = ((ours.ids[one.first], theirs.ids[one.second], one.bits) for one in pairs)
    return written_rows(("id", "like", "bits"), rows)


def _write_kept(path: Path, data: DataSet, stays: Sequence[bool]) -> None:
    with writing_table(path, field_names(data)) as write:
        for stay, item in zip(stays, data, strict=True):
            if stay:
                write(item)


async def _print_all(data: DataSet, other: DataSet | None, jobs: int) -> tuple[_Prints, _Prints | None]:
    with cancelled_by_ctrl_c(), open_memory() as memory:
        ours = await _printed(data, memory, jobs)
        return ours, None if other is None else await _printed(other, memory, jobs)


async def _printed(data: DataSet, memory: Memory, jobs: int) -> _Prints:
    found = _Prints()
    with progress("taking prints", sum(1 for _ in data)) as bar:
        async with aclosing(each(data, printing(memory), at_once=jobs)) as all_seen:
            async for seen in all_seen:
                found.ids.append(seen.item.id)
                found.prints.append(seen.found or NO_PRINT)
                if seen.found is None:
                    found.failed += 1
                    if found.failed <= _TOLD_FAILURES:
                        talk(f"left out: {seen.trouble}")
                bar.advance()
    return found
