"""``geosleuth methods``: the methods that a model can follow."""

from geosleuth.cli.options import JsonFlag


def methods(*, as_json: JsonFlag = False) -> None:
    """List the methods: each paper's way of working, ours, and those of plug-ins.

    Example: geosleuth methods
    """
    from geosleuth.cli.handlers.tools import show_methods

    show_methods(as_json=as_json)
