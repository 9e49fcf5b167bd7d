"""``geosleuth team``: several minds on one photo."""

import typer

from geosleuth.app.team_compare import compare, sweep
from geosleuth.app.team_learn import learn, show
from geosleuth.app.team_replay import replay
from geosleuth.app.team_tries import tries

team = typer.Typer(
    help="Teams of agents: learn whom to trust, look at it, and replay known answers.", no_args_is_help=True
)
for _command in (learn, show, compare, sweep, replay, tries):
    team.command()(_command)
