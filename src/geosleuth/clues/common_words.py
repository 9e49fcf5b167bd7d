"""Words of any language's common vocabulary, which are words first, whatever village is called so."""

import gzip
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from geosleuth.names import fold

_FULL_OF_ENGLISH = frozenset({"vi", "fil", "ta", "ms"})
"""Languages in whose texts, as counted, English words are common."""


def is_common_word(text: str) -> bool:
    """Whether a text is one word that is frequent in some language and no large city's name."""
    return fold(text) in _words()


def of_common_words(text: str) -> bool:
    """Whether every word of a text is a common one."""
    words = fold(text).split()
    return bool(words) and all(word in _words() for word in words)


def languages_of(word: str) -> frozenset[str]:
    """The ISO 639 codes of the languages in which a word is common; none for other words and names of large cities."""
    found = frozenset(_words().get(fold(word), "").split(",")) - {""}
    return found - _FULL_OF_ENGLISH if word.isascii() and "en" in found else found


@cache
def _words() -> Mapping[str, str]:
    packed = (files("geosleuth.clues") / "data" / "common_words.txt.gz").read_bytes()
    rows = (row.partition(" ") for row in gzip.decompress(packed).decode("utf-8").split("\n"))
    return {word: languages for word, _, languages in rows}
