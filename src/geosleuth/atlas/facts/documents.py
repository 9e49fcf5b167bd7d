"""Search passages about countries (the World Factbook and the atlas's own facts) and the user's Kiwix ZIM files.

Passages are ranked by BM25 with weights for country, section and body. Those with too little of the query are left out:
a passage that shares one common word with a shop's name says nothing about the shop.

The index is built once, in about a second, into the cache folder from a table that ships with the package, and is never
changed. Its file name has a checksum of the table, so a new version of the package builds a new index.
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
from math import log
from pathlib import Path
from typing import Any

from geosleuth.atlas.folders import cache_dir, open_readonly
from geosleuth.atlas.protocol import Document
from geosleuth.names import country_code
from geosleuth.support.errors import BadInput, require
from geosleuth.support.text.html import VisibleText

from .countries import CountryFacts, all_countries, read_bytes, read_json

MAX_QUERY_CHARS = 1000
MAX_QUERY_WORDS = 16
# Schema version; increment it whenever the content built from the table changes.
SCHEMA = 3

FACTBOOK, OWN_FACTS = "World Factbook", "geosleuth facts"

_TABLE = "documents.json.gz"
_WORD = re.compile(r"\w+(?:[.,]\w+)*")
_SNIPPET_WORDS = 40
_MAX_RANKED = 200
_MAX_SNIPPET_CHARS = 600
_SHORT_COUNTRY_NAMES = frozenset({
    "UK", "US", "USA", "UAE", "PRC", "DRC", "Chad", "Cuba", "Fiji", "Guam", "Iran", "Iraq", "Laos", "Mali", "Niue",
    "Oman", "Peru", "Togo",
})  # fmt: skip
# Names not read as a country: South America is not the United States.
_NOT_COUNTRY_NAMES = frozenset({"america"})

# The share of a query's words, weighted by rarity, that a passage must have; the latter if a country is named.
_MIN_COVERED, _MIN_COVERED_OF_COUNTRY = 0.6, 0.45

_FIELDS = "{title section body}"

_STOP_WORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "has", "have", "how", "in", "is",
    "it", "its", "of", "on", "or", "that", "the", "their", "there", "they", "this", "to", "was", "what", "when",
    "where", "which", "who", "why", "with",
})  # fmt: skip

_connections = threading.local()
_building = threading.Lock()

MAX_ARTICLE_BYTES = 1 << 20
MAX_ARTICLE_CHARS = 100_000
SNIPPET_CHARS = 400
_ZIM_WORD = re.compile(r"\w+")


def search_documents(query: str, limit: int = 10, folder: Path | None = None) -> list[Document]:
    """Return the passages that match a query, best first; an empty query has none.

    If the query names a country, only passages about it are returned. A passage must have most of the other words,
    weighted by rarity. ``folder`` is where the index is stored, by default the cache folder.

    Raises:
        BadInput: the index can't be written to that folder.
    """
    text = unicodedata.normalize("NFC", query[:MAX_QUERY_CHARS])
    country, words = _country_and_words(text)
    if limit < 1 or not (country or words):
        return []
    connection = _connection(folder or cache_dir())
    covered = _well_covered(connection, country, words)
    if words and not covered:
        return []
    return list(_rank(connection, country, words, covered, limit))


def _well_covered(connection: sqlite3.Connection, country: str | None, words: list[str]) -> dict[int, float]:
    """Return the weighted share of the words that each passage has, for passages that have enough."""
    (total,) = connection.execute("SELECT count(*) FROM passages_docsize").fetchone()
    holders = [
        {row for (row,) in connection.execute("SELECT rowid FROM passages WHERE passages MATCH ?", (match,))}
        for match in (f'{_FIELDS} : "{word}"' for word in words)
    ]
    weights = [log(1 + total / (1 + len(rows))) for rows in holders]
    shares: dict[int, float] = {}
    for rows, weight in zip(holders, weights, strict=True):
        for row in rows:
            shares[row] = shares.get(row, 0.0) + weight / sum(weights)
    min_share = _MIN_COVERED if country is None else _MIN_COVERED_OF_COUNTRY
    enough = {row: share for row, share in shares.items() if share >= min_share}
    if country is None or not enough:
        return enough
    only = connection.execute("SELECT rowid FROM passages WHERE passages MATCH ?", (f'country : "{country.lower()}"',))
    return {row: enough[row] for (row,) in only if row in enough}


def _rank(
    connection: sqlite3.Connection, country: str | None, words: list[str], covered: dict[int, float], limit: int
) -> Iterator[Document]:
    """Yield the best of the passages in ``covered``; for a query of only a country, those that introduce it."""
    quoted = " OR ".join(f'"{word}"' for word in words or ("background", "country", "overview"))
    only = f'country : "{country.lower()}" AND ' if country else ""
    rows = connection.execute(
        "SELECT rowid, key, title, section, source, snippet(passages, 2, '', '', '…', ?), "
        "bm25(passages, 2.0, 4.0, 1.0, 0.0) AS badness FROM passages WHERE passages MATCH ? ORDER BY badness",
        (_SNIPPET_WORDS, f"{only}{_FIELDS} : ({quoted})"),
    )
    found = []
    for row, key, title, section, source, snippet, badness in rows:
        if words and row not in covered:
            continue
        strength = max(0.0, -badness)
        score = covered.get(row, 1.0) * (0.5 + 0.5 * strength / (strength + 5))
        heading = f"{title}: {section}"
        found.append(Document(key, heading, snippet[:_MAX_SNIPPET_CHARS], round(score, 4), source))
        if len(found) >= _MAX_RANKED:
            break
    yield from sorted(found, key=lambda document: -document.score)[:limit]


def _country_and_words(text: str) -> tuple[str | None, list[str]]:
    """Return the first country that a text names, and its other words without stop words."""
    words = [word for word in _WORD.findall(text)[: 4 * MAX_QUERY_WORDS] if len(word) <= 60]
    for count in range(min(4, len(words)), 0, -1):
        for start in range(len(words) - count + 1):
            name = " ".join(words[start : start + count])
            if "new" in (word.lower() for word in words[max(0, start - 2) : start]):
                continue  # New South Wales, New Mexico
            if (len(name) > 4 and name.lower() not in _NOT_COUNTRY_NAMES) or name in _SHORT_COUNTRY_NAMES:
                code = country_code(name)
                if code is not None:
                    return code, _content_words(words[:start] + words[start + count :])
    return None, _content_words(words)


def _content_words(words: Iterable[str]) -> list[str]:
    """Return the words in lower case without stop words, or all if there are no others."""
    lowered = dict.fromkeys(word.lower() for word in words)
    return ([word for word in lowered if word not in _STOP_WORDS] or list(lowered))[:MAX_QUERY_WORDS]


def _connection(folder: Path) -> sqlite3.Connection:
    path = folder / f"documents-{SCHEMA}-{_checksum():08x}.sqlite"
    opened: dict[Path, sqlite3.Connection] = _connections.__dict__.setdefault("opened", {})
    if path not in opened or not path.exists():
        opened[path] = _open_index(path)
    return opened[path]


@cache
def _checksum() -> int:
    return zlib.crc32(read_bytes(_TABLE), zlib.crc32(read_bytes("countries.json.gz")))


def _open_index(path: Path) -> sqlite3.Connection:
    with _building:
        if not _is_intact(path):
            _build(path)
    return open_readonly(path, any_thread=True)


def _is_intact(path: Path) -> bool:
    """Return whether the index exists and is undamaged; a damaged one is built again."""
    if not path.exists():
        return False
    try:
        connection = open_readonly(path)
        try:
            is_sound = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            return is_sound and bool(connection.execute("SELECT count(*) FROM passages").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.DatabaseError:
        return False


def _build(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".documents-", suffix=".part")
        os.close(handle)
        partial = Path(name)
        try:
            _fill(partial)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
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
            "CREATE VIRTUAL TABLE passages USING fts5(title, section, body, country, key UNINDEXED, source UNINDEXED, "
            "tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        connection.executemany(
            "INSERT INTO passages(title, section, body, country, key, source) VALUES (?, ?, ?, ?, ?, ?)",
            _list_passages(),
        )
        connection.execute("INSERT INTO passages(passages) VALUES ('optimize')")
        connection.commit()
    finally:
        connection.close()


def _list_passages() -> Iterator[tuple[str, str, str, str, str, str]]:
    known = all_countries()
    for code, heading, text, year in read_json(_TABLE):
        name = known[code].name if code else "World"
        key = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")
        yield name, heading, text, code, f"factbook:{code or 'world'}:{key}", f"{FACTBOOK}, {year}"
    for country in known.values():
        yield (
            country.name,
            "country facts, overview",
            describe(country),
            country.code,
            f"facts:{country.code}",
            OWN_FACTS,
        )


def describe(country: CountryFacts) -> str:
    """Return a country's facts in a few plain sentences."""
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


class ZimDocuments:
    """A ZIM file, searched by its own full-text index or, if it has none, by its titles."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            BadInput: it is missing or not a ZIM file.
            MissingExtra: libzim is not installed.
        """
        reader = require("libzim.reader", extra="atlas")
        if not path.is_file():
            raise BadInput(f"{path}: there is no such file; download a .zim file from https://library.kiwix.org")
        try:
            self._archive: Any = reader.Archive(path)
        except (RuntimeError, ValueError, OSError) as error:
            raise BadInput(f"{path}: not a complete ZIM file; download it again") from error
        self.path = path
        self.title = self._metadata("Title") or path.stem
        self.language = self._metadata("Language")

    def search(self, query: str, limit: int = 10) -> list[Document]:
        """Return the articles that match a query, best first, each with the part that has most of the query's words.

        Raises:
            BadInput: the file is damaged.
        """
        words = [word for word in _ZIM_WORD.findall(query[:MAX_QUERY_CHARS].lower()) if len(word) <= 60][
            :MAX_QUERY_WORDS
        ]
        if not words or limit < 1:
            return []
        try:
            paths = self._paths(" ".join(words), limit)
            return [self._read_document(path, words, place) for place, path in enumerate(paths)]
        except (RuntimeError, KeyError, ValueError) as error:
            raise BadInput(f"{self.path}: damaged, or its index can't be read; download it again") from error

    def _paths(self, query: str, limit: int) -> list[str]:
        if self._archive.has_fulltext_index:
            search = require("libzim.search", extra="atlas")
            found = search.Searcher(self._archive).search(search.Query().set_query(query))
        else:
            suggestion = require("libzim.suggestion", extra="atlas")
            found = suggestion.SuggestionSearcher(self._archive).suggest(query)
        return list(found.getResults(0, limit))

    def _read_document(self, path: str, words: list[str], place: int) -> Document:
        entry = self._archive.get_entry_by_path(path)
        item = entry.get_item()
        text = ""
        if item.mimetype.startswith("text/html"):
            text = plain_text(bytes(item.content[:MAX_ARTICLE_BYTES]).decode("utf-8", errors="replace"))
        return Document(
            id=f"zim:{self.path.stem}:{path}",
            title=item.title or entry.title or path,
            snippet=best_part(text, words),
            score=round(1 / (1 + 0.1 * place), 4),
            source=self.title,
        )

    def _metadata(self, name: str) -> str | None:
        try:
            return bytes(self._archive.get_metadata(name)).decode("utf-8", errors="replace")
        except (RuntimeError, KeyError):
            return None


def plain_text(markup: str) -> str:
    """Return the visible text of an HTML page, one line per paragraph, at most `MAX_ARTICLE_CHARS` long."""
    parser = VisibleText("\n", MAX_ARTICLE_CHARS)
    parser.feed(markup)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.pieces).splitlines())
    return "\n".join(line for line in lines if line)


def best_part(text: str, words: list[str]) -> str:
    """Return the part of a text with most of the words, about `SNIPPET_CHARS` long."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text
    starts = [0] + [found for word in words if (found := lowered.find(word)) >= 0]
    starts = [max(0, start - SNIPPET_CHARS // 4) for start in starts]
    best = max(
        starts, key=lambda start: (sum(word in lowered[start : start + SNIPPET_CHARS] for word in words), -start)
    )
    if best > 0:
        best = text.find(" ", best) + 1 or best
    part = text[best : best + SNIPPET_CHARS]
    cut = best + SNIPPET_CHARS < len(text)
    part = part.rsplit(" ", 1)[0] if cut and " " in part else part
    return ("…" if best > 0 else "") + " ".join(part.split()) + ("…" if cut else "")
