r"""Letters and words in any script, for regular expressions.

Vowels and tones of Thai, Lao, Burmese, Khmer, Devanagari and other Indic scripts are marks upon letters. Python's
``\w`` has none of them, so that ``[^\W\d_]+`` takes words apart at them and ``\W+$`` cuts off the last one.
"""

import unicodedata
from itertools import chain

# Ranges of the Basic Multilingual Plane that contain combining marks.
_BLOCKS = ((0x0300, 0x1DFF), (0x20D0, 0x20FF), (0x302A, 0x309A), (0xA66F, 0xABEF), (0xFB1E, 0xFE2F))


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


# Inside of a character class: ``[{MARKS}]`` matches a mark, ``[\w{MARKS}]`` any character of a word.
MARKS = _marks()

# Pattern for a run of letters with their marks, without digits.
LETTERS = rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*"

# Pattern for whitespace and punctuation before and after a name.
EDGES = rf"^(?:[^\w{MARKS}]|_)+|(?:[^\w{MARKS}]|_)+$"
