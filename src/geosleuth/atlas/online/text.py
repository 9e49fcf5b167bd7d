"""Text from elsewhere is data: shown as it is, without what could steer a terminal, a log or a reader's eye."""

import unicodedata

NAME_CHARS = 200
LONG_CHARS = 1000

_JOINERS = "\u200c\u200d"  # they shape words of Persian and of Indian scripts


def clean(text: str, max_chars: int) -> str:
    """One line of text: control, direction and unassigned characters dropped, spaces collapsed, cut to length."""
    # What is dropped may be most of the text, but a limit before the loop keeps a huge text from costing time.
    kept = (_kept(character) for character in text[: 4 * max_chars + 64])
    line = " ".join("".join(kept).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1].rstrip()}…"


def query_text(text: str, max_chars: int = NAME_CHARS) -> str:
    """What is sent of a query that may be of any length and hold anything."""
    line = clean(text, max_chars)
    return line.removesuffix("…") if len(line) == max_chars else line


def _kept(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    category = unicodedata.category(character)
    return " " if category[0] == "Z" or character in "\t\n\r\v\f\x85" else ""
