"""Help texts whose lines end where the terminal does, not where the docstring's lines do."""

from typing import Any


def flow_help(command: Any) -> None:
    """Join the lines of each paragraph of a command's help, and of the help of all commands below it."""
    if command.help:
        command.help = "\n\n".join(_join_lines(paragraph) for paragraph in command.help.split("\n\n"))
    for below in getattr(command, "commands", {}).values():
        flow_help(below)


def _join_lines(paragraph: str) -> str:
    # What is indented or a list keeps its lines.
    lines = paragraph.split("\n")
    return paragraph if any(line.startswith((" ", "-", "\b")) for line in lines) else " ".join(lines)
