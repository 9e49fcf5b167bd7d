"""Misreadings as text reading makes them: letters that look alike, signs that run together, accents that are lost."""

import random
import unicodedata
from functools import cache

_PAIRS = (
    ("0", "O"), ("1", "l"), ("1", "I"), ("l", "I"), ("5", "S"), ("8", "B"), ("6", "G"), ("2", "Z"), ("7", "1"),
    ("3", "8"), ("9", "g"), ("e", "c"), ("a", "o"), ("u", "v"), ("h", "b"), ("n", "h"), ("f", "t"), ("i", "l"),
    ("o", "c"), ("g", "q"), ("D", "O"), ("E", "F"), ("C", "G"), ("P", "R"), ("U", "V"), ("M", "H"), ("rn", "m"),
    ("cl", "d"), ("vv", "w"), ("ri", "n"), ("li", "h"), ("nn", "m"), ("и", "н"), ("ш", "щ"), ("ц", "п"), ("ь", "ъ"),
    ("б", "6"), ("з", "э"), ("п", "л"), ("И", "Н"), ("Ш", "Щ"), ("О", "С"), ("ν", "υ"), ("ο", "σ"), ("Λ", "Δ"),
    ("ι", "ί"), ("ソ", "ン"), ("シ", "ツ"), ("ク", "タ"), ("ロ", "口"), ("ー", "一"), ("は", "ほ"), ("る", "ろ"),
    ("土", "士"), ("未", "末"), ("大", "太"), ("日", "目"), ("人", "入"), ("本", "木"), ("店", "占"), ("千", "干"),
    ("東", "束"), ("京", "亰"), ("이", "어"), ("아", "야"), ("오", "우"), ("가", "기"), ("ด", "ค"), ("ถ", "ก"),
    ("บ", "ป"), ("พ", "ฟ"), ("ب", "ت"), ("ح", "خ"), ("ر", "ز"), ("د", "ذ"), ("ו", "ן"), ("ה", "ח"), ("ד", "ר"),
    ("घ", "ध"), ("व", "ब"), ("ი", "o"),
)  # fmt: skip
"""Either may be taken for the other."""


@cache
def _alike() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for one, other in _PAIRS:
        found[one] = (*found.get(one, ()), other)
        found[other] = (*found.get(other, ()), one)
    return found


def misread(text: str, chance: random.Random) -> str:
    """The text with one place, now and then two, read wrongly; as it is where nothing in it can be confused."""
    found = _once(text, chance)
    return _once(found, chance) if chance.random() < 0.25 else found


def _once(text: str, chance: random.Random) -> str:
    alike = _alike()
    places = [
        (at, length) for length in (1, 2) for at in range(len(text) - length + 1) if text[at : at + length] in alike
    ]
    marked = [at for at, letter in enumerate(text) if _bare(letter) != letter]
    if marked and (not places or chance.random() < 0.3):
        at = chance.choice(marked)
        return text[:at] + _bare(text[at]) + text[at + 1 :]
    if places:
        at, length = chance.choice(places)
        return text[:at] + chance.choice(alike[text[at : at + length]]) + text[at + length :]
    # Nothing looks like anything else: a letter is lost.
    if len(text) > 3:
        at = chance.randrange(1, len(text) - 1)
        return text[:at] + text[at + 1 :]
    return text


def _bare(letter: str) -> str:
    """A letter without the mark above or below it."""
    plain = unicodedata.normalize("NFD", letter)
    return plain[0] if len(plain) == 2 and unicodedata.category(plain[1]) == "Mn" and plain[0].isalpha() else letter
