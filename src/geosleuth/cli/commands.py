"""The commands of ``geosleuth``: each is a module of this package, loaded when it is asked for.

What ``--help`` lists stands here, because loading a hundred commands for their first lines took most of the start-up.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from geosleuth import __version__

from .plain_values import PlainGroup

COMMANDS: Mapping[str, str] = {
    "locate": "Find out where a photo was taken. The result is a lead with its uncertainty, not a verdict.",
    "setup": "Find models within reach, try one on an example photo, and make it the default.",
    "serve": "Serve the page and the HTTP API on this machine, until Ctrl-C.",
    "review": "Review the findings of a batch on the page: confirm, correct or reject them, singly or many at once.",
    "wipe": "Delete all cases of the page from this disk: photos, runs, notes.",
    "mcp": "Serve the tools over the Model Context Protocol: every tool, open_photo for handles, and locate as one.",
    "verify": "Check an evidence package: every byte of it, and with the photo what its tools answered. Offline.",
    "sun": "Say where on Earth a shadow can be, or whether and when it fits a place. Offline.",
    "methods": "List the methods: each paper's way of working, ours, and those of plug-ins.",
    "doctor": "Say what is installed, what is not, and the command that brings it.",
}
"""Single commands, and the first paragraph of their help."""

GROUPS: Mapping[str, str] = {
    "atlas": "Ask the atlas: places, addresses, features, facts, maps. Offline unless --via names a service.",
    "bench": "Make answers and measure them: run, report, score, compare, and the papers' own rows.",
    "clues": "Weigh what you see on a street, learn what tells countries apart, find where the camera stood. Offline.",
    "dataset": "Data sets on this disk: what is known of each, what is really there, copies to hand on; "
    "and making them.",
    "photo": "Look at a photo: what its metadata claims, what is written in it, which of your own photos look like it.",
    "prior": "Learn from your own photos what places look like: a prior for photos without any text.",
    "team": "Teams of agents: learn whom to trust, look at it, and replay known answers.",
    "tools": "The tools that an agent may call: list them, describe them, run one by hand. Offline.",
    "traces": "Trajectories to learn from: make them from scenes or people's notes, keep them, hand them to trainers.",
    "train": "Train policies that look, search and answer: recipes, the stages that run them, and what came of it.",
    "trajectory": "Recorded runs: read one, replay it, export it for training or other programs, import it again. "
    "Offline.",
    "world": "Drawn street scenes in real towns, with their truth: make many, look at one, put some on a sheet.",
}
"""Groups of commands, and their help."""


def app_for(words: Sequence[str]) -> typer.Typer:
    """Return the commands as far as some words need them: what they don't name has its name and help alone."""
    if "_GEOSLEUTH_COMPLETE" in os.environ:  # a shell that completes words has them elsewhere
        return whole_app()
    return _made(next((word for word in words if not word.startswith("-")), ""))


@cache
def whole_app() -> typer.Typer:
    """Return all commands, loaded."""
    return _made(None)


def _made(asked: str | None) -> typer.Typer:
    app = typer.Typer(
        cls=PlainGroup,
        help="Photo in, place out, with evidence: agents that locate photos, an offline atlas, and a benchmark "
        "for answers.",
        epilog="Start with: geosleuth locate --help",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_main)
    for name, words in COMMANDS.items():
        if asked in (None, name):
            app.command(name)(_loaded(name))
        else:
            app.command(name, help=words)(_not_loaded)
    for name, words in GROUPS.items():
        group = _loaded(name) if asked in (None, name) else typer.Typer(no_args_is_help=True)
        app.add_typer(group, name=name, help=words)
    return app


def _loaded(name: str) -> Any:
    return getattr(import_module(f"geosleuth.cli.{name}"), name)


def _not_loaded() -> None:
    """Stand in for a command that was not asked for."""


def _print_version(*, value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


def _main(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
