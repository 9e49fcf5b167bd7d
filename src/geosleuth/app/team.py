"""``geosleuth team``: several minds on one photo."""

import typer

team = typer.Typer(
    help="Teams of agents: learn whom to trust, look at it, and replay known answers.", no_args_is_help=True
)


@team.callback()
def _team() -> None:
    pass
