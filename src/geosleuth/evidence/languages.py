"""The language of signs, the countries that write it, and words by which countries of one language differ.

How common a language is on the signs of a country comes from the shares of its people that use it (CLDR), its legal
status there, and English, which stands on signs everywhere.

One clue for each language that is seen, from all its lines together: signs repeat each other, and two languages side
by side (French and Dutch) say more than twice as much of one.

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
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import version
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from geosleuth.atlas.facts import all_countries, get_script
from geosleuth.atlas.facts.countries import country_tables
from geosleuth.atlas.facts.scripts import DISTINCTIVE_LETTERS
from geosleuth.atlas.folders import open_prepared_files
from geosleuth.geo import FloatArray
from geosleuth.names import fold
from geosleuth.names.folding import fold_once
from geosleuth.support.errors import DataFault

from .clue import TextSeen
from .country_prior import country_prior, normalize
from .sign_layout import continues_below, join_seen_lines
from .text_clue import ClueDraft
from .vocabulary import (
    COMMON,
    INTERNATIONAL,
    MAX_PHRASE_WORDS,
    NATIONAL_WORDS,
    UNSPACED,
    WordSeen,
    common_words_seen,
    kept_table,
    national_rows,
    tables_version,
    tokens,
    vocabulary_languages,
    words_seen,
)

# Share of English on signs in countries that do not speak it: tourism, brands, fashion.
ENGLISH_SHARE = 0.2

# Weight on signs of a language without legal status, relative to one that has it.
NO_STATUS_WEIGHT = 0.05

# Languages that look the same on signs, or that are one language under two codes.
_SAME_LANGUAGE = {
    "nb": "no", "nn": "no", "tl": "fil", "gsw": "de", "bar": "de", "ary": "ar", "arz": "ar", "apc": "ar",
    "arq": "ar", "aeb": "ar", "ayl": "ar", "ajp": "ar", "apd": "ar", "acm": "ar", "prs": "fa", "uzs": "uz",
    "sdh": "ckb", "ku": "ckb", "cmn": "zh", "yue": "zh", "wuu": "zh", "nan": "zh", "hak": "zh", "aln": "sq",
    "azb": "az", "zgh": "tzm",
}  # fmt: skip

_WEIGHT_OF_CATEGORY = {"function": 0.45, "notice": 0.8, COMMON: 0.5}
# Evidence, in nats, of a long word that only one language has: signs in other languages hardly ever show it.
_WORD_WEIGHT = 7.0

_LONG_WORD_CHARS = 6
_WITHOUT_ACCENTS = 0.7
_LETTER_WEIGHT = 0.6
_STATISTICS_WEIGHT = 0.9
_MIN_LETTERS_TO_GUESS = 5
_MIN_GUESS = 1e-4
_STATISTICS_LEFT_OUT = frozenset({"zxx", "eo", "la", "vo", "grc", "hbo", "sa", "ie", "ia"})

# Scripts used for many languages; for other scripts the script clue already carries the information.
MULTILINGUAL_SCRIPTS = frozenset({"Latn", "Cyrl", "Arab", "Deva"})
MIN_CERTAINTY = 0.45
MIN_LETTERS = 3
MIN_LETTERS_UNKNOWN_WORDS = 12
MAX_LINES_COUNTED = 6
# Minimum relative entropy against the prior, in nats, for a language to be worth reporting.
MIN_GAIN = 0.15
# Minimum letters for English to count as what local people read, and not as a stray fashionable word.
PROSE_LETTERS = 80
# Share of whole sentences in the English on signs of countries that do not speak it.
_PROSE_SHARE = 0.25
# Weight of the language prior: names of common languages are guessed no more often than signs need. Countries get their
# full prior.
_PRIOR_WEIGHT = 0.3
_FUNCTION = frozenset({"function", COMMON})
# Foreign words that restaurants and fine shops use all over the world.
_BORROWED_WORDS = frozenset({
    "ristorante", "trattoria", "osteria", "pizzeria", "spaghetteria", "gelateria", "caffe", "taverna", "restaurante",
    "cantina", "taqueria", "tacos", "bodega", "tapas", "cerveceria", "bistro", "bistrot", "brasserie", "creperie",
    "cafe", "restaurant", "pub", "biergarten", "bierstube", "kebap", "kebab", "lokanta", "lokantasi", "ocakbasi",
    "doner", "churrascaria", "asador", "parrilla", "pasta", "vino", "vini", "enoteca", "boulangerie", "patisserie",
    "chocolaterie", "boutique", "salon", "sushi", "ramen", "curry", "tandoori", "mezze", "ouzeri", "psistaria",
})  # fmt: skip
_SOURCES = ("CLDR: languages by country", "sign words")
# Frequency of a word in countries of its language that are not listed, relative to those that are.
UNLISTED_COUNTRY_FREQUENCY = 0.08
ANYWHERE = "*"
MAX_WORDS = 6
MAX_LINES = 40
_MIN_STEM_CHARS = 3
_SURE_WORD_LETTERS = 8
_LANGUAGE_FLOOR = 0.01  # foreign words are on signs everywhere
_DAMPING: FloatArray = np.diff(np.sqrt(np.arange(MAX_WORDS + 1.0)))


@cache
def languages() -> tuple[str, ...]:
    """The languages that can be told apart here, by ISO 639 code."""
    return tuple(sorted({*vocabulary_languages(), *_letters(), *(_statistics_labels() or ())}))


@cache
def get_number(language: str) -> int | None:
    """Return the index of a language in `languages`."""
    table = {code: number for number, code in enumerate(languages())}
    return table.get(_SAME_LANGUAGE.get(language, language))


@cache
def shares_on_signs(english_everywhere: float = ENGLISH_SHARE) -> tuple[tuple[str, ...], FloatArray]:
    """Country codes, and for each how its signs' texts share out over `languages` (rows add up to 1 or less)."""
    codes = tuple(sorted(country_prior()))
    table = np.zeros((len(codes), len(languages())))
    english = get_number("en")
    for row, code in enumerate(codes):
        total = 0.0
        used: dict[int | None, float] = {}
        for language in all_countries()[code].languages:
            weight = (language.percent or 1.0) * (1.0 if language.status else NO_STATUS_WEIGHT)
            number = get_number(language.code)
            total += max(0.0, weight - used.get(number, 0.0)) if number is not None else weight
            used[number] = max(used.get(number, 0.0), weight)
        for number, weight in used.items():
            if number is not None and total:
                table[row, number] = (1 - english_everywhere) * weight / total
        if english is not None:
            table[row, english] += english_everywhere
    return codes, table


@cache
def world_shares() -> FloatArray:
    """Return the share of each language on the signs of the world."""
    codes, table = shares_on_signs()
    shares: FloatArray = np.array([country_prior()[code] for code in codes]) @ table
    return np.maximum(shares, 1e-7)


@cache
def writers(script: str) -> npt.NDArray[np.bool_]:
    """Return the mask of `languages` that are written in a script, given by its ISO 15924 code."""
    found = np.zeros(len(languages()), dtype=bool)
    for country in all_countries().values():
        for language in country.languages:
            number = get_number(language.code)
            if language.script == script and number is not None:
                found[number] = True
    return found


def likelihoods(text: str) -> tuple[FloatArray, list[WordSeen]]:
    """Log likelihoods of a text in each language, up to a constant, and the words of the table that speak for them."""
    words = [word for word in words_seen(text) if INTERNATIONAL not in word.languages]
    words += common_words_seen(text)
    return _letters_and_words(text, tuple(words)) + guesses(text), words


def _letters_and_words(text: str, words: tuple[WordSeen, ...]) -> FloatArray:
    scores = np.zeros(len(languages()))
    known = len(vocabulary_languages())
    for word in words:
        category = max((_WEIGHT_OF_CATEGORY.get(category, 1.0) for category in word.categories), default=1.0)
        full = _WORD_WEIGHT * category * min(1.0, len(word.text) / _LONG_WORD_CHARS)
        for language in word.languages:
            number = get_number(language)
            if number is not None:
                scores[number] += full if language in word.exact else full * _WITHOUT_ACCENTS
    for letter in dict.fromkeys(text.casefold()):
        owners = _find_letter_languages(letter)
        if owners:
            scores[list(owners)] += _LETTER_WEIGHT * np.log(known / len(owners))
    return scores


@lru_cache(maxsize=4096)
def guesses(text: str) -> FloatArray:
    """Log likelihoods of each language by its letters; all zero without ``py3langid`` or with too few letters."""
    scores = np.zeros(len(languages()))
    model = _statistics()
    if model is None or sum(character.isalpha() for character in text) < _MIN_LETTERS_TO_GUESS:
        return scores
    shares: dict[int, float] = {}
    for label, share in model.rank(text.lower()):
        number = get_number(label)
        if number is not None and label not in _STATISTICS_LEFT_OUT:
            shares[number] = max(shares.get(number, 0.0), share)
    for number in range(len(scores)):
        scores[number] = _STATISTICS_WEIGHT * np.log(max(shares.get(number, 0.0), _MIN_GUESS) / _MIN_GUESS)
    return scores


@cache
def _statistics() -> Any:
    """The model of ``py3langid``; None where it is not installed.

    Unpacking it takes more than half a second, so that it is kept on disk unpacked (68 MB).
    """
    try:
        langid, modelio = import_module("py3langid.langid"), import_module("py3langid.modelio")
    except ModuleNotFoundError:
        return None

    def unpack_model() -> list[npt.NDArray[Any]]:
        return [np.asarray(part) for part in modelio.load_model(langid.MODEL_DIR / langid.MODEL_FILE)]

    kept = open_prepared_files(f"languages-{version('py3langid')}").arrays("model", unpack_model)
    shares, priors, labels, moves, rows, outputs = kept
    return langid.LanguageIdentifier(
        shares, priors, labels.tolist(), moves.data, outputs.tolist(), norm_probs=True, tk_row=rows.tolist()
    )


@cache
def _statistics_labels() -> tuple[str, ...] | None:
    model = _statistics()
    if model is None:
        return None
    labels = (_SAME_LANGUAGE.get(label, label) for label in model.labels if label not in _STATISTICS_LEFT_OUT)
    return tuple(dict.fromkeys(labels))


@cache
def _letters() -> Mapping[str, frozenset[str]]:
    """Return the distinctive letters of each language that has some."""
    found: dict[str, set[str]] = {}
    for letter, owners in DISTINCTIVE_LETTERS.items():
        for owner in owners.split():
            found.setdefault(_SAME_LANGUAGE.get(owner, owner), set()).add(letter)
    return {language: frozenset(letters) for language, letters in found.items()}


@lru_cache(maxsize=4096)
def _find_letter_languages(letter: str) -> tuple[int, ...]:
    owners = (get_number(owner) for owner in DISTINCTIVE_LETTERS.get(letter, "").split())
    return tuple(sorted({number for number in owners if number is not None}))


@dataclass(frozen=True, slots=True)
class _Line:
    seen: TextSeen
    script: str
    scores: FloatArray
    words: list[WordSeen]
    letters: int
    language: int
    certainty: float


def language_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """One finding for each language that the lines are in."""
    by_language: dict[tuple[int, str], list[_Line]] = defaultdict(list)
    undecided: list[_Line] = []
    for seen in lines:
        line = _read_language_line(seen)
        if line is None:
            continue
        content = any(word.categories - _FUNCTION for word in line.words)
        enough = content or line.letters >= MIN_LETTERS_UNKNOWN_WORDS
        if line.certainty >= MIN_CERTAINTY and enough:
            by_language[line.language, line.script].append(line)
        else:
            undecided.append(line)
    if not by_language and undecided:
        pooled = _pool_lines(undecided)
        if pooled is not None:
            by_language[pooled.language, pooled.script].append(pooled)
    found = (_finding(number, script, group) for (number, script), group in by_language.items())
    return [finding for finding in found if finding is not None]


@lru_cache(maxsize=1024)
def compute_ratio(country: str, text: str) -> float:
    """Return how much likelier signs in the language of a text are in a country than in the world, at least 1."""
    found = language_findings([TextSeen(text, "", (0.0, 0.0, 1.0, 1.0), 1.0, "")])
    shares = found[0].countries if found else {}
    return max(1.0, shares.get(country, 0.0) / country_prior()[country]) if shares else 1.0


def _read_language_line(seen: TextSeen) -> _Line | None:
    scripts = [script for character in seen.text if (script := get_script(character)) is not None]
    if len(scripts) < MIN_LETTERS:
        return None
    script = max(sorted(set(scripts)), key=scripts.count)
    if script not in MULTILINGUAL_SCRIPTS:
        return None
    scores, words = likelihoods(" ".join(seen.text.split()))
    return _score_line(seen, script, scores, words, len(scripts))


def _score_line(seen: TextSeen, script: str, scores: FloatArray, words: list[WordSeen], letters: int) -> _Line | None:
    possible = writers(script)
    if not possible.any() or not scores[possible].any():
        return None
    weighted = np.where(possible, scores + _PRIOR_WEIGHT * np.log(world_shares()), -np.inf)
    shares = np.exp(weighted - weighted.max())
    shares /= shares.sum()
    best = int(shares.argmax())
    return _Line(seen, script, scores, words, letters, best, float(shares[best]))


def _pool_lines(lines: Sequence[_Line]) -> _Line | None:
    """Combine short lines that say little alone but may be plain together; the longest represents them."""
    script = max(lines, key=lambda line: line.letters).script
    chosen = sorted((line for line in lines if line.script == script), key=lambda line: -line.letters)
    chosen = chosen[:MAX_LINES_COUNTED]
    letters = sum(line.letters for line in chosen)
    if letters < MIN_LETTERS_UNKNOWN_WORDS:
        return None
    words = [word for line in chosen for word in line.words]
    pooled = _score_line(chosen[0].seen, script, np.sum([line.scores for line in chosen], axis=0), words, letters)
    return pooled if pooled is not None and pooled.certainty >= MIN_CERTAINTY else None


def _finding(number: int, script: str, group: Sequence[_Line]) -> ClueDraft | None:
    ranked = sorted(group, key=lambda line: (-line.certainty * min(line.letters, 20), line.seen.text))
    scores = np.sum([line.scores for line in ranked[:MAX_LINES_COUNTED]], axis=0)
    prose = sum(line.letters for line in ranked) >= PROSE_LETTERS
    countries = _convert_to_countries(np.where(writers(script), scores, -np.inf), prose=prose)
    if _gain(countries) < MIN_GAIN:
        return None
    words = list(
        dict.fromkeys(word.text for line in ranked for word in line.words if number in _get_language_numbers(word))
    )
    code = languages()[number]
    name = country_tables()["languages"].get(code, (code,))[0]
    content = any(word.categories - _FUNCTION for line in ranked for word in line.words)
    english = "language.prose" if prose else "language.english"
    sort = english if code == "en" else "language" if content else "language.guessed"
    plain = {word.text for line in ranked for word in line.words if word.categories == {COMMON}}
    if content and words and all(fold(word) in _BORROWED_WORDS for word in words if word not in plain):
        sort = "language.kitchen"
    quoted = ", ".join(f"“{word}”" for word in words[:3])
    return ClueDraft(
        "language", sort, ranked[0].seen.text, f"{name}{f' ({quoted})' if quoted else ''}", countries, ranked[0].seen,
        _SOURCES if content else (*_SOURCES, "py3langid"),
    )  # fmt: skip


def _get_language_numbers(word: WordSeen) -> set[int | None]:
    return {get_number(language) for language in word.languages}


def _convert_to_countries(scores: FloatArray, *, prose: bool) -> dict[str, float]:
    codes, shares = shares_on_signs(ENGLISH_SHARE * (_PROSE_SHARE if prose else 1.0))
    fit = np.exp(scores - scores.max())
    common = shares @ fit
    prior = country_prior()
    return normalize({code: prior[code] * float(common[row]) for row, code in enumerate(codes)})


def _gain(countries: dict[str, float]) -> float:
    prior = country_prior()
    return sum(share * float(np.log(share / prior[code])) for code, share in countries.items() if share > 0)


class _Entry(NamedTuple):
    language: str
    written: str
    countries: Mapping[str, float]
    everywhere_but: bool


class _Table(NamedTuple):
    by_key: Mapping[str, tuple[_Entry, ...]]
    endings: tuple[_Entry, ...]
    unspaced: tuple[_Entry, ...]


def national_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """One finding for each language whose words on these signs are not the same in all its countries."""
    found: dict[str, dict[str, tuple[_Entry, TextSeen]]] = defaultdict(dict)
    usage: dict[tuple[str, str], dict[str, float]] = {}
    for seen in (*lines, *_over_two_lines(lines)):
        own = _own_language(seen)
        for entry in _find_entries(seen.text):
            if own not in (None, get_number(entry.language)) and not {own, None}.isdisjoint(_having(entry.written)):
                continue  # "Théâtre" and "Centre" in a line of French are French
            found[entry.language].setdefault(entry.written, (entry, seen))
            # A word that stands in several rows is at home in all their countries.
            known = usage.setdefault((entry.language, entry.written), {})
            for code, share in _usage(entry).items():
                known[code] = max(share, known.get(code, 0.0))
    return [
        finding
        for language, words in found.items()
        if (finding := _national_finding(language, words, {word: usage[language, word] for word in words})) is not None
    ]


def _own_language(seen: TextSeen) -> int | None:
    """Return the language of a line; None if it is not plain."""
    line = _read_language_line(seen)
    return line.language if line is not None and line.certainty >= MIN_CERTAINTY else None


@lru_cache(maxsize=1024)
def _having(word: str) -> frozenset[int | None]:
    """Return the languages whose signs have a word, among them None if signs everywhere have it."""
    return frozenset(number for seen in words_seen(word) if seen.text == word for number in _get_language_numbers(seen))


def _over_two_lines(lines: Sequence[TextSeen]) -> Iterator[TextSeen]:
    """Yield joined lines that continue below: signs break "GIVE WAY" in two."""
    for upper, lower in permutations(lines[:MAX_LINES], 2):
        if continues_below(upper, lower):
            yield join_seen_lines((upper, lower), f"{upper.text} {lower.text}")


def _national_finding(
    language: str, words: Mapping[str, tuple[_Entry, TextSeen]], usage: Mapping[str, Mapping[str, float]]
) -> ClueDraft | None:
    number = get_number(language)
    if number is None:
        return None
    codes, shares = shares_on_signs()
    chosen = list(words)[:MAX_WORDS]
    logs = np.log(
        np.array(
            [
                [usage[word].get(code, usage[word].get(ANYWHERE, UNLISTED_COUNTRY_FREQUENCY)) for code in codes]
                for word in chosen
            ]
        )
    )
    # Signs by one hand are worded alike: the second word says less than the first.
    fit = np.exp(_DAMPING[: len(chosen)] @ np.sort(logs, axis=0))
    common = (shares[:, number] + _LANGUAGE_FLOOR) * fit
    prior = country_prior()
    countries = normalize({code: prior[code] * float(common[row]) for row, code in enumerate(codes)})
    seen = words[chosen[0]][1]
    name = country_tables()["languages"].get(language, (language,))[0]
    quoted = ", ".join(f"“{word.lstrip('~')}”" for word in chosen[:3])
    sort = "language.national" if len(chosen) > 1 else "language.one_word"
    # A short word of one language is another's by chance: "kita" is a place for children in Germany and north in Japan.
    letters = sum(map(str.isalpha, chosen[0]))
    factor = min(1.0, letters / _SURE_WORD_LETTERS) ** 2 if len(chosen) == 1 and chosen[0].isascii() else 1.0
    told = ", ".join(word.lstrip("~") for word in chosen)
    meaning = f"{name} as some countries word it ({quoted})"
    return ClueDraft("language", sort, told, meaning, countries, seen, ("national sign words",), factor)


def _usage(entry: _Entry) -> dict[str, float]:
    if entry.everywhere_but:
        return {code: UNLISTED_COUNTRY_FREQUENCY if code in entry.countries else 1.0 for code in country_prior()}
    return dict(entry.countries)


def _find_entries(text: str) -> Iterator[_Entry]:
    table, words = _load_national_words(), tokens(text)
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
                if word.endswith(end) and len(word) >= len(end) + _MIN_STEM_CHARS:
                    yield entry
    if not text.isascii():
        yield from (entry for entry in table.unspaced if entry.written in text)


@cache
def _load_national_words() -> _Table:
    """Return the national words by lookup key; cached on disk."""
    return kept_table(f"national-{tables_version(NATIONAL_WORDS)}", _put_together, _Table)


def _put_together() -> _Table:
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
    except ValueError as error:
        raise DataFault("the table of national words can't be read") from error
    by_key.pop("", None)
    return _Table({key: tuple(entries) for key, entries in by_key.items()}, tuple(endings), tuple(unspaced))
