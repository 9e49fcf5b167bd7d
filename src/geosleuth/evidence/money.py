"""Prices: the money they are in."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from geosleuth.atlas.facts import all_countries, by_currency

from .clue import TextSeen
from .country_prior import as_seen
from .text_clue import ClueDraft, distinct

# Number of currencies in one picture that indicates an exchange office.
EXCHANGE_CURRENCIES = 4

_UNLESS_WRITTEN_SO = frozenset({"Ft"})
_AMOUNT = r"\d{1,3}(?:[ .,'’]\d{3})+(?:[.,]\d{1,2})?|\d{1,7}(?:[.,]\d{1,2})?(?:[.,]?[-–—])?"
_NOT_MONEY = frozenset({
    "m", "km", "kg", "g", "l", "cl", "ml", "dl", "h", "min", "s", "mm", "cm", "mi", "ft", "lb", "oz", "am", "pm",
    "no", "nr", "nº", "n°", "st", "nd", "rd", "th", "kl", "uhr", "a", "b", "c", "d", "e", "f", "k", "p", "t", "x",
    "km/h", "mph", "kw", "hp", "v", "w", "mb", "gb", "bis", "ter", "er", "hr", "hrs", "in", "e.g", "cc", "qm",
})  # fmt: skip
_BEFORE = re.compile(rf"(?<![\w.])([^\W\d_][\w.$£/]{{0,4}}|[A-Z]{{0,3}}\$|S/\.?)\s?({_AMOUNT})(?![\w%])")
_AFTER = re.compile(rf"(?<![\w.,])({_AMOUNT})\s?([^\W\d_][^\W\d_.$€]{{0,5}}\.?)(?![\w])")
_LETTER_BEFORE = re.compile(r"(?<![\w.])(R)\s?(\d{1,4}[.,]\d{2})(?![\w%])")


def money_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """One finding for each sort of money in prices."""
    found: dict[tuple[str, ...], ClueDraft] = {}
    for seen in lines:
        for snippet in _snippets(unicodedata.normalize("NFKC", seen.text[:200])):
            evidence = by_currency(snippet)
            if not evidence:
                continue
            sort = "currency.dollar" if "$" in snippet and snippet.strip("$0123456789., ") == "" else "currency"
            countries = as_seen(evidence.shares)
            found.setdefault(
                evidence.countries,
                ClueDraft("currency", sort, snippet, evidence.note, countries, seen, ("CLDR: currencies",)),
            )
    findings = distinct(list(found.values()))
    if len(findings) >= EXCHANGE_CURRENCIES:
        return [
            ClueDraft(
                finding.kind,
                "currency.exchange",
                finding.seen,
                finding.meaning,
                finding.countries,
                finding.where,
                finding.sources,
            )
            for finding in findings
        ]
    return findings


def _snippets(text: str) -> list[str]:
    signs = (place for place, character in enumerate(text) if unicodedata.category(character) == "Sc")
    found = [_expand_amount(text, place) for place in signs]
    found += [match[0] for match in _BEFORE.finditer(text) if _is_money(match[1])]
    found += [match[0] for match in _AFTER.finditer(text) if _is_money(match[2])]
    found += [match[0] for match in _LETTER_BEFORE.finditer(text)]
    return found


def _expand_amount(text: str, place: int) -> str:
    before = re.search(r"(?:(?<!\w)[A-Z]{1,3})?$", text[:place])
    start = before.start() if before else place
    after = re.match(rf"\s?(?:{_AMOUNT})", text[place + 1 :])
    if after:
        return text[start : place + 1] + after[0]
    leading = re.search(rf"(?:{_AMOUNT})\s?$", text[:place])
    return (leading[0] if leading else "") + text[start if not leading else place : place + 1]


def _is_money(word: str) -> bool:
    if word in _UNLESS_WRITTEN_SO:
        return True
    plain = word.rstrip(".").casefold()
    return (
        plain not in _NOT_MONEY
        and (word in _list_written_signs() or plain in _list_written_signs())
        and (len(plain) > 1 or not plain.isascii())
    )


@cache
def _list_written_signs() -> frozenset[str]:
    found = set()
    for country in all_countries().values():
        for currency in country.currencies:
            for written in (currency.code, *currency.symbols):
                if any(character.isalpha() for character in written):
                    found |= {written, written.rstrip(".").casefold()}
    return frozenset(found)
