"""Libraries that can't be extras of this package, because what they want does not go together with it."""

from importlib import import_module
from typing import Any

from geosleuth.errors import UserError


def needed(module: str, package: str) -> Any:
    """Import a module of such a library.

    Raises:
        UserError: it is not installed; the message is the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise UserError(
            f"this needs {package}, which is not installed; in an environment of its own, run: pip install {package}"
        ) from error
