"""Script of a text, from its characters alone."""

import re
import unicodedata
from collections import Counter

from geosleuth.support.lazy import lazy_pattern

_RANGES = {
    "latin": "A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿＡ-Ｚａ-ｚ",
    "greek": "Ͱ-ϡϰ-Ͽἀ-῿",
    "cyrillic": "Ѐ-ԯ",
    "armenian": "Ա-֏",
    "hebrew": "֐-״",
    "arabic": "؀-ۿݐ-ݿﭐ-﷿ﹰ-ﻼ",
    "devanagari": "ऀ-ॿ",
    "bengali": "ঀ-৾",
    "gurmukhi": "ਁ-੶",
    "gujarati": "ઁ-૿",
    "tamil": "ஂ-௺",
    "telugu": "ఀ-౿",
    "kannada": "ಀ-ೲ",
    "malayalam": "ഀ-ൿ",
    "sinhala": "ඁ-෴",
    "thai": "ก-๛",
    "myanmar": "က-႟",
    "georgian": "Ⴀ-ჿᲐ-Ჿ",
    "ethiopic": "ሀ-᎙",
    "hangul": "ᄀ-ᇿ㄰-㆏가-힣",
    "kana": "ぁ-ヿㇰ-ㇿｦ-ﾟ",
    "han": "々㐀-䶿一-鿿豈-﫿𠀀-𲎯",
}
_PATTERNS = {script: lazy_pattern(f"[{letters}]") for script, letters in _RANGES.items()}

# All script names that lines can have.
SCRIPTS = tuple(dict.fromkeys({"han": "chinese", "kana": "japanese"}.get(name, name) for name in _RANGES))

# Scripts that Tesseract reads.
OTHER_SCRIPTS = tuple(script for script in SCRIPTS if script not in {"latin", "chinese", "japanese"})

RIGHT_TO_LEFT = frozenset({"arabic", "hebrew"})

# Latin letters and digits that look like a Cyrillic or Greek letter.
_LATIN_LOOKALIKES = frozenset("ABCEHIKMNOPTXYZabceghikmnopqrtuvxyz03468")

_PATTERN = 5
_CHILLUS = {
    "\u0d23": "\u0d7a", "\u0d28": "\u0d7b", "\u0d30": "\u0d7c",
    "\u0d32": "\u0d7d", "\u0d33": "\u0d7e", "\u0d15": "\u0d7f",
}  # fmt: skip
_OLD_CHILLU = lazy_pattern(f"([{''.join(_CHILLUS)}])\u0d4d\u200d")
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_MICRO_IN_GREEK = lazy_pattern("\u00b5(?=[\u0370-\u03ff])|(?<=[\u0370-\u03ff])\u00b5")


def count_scripts(text: str) -> Counter[str]:
    """Return the number of letters and marks of each script; figures, spaces and punctuation belong to none."""
    counts: Counter[str] = Counter()
    for character in text:
        for script, pattern in _PATTERNS.items():
            if pattern.match(character):
                counts[script] += 1
                break
    return counts


def detect_script(text: str) -> str:
    """Return the script of most letters; any kana makes Han Japanese. "none" for a text without letters."""
    counts = count_scripts(text)
    if counts["kana"]:
        counts["japanese"] = counts.pop("kana") + counts.pop("han", 0)
    if counts["han"]:
        counts["chinese"] = counts.pop("han")
    return counts.most_common(1)[0][0] if counts.total() else "none"


def compute_share(script: str, text: str) -> float:
    """Return the share of a script's characters among all but figures and spaces; 0 if there are none."""
    told = [character for character in text if not character.isspace() and not character.isdigit()]
    if not told:
        return 0.0
    own = _PATTERNS[script]
    return sum(1 for character in told if own.match(character)) / len(told)


def may_be_lookalike(text: str) -> bool:
    """Return whether a text read as Latin could as well be Cyrillic or Greek, letter by letter."""
    letters = [character for character in text if character.isalnum()]
    return bool(letters) and all(character in _LATIN_LOOKALIKES for character in letters)


def is_pattern(text: str) -> bool:
    """Return whether a text repeats itself, as misread rows of windows or railings do."""
    letters = [character for character in text if character.isalpha()]
    several = len(set(letters))
    repeats = several <= 2 or (detect_script(text) in {"chinese", "japanese"} and 2 * several <= len(letters))
    return len(letters) >= _PATTERN and repeats


def tidy(text: str) -> str:
    """Composed and narrow characters, single spaces, no direction marks."""
    # Hindi data now and then double a virama around a joiner, which real text does not contain.
    text = text.replace("\u094d\u200d\u094d", "\u094d")
    # Malayalam data write the pure consonants as Unicode did before 5.1, Greek data mu as the sign for micro.
    text = _OLD_CHILLU.sub(lambda match: _CHILLUS[match[1]], text)
    text = _MICRO_IN_GREEK.sub("\u03bc", text)
    # RapidOCR writes Latin columns in the wide letters of East Asia.
    text = text.translate(_NARROW)
    without_marks = re.sub("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", "", text)
    return unicodedata.normalize("NFC", " ".join(without_marks.split()))
