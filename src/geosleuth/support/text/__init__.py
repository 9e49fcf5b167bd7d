"""Texts for people: words made safe to show (`safe`), figures with the digits they carry (`numbers`)."""

from .safe import clean_fields, legible, one_line, printable

__all__ = ["clean_fields", "legible", "one_line", "printable"]
