"""``geosleuth doctor``: what is installed here and what is not."""

from typing import Annotated

import typer

from geosleuth.app.cli.options import JsonFlag


def doctor(
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also list the extras for developing geosleuth.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Say what is installed, what is not, and the command that brings it.

    Example: geosleuth doctor
    """
    from geosleuth.app.cli.handlers.doctor import doctor_document, doctor_view, install_lines
    from geosleuth.app.console import show, show_json

    if as_json:
        show_json(doctor_document())
    else:
        show(doctor_view(everything=everything))
        for line in install_lines(everything=everything):
            typer.echo(line)
