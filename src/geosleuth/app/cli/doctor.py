"""``geosleuth doctor``: what is installed here and what is not."""

from typing import Annotated

import typer


def doctor(*, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Say what is installed, what is not, and the command that brings it.

    Example: geosleuth doctor
    """
    from geosleuth.app.cli.handlers.doctor import doctor_document, doctor_view, install_lines
    from geosleuth.app.console import show, show_json

    if as_json:
        show_json(doctor_document())
    else:
        show(doctor_view())
        for line in install_lines():
            typer.echo(line)
