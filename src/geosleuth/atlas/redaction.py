"""The one place where keys are taken out of what servers and tools send back.

A server that repeats a request's headers has our key in its reply. Whatever comes back passes `redacted` before anybody
stores, streams or prints it.
"""

import threading
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

T = TypeVar("T")

LEAST_CHARACTERS = 8
"""Shorter keys are words that a reply may hold by chance."""


class Scrubs(Protocol):
    """A key that can be taken out of a text."""

    def scrub(self, text: str) -> str:
        """Return the text without the key."""
        ...


_in_use: "WeakSet[Scrubs]" = WeakSet()
_lock = threading.Lock()


def remember(key: Scrubs, characters: int) -> None:
    """Take a key of so many characters out of everything from now on, for as long as somebody holds it."""
    if characters >= LEAST_CHARACTERS:
        with _lock:
            _in_use.add(key)


def redacted(value: T) -> T:
    """Return a text, or plain values with texts in them, without any key that is in use."""
    with _lock:
        keys = tuple(_in_use)
    return _without(value, keys) if keys else value


def _without(value: Any, keys: tuple[Scrubs, ...]) -> Any:
    match value:
        case str():
            for key in keys:
                value = key.scrub(value)
            return value
        case Mapping():
            return {_without(name, keys): _without(one, keys) for name, one in value.items()}
        case list():
            return [_without(one, keys) for one in value]
        case tuple() if type(value) is tuple:
            return tuple(_without(one, keys) for one in value)
        case _:
            return value
