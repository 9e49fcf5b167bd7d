"""The script that signs are written in. Latin says nothing; scripts of few countries say nearly all.

Chinese characters are told apart by the national character sets: what GB 2312 lacks is not simplified Chinese, what
Big5 lacks not traditional, what JIS X 0208 lacks not Japanese.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from geosleuth.atlas.facts import all_countries, by_script, get_script

from .clue import TextSeen
from .country_prior import as_seen, by_how_common
from .text_clue import ClueDraft

MIN_LETTERS = 2
FEW_LETTERS = 5
# A script with less than this share of all letters is secondary on these signs.
MINOR_SHARE = 0.25

_NAMES = {
    "Jpan": "Japanese writing", "Kore": "Korean writing", "Hans": "simplified Chinese", "Hant": "traditional Chinese",
    "Cyrl": "Cyrillic", "Arab": "Arabic script", "Grek": "Greek letters", "Hebr": "Hebrew letters",
    "Thai": "Thai script",
    "Deva": "Devanagari", "Beng": "Bengali script", "Taml": "Tamil script", "Geor": "Georgian letters",
    "Armn": "Armenian letters", "Laoo": "Lao script", "Khmr": "Khmer script", "Mymr": "Burmese script",
    "Ethi": "Ethiopic script", "Sinh": "Sinhala script", "Telu": "Telugu script", "Knda": "Kannada script",
    "Mlym": "Malayalam script", "Gujr": "Gujarati script", "Guru": "Gurmukhi", "Orya": "Odia script",
    "Tibt": "Tibetan script", "Mong": "Mongolian script", "Thaa": "Thaana", "Tfng": "Tifinagh",
}  # fmt: skip
_HAN = frozenset({"Hans", "Hant", "Hans+Hant+Jpan"})
_CHARACTER_SETS = {"Hans": "gb2312", "Hant": "big5", "Jpan": "shift_jis"}
# Share of texts with a character outside their own national set: names, ornaments, misreadings.
_OUTSIDE_CHARSET_SHARE = 0.03

_EAST_ASIAN = {"Hira": "East Asian", "Kana": "East Asian", "Hani": "East Asian", "Hang": "Hang", "Bopo": "East Asian"}


def script_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """One finding for each script but Latin, from all lines that are written in it."""
    groups: dict[str, list[tuple[int, TextSeen]]] = defaultdict(list)
    letters_seen = 0
    for seen in lines:
        scripts = [script for character in seen.text if (script := get_script(character)) is not None]
        letters_seen += len(scripts)
        others = [script for script in scripts if script != "Latn"]
        if others:
            main = max(sorted(set(others)), key=others.count)
            groups[_EAST_ASIAN.get(main, main)].append((len(others), seen))
    return [finding for group in groups.values() if (finding := _finding(group, letters_seen)) is not None]


def _finding(group: Sequence[tuple[int, TextSeen]], letters_seen: int) -> ClueDraft | None:
    letters = sum(count for count, _ in group)
    if letters < MIN_LETTERS:
        return None
    writing = by_script("\n".join(seen.text for _, seen in group))
    if not writing.evidence or writing.evidence.clue == "Latn":
        return None
    chinese = writing.evidence.clue in _HAN
    countries = _by_character_sets(group, writing.evidence.clue) if chinese else as_seen(writing.evidence.shares)
    _, longest = max(group, key=lambda item: (item[0] * item[1].confidence, item[1].text))
    sort = "script.few" if letters < FEW_LETTERS else "script"
    if letters < MINOR_SHARE * letters_seen:
        sort = "script.minor"
    meaning = (
        "Chinese characters"
        if chinese
        else " or ".join(_NAMES.get(script, script) for script in writing.evidence.clue.split("+"))
    )
    return ClueDraft("script", sort, longest.text, meaning, countries, longest, ("CLDR: scripts by country",))


def _by_character_sets(group: Sequence[tuple[int, TextSeen]], deciding: str) -> dict[str, float]:
    fit = {script: 1.0 if script in deciding else _OUTSIDE_CHARSET_SHARE for script in _CHARACTER_SETS}
    characters = {character for _, seen in group for character in seen.text if get_script(character) == "Hani"}
    for script, name in _CHARACTER_SETS.items():
        for character in characters:
            try:
                character.encode(name)
            except UnicodeEncodeError:
                fit[script] *= _OUTSIDE_CHARSET_SHARE
    return by_how_common(
        {code: sum(fit[script] * share for script, share in shares.items()) for code, shares in _writers().items()}
    )


@cache
def _writers() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for country in all_countries().values():
        shares: dict[str, float] = {}
        for language in country.languages:
            if language.script in _CHARACTER_SETS and language.status:
                shares[language.script] = max(shares.get(language.script, 0.0), (language.percent or 0.0) / 100)
        if shares:
            found[country.code] = shares
    return found
