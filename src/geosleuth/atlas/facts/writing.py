"""Scripts and telling letters of a text, and the countries that write so."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

from .countries import CountryFacts, all_countries
from .evidence import Evidence, weighted_shares
from .letters import SCRIPT_OF_NAME, SIMPLIFIED_ONLY, TELLING_LETTERS, TRADITIONAL_ONLY

MAX_TEXT_CHARS = 5000
"""What is looked at of a text; the shares of scripts settle long before."""

SIGNIFICANT_SHARE = 0.1
"""A script other than Latin with at least this share of the letters decides: Latin words stand on signs everywhere."""


@dataclass(frozen=True, slots=True)
class Writing:
    """How a text is written.

    ``scripts`` are shares of its letters by ISO 15924 code (``Hani`` for characters that Chinese, Japanese and Korean
    share). ``languages`` are those whose alphabets have all of the ``telling_letters``, empty where there is no such
    letter. ``evidence`` is what both say about countries, weighted by people.
    """

    scripts: Mapping[str, float] = field(hash=False)
    telling_letters: str
    languages: tuple[str, ...]
    evidence: Evidence


def by_script(text: str) -> Writing:
    """The scripts of a text with their shares, and the countries that use them.

    Kana means Japanese and hangul Korean even among Chinese characters; characters that only simplified or only
    traditional Chinese has tell the two apart. Accented and special letters narrow Latin, Cyrillic and Arabic writing
    down to languages (``ő`` is Hungarian). Countries count with the people who use a language in that script there,
    if the language has legal status: those are the ones on signs.
    """
    text = unicodedata.normalize("NFC", text[:MAX_TEXT_CHARS])
    letters = Counter(script for character in text if (script := script_of(character)) is not None)
    total = sum(letters.values())
    scripts = {script: count / total for script, count in sorted(letters.items(), key=lambda item: (-item[1], item[0]))}
    if not total:
        return Writing({}, "", (), Evidence("script", "", {}, "no letters of any script"))
    telling, languages = _telling(text)
    deciding = _deciding_scripts(scripts, text)
    weights = _people_by_country(deciding, languages)
    if not weights:
        weights, languages, telling = _people_by_country(deciding, ()), (), ""
    clue = "+".join(deciding)
    note = f"people who write {', '.join(deciding)}" + (
        f"; letters {telling} of {', '.join(languages)}" if telling else ""
    )
    return Writing(
        scripts, telling, languages, Evidence("script", clue, weighted_shares(weights), note, "people who write so")
    )


@lru_cache(maxsize=1 << 14)
def script_of(character: str) -> str | None:
    """ISO 15924 code of a letter's script; None for what is no letter, or of a script not in the table."""
    if not character.isalpha():
        return None
    name = unicodedata.name(character, "")
    return next((code for prefix, code in SCRIPT_OF_NAME if name.startswith(prefix)), None)


def _deciding_scripts(scripts: Mapping[str, float], text: str) -> tuple[str, ...]:
    """The scripts that CLDR knows languages by: Jpan, Kore, Hans and Hant in place of their parts."""
    if scripts.keys() & {"Hira", "Kana"}:
        return ("Jpan",)
    if "Bopo" in scripts:
        return ("Hant",)
    others = {script: share for script, share in scripts.items() if script != "Latn"}
    if sum(others.values()) < SIGNIFICANT_SHARE:
        return ("Latn",)
    found = []
    for script in others:
        if script == "Hang":
            found.append("Kore")
        elif script == "Hani" and "Hang" not in scripts:
            found.extend(_chinese(text))
        elif script != "Hani":
            found.append(script)
    return tuple(dict.fromkeys(found))


def _chinese(text: str) -> tuple[str, ...]:
    simplified = sum(character in SIMPLIFIED_ONLY for character in text)
    traditional = sum(character in TRADITIONAL_ONLY for character in text)
    if simplified > traditional:
        return ("Hans",)
    if traditional > simplified:
        return ("Hant",)
    return ("Hans", "Hant", "Jpan")


def _telling(text: str) -> tuple[str, tuple[str, ...]]:
    """The letters that few languages have, and the languages that have all of them."""
    present = [letter for letter in dict.fromkeys(text.lower()) if letter in TELLING_LETTERS]
    if not present:
        return "", ()
    languages = set.intersection(*(set(TELLING_LETTERS[letter].split()) for letter in present))
    return ("".join(present), tuple(sorted(languages))) if languages else ("", ())


def _people_by_country(scripts: tuple[str, ...], languages: tuple[str, ...]) -> dict[str, float]:
    people: dict[str, float] = defaultdict(float)
    for script in scripts:
        for code, by_language in _writers().get(script, {}).items():
            chosen = [count for language, count in by_language.items() if not languages or language in languages]
            if chosen:
                people[code] += min(sum(chosen), all_countries()[code].population or 1)
    return dict(people)


@cache
def _writers() -> dict[str, dict[str, dict[str, float]]]:
    """For each script, country and language the number of people who use that language there."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for country in all_countries().values():
        for language, script, people in _expected_on_signs(country):
            found[script][country.code][language] = people
    return {script: dict(countries) for script, countries in found.items()}


def _expected_on_signs(country: CountryFacts) -> list[tuple[str, str, float]]:
    expected = [language for language in country.languages if language.status] or list(country.languages[:1])
    people = max(country.population, 1)
    return [(language.code, language.script, max(people * (language.percent or 0) / 100, 1.0)) for language in expected]
