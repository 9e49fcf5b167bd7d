"""Texts that people send, as the service keeps them: no longer than allowed, and readable by every program."""

import re
import unicodedata
from pathlib import PurePosixPath

from geosleuth.errors import BadInput

from .rows import readable

_NAME_CHARACTERS = 120
_TURNS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNNAMED = "photo"
_EXPORT_CHARACTERS = 80
_NO_LETTERS = re.compile(r"[^\w-]+")


def text(words: str, most: int, what: str) -> str:
    """A text of several lines.

    Raises:
        BadInput: it is too long.
    """
    # A nul ends a text too early.
    clean = readable(words).replace("\0", "")
    if len(clean) > most:
        raise BadInput(f"the {what} has more than {most:,} characters; shorten it")
    return clean


def line(words: str, most: int, what: str) -> str:
    """A text of one line.

    Raises:
        BadInput: it is too long.
    """
    return " ".join(_shown(text(words, most, what)).split())


def file_name(words: str) -> str:
    """What a photo's file was called, without folders and without what no name should hold."""
    last = PurePosixPath(text(words[:4000], 4000, "name").replace("\\", "/")).name
    clean = " ".join(_shown(last).split())
    return clean[-_NAME_CHARACTERS:] or _UNNAMED


def export_name(*names: str) -> str:
    """What a file may be called on any system, less its ending, after the first name that has letters or digits."""
    safe = (_NO_LETTERS.sub("-", unicodedata.normalize("NFC", name))[:_EXPORT_CHARACTERS].strip("-_") for name in names)
    return next(filter(None, safe), _UNNAMED)


def _shown(words: str) -> str:
    """Without control characters and marks that turn the direction of what follows."""
    unwanted = (one for one in words if one in _TURNS or unicodedata.category(one) in ("Cc", "Zl", "Zp"))
    return words.translate(dict.fromkeys(map(ord, unwanted), " "))
