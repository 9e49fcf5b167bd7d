"""The language of signs. English says nearly nothing; a language of few countries says much.

One clue for each language that is seen, from all its lines together: signs repeat each other, and two languages side
by side (French and Dutch) say more than twice as much of one.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geosleuth.atlas.facts import script_of
from geosleuth.atlas.facts.countries import country_tables
from geosleuth.geo import FloatArray
from geosleuth.names import fold

from .finding import Finding
from .model import TextSeen
from .prior import country_prior, normalised
from .speech import ENGLISH_EVERYWHERE, languages, likelihoods, number_of, shares_on_signs, world_shares, writers
from .vocabulary import COMMON, WordSeen

TOLD_BY_LANGUAGE = frozenset({"Latn", "Cyrl", "Arab", "Deva"})
"""Scripts of many languages; in others the script itself has said it."""

LEAST_CERTAINTY = 0.45
LEAST_LETTERS = 3
LEAST_LETTERS_UNKNOWN_WORDS = 12
MAX_LINES_COUNTED = 6
LEAST_GAIN = 0.15
"""Relative entropy against the prior (nats) under which a language tells nothing worth saying."""

PROSE_LETTERS = 80
"""From so many letters on, English is no loose word of fashion but what the people there read."""

_PROSE_EVERYWHERE = 0.25
"""How much of the English on signs of countries that do not speak it is whole sentences."""

_PRIOR_WEIGHT = 0.3
"""Names of common languages are guessed at no more often than signs need; the countries get their full prior."""

_FUNCTION = frozenset({"function", COMMON})
_KITCHENS = frozenset({
    "ristorante", "trattoria", "osteria", "pizzeria", "spaghetteria", "gelateria", "caffe", "taverna", "restaurante",
    "cantina", "taqueria", "tacos", "bodega", "tapas", "cerveceria", "bistro", "bistrot", "brasserie", "creperie",
    "cafe", "restaurant", "pub", "biergarten", "bierstube", "kebap", "kebab", "lokanta", "lokantasi", "ocakbasi",
    "doner", "churrascaria", "asador", "parrilla", "pasta", "vino", "vini", "enoteca", "boulangerie", "patisserie",
    "chocolaterie", "boutique", "salon", "sushi", "ramen", "curry", "tandoori", "mezze", "ouzeri", "psistaria",
})  # fmt: skip
"""Words that kitchens and fine shops all over the world take from the language of what they sell."""

_SOURCES = ("CLDR: languages by country", "sign words")


@dataclass(frozen=True, slots=True)
class _Line:
    seen: TextSeen
    script: str
    scores: FloatArray
    words: list[WordSeen]
    letters: int
    language: int
    certainty: float


def language_findings(lines: Sequence[TextSeen]) -> list[Finding]:
    """One finding for each language that the lines are in."""
    by_language: dict[tuple[int, str], list[_Line]] = defaultdict(list)
    undecided: list[_Line] = []
    for seen in lines:
        line = _read(seen)
        if line is None:
            continue
        content = any(word.categories - _FUNCTION for word in line.words)
        enough = content or line.letters >= LEAST_LETTERS_UNKNOWN_WORDS
        if line.certainty >= LEAST_CERTAINTY and enough:
            by_language[line.language, line.script].append(line)
        else:
            undecided.append(line)
    if not by_language and undecided:
        pooled = _pooled(undecided)
        if pooled is not None:
            by_language[pooled.language, pooled.script].append(pooled)
    found = (_finding(number, script, group) for (number, script), group in by_language.items())
    return [finding for finding in found if finding is not None]


def _read(seen: TextSeen) -> _Line | None:
    scripts = [script for character in seen.text if (script := script_of(character)) is not None]
    if len(scripts) < LEAST_LETTERS:
        return None
    script = max(sorted(set(scripts)), key=scripts.count)
    if script not in TOLD_BY_LANGUAGE:
        return None
    scores, words = likelihoods(" ".join(seen.text.split()))
    return _line(seen, script, scores, words, len(scripts))


def _line(seen: TextSeen, script: str, scores: FloatArray, words: list[WordSeen], letters: int) -> _Line | None:
    possible = writers(script)
    if not possible.any() or not scores[possible].any():
        return None
    weighted = np.where(possible, scores + _PRIOR_WEIGHT * np.log(world_shares()), -np.inf)
    shares = np.exp(weighted - weighted.max())
    shares /= shares.sum()
    best = int(shares.argmax())
    return _Line(seen, script, scores, words, letters, best, float(shares[best]))


def _pooled(lines: Sequence[_Line]) -> _Line | None:
    """Short lines that say little alone may together be plain; the longest stands for them."""
    script = max(lines, key=lambda line: line.letters).script
    chosen = sorted((line for line in lines if line.script == script), key=lambda line: -line.letters)
    chosen = chosen[:MAX_LINES_COUNTED]
    letters = sum(line.letters for line in chosen)
    if letters < LEAST_LETTERS_UNKNOWN_WORDS:
        return None
    words = [word for line in chosen for word in line.words]
    pooled = _line(chosen[0].seen, script, np.sum([line.scores for line in chosen], axis=0), words, letters)
    return pooled if pooled is not None and pooled.certainty >= LEAST_CERTAINTY else None


def _finding(number: int, script: str, group: Sequence[_Line]) -> Finding | None:
    ranked = sorted(group, key=lambda line: (-line.certainty * min(line.letters, 20), line.seen.text))
    scores = np.sum([line.scores for line in ranked[:MAX_LINES_COUNTED]], axis=0)
    prose = sum(line.letters for line in ranked) >= PROSE_LETTERS
    countries = _countries(np.where(writers(script), scores, -np.inf), prose=prose)
    if _gain(countries) < LEAST_GAIN:
        return None
    words = list(dict.fromkeys(word.text for line in ranked for word in line.words if number in _numbers(word)))
    code = languages()[number]
    name = country_tables()["languages"].get(code, (code,))[0]
    content = any(word.categories - _FUNCTION for line in ranked for word in line.words)
    english = "language.prose" if prose else "language.english"
    sort = english if code == "en" else "language" if content else "language.guessed"
    plain = {word.text for line in ranked for word in line.words if word.categories == {COMMON}}
    if content and words and all(fold(word) in _KITCHENS for word in words if word not in plain):
        sort = "language.kitchen"
    quoted = ", ".join(f"“{word}”" for word in words[:3])
    return Finding(
        "language", sort, ranked[0].seen.text, f"{name}{f' ({quoted})' if quoted else ''}", countries, ranked[0].seen,
        _SOURCES if content else (*_SOURCES, "py3langid"),
    )  # fmt: skip


def _numbers(word: WordSeen) -> set[int | None]:
    return {number_of(language) for language in word.languages}


def _countries(scores: FloatArray, *, prose: bool) -> dict[str, float]:
    codes, shares = shares_on_signs(ENGLISH_EVERYWHERE * (_PROSE_EVERYWHERE if prose else 1.0))
    fit = np.exp(scores - scores.max())
    common = shares @ fit
    prior = country_prior()
    return normalised({code: prior[code] * float(common[row]) for row, code in enumerate(codes)})


def _gain(countries: dict[str, float]) -> float:
    prior = country_prior()
    return sum(share * float(np.log(share / prior[code])) for code, share in countries.items() if share > 0)
