"""Words from maps, files and models, made safe to show: the one place that says which characters are left out.

Control characters steer terminals; direction characters let a text be read in another order than it is written.
"""

from collections.abc import Mapping

_MARK = "\N{REPLACEMENT CHARACTER}"
# Marks, embeddings, overrides and isolates. Letters carry their own direction, so names read the same without them.
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x2070))
_CONTROLS = (*range(9), 11, 12, *range(14, 32), *range(127, 160))
_LEGIBLE: dict[int, str | None] = {**dict.fromkeys(_CONTROLS, _MARK), **dict.fromkeys(_DIRECTIONS)}
_PRINTABLE: dict[int, str | None] = {**_LEGIBLE, 0x0D: _MARK}
_LINE_ENDS = str.maketrans(dict.fromkeys("\n\t\u2028\u2029", " "))


def legible(text: str) -> str:
    """Return the text without direction characters, its control characters replaced; line ends and tabs stay."""
    return text if text.isprintable() else text.translate(_LEGIBLE)


def clean_fields(record: object, *names: str) -> None:
    """Make the named fields of a new, frozen record `legible`: texts, tuples and mappings of texts, or None."""
    for name in names:
        value = getattr(record, name)
        if not value or (type(value) is str and value.isprintable()):
            continue
        cleaned: object = value
        if isinstance(value, str):
            cleaned = legible(value)
        elif isinstance(value, tuple):
            cleaned = tuple(map(legible, value))
        elif isinstance(value, Mapping):
            if ("".join(value) + "".join(value.values())).isprintable():  # nearly always, and at a tenth of the time
                continue
            cleaned = {legible(key): legible(text) for key, text in value.items()}
        if cleaned is not value:
            object.__setattr__(record, name, cleaned)


def printable(text: str) -> str:
    """Return the text fit for a terminal: as `legible`, and without the carriage returns that overwrite a line."""
    return text if text.isprintable() else text.translate(_PRINTABLE)


def one_line(text: str) -> str:
    """Return the text fit for a terminal and on one line: line ends and tabs become spaces."""
    return printable(text.translate(_LINE_ENDS))
