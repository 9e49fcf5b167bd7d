"""What a person must mend, said by Inspect in one line and without a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from geosleuth.errors import BadInput, UserError


def _kind_without_traceback() -> type[Exception]:
    """What Inspect prints as a plain message. It is no part of Inspect's public names: do without where it is gone."""
    try:
        found: Any = import_module("inspect_ai._util.error").PrerequisiteError
    except (ImportError, AttributeError):
        return Exception
    return found if isinstance(found, type) and issubclass(found, Exception) else Exception


@contextmanager
def in_one_line() -> Iterator[None]:
    """Let Inspect print a `UserError` as the message it is; it stays a `BadInput` for whoever calls from Python."""
    try:
        yield
    except UserError as error:
        plain = _kind_without_traceback()
        refused = type("Refused", (BadInput, plain), {"message": str(error)})
        raise refused(str(error)) from None
