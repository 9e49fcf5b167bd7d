"""What ``geosleuth methods`` shows."""

from rich.box import SIMPLE_HEAD
from rich.table import Table

from geosleuth.agent.methods import METHODS, method
from geosleuth.app.console import show, show_json, talk
from geosleuth.errors import BrokenPlugin


def show_methods(*, as_json: bool) -> None:
    """Every method with its summary and its paper; a plug-in that can't be loaded is told on stderr."""
    rows = []
    for name in METHODS:
        try:
            made = method(name)
        except BrokenPlugin as error:
            talk(f"geosleuth: {error}")
            continue
        rows.append({"name": name, "summary": made.summary, "paper": made.paper, "tools": list(made.tools)})
    if as_json:
        show_json(rows)
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("method", "what it does", "paper"):
        table.add_column(column, overflow="fold", no_wrap=column == "method")
    for row in rows:
        table.add_row(str(row["name"]), str(row["summary"]), str(row["paper"] or ""))
    show(table)
