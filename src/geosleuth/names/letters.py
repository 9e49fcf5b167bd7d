r"""Letters and words in any script, for regular expressions.

Vowels and tones of Thai, Lao, Burmese, Khmer, Devanagari and other Indic scripts are marks upon letters. Python's
``\w`` has none of them, so that ``[^\W\d_]+`` takes words apart at them and ``\W+$`` cuts off the last one.
"""

import unicodedata
from itertools import chain

_BLOCKS = ((0x0300, 0x1DFF), (0x20D0, 0x20FF), (0x302A, 0x309A), (0xA66F, 0xABEF), (0xFB1E, 0xFE2F))
"""Where the Basic Multilingual Plane has marks."""


def _marks() -> str:
    """Return all marks as the inside of a character class, in ranges."""
    ranges: list[list[int]] = []
    for code_point in chain.from_iterable(range(first, last + 1) for first, last in _BLOCKS):
        if unicodedata.category(chr(code_point))[0] != "M":
            continue
        if ranges and ranges[-1][1] == code_point - 1:
            ranges[-1][1] = code_point
        else:
            ranges.append([code_point, code_point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


MARKS = _marks()
"""The inside of a character class: ``[{MARKS}]`` is a mark, ``[\\w{MARKS}]`` whatever a word is made of."""

LETTERS = rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*"
"""A run of letters with their marks, without figures."""

EDGES = rf"^(?:[^\w{MARKS}]|_)+|(?:[^\w{MARKS}]|_)+$"
"""What stands before and behind a name: blanks and punctuation."""
