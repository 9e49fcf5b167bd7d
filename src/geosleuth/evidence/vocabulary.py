"""Words that stand on signs, by language and by what they say; and words of any common vocabulary.

The table is written by hand (``data/sign_words.tsv``) and not complete; a word that it lacks says nothing. Words that
signs everywhere have ("Hotel", "Pizza") are listed as international: they tell nothing about a language, and alone
they name no place.
"""

import gzip
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple, TypeVar
from zlib import crc32

from geosleuth import __version__
from geosleuth.atlas.folders import open_prepared_files
from geosleuth.atlas.sorted_rows import SortedRows
from geosleuth.names import fold
from geosleuth.names.folding import fold_once
from geosleuth.names.letters import LETTERS
from geosleuth.support.errors import DataFault

T = TypeVar("T")
# Languages whose counted texts contain many English words.
_ENGLISH_RICH_LANGUAGES = frozenset({"vi", "fil", "ta", "ms"})

MAX_PHRASE_WORDS = 4
MAX_LINE_CHARS = 200
INTERNATIONAL = "mul"
# Category of words that are only known to be common in a language.
COMMON = "common"
NATIONAL_WORDS = "national_words.tsv"
_SIGN_WORDS = "sign_words.tsv"
CATEGORIES = frozenset(
    {"street", "suffix", "station", "airport", "business", "landmark", "days", "hours", "notice", "function",
     "international"}
)  # fmt: skip
# Languages written without spaces between words.
UNSPACED = frozenset({"ja", "zh", "th", "ko"})
_ACCENTS_COUNT = 2  # in words so short: "se" is no "sé"
_MIN_STEM_CHARS = 3
_MIN_SUFFIX_CHARS = 3
_MIN_COMMON_CHARS, _MAX_LANGUAGES = 5, 2
_TOKEN = re.compile(rf"{LETTERS}(?:['’`´.]{LETTERS})*")
_FOLDER = files("geosleuth.evidence") / "data"
_APOSTROPHE = re.compile(r"['’`´]")


def is_common_word(text: str) -> bool:
    """Return whether a text is a single word that is frequent in some language and no large city's name."""
    return _languages(fold(text)) is not None


def of_common_words(text: str) -> bool:
    """Return whether every word of a text is a common one."""
    words = fold(text).split()
    return bool(words) and all(_languages(word) is not None for word in words)


def list_languages(word: str) -> frozenset[str]:
    """The ISO 639 codes of the languages in which a word is common; none for other words and names of large cities."""
    found = frozenset((_languages(fold(word)) or "").split(",")) - {""}
    return found - _ENGLISH_RICH_LANGUAGES if word.isascii() and "en" in found else found


@lru_cache(maxsize=1 << 16)
def _languages(word: str) -> str | None:
    return _common_words().get(word)


@cache
def _common_words() -> SortedRows:
    packed = (files("geosleuth.evidence") / "data" / "common_words.txt.gz").read_bytes()
    return SortedRows(gzip.decompress(packed).rstrip(b"\n") + b"\n", separator=b" ")


@dataclass(frozen=True, slots=True)
class WordSeen:
    """A word or phrase of the table in a text: which languages have it, and what it says there.

    ``exact`` are the languages that write it just so, accents included; the others of ``languages`` match without.
    """

    text: str
    start: int
    words: int
    languages: frozenset[str]
    exact: frozenset[str]
    categories: frozenset[str]


class _Entry(NamedTuple):
    language: str
    category: str
    written: str


class _Table(NamedTuple):
    by_key: dict[str, tuple[_Entry, ...]]
    suffixes: tuple[tuple[str, _Entry], ...]
    unspaced: tuple[_Entry, ...]
    languages: frozenset[str]


def tokens(text: str) -> list[str]:
    """The words of a text in lower case, without figures and punctuation; a letter beside a figure is no word."""
    cut = text[:MAX_LINE_CHARS]
    return [match[0].casefold() for match in _TOKEN.finditer(cut) if not _is_numbering(cut, match)]


def _is_numbering(text: str, match: re.Match[str]) -> bool:
    """Return whether a single letter stands at a figure, as in "B1-B22" and "18h"."""
    around = text[max(0, match.start() - 1) : match.start()] + text[match.end() : match.end() + 1]
    return len(match[0]) == 1 and any(map(str.isdigit, around))


@lru_cache(maxsize=4096)
def words_seen(text: str) -> tuple[WordSeen, ...]:
    """The words of the table in a text, the longest phrase first where several begin at one word."""
    table, words = _load_word_table(), tokens(text)
    keys = [fold(word) for word in words]
    found: list[WordSeen] = []
    start = 0
    while start < len(words):
        seen = _match_phrase(table, words, keys, start) or _match_word_part(table, words[start], start)
        if seen is not None:
            found.append(seen)
        start += seen.words if seen is not None else 1
    return (*found, *_inside_runs(table, text[:MAX_LINE_CHARS]))


@lru_cache(maxsize=4096)
def common_words_seen(text: str) -> tuple[WordSeen, ...]:
    """The words of a text that are not in the table, and common in one or two languages; none beside a trade."""
    table = _load_word_table()
    if any("business" in seen.categories for seen in words_seen(text)):
        return ()
    known = {at for seen in words_seen(text) for at in range(seen.start, seen.start + seen.words)}
    found = (_common(table, word, at) for at, word in enumerate(tokens(text)) if at not in known)
    return tuple(seen for seen in found if seen is not None)


def _match_phrase(table: _Table, words: list[str], keys: list[str], start: int) -> WordSeen | None:
    for count in range(min(MAX_PHRASE_WORDS, len(words) - start), 0, -1):
        entries = table.by_key.get(" ".join(keys[start : start + count]))
        if entries and count == 1 and len(words[start]) <= _ACCENTS_COUNT:
            entries = tuple(entry for entry in entries if entry.written == words[start])
        if entries:
            seen = _build_word(" ".join(words[start : start + count]), start, count, entries)
            return _add_all_languages(table, seen) if count == 1 else seen
    return None


def _add_all_languages(table: _Table, seen: WordSeen) -> WordSeen:
    """Return a word with all languages that have it: the table of sign words gives only a single language."""
    others = list_languages(seen.text) & table.languages
    if not others or len(seen.languages) > 1 or INTERNATIONAL in seen.languages:
        return seen
    exact = others if seen.text.isascii() else frozenset()
    return replace(seen, languages=seen.languages | others, exact=seen.exact | exact)


def _match_word_part(table: _Table, word: str, start: int) -> WordSeen | None:
    """Return the word behind an elided article ("d'emergència"), or the end of a compound ("Mannerheimintie")."""
    pieces = _APOSTROPHE.split(word)
    if len(pieces) > 1 and (entries := table.by_key.get(fold(pieces[-1]))):
        return _build_word(pieces[-1], start, 1, entries)
    key = fold(word)
    ends = [entry for end, entry in table.suffixes if key.endswith(end) and len(key) >= len(end) + _MIN_STEM_CHARS]
    return _build_word(word, start, 1, tuple(ends), compound=True) if ends else None


def front_of_compound(word: str) -> str:
    """Return what stands before the ending of a compound: "bahnhof" of "Bahnhofstrasse"; the word where it is none."""
    key = fold(word)
    ends = [
        end for end, _ in _load_word_table().suffixes if key.endswith(end) and len(key) >= len(end) + _MIN_STEM_CHARS
    ]
    return key.removesuffix(max(ends, key=len, default=""))


def _common(table: _Table, word: str, start: int) -> WordSeen | None:
    if len(word) < _MIN_COMMON_CHARS:
        return None
    languages = list_languages(word) & table.languages
    if not 0 < len(languages) <= _MAX_LANGUAGES:
        return None
    return WordSeen(word, start, 1, languages, languages, frozenset({COMMON}))


def _inside_runs(table: _Table, text: str) -> Iterator[WordSeen]:
    if text.isascii():
        return
    for entry in table.unspaced:
        if entry.written in text:
            language = frozenset({entry.language})
            yield WordSeen(entry.written, 0, 0, language, language, frozenset({entry.category}))


def _build_word(text: str, start: int, words: int, entries: tuple[_Entry, ...], *, compound: bool = False) -> WordSeen:
    exact = (
        entry.language for entry in entries if (text.endswith(entry.written) if compound else text == entry.written)
    )
    return WordSeen(
        text,
        start,
        words,
        frozenset(entry.language for entry in entries),
        frozenset(exact),
        frozenset(entry.category for entry in entries),
    )


def vocabulary_languages() -> frozenset[str]:
    """ISO 639 codes of the languages in the table."""
    return _load_word_table().languages


def national_rows() -> Iterator[tuple[str, str, str]]:
    """Language, countries and words of each row of the table of national words."""
    return _read_word_rows(NATIONAL_WORDS)


def tables_version(*names: str) -> str:
    """Return what changes with these tables, for what is kept of them.

    Raises:
        DataFault: one can't be read.
    """
    try:
        return f"{__version__}-1-{crc32(b''.join((_FOLDER / name).read_bytes() for name in names)):08x}"
    except OSError as error:
        raise DataFault(f"the tables of sign words can't be read: {_FOLDER}") from error


def _read_word_rows(name: str) -> Iterator[tuple[str, str, str]]:
    for row in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        language, second, words = row.split("\t")
        yield language, second, words


@cache
def _load_word_table() -> _Table:
    return kept_table(f"vocabulary-{tables_version(_SIGN_WORDS, NATIONAL_WORDS)}", _put_together, _Table)


def kept_table(version: str, put_together: Callable[[], T], kind: type[T]) -> T:
    """Return a table of words, kept on disk, since folding them takes a tenth of a second."""
    from msgspec import msgpack

    return open_prepared_files(version).load(
        "table", lambda: msgpack.encode(put_together()), lambda kept: msgpack.decode(kept, type=kind)
    )


def _put_together() -> _Table:
    by_key: dict[str, list[_Entry]] = defaultdict(list)
    suffixes: list[tuple[str, _Entry]] = []
    unspaced: dict[str, _Entry] = {}
    languages = set()
    try:
        for row in (*_read_word_rows(_SIGN_WORDS), *_read_word_rows(NATIONAL_WORDS)):
            language, category, words = row
            if category not in CATEGORIES:
                # The other table has countries there; its words are no names, either.
                category, words = "notice", "|".join(word for word in words.split("|") if not word.startswith("~"))
            languages.add(language)
            for written in dict.fromkeys(words.split("|")):
                if category == "suffix":
                    suffixes.append((fold_once(written), _Entry(language, "street", written)))
                    continue
                entry = _Entry(language, category, written)
                by_key[" ".join(fold_once(word) for word in tokens(written))].append(entry)
                if language in UNSPACED and not written.isascii():
                    unspaced[written] = entry
    except ValueError as error:
        raise DataFault(f"the tables of sign words can't be read: {_FOLDER}") from error
    by_key.pop("", None)
    suffixes = [(end, entry) for end, entry in suffixes if len(end) >= _MIN_SUFFIX_CHARS]
    return _Table(
        {key: tuple(entries) for key, entries in by_key.items()},
        tuple(suffixes),
        tuple(sorted(unspaced.values(), key=lambda entry: -len(entry.written))),
        frozenset(languages - {INTERNATIONAL}),
    )
