"""Strict YAML: plain mappings, lists and values, each with its line number.

Other YAML features are refused, see `support.files.plain_yaml`. Every error is one line with the file and the line
number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any

from geosleuth.support.errors import BadInput
from geosleuth.support.files import plain_yaml, yaml_complaint

_TAG = "tag:yaml.org,2002:"
_KINDS = {"str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "null": "nothing"}


@dataclass(frozen=True, slots=True)
class YamlValue:
    """A value of the file, with its name and position."""

    node: Any
    path: Path
    name: str

    def complain(self, trouble: str) -> BadInput:
        """Return an error about this value."""
        return yaml_complaint(self.path, self.node, f"{self.name} {trouble}")

    def fields(self, known: Sequence[str], required: Sequence[str] = ()) -> dict[str, "YamlValue"]:
        """Return the entries of a mapping; empty ones are left out.

        Raises:
            BadInput: it is not a mapping, or an entry is unknown, duplicated or missing.
        """
        if self.node.id != "mapping":
            raise self.complain(f"must be a mapping with {', '.join(known)}, not {self._kind_name}")
        found: dict[str, YamlValue] = {}
        for key, node in self.node.value:
            word = str(key.value) if key.id == "scalar" else ""
            if word not in known:
                raise yaml_complaint(
                    self.path, key, f"{self.name} has no setting {_quote_word(word)}; {_nearest(word, known)}"
                )
            if word in found:
                raise yaml_complaint(self.path, key, f"{self.name} has {word} twice; leave one out")
            found[word] = YamlValue(node, self.path, word)
        given = {word: value for word, value in found.items() if not value.empty}
        if missing := [word for word in required if word not in given]:
            raise self.complain(f"lacks {missing[0]}")
        return given

    def items(self, most: int) -> list["YamlValue"]:
        """Return the entries of a list."""
        if self.node.id != "sequence":
            raise self.complain(f"must be a list, not {self._kind_name}")
        if len(self.node.value) > most:
            raise self.complain(f"has {len(self.node.value):,} entries; at most {most} are possible")
        return [YamlValue(node, self.path, f"{self.name}, entry {at}") for at, node in enumerate(self.node.value, 1)]

    @property
    def empty(self) -> bool:
        """Return whether the value is empty."""
        return bool(self.node.tag == f"{_TAG}null")

    def text(self, most: int = 200) -> str:
        """Return a text; numbers count as written."""
        if self.node.id != "scalar" or self.empty:
            raise self.complain(f"must be a text, not {self._kind_name}")
        words = str(self.node.value).strip()
        if not words or len(words) > most:
            raise self.complain("is empty" if not words else f"is longer than {most:,} characters")
        return words

    def number(self, low: float = 0.0, high: float = float("inf"), *, above: bool = False) -> float:
        """Return a number from ``low`` to ``high``; with ``above``, more than ``low``."""
        if self.node.tag not in (f"{_TAG}int", f"{_TAG}float"):
            raise self.complain(f"must be a number, not {self._kind_name}")
        try:
            value = float(str(self.node.value).replace("_", ""))
        except ValueError as error:
            raise self.complain(f"must be a plain number, not {_quote_word(self.node.value)}") from error
        if not isfinite(value) or not low <= value <= high or (above and value == low):
            upper = "" if high == float("inf") else f" and at most {high:g}"
            raise self.complain(f"must be {'above' if above else 'at least'} {low:g}{upper}, not {self.node.value}")
        return value

    def whole(self, low: int = 0, high: int = 10**9) -> int:
        """Return a whole number from ``low`` to ``high``."""
        if self.node.tag != f"{_TAG}int":
            raise self.complain(f"must be a whole number, not {self._kind_name}")
        return int(self.number(low, high))

    def truth(self) -> bool:
        """Return true or false."""
        if self.node.tag != f"{_TAG}bool":
            raise self.complain(f"must be true or false, not {self._kind_name}")
        return str(self.node.value).lower() in ("true", "yes", "on")

    @property
    def _kind_name(self) -> str:
        if self.node.id != "scalar":
            return f"a {'mapping' if self.node.id == 'mapping' else 'list'}"
        kind = _KINDS.get(str(self.node.tag).removeprefix(_TAG), "a text")
        return kind if self.empty else f"{kind} ({_quote_word(self.node.value)})"


def read_yaml(path: Path) -> YamlValue:
    """Read the whole file as one value.

    Raises:
        BadInput: it can't be read, is too large, or is not plain YAML.
    """
    node = plain_yaml(path)
    if node is None:
        raise BadInput(f"{path}: is empty")
    return YamlValue(node, path, "the team")


def _nearest(word: str, known: Sequence[str]) -> str:
    near = get_close_matches(word.lower(), known, 1, 0.5)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"


def _quote_word(word: object) -> str:
    return repr(" ".join(str(word).split())[:40])
