"""Small readers for the records of any dialect: what is not there is None, what is wrong is told."""

from collections.abc import Mapping
from typing import Any

from geosleuth.errors import BadInput


def messages_of(record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The messages of a record.

    Raises:
        BadInput: there are none, or they are something else.
    """
    messages = record.get(key)
    if not isinstance(messages, list) or not messages:
        raise BadInput(f"a record of this dialect has a list of {key!r}")
    if not all(isinstance(message, Mapping) for message in messages):
        raise BadInput(f"every entry of {key!r} must be an object")
    return messages


def word(message: Mapping[str, Any], key: str) -> str | None:
    """A text of a message, if it has that.

    Raises:
        BadInput: it is something else.
    """
    value = message.get(key)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"{key!r} must be text")
    return value
