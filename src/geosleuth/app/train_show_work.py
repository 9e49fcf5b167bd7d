"""What ``train show`` and ``train chart`` do once their words are read."""

import time
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from geosleuth.app.console import show, show_json, talk
from geosleuth.app.train_ends import plain_ends
from geosleuth.bench.numbers import count
from geosleuth.bench.plain import one_line
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.train.curves import chart_alone, in_words, names_of
from geosleuth.train.curves_reading import read_chart
from geosleuth.train.page import headlines, write_page
from geosleuth.train.reviewing import Change, Reviewed, changes, nobody_trains, read_run, review_document

_AGAIN = "give the same command again"


def show_run(folder: Path, *, watch: float | None, as_json: bool) -> None:
    """Read, tell, draw; again and again where somebody watches.

    Raises:
        BadInput: there is no run, or several documents would end up on stdout.
    """
    if as_json and watch is not None:
        raise BadInput("--json prints one document, and --watch would print many; leave one of them out")
    while True:
        run = read_run(folder)
        with plain_ends(folder, again=_AGAIN):
            page = write_page(folder)
        if as_json:
            show_json(review_document(run))
        else:
            show(_view(run))
        talk(f"wrote {page}")
        if watch is None or run.done is not None:
            return
        if nobody_trains(folder):
            talk(
                f"{folder}: nobody trains here; the run stopped after step {run.step}, and its command goes on with it"
            )
            return
        time.sleep(watch)


def draw_chart(source: Path, out: Path, *, as_json: bool) -> None:
    """From JSON to SVG.

    Raises:
        BadInput: the source is no chart, or the picture would be none.
    """
    if out.suffix.lower() != ".svg":
        raise BadInput(f"{out}: charts are drawn as SVG; give a name that ends in .svg")
    chart = read_chart(source)
    with plain_ends(out, again=_AGAIN):
        write_text_atomically(out, chart_alone(chart))
    if as_json:
        show_json({"picture": str(out), "title": chart.title, "names": list(names_of(chart)), "words": in_words(chart)})
    talk(f"wrote {out}")


def _view(run: Reviewed) -> Group:
    moved = changes(run)
    said = [Text(one_line(f"{run.name} ({run.stage})"), style="bold"), *(Text(line) for line in headlines(run, moved))]
    return Group(*said, *([_table(moved)] if moved else []))


def _table(moved: dict[str, Change]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("figure", overflow="fold")
    for column in ("first tenth", "last tenth", "steps"):
        table.add_column(column, justify="right")
    for name, one in moved.items():
        table.add_row(one_line(name), f"{one.first:,.5g}", f"{one.last:,.5g}", count(one.steps))
    return table
