"""``geosleuth`` run in this process: what a user would see, without the seconds that a new process takes."""

import io
import os
import sys
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner

from geosleuth.cli.commands import whole_app
from geosleuth.support.errors import GeosleuthError


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def geosleuth(*words: str | Path) -> Done:
    """Run a command; errors that `geosleuth.cli` would put into words are put into the same words."""
    result = CliRunner().invoke(whole_app(), [str(word) for word in words], env={"COLUMNS": "200"})
    if isinstance(result.exception, GeosleuthError):
        return Done(result.exception.exit_code, result.stdout, f"{result.stderr}geosleuth: {result.exception}\n")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def parsed(words: list[str]) -> dict[str, Any]:
    """Return what a command takes its words for; whatever it does not know raises."""
    command: Any = get_command(whole_app())
    context = None
    while True:
        context = command.make_context(words[0] if words else "geosleuth", list(words), parent=context)
        if not hasattr(command, "resolve_command"):
            return dict(context.params)
        _, command, words = command.resolve_command(context, [*context._protected_args, *context.args])


def whole_command(*words: object, cwd: Path | None = None, **variables: str) -> Done:
    """Run the command from its beginning to its end: everything is the same but the process itself."""
    from geosleuth.cli import entry

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True) for _ in range(2))
    code: object = 0
    with (
        patch.object(sys, "argv", ["geosleuth", *(str(word) for word in words)]),
        patch.object(sys, "stdin", io.StringIO()),
        # The test's own Ctrl-C stays as it is.
        patch.object(entry, "_stop_quietly_on_ctrl_c"),
        patch.dict(os.environ, {"NO_COLOR": "1", "COLUMNS": "80", **variables}),
        chdir(cwd) if cwd is not None else nullcontext(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            entry.main()
        except SystemExit as ending:
            code = ending.code
    assert isinstance(code, int | None)
    return Done(code or 0, *(stream.buffer.getvalue().decode() for stream in (out, err)))
