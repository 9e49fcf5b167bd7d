"""Bring a place name, in any script and spelling, to one plain form that can be compared."""

import re
import unicodedata
from functools import lru_cache

# Longer names are truncated before any processing: no place has such a name, and replies of models have no bound.
MAX_NAME_CHARS = 512

# Letters that Unicode does not decompose but that people write without their stroke or as two letters.
_LETTERS = {
    "ß": "ss",
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ł": "l",
    "ħ": "h",
    "ŧ": "t",
    "ŋ": "n",
    "ı": "i",
    "ə": "a",
    "ɓ": "b",
    "ɗ": "d",
    "ƙ": "k",
    "ک": "ك",
    "ی": "ي",
    "ى": "ي",
    "臺": "台",
}

_APOSTROPHES = frozenset("'`´‘’‛′ꞌ")

# Marks that are spelling detail in Latin, Greek, Cyrillic, Hebrew and Arabic. The marks of Indic and Thai scripts and
# the Japanese voicing marks are vowels and consonants: without them different countries fall together.
_SPELLING_MARKS = (
    (0x0300, 0x036F),
    (0x0483, 0x0489),
    (0x0591, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE20, 0xFE2F),
)
_MODIFIER_LETTERS = (0x02B0, 0x02FF)
_TATWEEL = 0x0640

_INITIAL_DOT = re.compile(r"(?<!\w)(\w)\.")


class _Replacements(dict[int, str]):
    """Translation table that works out what becomes of a character when it first meets it."""

    def __missing__(self, code_point: int) -> str:
        replacement = self[code_point] = _replacement(chr(code_point))
        return replacement


def _replacement(character: str) -> str:
    code_point = ord(character)
    if character in _LETTERS:
        return _LETTERS[character]
    if character == "&":
        return " and "
    category = unicodedata.category(character)
    dropped = (
        character in _APOSTROPHES
        or category == "Cf"
        or code_point == _TATWEEL
        or _MODIFIER_LETTERS[0] <= code_point <= _MODIFIER_LETTERS[1]
        or (category[0] == "M" and any(first <= code_point <= last for first, last in _SPELLING_MARKS))
    )
    if dropped:
        return ""
    return character if category[0] in "LNM" else " "


_REPLACEMENTS = _Replacements()


def fold(text: str) -> str:
    """The comparable form of a name: no case, diacritics, apostrophes or punctuation, single spaces.

    ``Île-de-France`` becomes ``ile de france``, ``U.S.A.`` ``usa``, ``Xi'an`` ``xian``, ``Łódź`` ``lodz``. Folding
    twice changes nothing more. Any text is accepted; only the first `MAX_NAME_CHARS` characters are looked at, and
    what names nothing (``"?!"``) folds to the empty string.
    """
    return _remembered_fold(text[:MAX_NAME_CHARS])


def fold_once(text: str) -> str:
    """`fold` for building tables: it does not push out what `fold` remembers of the names in use."""
    text = text[:MAX_NAME_CHARS]
    if not text.isascii():
        # An acute accent that stands alone decomposes to a space and a mark; here it is a badly typed apostrophe.
        text = unicodedata.normalize("NFKD", text.replace("´", ""))
        text = unicodedata.normalize("NFKD", text.casefold())
    text = text.lower()
    if "." in text:
        text = _INITIAL_DOT.sub(r"\1", text)
    text = " ".join(text.translate(_REPLACEMENTS).split())
    return unicodedata.normalize("NFC", text)[:MAX_NAME_CHARS].rstrip()


_remembered_fold = lru_cache(maxsize=1 << 15)(fold_once)


def compact(text: str) -> str:
    """`fold` without its spaces, so that ``Rishon LeZion`` and ``Rishon Le Zion`` are one name."""
    return fold(text).replace(" ", "")
