"""The countries that somebody's words name: only what is written as a name, or is one in plain English."""

import re
from collections.abc import Iterator

from geosleuth.names import country_code, country_name, fold

LONGEST_HINT = 400
WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
CLAUSE_ENDS = re.compile(r"[,.;:!?()\n]|\s-\s")

_LONGEST_NAME = 4
_SENTENCE_ENDS = re.compile(r"[.!?\n]")
_SHORT_NAMES = frozenset({"USA", "UK", "UAE"})
_SMALL_WORDS = frozenset(
    {"and", "da", "de", "del", "der", "di", "do", "du", "et", "la", "las", "of", "the", "und", "y"}
)
_ALSO_ENGLISH = frozenset(
    {
        "america", "bosnia", "britain", "burma", "congo", "czech republic", "england", "great britain", "holland",
        "hong kong", "ivory coast", "korea", "macedonia", "northern ireland", "palestine", "scotland", "swaziland",
        "trinidad", "wales",
    }
)  # fmt: skip
"""English names in use beside the first one of each country; in lower case only English ones count."""

_WORDS_TOO = frozenset({"china", "guinea", "jersey", "turkey"})
"""Ordinary words unless a capital says otherwise."""

_RARELY_COUNTRIES = frozenset({"chad", "island", "jordan", "lao", "malt", "man", "swiss"})
"""Names of people, and English words that are a country's name elsewhere: capitals have other reasons there."""

_LEADING_IN = frozenset(
    {
        "around", "aus", "auf", "dans", "en", "fra", "från", "from", "i", "in", "inside", "is", "it's", "like",
        "likely", "maybe", "nach", "near", "or", "perhaps", "possibly", "probably", "på", "think", "til", "till", "to",
        "visiting", "was", "northern", "southern", "eastern", "western", "north", "south", "east", "west", "central",
    }
)  # fmt: skip
_LEADING_ON = frozenset(
    {"and", "at", "but", "i", "in", "last", "maybe", "near", "on", "or", "perhaps", "possibly", "probably", "this"}
)
_NO_NAME_BEGINS_OR_ENDS_SO = frozenset({"a", "an", "i", "the"})
_PARTS_OF_AMERICA = frozenset({"central", "latin", "north", "south"})


def countries_named(hint: str) -> dict[str, str]:
    """The countries in somebody's words: the words for each, by ISO code.

    "perhaps on an island" names none, though Iceland is "Island" in German; nor do china cups, or a turkey.
    """
    found: dict[str, str] = {}
    words = list(_words(hint[:LONGEST_HINT]))
    for count in range(_LONGEST_NAME, 0, -1):
        for start in range(len(words) - count + 1):
            run = words[start : start + count]
            if not _NO_NAME_BEGINS_OR_ENDS_SO.isdisjoint(word.casefold() for word, _, _ in (run[0], run[-1])):
                continue
            name = " ".join(word for word, _, _ in run)
            # "IN", "is" and "it" are codes of countries and words of sentences.
            code = country_code(name) if len(name) > 3 or not name.isascii() or name in _SHORT_NAMES else None
            if not code or any(name in longer for longer in found.values()):
                continue
            _, first, clause = run[0]
            before = words[start - 1][0].casefold() if start and words[start - 1][2] == clause else None
            end = start + count
            after = words[end][0].casefold() if end < len(words) and words[end][2] == clause else None
            if _is_named(name, code, before, after, first=first or hint.isupper()):
                found.setdefault(code, name)
    if "US" in found:
        # Georgia, USA, is a state.
        found.pop("GE", None)
    return found


def _words(hint: str) -> Iterator[tuple[str, bool, int]]:
    """Each word, whether its sentence begins with it, and the number of its clause."""
    begins, clause, end = True, 0, 0
    for match in WORD.finditer(hint):
        between = hint[end : match.start()]
        begins = begins or bool(_SENTENCE_ENDS.search(between))
        clause += bool(CLAUSE_ENDS.search(between))
        yield match.group(), begins, clause
        begins, end = False, match.end()


def _is_named(name: str, code: str, before: str | None, after: str | None, *, first: bool) -> bool:
    """Whether a name of a country is meant as one; ``first`` is whether its capital may be that of a sentence."""
    key = fold(name)
    if before == "new" or (key == "america" and before in _PARTS_OF_AMERICA):
        return False
    capital = all(not word[0].islower() for word in name.split() if word not in _SMALL_WORDS)
    english = key in _ALSO_ENGLISH or key in (fold(country_name(code)), fold(country_name(code).removeprefix("The ")))
    alone = (before is None or before in _LEADING_IN) and (after is None or after in _LEADING_ON)
    if key in _RARELY_COUNTRIES:
        return alone and (english or (capital and not first))
    if capital and not (first and key in _WORDS_TOO):
        return True
    return english and (alone or key not in _WORDS_TOO)
