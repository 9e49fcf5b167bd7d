"""Compile the passages that document search reads: src/geosleuth/atlas/facts/data/documents.json.gz.

    python scripts/build_documents.py

Source: the World Factbook (public domain), edition of 2025, and of the edition of 2015 the fields that later ones
dropped (roads, waterways, telephones); see ``factbook.py``. Fields that only count money, arms or energy are left out:
they tell nothing about where a picture was taken. Rows are [country, heading, text, edition]; country "" is the world.
Same packages, same bytes.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from factbook import EDITION_2015, EDITION_2025, edition, plain_text

TABLE = Path(__file__).parents[1] / "src/geosleuth/atlas/facts/data/documents.json.gz"

WHOLE_CHAPTERS = frozenset(
    {"Introduction", "Geography", "Environment", "Government", "Communications", "Transportation"}
)
FIELDS = {
    "People and Society": (
        "Nationality", "Ethnic groups", "Languages", "Religions", "Demographic profile", "Population distribution",
        "Urbanization", "Major urban areas - population",
    ),
    "Economy": ("Economic overview", "Agricultural products", "Industries", "Exports - commodities", "Exchange rates"),
    "Space": ("Space agency/agencies", "Space launch site(s)"),
}  # fmt: skip
OF_2015 = {
    "Transportation": ("Roadways", "Waterways"),
    "Communications": ("Telephone system",),
    "Transnational Issues": ("Disputes - international",),
}
LEFT_OUT = frozenset({
    "Judicial branch", "Legislative branch", "Legislative branch - lower chamber", "Legislative branch - upper chamber",
    "Executive branch", "Political parties", "International organization participation",
    "International law organization participation", "Diplomatic representation in the US",
    "Diplomatic representation from the US", "Constitution", "Legal system", "Citizenship", "Suffrage",
    "Carbon dioxide emissions", "Particulate matter emissions", "Methane emissions", "Waste and recycling",
    "Total water withdrawal", "Total renewable water resources", "International environmental agreements",
    "Broadband - fixed subscriptions", "Telephones - fixed lines", "Telephones - mobile cellular", "Maritime claims",
})  # fmt: skip
WORDED = {"Roadways": "Roads (roadways)", "Railways": "Railways (trains)"}
"""Headings in the words that people search with."""

SHORTEST = 3


def main() -> None:
    """Gather, write, say how large it is."""
    rows = [row for code, document in edition(EDITION_2025).items() for row in _passages(code, document)]
    for code, document in edition(EDITION_2015).items():
        for chapter, names in OF_2015.items():
            fields = document.get(chapter, {})
            rows += [_row(code, chapter, name, fields[name], EDITION_2015) for name in names if name in fields]
    # The same text stands under several chapters; the first is kept.
    rows = list({(row[0], row[2]): row for row in reversed(rows) if len(row[2]) >= SHORTEST}.values())[::-1]
    data = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
    TABLE.write_bytes(gzip.compress(data, compresslevel=9, mtime=0))
    print(f"{len(rows)} passages, {len(data)} bytes, compressed {TABLE.stat().st_size}", file=sys.stderr)


def _passages(code: str, document: dict[str, Any]) -> list[list[Any]]:
    rows = []
    for chapter, fields in document.items():
        if isinstance(fields, dict):
            chosen = (
                [name for name in fields if name not in LEFT_OUT]
                if chapter in WHOLE_CHAPTERS
                else FIELDS.get(chapter, ())
            )
            rows += [_row(code, chapter, name, fields[name], EDITION_2025) for name in chosen if name in fields]
    return rows


def _row(code: str, chapter: str, name: str, value: Any, year: int) -> list[Any]:
    return [code, f"{chapter}: {WORDED.get(name, name)}", plain_text(value), year]


if __name__ == "__main__":
    main()
