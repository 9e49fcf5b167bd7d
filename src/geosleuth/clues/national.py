"""Words by which countries of one language differ: "car park" and "parking lot", "parqueadero" and "aparcamiento".

The table (``data/national_words.tsv``) is written by hand from general knowledge of how signs are worded; no list was
copied, and it is not complete. A row is a language, the countries that use a word, and words. A figure behind a country
is how common the word is there beside the first; ``-US`` says that every country but these has it. ``~`` marks the end
of a longer word, spelled just so. No word is exclusive: countries that are not listed keep a share, and ``*:0.01``
says which where a word is rarer elsewhere than most are.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from geosleuth.atlas.facts.countries import country_tables
from geosleuth.errors import DataFault
from geosleuth.geo import FloatArray
from geosleuth.names import fold
from geosleuth.names.folding import fold_once

from .finding import Finding
from .layout import continues_below, joined
from .model import TextSeen
from .prior import country_prior, normalised
from .speech import number_of, shares_on_signs
from .vocabulary import MAX_PHRASE_WORDS, UNSPACED, national_rows, tokens

ELSEWHERE = 0.08
"""How common a word is in countries of its language that are not listed, beside those that are."""

ANYWHERE = "*"
MOST_WORDS = 6
MOST_LINES = 40
_LEAST_STEM_CHARS = 3
_LANGUAGE_FLOOR = 0.01  # foreign words are on signs everywhere
_DAMPING: FloatArray = np.diff(np.sqrt(np.arange(MOST_WORDS + 1.0)))


@dataclass(frozen=True, slots=True)
class _Entry:
    language: str
    written: str
    countries: Mapping[str, float]
    everywhere_but: bool


@dataclass(frozen=True, slots=True)
class _Table:
    by_key: Mapping[str, tuple[_Entry, ...]]
    endings: tuple[_Entry, ...]
    unspaced: tuple[_Entry, ...]


def national_findings(lines: Sequence[TextSeen]) -> list[Finding]:
    """One finding for each language whose words on these signs are not the same in all its countries."""
    found: dict[str, dict[str, tuple[_Entry, TextSeen]]] = defaultdict(dict)
    usage: dict[tuple[str, str], dict[str, float]] = {}
    for seen in (*lines, *_over_two_lines(lines)):
        for entry in _entries_in(seen.text):
            found[entry.language].setdefault(entry.written, (entry, seen))
            # A word that stands in several rows is at home in all their countries.
            known = usage.setdefault((entry.language, entry.written), {})
            for code, share in _usage(entry).items():
                known[code] = max(share, known.get(code, 0.0))
    return [
        finding
        for language, words in found.items()
        if (finding := _finding(language, words, {word: usage[language, word] for word in words})) is not None
    ]


def _over_two_lines(lines: Sequence[TextSeen]) -> Iterator[TextSeen]:
    """Lines that go on below, as one: signs break "GIVE WAY" in two."""
    for upper, lower in permutations(lines[:MOST_LINES], 2):
        if continues_below(upper, lower):
            yield joined((upper, lower), f"{upper.text} {lower.text}")


def _finding(
    language: str, words: Mapping[str, tuple[_Entry, TextSeen]], usage: Mapping[str, Mapping[str, float]]
) -> Finding | None:
    number = number_of(language)
    if number is None:
        return None
    codes, shares = shares_on_signs()
    chosen = list(words)[:MOST_WORDS]
    logs = np.log(
        np.array([[usage[word].get(code, usage[word].get(ANYWHERE, ELSEWHERE)) for code in codes] for word in chosen])
    )
    # Signs by one hand are worded alike: the second word says less than the first.
    fit = np.exp(_DAMPING[: len(chosen)] @ np.sort(logs, axis=0))
    common = (shares[:, number] + _LANGUAGE_FLOOR) * fit
    prior = country_prior()
    countries = normalised({code: prior[code] * float(common[row]) for row, code in enumerate(codes)})
    seen = words[chosen[0]][1]
    name = country_tables()["languages"].get(language, (language,))[0]
    quoted = ", ".join(f"“{word.lstrip('~')}”" for word in chosen[:3])
    sort = "language.national" if len(chosen) > 1 else "language.one_word"
    told = ", ".join(word.lstrip("~") for word in chosen)
    meaning = f"{name} as some countries word it ({quoted})"
    return Finding("language", sort, told, meaning, countries, seen, ("national sign words",))


def _usage(entry: _Entry) -> dict[str, float]:
    if entry.everywhere_but:
        return {code: ELSEWHERE if code in entry.countries else 1.0 for code in country_prior()}
    return dict(entry.countries)


def _entries_in(text: str) -> Iterator[_Entry]:
    table, words = _table(), tokens(text)
    keys = [fold(word) for word in words]
    start = 0
    while start < len(words):
        for count in range(min(MAX_PHRASE_WORDS, len(words) - start), 0, -1):
            if entries := table.by_key.get(" ".join(keys[start : start + count])):
                yield from entries
                start += count - 1
                break
        start += 1
    if not text.isupper():
        # Capitals have no ß.
        for word in re.findall(r"[^\W\d_]+", text.lower()):
            for entry in table.endings:
                end = entry.written[1:]
                if word.endswith(end) and len(word) >= len(end) + _LEAST_STEM_CHARS:
                    yield entry
    if not text.isascii():
        yield from (entry for entry in table.unspaced if entry.written in text)


@cache
def _table() -> _Table:
    by_key: dict[str, list[_Entry]] = defaultdict(list)
    endings: list[_Entry] = []
    unspaced: list[_Entry] = []
    try:
        for language, codes, words in national_rows():
            listed = [code.partition(":") for code in codes.split()]
            countries = {code.removeprefix("-"): float(share or 1.0) for code, _, share in listed}
            for written in dict.fromkeys(words.split("|")):
                entry = _Entry(language, written, countries, codes.startswith("-"))
                if written.startswith("~"):
                    endings.append(entry)
                elif language in UNSPACED and not written.isascii():
                    unspaced.append(entry)
                else:
                    by_key[" ".join(fold_once(word) for word in tokens(written))].append(entry)
    except (OSError, ValueError) as error:
        raise DataFault("the table of national words can't be read") from error
    by_key.pop("", None)
    return _Table({key: tuple(entries) for key, entries in by_key.items()}, tuple(endings), tuple(unspaced))
