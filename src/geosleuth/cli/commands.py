"""The commands of ``geosleuth``: each is a module of this package, loaded when it is asked for.

What ``--help`` lists stands here, because loading a hundred commands for their first lines took most of the start-up.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from geosleuth import __version__

from .options import Commands
from .plain_values import PlainGroup

# Top-level commands and the first paragraph of their help.
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
# Command groups and their help.
GROUPS: Mapping[str, str] = {
    "atlas": "Ask the atlas: places, addresses, features, facts, maps. Offline unless --via names a service.",
    "clues": "Weigh what you see on a street, learn what tells countries apart, find where the camera stood. Offline.",
    "photo": "Look at a photo: what its metadata claims, what is written in it, which of your own photos look like it.",
    "prior": "Learn from your own photos what places look like: a prior for photos without any text.",
    "tools": "The tools that an agent may call: list them, describe them, run one by hand. Offline.",
    "trajectory": "Recorded runs: read one, replay it, export it for training or other programs, import it again. "
    "Offline.",
}


@dataclass(frozen=True, slots=True)
class CommandPanel:
    """Groups of commands that a package adds under the entry point ``geosleuth.commands``.

    Attributes:
        title: the heading above them in ``geosleuth --help``.
        groups: the help of each group by its name.
        package: the package that has a module for each group, with the group's Typer app under the same name.
    """

    title: str
    groups: Mapping[str, str]
    package: str


def build_app_for_words(words: Sequence[str]) -> typer.Typer:
    """Return the commands as far as some words need them: what they don't name has its name and help alone."""
    if "_GEOSLEUTH_COMPLETE" in os.environ:  # a shell that completes words has them elsewhere
        return whole_app()
    return _build_commands(next((word for word in words if not word.startswith("-")), ""))


@cache
def whole_app() -> typer.Typer:
    """Return all commands, loaded."""
    return _build_commands(None)


def _build_commands(asked: str | None) -> typer.Typer:
    app = Commands(
        cls=PlainGroup,
        help="Photo in, place out, with evidence: agents that locate photos, an offline atlas, and a benchmark "
        "for answers.",
        epilog="Start with: geosleuth locate --help",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_main)
    for name, words in COMMANDS.items():
        if asked in (None, name):
            app.command(name)(_import_attribute(__package__, name))
        else:
            app.command(name, help=words)(_not_loaded)
    for name, words in GROUPS.items():
        app.add_typer(_group(__package__, name, asked), name=name, help=words)
    # Looking through all installed packages takes longer than most commands: only where their commands may be meant.
    if asked not in COMMANDS and asked not in GROUPS:
        for panel in _panels():
            for name, words in panel.groups.items():
                app.add_typer(_group(panel.package, name, asked), name=name, help=words, rich_help_panel=panel.title)
    return app


def _panels() -> Iterator[CommandPanel]:
    from geosleuth.support.console import talk
    from geosleuth.support.errors import BrokenPlugin
    from geosleuth.support.plugins import each

    for _, panel in each("commands", _require_panel):
        if isinstance(panel, BrokenPlugin):
            talk(f"geosleuth: {panel}")
        else:
            yield panel


def _require_panel(panel: Any) -> CommandPanel:
    if not isinstance(panel, CommandPanel):
        raise TypeError("it is not a CommandPanel")
    return panel


def _group(package: str, name: str, asked: str | None) -> typer.Typer:
    return _import_attribute(package, name) if asked in (None, name) else typer.Typer(no_args_is_help=True)


def _import_attribute(package: str, name: str) -> Any:
    return getattr(import_module(f"{package}.{name}"), name)


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
