"""What ``train show`` and ``train chart`` do once their words are read."""

import time
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from geosleuth.app.console import show, show_json, talk
from geosleuth.bench.numbers import count
from geosleuth.bench.plain import one_line
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.train.curves import chart_alone
from geosleuth.train.curves_reading import read_chart
from geosleuth.train.page import headlines, write_page
from geosleuth.train.reviewing import Change, Reviewed, changes, read_run, review_document


def show_run(folder: Path, *, watch: float | None, as_json: bool) -> None:
    """Read, tell, draw; again and again where somebody watches.

    Raises:
        BadInput: there is no run, or several documents would end up on stdout.
    """
    if as_json and watch is not None:
        raise BadInput("--json prints one document, and --watch would print many; leave one of them out")
    while True:
        run = read_run(folder)
        page = write_page(folder)
        if as_json:
            show_json(review_document(run))
        else:
            show(_view(run))
        talk(f"wrote {page}")
        if watch is None or run.done is not None:
            return
        time.sleep(watch)


def draw_chart(source: Path, out: Path) -> None:
    """From JSON to SVG."""
    write_text_atomically(out, chart_alone(read_chart(source)))
    talk(f"wrote {out}")


def _view(run: Reviewed) -> Group:
    moved = changes(run)
    said = [Text(one_line(f"{run.name} ({run.stage})"), style="bold"), *(Text(line) for line in headlines(run, moved))]
    return Group(*said, *([_table(moved)] if moved else []))


def _table(moved: dict[str, Change]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("figure")
    for column in ("first tenth", "last tenth", "steps"):
        table.add_column(column, justify="right")
    for name, one in moved.items():
        table.add_row(one_line(name), f"{one.first:,.5g}", f"{one.last:,.5g}", count(one.steps))
    return table
