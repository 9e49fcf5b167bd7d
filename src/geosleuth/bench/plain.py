"""Texts from files and file names, fit for a terminal."""

from geosleuth.texts import one_line, printable

__all__ = ["one_line", "printable"]
