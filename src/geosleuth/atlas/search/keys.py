"""The forms in which names are compared.

Three keys, from strict to forgiving: ``exact_key`` folds case, accents and punctuation; ``compact_key`` also drops
spaces and makes one letter of those that text reading confuses (0/o, 1/i/l, rn/m); ``latin_key`` spells other scripts
in Latin letters, so that a name meets its transliteration.
"""

import re
from functools import lru_cache

import numpy as np
from anyascii import anyascii
from numpy.typing import NDArray

from geosleuth.names import fold

MAX_QUERY_CHARS = 200
"""Names are shorter; of a longer query the beginning is looked at."""

_CONFUSED = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "|": "l", "q": "g"})
_CONFUSED_BYTES = bytes(ord(_CONFUSED.get(code, chr(code))) for code in range(128)) + bytes(range(128, 256))
_PAIRS = re.compile("rn|vv|cl")
_PAIR_LETTERS = {"rn": "m", "vv": "w", "cl": "d"}
_ONE, _TWO = np.uint64(21), np.uint64(42)  # bits to shift a code point by
_CODE_POINT = np.uint64((1 << 21) - 1)


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


def text_triples(text: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The distinct triples of many exact keys at once, each key ended by a line break.

    Returns:
        Triples as numbers in ascending order, and for each the place of its key in the text, ascending too. It is what
        `triples` finds in each key's compact form, far faster.
    """
    if not text:
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    # As bytes, which Python replaces and translates several times as fast as text.
    compact = text.encode("utf-8", "surrogatepass").replace(b" ", b"")
    for pair, letter in _PAIR_LETTERS.items():
        # No pair holds a letter of another pair, or one that a pair becomes.
        compact = compact.replace(pair.encode(), letter.encode())
    compact = b"^%b$" % compact.translate(_CONFUSED_BYTES)[:-1].replace(b"\n", b"$^")
    letters = np.frombuffer(compact.decode("utf-8", "surrogatepass").encode("utf-32-le", "surrogatepass"), dtype="<u4")
    last = letters == ord("$")
    inside = ~(last[:-2] | last[1:-1])
    places = np.cumsum(last, dtype=np.uint32)[:-2][inside]
    # As few bits as will do, so that triple and key make one number: sorting those takes a third of the time.
    present = np.zeros(int(letters.max()) + 1, dtype=bool)
    present[letters] = True
    alphabet = np.flatnonzero(present).astype(np.uint64)
    bits, key_bits = len(alphabet).bit_length(), np.uint64(text.count("\n").bit_length())
    if 3 * bits + int(key_bits) > 64:
        return _halved(text)
    few = (np.cumsum(present, dtype=np.uint32) - np.uint32(1))[letters].astype(np.uint64)
    one, two = np.uint64(bits), np.uint64(2 * bits)
    pairs = ((few[:-2] << two | few[1:-1] << one | few[2:]) << key_bits)[inside] | places
    pairs.sort()
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])[: len(pairs)]]
    found, mask = pairs >> key_bits, np.uint64((1 << bits) - 1)
    codes = alphabet[found >> two] << _TWO | alphabet[found >> one & mask] << _ONE | alphabet[found & mask]
    return codes, (pairs & np.uint64((1 << int(key_bits)) - 1)).astype(np.int64)


def _halved(text: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The triples of more names in more letters than one number can tell apart: of one half, then of the other."""
    cut = text.index("\n", len(text) // 2) + 1 if "\n" in text[len(text) // 2 : -1] else text.index("\n") + 1
    (codes, places), (more_codes, more_places) = text_triples(text[:cut]), text_triples(text[cut:])
    codes = np.concatenate([codes, more_codes])
    order = np.argsort(codes, kind="stable")
    return codes[order], np.concatenate([places, more_places + text.count("\n", 0, cut)])[order]


def spell_triples(codes: NDArray[np.uint64]) -> list[str]:
    """The three letters of each number that `text_triples` gave."""
    each = np.stack([codes >> _TWO & _CODE_POINT, codes >> _ONE & _CODE_POINT, codes & _CODE_POINT], axis=1)
    text = each.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[at : at + 3] for at in range(0, len(text), 3)]
