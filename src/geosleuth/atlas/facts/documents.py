"""Search in passages about countries: the World Factbook and the atlas's own facts, in a full-text index.

The index is built once, in about a second, into the cache folder from a table that ships with the package, and is read
only from then on. Its name carries a checksum of that table, so a new version of the package builds its own.
"""

import os
import re
import sqlite3
import tempfile
import threading
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from geosleuth.atlas.folders import cache_dir
from geosleuth.atlas.model import Document
from geosleuth.atlas.readonly import open_readonly
from geosleuth.errors import BadInput
from geosleuth.names import country_code

from .countries import CountryFacts, all_countries
from .tables import read_bytes, read_json

MAX_QUERY_CHARS = 1000
MAX_QUERY_WORDS = 16
SCHEMA = 2
"""To be raised when what is built from the same table changes."""

FACTBOOK, OWN_FACTS = "World Factbook", "geosleuth facts"

_TABLE = "documents.json.gz"
_WORD = re.compile(r"\w+(?:[.,]\w+)*")
_SNIPPET_WORDS = 40
_MAX_SNIPPET_CHARS = 600
_SHORT_COUNTRY_NAMES = frozenset({
    "UK", "US", "USA", "UAE", "PRC", "DRC", "Chad", "Cuba", "Fiji", "Guam", "Iran", "Iraq", "Laos", "Mali", "Niue",
    "Oman", "Peru", "Togo",
})  # fmt: skip
_MORE_THAN_A_COUNTRY = frozenset({"america"})
"""South America is not the United States."""

_STOP_WORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "has", "have", "how", "in", "is",
    "it", "its", "of", "on", "or", "that", "the", "their", "there", "they", "this", "to", "was", "what", "when",
    "where", "which", "who", "why", "with",
})  # fmt: skip

_connections = threading.local()
_building = threading.Lock()


def search_documents(query: str, limit: int = 10, folder: Path | None = None) -> list[Document]:
    """Passages that fit a query, best first; any text is accepted, an empty one gives an empty list.

    Passages of a country that the query names come before all others, and passages that have all the words before
    those that have some. ``folder`` is where the index is kept, by default the cache folder.

    Raises:
        BadInput: the index can't be written to that folder.
    """
    text = unicodedata.normalize("NFC", query[:MAX_QUERY_CHARS])
    country, words = _country_and_words(text)
    if limit < 1 or not (country or words):
        return []
    connection = _connection(folder or cache_dir())
    found: dict[str, Document] = {}
    for match, low, high in _attempts(country, words):
        for document in _run(connection, match, low, high, limit):
            found.setdefault(document.id, document)
        if len(found) >= limit:
            break
    return list(found.values())[:limit]


def _attempts(country: str | None, words: list[str]) -> Iterator[tuple[str, float, float]]:
    """Full-text queries, best first, and the scores that their hits may have. Words are quoted: never operators."""
    quoted = [f'"{word}"' for word in words] or ["background", "country", "overview"]
    every, some = f"{{title text}} : ({' AND '.join(quoted)})", f"{{title text}} : ({' OR '.join(quoted)})"
    if country:
        only = f'country : "{country.lower()}"'
        yield f"{only} AND {every}", 0.75, 1.0
        yield f"{only} AND {some}", 0.5, 0.75
    if words:
        yield every, 0.3, 0.5
        yield some, 0.1, 0.3


def _run(connection: sqlite3.Connection, match: str, low: float, high: float, limit: int) -> Iterator[Document]:
    rows = connection.execute(
        "SELECT key, title, source, snippet(passages, 1, '', '', '…', ?), bm25(passages, 3.0, 1.0, 0.0) AS badness "
        "FROM passages WHERE passages MATCH ? ORDER BY badness LIMIT ?",
        (_SNIPPET_WORDS, match, limit),
    )
    for key, title, source, snippet, badness in rows:
        strength = max(0.0, -badness)
        score = low + (high - low) * strength / (strength + 5)
        yield Document(key, title, snippet[:_MAX_SNIPPET_CHARS], round(score, 4), source)


def _country_and_words(text: str) -> tuple[str | None, list[str]]:
    """The first country that the text names, and its other words without those that say nothing."""
    words = [word for word in _WORD.findall(text)[: 4 * MAX_QUERY_WORDS] if len(word) <= 60]
    for count in range(min(4, len(words)), 0, -1):
        for start in range(len(words) - count + 1):
            name = " ".join(words[start : start + count])
            if (len(name) > 4 and name.lower() not in _MORE_THAN_A_COUNTRY) or name in _SHORT_COUNTRY_NAMES:
                code = country_code(name)
                if code is not None:
                    return code, _telling(words[:start] + words[start + count :])
    return None, _telling(words)


def _telling(words: Iterable[str]) -> list[str]:
    lowered = dict.fromkeys(word.lower() for word in words)
    return ([word for word in lowered if word not in _STOP_WORDS] or list(lowered))[:MAX_QUERY_WORDS]


def _connection(folder: Path) -> sqlite3.Connection:
    path = folder / f"documents-{SCHEMA}-{_checksum():08x}.sqlite"
    opened: dict[Path, sqlite3.Connection] = _connections.__dict__.setdefault("opened", {})
    if path not in opened or not path.exists():
        opened[path] = _open(path)
    return opened[path]


@cache
def _checksum() -> int:
    return zlib.crc32(read_bytes(_TABLE), zlib.crc32(read_bytes("countries.json.gz")))


def _open(path: Path) -> sqlite3.Connection:
    with _building:
        if not _is_whole(path):
            _build(path)
    return open_readonly(path, any_thread=True)


def _is_whole(path: Path) -> bool:
    """Whether the index is there and can be read; a damaged one is built again."""
    if not path.exists():
        return False
    try:
        connection = open_readonly(path)
        try:
            whole = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            return whole and bool(connection.execute("SELECT count(*) FROM passages").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.DatabaseError:
        return False


def _build(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".documents-", suffix=".part")
        os.close(handle)
        neighbour = Path(name)
        try:
            _fill(neighbour)
            neighbour.replace(path)
        except BaseException:
            neighbour.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadInput(f"{path.parent}: the document index can't be written: {error.strerror or error}") from error
    except sqlite3.OperationalError as error:
        raise BadInput(f"{path.parent}: the document index can't be written: {error}") from error


def _fill(path: Path) -> None:
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(
            "CREATE VIRTUAL TABLE passages USING fts5(title, text, country, key UNINDEXED, source UNINDEXED, "
            "tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        connection.executemany(
            "INSERT INTO passages(title, text, country, key, source) VALUES (?, ?, ?, ?, ?)", _rows()
        )
        connection.execute("INSERT INTO passages(passages) VALUES ('optimize')")
        connection.commit()
    finally:
        connection.close()


def _rows() -> Iterator[tuple[str, str, str, str, str]]:
    known = all_countries()
    for code, heading, text, year in read_json(_TABLE):
        name = known[code].name if code else "World"
        key = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")
        yield f"{name}: {heading}", text, code, f"factbook:{code or 'world'}:{key}", f"{FACTBOOK}, {year}"
    for country in known.values():
        yield (
            f"{country.name}: country facts, overview",
            describe(country),
            country.code,
            f"facts:{country.code}",
            OWN_FACTS,
        )


def describe(country: CountryFacts) -> str:
    """A country's facts in a few plain sentences."""
    known = all_countries()
    official = [language.name for language in country.languages if language.status]
    neighbours = [known[code].name for code in country.neighbours if code in known]
    money = [f"{currency.name} ({currency.code})" for currency in country.currencies]
    examples = country.postcode.examples if country.postcode else ()
    lists = (
        ("Capital:", (country.capital,) if country.capital else ()),
        ("Official languages:", official or [language.name for language in country.languages[:1]]),
        ("Currency:", money),
        ("Neighbours:", neighbours),
        ("Calling code", country.calling_codes),
        ("Internet domain", country.tlds),
        ("Postcodes such as", examples),
        ("Emergency numbers", country.emergency_numbers),
        ("Licence plates:", (f"{country.plate.pattern}; {country.plate.colours}",) if country.plate else ()),
    )
    road = f"Traffic drives on the {country.driving_side}; speed limits in {country.speed_unit}"
    sentences = [
        f"{country.name} is in {country.continent}",
        *(f"{label} {', '.join(values)}" for label, values in lists if values),
        f"{road}, distances in {country.distance_unit}",
    ]
    return ". ".join(sentences) + "."
