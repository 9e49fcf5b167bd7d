#!/usr/bin/env python3
"""Write docs/reference/commands.md: every command and option, from the program itself.

With --check nothing is written; exit code 1 says that the file is out of date.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from geosleuth.cli.commands import whole_app

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "commands.md"
HEAD = """# Commands and options

`scripts/build_reference.py` writes this page from the program: don't edit it.
`geosleuth COMMAND --help` shows the same with examples.
"""


# Typer brings a Click of its own, whose classes have no public name.
def walk_commands(command: Any, words: str) -> Iterator[tuple[str, Any]]:
    """Yield every command below a group with its full name."""
    if hasattr(command, "list_commands"):
        context = command.context_class(command)
        for name in command.list_commands(context):
            if (found := command.get_command(context, name)) is not None and not found.hidden:
                yield from walk_commands(found, f"{words} {name}")
    else:
        yield words, command


def plain(text: str | None) -> str:
    """Return a help text as one line for a table's cell."""
    return " ".join((text or "").replace("\b", "").split()).replace("|", "\\|").replace("<", "&lt;")


def describe_parameters(command: Any) -> Iterator[str]:
    """Yield the rows of a command's table: arguments first, then options."""
    for parameter in command.params:
        if parameter.name == "help":
            continue
        if parameter.param_type_name == "argument":
            name = (parameter.metavar or parameter.name).upper()
        else:
            name = ", ".join([*parameter.opts, *parameter.secondary_opts])
        yield f"| `{name}` | {plain(getattr(parameter, 'help', ''))} |"


def build_page() -> str:
    """Return the page."""
    parts = [HEAD]
    for words, command in walk_commands(typer.main.get_command(whole_app()), "geosleuth"):
        summary = plain((command.help or "").split("\n\n")[0])
        rows = list(describe_parameters(command))
        table = ["", "| | |", "| --- | --- |", *rows] if rows else []
        parts.append("\n".join([f"## {words}", "", summary, *table, ""]))
    return "\n".join(parts)


def main() -> int:
    """Write the page, or check it."""
    page = build_page()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(page, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != page:
        print(f"{TARGET.name} is out of date; run scripts/build_reference.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
