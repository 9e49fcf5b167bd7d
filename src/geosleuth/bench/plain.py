"""Texts from files and file names, fit for a terminal."""

# Escape sequences must not reach a terminal; tabs and line ends do no harm.
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}")


def printable(text: str) -> str:
    """The text with every control character replaced, tabs and line ends aside."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def one_line(text: str) -> str:
    """The same on one line: line ends and tabs become spaces."""
    return printable(text.replace("\n", " ").replace("\t", " "))
