"""What ``geosleuth`` can be asked to do.

Modules that do work are imported inside the commands, so that ``--help`` stays fast.
"""

import os
from collections.abc import Sequence
from copy import copy
from typing import Annotated

import typer
from typer.models import TyperInfo

from geosleuth import __version__
from geosleuth.app.atlas import atlas
from geosleuth.app.bench import bench
from geosleuth.app.data import data
from geosleuth.app.data_filter import add_filter
from geosleuth.app.data_store import add_store
from geosleuth.app.dataset import dataset
from geosleuth.app.dataset_make import add_makers
from geosleuth.app.dataset_pictures import add_pictures
from geosleuth.app.locate import locate
from geosleuth.app.mcp import mcp
from geosleuth.app.photo import photo
from geosleuth.app.prior import prior
from geosleuth.app.serve import serve
from geosleuth.app.team import team
from geosleuth.app.tools import tools
from geosleuth.app.train_policy import train
from geosleuth.app.trajectory import trajectory
from geosleuth.app.world_environment import world

app = typer.Typer(
    help="Photo in, place out, with evidence: agents that locate photos, an offline atlas, and a ruler for answers.",
    epilog="Start with: geosleuth locate --help",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(locate)
app.command()(serve)
app.command()(mcp)
app.add_typer(atlas, name="atlas")
app.add_typer(bench, name="bench")
add_store(data)
add_filter(data)
app.add_typer(data, name="data")
add_makers(dataset)
add_pictures(dataset)
app.add_typer(dataset, name="dataset")
app.add_typer(photo, name="photo")
app.add_typer(prior, name="prior")
app.add_typer(team, name="team")
app.add_typer(tools, name="tools")
app.add_typer(train, name="train")
app.add_typer(trajectory, name="trajectory")
app.add_typer(world, name="world")


def app_for(words: Sequence[str]) -> typer.Typer:
    """The commands as far as some words need them: groups that they don't name keep their name and help alone.

    A third of the start-up went into reading the options of a hundred commands that nobody had asked for.
    """
    if "_GEOSLEUTH_COMPLETE" in os.environ:  # a shell that completes words has them elsewhere
        return app
    asked = next((word for word in words if not word.startswith("-")), None)
    slim = copy(app)
    slim.registered_groups = [one if one.name == asked else _closed(one) for one in app.registered_groups]
    return slim


def _closed(group: TyperInfo) -> TyperInfo:
    closed = copy(group)
    closed.typer_instance = copy(group.typer_instance)
    if closed.typer_instance is not None:
        closed.typer_instance.registered_commands = []
        closed.typer_instance.registered_groups = []
    return closed


def _print_version(*, value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _main(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def methods(*, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """List the methods: each paper's way of working, ours, and those of plug-ins.

    Example: geosleuth methods
    """
    from geosleuth.app.methods_work import show_methods

    show_methods(as_json=as_json)


@app.command()
def doctor(*, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Say what is installed, what is not, and the command that brings it.

    Example: geosleuth doctor
    """
    from geosleuth.app.console import show, show_json
    from geosleuth.app.doctor import doctor_document, doctor_view, install_lines

    if as_json:
        show_json(doctor_document())
    else:
        show(doctor_view())
        for line in install_lines():
            typer.echo(line)
