"""What ``data filter`` does once its words are read."""

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from geosleuth.answer import ParserName
from geosleuth.app.console import progress, show, show_json, talk
from geosleuth.bench.numbers import count, percent, threshold
from geosleuth.data.curriculum import PHASES_KM, Phase, curriculum
from geosleuth.data.filtering import PAPER_KEPT, PAPER_PHOTOS, Filtered, filtered, tries_of
from geosleuth.data.filtering_report import file_names, filter_document, write_filtered
from geosleuth.data.filtering_sources import read_tries
from geosleuth.errors import BadInput
from geosleuth.files import refuse_to_replace


def filter_tries(
    runs: Sequence[Path], out: Path, tries: int | None, parser: ParserName, *, overwrite: bool, as_json: bool
) -> None:
    """Read tries, filter, write, tell."""
    refuse_to_replace([out / name for name in file_names(len(PHASES_KM))], overwrite=overwrite)
    with progress("reading tries") as bar:
        found_km = read_tries(runs, parser=parser, progress=lambda photos: bar.at(photos, None))
    table = tries_of(found_km, tries=tries)
    left_out = len(found_km) - len(table)
    if not len(table):
        raise BadInput(f"no photo has {tries} tries; the most is {max(map(len, found_km.values()))}")
    found = filtered(table)
    phases = curriculum(found)
    write_filtered(out, found, phases, left_out)
    if as_json:
        show_json(filter_document(found, phases, left_out))
    else:
        show(_regimes_view(found))
        show(_phases_view(found, phases))
    if left_out:
        talk(f"left out: {count(left_out)} photos with fewer than {tries} tries")
    if found.single_tries:
        talk(f"{count(found.single_tries)} photos were tried only once and can't be kept; give more runs of them")
    talk(f"wrote {out}")


def _regimes_view(found: Filtered) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("within", "kept", "%", "none within", "all within", "SpotAgent kept", "its %"):
        table.add_column(column, justify="right")
    for one in found.regimes:
        theirs = PAPER_KEPT[one.km]
        table.add_row(
            threshold(one.km), count(one.kept), percent(100 * one.kept / one.photos), count(one.never),
            count(one.always), count(theirs), percent(100 * theirs / PAPER_PHOTOS),
        )  # fmt: skip
    return table


def _phases_view(found: Filtered, phases: Sequence[Phase]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("phase", "learns from", "photos", "%"):
        table.add_column(column, justify="left" if column == "learns from" else "right")
    for phase in phases:
        wanted = ", ".join(threshold(km) for km in phase.thresholds_km)
        share = percent(100 * len(phase) / len(found.tries))
        table.add_row(str(phase.number), wanted, count(len(phase)), share)
    return table
