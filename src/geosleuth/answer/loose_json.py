"""Reads the JSON that models write: almost right, in the middle of prose, sometimes cut off.

Forgiven: unquoted or half-quoted strings, single and typographic quotes, trailing and missing commas, line comments,
raw line breaks and unescaped quotes inside strings. An object counts only when its closing brace is there.

Work is bounded: however the text is made, no more than a fixed multiple of its length is looked at, and nesting is
capped, so that arbitrary text costs linear time and never raises.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

JsonValue: TypeAlias = "bool | float | str | list[JsonValue] | dict[str, JsonValue] | None"

_MAX_DEPTH = 40
_EFFORT_PER_CHARACTER = 4
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}
_SPACE = re.compile(r"(?:\s|//[^\n]*|\#[^\n]*)*")
_BARE_KEY = re.compile(r"[^\s\"'“”:={}\[\],][^\"“”:={}\[\],\n]*")
_BARE_VALUE = re.compile(r"[^,{}\[\]\n]*")
_CLOSES_KEY = re.compile(r"\s*[:=]")
_CLOSES_VALUE = re.compile(r"\s*(?:[,}\]]|$)|\s*\n")
_NEXT_LINE_IS_A_KEY = re.compile(r"\n\s*[\"'“]?[A-Za-z_]{1,40}[\"'”]?\s*:")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
# A number ends at the next key's quote too: models forget commas.
_NUMBER_VALUE = re.compile(rf"{_NUMBER.pattern}(?=\s*(?:[,}}\]\"'“]|//|\#|\n))")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A complete object and where in the text it stands."""

    value: dict[str, JsonValue]
    start: int
    end: int


class _GiveUp(Exception):
    """This start is no object; the next one may be."""


class _OutOfEffort(Exception):
    """The text costs more than it can be worth."""


def find_objects(text: str) -> Iterator[FoundObject]:
    """Yield the complete outermost objects of a text, in order."""
    reader = _Reader(text)
    start = text.find("{")
    while start >= 0:
        try:
            value, end = reader.object(start, 0)
        except _GiveUp:
            end = start + 1
        except _OutOfEffort:
            return
        else:
            yield FoundObject(value, start, end)
        start = text.find("{", end)


class _Reader:
    """A recursive-descent reader over one text; every method takes a position and returns value and next position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.effort = _EFFORT_PER_CHARACTER * len(text) + 10_000

    def spend(self, start: int, end: int) -> int:
        self.effort -= end - start + 1
        if self.effort < 0:
            raise _OutOfEffort
        return end

    def skip_space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return self.spend(at, match.end()) if match else at

    def peek(self, at: int) -> str:
        if at >= len(self.text):
            raise _GiveUp
        return self.text[at]

    def object(self, at: int, depth: int) -> tuple[dict[str, JsonValue], int]:
        if depth > _MAX_DEPTH:
            raise _GiveUp
        result: dict[str, JsonValue] = {}
        last_key: str | None = None
        at = self.skip_space(at + 1)
        while (mark := self.peek(at)) != "}":
            if mark == ",":
                at = self.skip_space(at + 1)
                continue
            key, at = self.key(at)
            at = self.skip_space(at)
            if self.peek(at) in ":=":
                value, at = self.value(self.skip_space(at + 1), depth)
                result[key] = value
                last_key = key
            elif last_key is not None and isinstance(tail := result[last_key], str):
                # An unquoted value with a comma in it, "city: San Jose, California", was split there.
                result[last_key] = f"{tail}, {key}"
            else:
                raise _GiveUp
            at = self.skip_space(at)
        return result, at + 1

    def array(self, at: int, depth: int) -> tuple[list[JsonValue], int]:
        if depth > _MAX_DEPTH:
            raise _GiveUp
        result: list[JsonValue] = []
        at = self.skip_space(at + 1)
        while (mark := self.peek(at)) != "]":
            if mark == "}":
                raise _GiveUp
            if mark == ",":
                at = self.skip_space(at + 1)
                continue
            value, at = self.value(at, depth)
            result.append(value)
            at = self.skip_space(at)
        return result, at + 1

    def key(self, at: int) -> tuple[str, int]:
        if self.text[at] in _QUOTES:
            return self.string(at, _CLOSES_KEY)
        match = _BARE_KEY.match(self.text, at)
        if match is None:
            raise _GiveUp
        return match.group().strip(), self.spend(at, match.end())

    def value(self, at: int, depth: int) -> tuple[JsonValue, int]:
        mark = self.peek(at)
        if mark == "{":
            return self.object(at, depth + 1)
        if mark == "[":
            return self.array(at, depth + 1)
        if mark in _QUOTES:
            return self.unclosed_line(at) or self.string(at, _CLOSES_VALUE)
        match = _NUMBER_VALUE.match(self.text, at) or _BARE_VALUE.match(self.text, at)
        if match is None or not match.group():
            # "key:," and "key:}" say nothing; the caller goes on at the mark itself.
            return None, at
        return _bare(match.group()), self.spend(at, match.end())

    def unclosed_line(self, at: int) -> tuple[str, int] | None:
        """A string whose closing quote was forgotten ends with its line, if the next line starts a new key."""
        end = self.text.find("\n", at)
        if end < 0 or _NEXT_LINE_IS_A_KEY.match(self.text, end) is None:
            return None
        content = self.text[at + 1 : self.spend(at, end)].rstrip().removesuffix(",")
        return None if _QUOTES[self.text[at]] in content else (_unescape(content), end)

    def string(self, at: int, closes: re.Pattern[str]) -> tuple[str, int]:
        """A quoted string ends at the first quote of its kind that is followed as a key or a value must be."""
        closing = _QUOTES[self.text[at]]
        end = at + 1
        while True:
            end = self._next_quote(end, closing)
            if closes.match(self.text, end + 1):
                return _unescape(self.text[at + 1 : end]), end + 1
            end += 1

    def _next_quote(self, at: int, closing: str) -> int:
        while True:
            end = self.text.find(closing, at)
            if end < 0:
                self.spend(at, len(self.text))
                raise _GiveUp
            self.spend(at, end)
            before = self.text[at:end]
            if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
                return end
            at = end + 1


def _unescape(raw: str) -> str:
    try:
        decoded = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return raw.replace('\\"', '"').replace("\\n", "\n")
    return decoded if isinstance(decoded, str) else raw


def _bare(raw: str) -> JsonValue:
    word = raw.strip()
    if word.casefold() in _WORDS:
        return _WORDS[word.casefold()]
    if _NUMBER.fullmatch(word):
        return float(word)
    return word.strip("\"'“”‘’` ")
