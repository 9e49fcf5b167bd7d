"""``geosleuth methods``: the methods that a model can follow."""

from typing import Annotated

import typer


def methods(*, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """List the methods: each paper's way of working, ours, and those of plug-ins.

    Example: geosleuth methods
    """
    from geosleuth.app.cli.handlers.tools import show_methods

    show_methods(as_json=as_json)
