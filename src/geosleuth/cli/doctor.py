"""``geosleuth doctor``: what is installed here and what is not."""

import typer

from geosleuth.cli.options import JsonFlag


def doctor(*, as_json: JsonFlag = False) -> None:
    """Say what is installed, what is not, and the command that brings it.

    Example: geosleuth doctor
    """
    from geosleuth.cli.handlers.doctor import doctor_document, doctor_view, install_lines
    from geosleuth.support.console import show, show_json

    if as_json:
        show_json(doctor_document())
    else:
        show(doctor_view())
        for line in install_lines():
            typer.echo(line)
