"""The kinds of values that a tool may take: how each is described to a model, and how a model's value is read as one.

They are few on purpose: text, whole numbers, numbers, yes or no, one of some words, and lists of these. Every model
and every training library can express them.
"""

import json
import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin

_SHOWN = 80
# Beyond this, JSON readers disagree about what a whole number is.
_MAX_EXACT = 2**53 - 1


class UnfitArgument(Exception):
    """A value is not of a kind; the message says what would be, in words that go after "it must be"."""


@dataclass(frozen=True, slots=True)
class Length:
    """Fixes the length of a list."""

    items: int


class ArgumentKind(Protocol):
    """One kind of value."""

    @property
    def requirement(self) -> str:
        """Return the requirement on a value, in words that go after "it must be"."""
        ...

    def schema(self) -> dict[str, Any]:
        """The JSON schema."""
        ...

    def read(self, value: Any) -> Any:
        """The value as one of this kind, where it is plainly meant as one.

        Raises:
            Unfit: it is none.
        """
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    """A single value; ``convert`` returns None for what is none of its kind."""

    json_type: str
    requirement: str
    convert: Callable[[Any], Any]

    def schema(self) -> dict[str, Any]:
        """The JSON schema."""
        return {"type": self.json_type}

    def read(self, value: Any) -> Any:
        """The value."""
        found = self.convert(value)
        if found is None:
            raise UnfitArgument(self.requirement)
        return found


def _parse_text(value: Any) -> str | None:
    """Return a string without characters that UTF-8 can't encode; a number is taken as it is written."""
    if isinstance(value, str):
        return writable(value)
    return None if isinstance(value, bool) or _exact(value) is None else str(value)


def _parse_number(value: Any) -> float | None:
    """Return a finite number; numbers written as text are accepted."""
    found = _exact(value)
    return None if found is None else float(found)


def _parse_whole_number(value: Any) -> int | None:
    """Return a whole number; 5.0 and "5" are accepted."""
    found = _exact(value)
    return None if found is None or found != int(found) else int(found)


def _yes_or_no(value: Any) -> bool | None:
    """Return a boolean; the words are accepted."""
    word = value.strip().lower() if isinstance(value, str) else value
    return True if word in (True, "true") else False if word in (False, "false") else None


TEXT = Plain("string", "a string", _parse_text)
NUMBER = Plain("number", "a number", _parse_number)
WHOLE = Plain("integer", "an integer", _parse_whole_number)
YES_NO = Plain("boolean", "true or false", _yes_or_no)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words, in upper or lower case."""

    words: tuple[str, ...]

    @property
    def requirement(self) -> str:
        """Return the requirement on a value."""
        return f"one of {', '.join(self.words)}"

    def schema(self) -> dict[str, Any]:
        """The JSON schema."""
        return {"type": "string", "enum": list(self.words)}

    def read(self, value: Any) -> str:
        """The word as we spell it."""
        given = value.strip().casefold() if isinstance(value, str) else None
        for word in self.words:
            if word.casefold() == given:
                return word
        raise UnfitArgument(self.requirement)


@dataclass(frozen=True, slots=True)
class Many:
    """A list; one value alone is a list of one, and a list written as text is fine too."""

    item: ArgumentKind
    length: int | None = None

    @property
    def requirement(self) -> str:
        """Return the requirement on a value."""
        count = "" if self.length is None else f"exactly {self.length} "
        item = self.item.requirement
        many = (
            f"items, each {item}"
            if isinstance(self.item, Choice | Many) or self.item == YES_NO
            else f"{item.split()[-1]}s"
        )
        return f"a list of {count}{many}"

    def schema(self) -> dict[str, Any]:
        """The JSON schema. A fixed length is told in words alone: training libraries can't derive the keyword."""
        return {"type": "array", "items": self.item.schema()}

    def read(self, value: Any) -> list[Any]:
        """The items."""
        items = self._items(value)
        if self.length is not None and len(items) != self.length:
            raise UnfitArgument(self.requirement)
        try:
            return [self.item.read(item) for item in items]
        except UnfitArgument as error:
            raise UnfitArgument(self.requirement) from error

    def _items(self, value: Any) -> list[Any]:
        if isinstance(value, str) and value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return [value]
        elif isinstance(value, str) and self.item in (NUMBER, WHOLE):
            return value.split(",")
        return list(value) if isinstance(value, list | tuple) else [value]


@dataclass(frozen=True, slots=True)
class Maybe:
    """Kind of an optional value; null means that it is left out."""

    inner: ArgumentKind

    @property
    def requirement(self) -> str:
        """Return the requirement on a value that is given."""
        return self.inner.requirement

    def schema(self) -> dict[str, Any]:
        """The JSON schema of what is inside; that it may be left out is said by its not being required."""
        return self.inner.schema()

    def read(self, value: Any) -> Any:
        """Return the parsed inner value, or None."""
        return None if value is None else self.inner.read(value)


_PLAIN: dict[Any, ArgumentKind] = {str: TEXT, int: WHOLE, float: NUMBER, bool: YES_NO}


@cache
def find_kind(hint: Any) -> ArgumentKind:
    """Return the kind of value that a type hint stands for.

    Raises:
        TypeError: tools can't take such values.
    """
    compose = _COMPOSED.get(get_origin(hint))
    kind = compose(hint) if compose else _PLAIN.get(hint)
    if kind is None:
        raise TypeError(f"a tool can't take an argument of type {hint!r}")
    return kind


def without_none(hint: Any) -> Any:
    """A type hint without its ``| None``."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    rest = [inner for inner in get_args(hint) if inner is not type(None)]
    return rest[0] if len(rest) == 1 else hint


def writable(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which no file and no wire can hold."""
    return text.encode("utf-8", "replace").decode()


def format_value(value: Any) -> str:
    """Return a model's value in a few words, for a message."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=lambda odd: type(odd).__name__)
    except (ValueError, TypeError, RecursionError):
        return "too deep or too large to show"
    return writable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _maybe(hint: Any) -> ArgumentKind | None:
    inner = without_none(hint)
    return None if inner is hint else Maybe(find_kind(inner))


def _choice(hint: Any) -> ArgumentKind | None:
    words = get_args(hint)
    return Choice(words) if all(isinstance(word, str) for word in words) else None


def _find_fixed_kind(hint: Any) -> ArgumentKind | None:
    inner, *marks = get_args(hint)
    lengths = [mark.items for mark in marks if isinstance(mark, Length)]
    return Many(find_kind(get_args(inner)[0]), lengths[0]) if lengths and get_origin(inner) is list else None


_COMPOSED: dict[Any, Callable[[Any], ArgumentKind | None]] = {
    Union: _maybe,
    types.UnionType: _maybe,
    Literal: _choice,
    Annotated: _find_fixed_kind,
    list: lambda hint: Many(find_kind(get_args(hint)[0])),
}


def _exact(value: Any) -> int | float | None:
    """Return the number that a value is or spells.

    None if it is not finite, or a whole number too large to be exact.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, int):
        return value if abs(value) <= _MAX_EXACT else None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
