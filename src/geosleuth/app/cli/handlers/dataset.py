"""What ``dataset list``, ``card``, ``check``, ``stage`` and ``duplicates`` do; imported only when one runs."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table

from geosleuth.app.cli.handlers.atlas import facts_view
from geosleuth.app.cli.handlers.dataset_make import check_outputs
from geosleuth.app.console import CTRL_C, SOME_FAILED, cancelled_by_ctrl_c, progress, show, show_json, talk
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
from geosleuth.bench.sets import Card, DataSet, Description, Fault, cards, describe, open_set, stage
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.geo import threshold_text
from geosleuth.geo.plain import plain
from geosleuth.names import country_name
from geosleuth.text import printable
from geosleuth.text.numbers import count

_COUNTRIES_SHOWN = 15
_FAULTS_SHOWN = 5


def show_list(*, as_json: bool) -> None:
    """Every set that has a name."""
    known, broken = cards()
    for one in broken:
        talk(f"geosleuth: {one}")
    if as_json:
        show_json([plain(card) for card in known.values()])
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "what it is", "photos", "licence"):
        table.add_column(column, overflow="fold", justify="right" if column == "photos" else "left")
    for card in known.values():
        table.add_row(card.name, card.title, _photos(card), card.licence)
    show(table)
    talk("point at what you have downloaded: geosleuth dataset check NAME:PATH; more: geosleuth dataset card NAME")


def show_card(name: str, *, as_json: bool) -> None:
    """What is known of one set."""
    known, _ = cards()
    card = known.get(name.strip().lower()) or known.get(name.strip())
    if card is None:
        raise BadInput(f"no data set is called {name[:40]!r}; there are {', '.join(known)}")
    if as_json:
        show_json(plain(card))
    else:
        show(facts_view(_card_facts(card)))


def check_set(spec: str, *, as_json: bool) -> bool:
    """Say what is on this disk; whether a run could go through it."""
    data = open_set(spec)
    with progress(f"looking at {data.card.name}", data.card.photos) as bar:
        seen = describe(data, bar.advance)
    if as_json:
        show_json(_check_document(seen, data.root))
    else:
        show(_check_view(seen, data.root))
        _tell(seen)
    return seen.is_usable


def stage_set(spec: str, out: Path, *, as_json: bool) -> None:
    """Copy a set so that its photos can be handed on."""
    data = open_set(spec)
    with progress(f"staging {data.card.name}", data.card.photos) as bar:
        done = stage(data, out, progress=lambda _id: bar.advance())
    for line in done.refused[:_FAULTS_SHOWN]:
        talk(f"left out: {printable(line)}")
    if len(done.refused) > _FAULTS_SHOWN:
        talk(f"and {count(len(done.refused) - _FAULTS_SHOWN)} more that can't be opened; --json names them all")
    if as_json:
        show_json(plain(done))
    else:
        show(
            facts_view(
                {
                    "photos": f"{count(done.photos)} in {done.folder}",
                    "written before": count(done.kept) if done.kept else None,
                    "left out": count(len(done.refused)) if done.refused else None,
                    "what is what": f"{done.key} (keep it apart from the photos)",
                }
            )
        )
    if not done.photos:
        raise BadInput(f"{data.root}: no photo of this set can be opened; see geosleuth dataset check {spec}")


def _photos(card: Card) -> str:
    return "–" if card.photos is None else count(card.photos)


def _card_facts(card: Card) -> Mapping[str, Any]:
    return {
        "name": card.name,
        "set": card.title,
        "photos": _photos(card),
        "licence": card.licence,
        "described at": card.home,
        "had from": card.get,
        "layout": card.layout,
        "reported within, km": [threshold_text(km) for km in card.thresholds_km],
        "known faults": "\n".join(card.faults),
        "published rows": None
        if card.published_as is None
        else f"geosleuth bench published --dataset {card.published_as!r}",
        "open it with": f"--data {card.name}:PATH",
    }


def _check_document(seen: Description, root: Path) -> dict[str, Any]:
    return {**plain(seen), "root": str(root), "is_whole": seen.is_whole, "is_usable": seen.is_usable}


def _check_view(seen: Description, root: Path) -> RenderableType:
    there = seen.photos - seen.missing
    against = {
        None: "",
        True: ", as its card says",
        False: f"; its card says {_photos(seen.card)}",
    }[seen.is_whole]
    spread = [f"{country_name(code)} {count(number)}" for code, number in seen.countries.items()]
    more = len(spread) - _COUNTRIES_SHOWN
    if more > 0:
        spread = [*spread[:_COUNTRIES_SHOWN], f"and {count(more)} more"]
    return facts_view(
        {
            "set": seen.card.title,
            "in": str(root),
            "photos": f"{count(there)}{against}",
            "listed but missing": count(seen.missing) if seen.missing else None,
            "rows to mend": count(seen.bad) if seen.bad else None,
            "left out": count(seen.left_out) if seen.left_out else None,
            "ids that repeat": count(seen.repeated) if seen.repeated else None,
            "with boxes": count(seen.boxed) if seen.boxed else None,
            "continents": [f"{name} {count(number)}" for name, number in seen.continents.items()],
            "countries": spread,
            "fields to slice by": [printable(name) for name in seen.fields],
            "known faults": "\n".join(seen.card.faults),
            "licence": seen.card.licence,
        }
    )


def _tell(seen: Description) -> None:
    for what, faults, number in (
        ("to mend", seen.bad_shown, seen.bad),
        ("left out", seen.left_out_shown, seen.left_out),
    ):
        for fault in faults[:_FAULTS_SHOWN]:
            talk(f"{what}: {_fault(fault)}")
        if number > _FAULTS_SHOWN:
            talk(f"{what}: and {count(number - _FAULTS_SHOWN)} more")
    for where in seen.missing_shown[:_FAULTS_SHOWN]:
        talk(f"missing: {printable(where)}")
    if seen.missing > _FAULTS_SHOWN:
        talk(f"missing: and {count(seen.missing - _FAULTS_SHOWN)} more")


def _fault(fault: Fault) -> str:
    return f"{printable(fault.where)}: {printable(fault.reason)}"


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
