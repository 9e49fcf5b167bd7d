"""Remove API keys from the replies of servers and tools.

A server that echoes a request's headers repeats the key in its reply. Therefore each reply goes through `redact`
before it is stored, streamed or printed.
"""

import threading
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

T = TypeVar("T")

# Minimum length of redacted keys: shorter ones may occur in a reply by chance.
MIN_CHARACTERS = 8

_keys_in_use: "WeakSet[RedactedKey]" = WeakSet()
_lock = threading.Lock()


class RedactedKey(Protocol):
    """A key that can remove itself from a text."""

    def scrub(self, text: str) -> str:
        """Return the text without the key."""
        ...


def remember(key: RedactedKey, characters: int) -> None:
    """Redact a key from now on, until it is garbage-collected.

    Args:
        key: the key; only a weak reference is kept.
        characters: its length; see `MIN_CHARACTERS`.
    """
    if characters >= MIN_CHARACTERS:
        with _lock:
            _keys_in_use.add(key)


def redact(value: T) -> T:
    """Return a text, or nested lists and mappings of texts, without the keys that are in use."""
    with _lock:
        keys = tuple(_keys_in_use)
    return _without(value, keys) if keys else value


def _without(value: Any, keys: tuple[RedactedKey, ...]) -> Any:
    match value:
        case str():
            for key in keys:
                value = key.scrub(value)
            return value
        case Mapping():
            return {_without(name, keys): _without(one, keys) for name, one in value.items()}
        case list():
            return [_without(item, keys) for item in value]
        case tuple() if type(value) is tuple:
            return tuple(_without(item, keys) for item in value)
        case _:
            return value
