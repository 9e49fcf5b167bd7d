"""Words of the command line that are taken as they stand.

Typer builds a validator of pydantic for every option, given or not, and so imports pydantic: a tenth of a second of
each command. Options that were not given, and words that stay words, need none.
"""

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

from .help_text import flow_help


class PlainGroup(TyperGroup):
    """Commands whose options go through Typer's validators only where there is something to validate."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a command; by then Typer has added its own options, too."""
        _spare({"": self}, ctx)
        flow_help(self)
        return super().parse_args(ctx, args)


def _spare(commands: Mapping[str, Any], ctx: Any) -> None:
    for command in commands.values():
        for option in command.get_params(ctx):
            # Versions of Typer before 0.29 have no validators to spare.
            if hasattr(option, "get_runtime_param") and "get_runtime_param" not in vars(option):
                vars(option)["get_runtime_param"] = _Plain(option, option.get_runtime_param).itself
        _spare(getattr(command, "commands", {}), ctx)


class _Plain:
    """Value of an option: as it stands, or as Typer converts it."""

    def __init__(self, option: Any, full: Any) -> None:
        self._option = option
        self._full = full

    def itself(self) -> "_Plain":
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of an option, as Typer would."""
        kind, many = self._option.type_descriptor.annotation, param.multiple or param.nargs == -1
        if value is None:
            return () if many else None
        if many and kind == list[str] and isinstance(value, list | tuple) and all(type(item) is str for item in value):
            return list(value)
        if not many and (kind is str or value is self._option.default) and type(value) is kind:
            return value
        return self._full().coerce(value, param=param, ctx=ctx)
