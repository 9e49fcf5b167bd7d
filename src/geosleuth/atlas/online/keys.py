"""Keys of services: read from the environment, shown to nobody."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from geosleuth.atlas.redaction import remember
from geosleuth.errors import BadInput

HIDDEN = "[key]"


class Secret:
    """A key that its own text form does not give away; ``reveal`` is for the wire alone."""

    __slots__ = ("__weakref__", "_spellings", "_value", "variable")

    def __init__(self, value: str, variable: str) -> None:
        """Keep a value and the name of the variable it came from."""
        self._value = value
        # Each character as it is, as an address writes it, or as JSON may.
        ways = (rf"(?:\\?{re.escape(one)}|%{ord(one):02x}|\\u{ord(one):04x})" for one in value)
        self._spellings = re.compile("".join(ways), re.IGNORECASE)
        self.variable = variable
        remember(self, len(value))

    def __repr__(self) -> str:
        return f"Secret({self.variable})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written anywhere")

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    def scrub(self, text: str) -> str:
        """The text without the key, in any of the spellings a service may send it back in."""
        return self._spellings.sub(HIDDEN, text)

    def is_in(self, body: bytes) -> bool:
        """Whether a service sent the key back."""
        return bool(self._spellings.search(body.decode("latin-1")))


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request carries besides what it asks: put on the wire last, and never part of an address or a record."""

    params: Mapping[str, Secret] = field(default_factory=dict)
    headers: Mapping[str, Secret] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """All of them."""
        return (*self.params.values(), *self.headers.values())

    def scrub(self, text: str) -> str:
        """The text without any of the keys."""
        for secret in self.secrets:
            text = secret.scrub(text)
        return text


def key_from_environment(variable: str, service: str) -> Secret:
    """The key in an environment variable.

    Raises:
        BadInput: it is not set, or holds what no key is made of.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise BadInput(f"{service} needs a key: set the environment variable {variable}")
    if not (value.isascii() and value.isprintable() and " " not in value and 6 <= len(value) <= 500):
        raise BadInput(f"the environment variable {variable} does not hold a key for {service}")
    return Secret(value, variable)
