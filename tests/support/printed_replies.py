"""The replies that GeoAgent's paper prints (figures 11 to 13), read from the shared seeds where they are there."""

import os
import re
from pathlib import Path

import pytest

from geosleuth.answer import Address, Level
from geosleuth.geo import LatLon

_SHARED = Path(os.environ.get("GEOSLEUTH_SHARED", Path(__file__).resolve().parents[3] / "shared"))
_SEED = _SHARED / "seeds" / "001_6a7f32e5e2785d7a.txt"
_LINK = re.compile(r"\[([^\]]+)\]\(#\)")
_HEAD = re.compile(r"GeoAgent:\*{0,2}\s*([^;\n]+);([^;\n]+);([^;\n]+)")
_LABEL = re.compile(
    r'"solution": "(?:<answer>)?([^"<]+)(?:</answer>)?",.*?"lat": ([-.\d]+).*?"lng": ([-.\d]+)', re.DOTALL
)
_LEVELS = ("CountryIdentification", "RegionalGuess", "PreciseLocalization")


def printed_replies(figure: int) -> list[Address]:
    """The replies of one figure, each with its clues at the country's level."""
    if not _SEED.is_file():
        pytest.skip("the papers' texts (../shared/seeds) are not here")
    text = _LINK.sub(r"\1", _SEED.read_text(encoding="utf-8").replace("**", ""))
    before = text.rindex("Figure ", 0, text.index(f"\nFigure {figure} ") + 1)
    part = text[before : text.index(f"\nFigure {figure} ")]
    heads = list(_HEAD.finditer(part))
    ends = [head.start() for head in heads[1:]] + [len(part)]
    return [_address(head, part[head.end() : end]) for head, end in zip(heads, ends, strict=True)]


def _address(head: re.Match[str], body: str) -> Address:
    clues = re.search(r"Clues: \[(.*)\]", body)
    said = [re.search(rf"{name}: (.*)", body) for name in _LEVELS]
    return Address(
        *(
            Level(name.strip(), (clues[1],) if clues and rank == 0 else (), words[1] if words else None)
            for rank, (name, words) in enumerate(zip(head.groups(), said, strict=True))
        )
    )


def printed_labels() -> list[tuple[Address, LatLon]]:
    """The labels of GeoSeek-Val that the paper prints, with their points."""
    if not _SEED.is_file():
        pytest.skip("the papers' texts (../shared/seeds) are not here")
    found = _LABEL.findall(_SEED.read_text(encoding="utf-8"))
    return [
        (Address.create(*(name.strip() or None for name in names.split(";"))), LatLon(float(lat), float(lon)))
        for names, lat, lon in found
    ]


def shuffled(replies: list[Address], shift: int) -> list[Address]:
    """Each reply's conclusions with the clues and the reasoning of another."""
    others = replies[shift:] + replies[:shift]
    levels = ("country", "region", "precise")
    return [
        Address(*(_with(getattr(own, name), getattr(other, name)) for name in levels))
        for own, other in zip(replies, others, strict=True)
    ]


def _with(own: Level, other: Level) -> Level:
    return Level(own.conclusion, other.clues, other.reasoning)
