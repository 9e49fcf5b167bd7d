"""The forms in which names are compared.

Three keys, from strict to forgiving: ``exact_key`` folds case, accents and punctuation; ``compact_key`` also drops
spaces and makes one letter of those that text reading confuses (0/o, 1/i/l, rn/m); ``latin_key`` spells other scripts
in Latin letters, so that a name meets its transliteration.
"""

import re
from functools import lru_cache

from anyascii import anyascii

from geosleuth.names import fold

MAX_QUERY_CHARS = 200
"""Names are shorter; of a longer query the beginning is looked at."""

_CONFUSED = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "|": "l", "q": "g"})
_PAIRS = re.compile("rn|vv|cl")
_PAIR_LETTERS = {"rn": "m", "vv": "w", "cl": "d"}


def exact_key(text: str) -> str:
    """Case, accents and punctuation folded, words kept apart."""
    return fold(text[:MAX_QUERY_CHARS])


def compact_key(text: str) -> str:
    """No spaces, confusable letters made one."""
    return squeeze(exact_key(text))


@lru_cache(maxsize=1 << 15)
def squeeze(key: str) -> str:
    """The compact form of an exact key."""
    return _PAIRS.sub(lambda match: _PAIR_LETTERS[match[0]], key.replace(" ", "")).translate(_CONFUSED)


def latin_key(text: str) -> str | None:
    """The name spelled in Latin letters, or None where it already is."""
    text = text[:MAX_QUERY_CHARS]
    if all(ord(character) < 0x370 for character in text):
        return None
    return fold(anyascii(text)) or None


def triples(compact: str) -> list[str]:
    """The distinct letter triples of a compact key, its beginning and end marked."""
    padded = f"^{compact}$"
    return sorted({padded[at : at + 3] for at in range(len(padded) - 2)})
