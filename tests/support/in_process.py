"""``geosleuth`` run in this process: what a user would see, without the seconds that a new process takes."""

from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from geosleuth.app.commands import app
from geosleuth.errors import GeosleuthError


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def geosleuth(*words: str | Path) -> Done:
    """Run a command; errors that `geosleuth.app.cli` would put into words are put into the same words."""
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
    if isinstance(result.exception, GeosleuthError):
        return Done(result.exception.exit_code, result.stdout, f"{result.stderr}geosleuth: {result.exception}\n")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)
