"""Which languages a country's signs are in, and how far letters, words and statistics speak for each language.

How common a language is on the signs of a country comes from the shares of its people that use it (CLDR), its legal
status there, and English, which stands on signs everywhere.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from geosleuth.atlas.facts import all_countries
from geosleuth.atlas.facts.scripts import TELLING_LETTERS
from geosleuth.geo import FloatArray

from .prior import country_prior
from .vocabulary import COMMON, INTERNATIONAL, WordSeen, common_words_seen, vocabulary_languages, words_seen

ENGLISH_EVERYWHERE = 0.2
"""The share of English on signs of a country that does not speak it: tourism, brands, fashion."""

WITHOUT_STATUS = 0.05
"""How much a language without legal status counts on signs against one that has it."""

_SAME_LANGUAGE = {
    "nb": "no", "nn": "no", "tl": "fil", "gsw": "de", "bar": "de", "ary": "ar", "arz": "ar", "apc": "ar",
    "arq": "ar", "aeb": "ar", "ayl": "ar", "ajp": "ar", "apd": "ar", "acm": "ar", "prs": "fa", "uzs": "uz",
    "sdh": "ckb", "ku": "ckb", "cmn": "zh", "yue": "zh", "wuu": "zh", "nan": "zh", "hak": "zh", "aln": "sq",
    "azb": "az", "zgh": "tzm",
}  # fmt: skip
"""Languages that signs write alike, or that are one language under two codes."""

_WEIGHT_OF_CATEGORY = {"function": 0.45, "notice": 0.8, COMMON: 0.5}
_WORD_WEIGHT = 7.0
"""By how much (nats) a long word of a language's own speaks for it: others hardly ever have it on their signs."""

_LONG_WORD_CHARS = 6
_WITHOUT_ACCENTS = 0.7
_LETTER_WEIGHT = 0.6
_STATISTICS_WEIGHT = 0.9
_LEAST_LETTERS_TO_GUESS = 5
_LEAST_GUESS = 1e-4
_STATISTICS_LEFT_OUT = frozenset({"zxx", "eo", "la", "vo", "grc", "hbo", "sa", "ie", "ia"})


@cache
def languages() -> tuple[str, ...]:
    """The languages that can be told apart here, by ISO 639 code."""
    return tuple(sorted({*vocabulary_languages(), *_letters(), *(_statistics_labels() or ())}))


@cache
def number_of(language: str) -> int | None:
    """Where a language stands in `languages`."""
    table = {code: number for number, code in enumerate(languages())}
    return table.get(_SAME_LANGUAGE.get(language, language))


@cache
def shares_on_signs(english_everywhere: float = ENGLISH_EVERYWHERE) -> tuple[tuple[str, ...], FloatArray]:
    """Country codes, and for each how its signs' texts share out over `languages` (rows add up to 1 or less)."""
    codes = tuple(sorted(country_prior()))
    table = np.zeros((len(codes), len(languages())))
    english = number_of("en")
    for row, code in enumerate(codes):
        total = 0.0
        used: dict[int | None, float] = {}
        for language in all_countries()[code].languages:
            weight = (language.percent or 1.0) * (1.0 if language.status else WITHOUT_STATUS)
            number = number_of(language.code)
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
    """How common each language is on the signs of the world."""
    codes, table = shares_on_signs()
    shares: FloatArray = np.array([country_prior()[code] for code in codes]) @ table
    return np.maximum(shares, 1e-7)


@cache
def writers(script: str) -> npt.NDArray[np.bool_]:
    """Which of `languages` are written in a script, by ISO 15924 code."""
    found = np.zeros(len(languages()), dtype=bool)
    for country in all_countries().values():
        for language in country.languages:
            number = number_of(language.code)
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
            number = number_of(language)
            if number is not None:
                scores[number] += full if language in word.exact else full * _WITHOUT_ACCENTS
    for letter in dict.fromkeys(text.casefold()):
        owners = _letters_of(letter)
        if owners:
            scores[list(owners)] += _LETTER_WEIGHT * np.log(known / len(owners))
    return scores


@lru_cache(maxsize=4096)
def guesses(text: str) -> FloatArray:
    """Log likelihoods of each language by its letters; all zero without ``py3langid`` or with too few letters."""
    scores = np.zeros(len(languages()))
    model = _statistics()
    if model is None or sum(character.isalpha() for character in text) < _LEAST_LETTERS_TO_GUESS:
        return scores
    shares: dict[int, float] = {}
    for label, share in model.rank(text.lower()):
        number = number_of(label)
        if number is not None and label not in _STATISTICS_LEFT_OUT:
            shares[number] = max(shares.get(number, 0.0), share)
    for number in range(len(scores)):
        scores[number] = _STATISTICS_WEIGHT * np.log(max(shares.get(number, 0.0), _LEAST_GUESS) / _LEAST_GUESS)
    return scores


@cache
def _statistics() -> Any:
    """The model of ``py3langid``, read in less than a second; None where it is not installed."""
    try:
        langid = import_module("py3langid.langid")
    except ModuleNotFoundError:
        return None
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


@cache
def _statistics_labels() -> tuple[str, ...] | None:
    model = _statistics()
    if model is None:
        return None
    labels = (_SAME_LANGUAGE.get(label, label) for label in model.labels if label not in _STATISTICS_LEFT_OUT)
    return tuple(dict.fromkeys(labels))


@cache
def _letters() -> Mapping[str, frozenset[str]]:
    """For each language that a telling letter names, those letters."""
    found: dict[str, set[str]] = {}
    for letter, owners in TELLING_LETTERS.items():
        for owner in owners.split():
            found.setdefault(_SAME_LANGUAGE.get(owner, owner), set()).add(letter)
    return {language: frozenset(letters) for language, letters in found.items()}


@lru_cache(maxsize=4096)
def _letters_of(letter: str) -> tuple[int, ...]:
    owners = (number_of(owner) for owner in TELLING_LETTERS.get(letter, "").split())
    return tuple(sorted({number for number in owners if number is not None}))
