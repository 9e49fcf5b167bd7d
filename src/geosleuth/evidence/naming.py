"""Kind of thing that a text names, such as a street, a shop or a station, if it is not common sign words only."""

import re
from dataclasses import dataclass
from typing import Literal

from geosleuth.names import country_code, country_name, fold
from geosleuth.names.letters import LETTERS, MARKS

from .brands import brand_hits
from .plates import looks_like_plate
from .roads import is_road_number
from .town_names import town_people
from .vocabulary import INTERNATIONAL, WordSeen, list_languages, words_seen

LookupKind = Literal["place", "street", "business", "station", "airport", "landmark"]

MAX_NAME_CHARS = 70
MAX_NAME_WORDS = 9
MIN_NAME_LETTERS = 3
LARGE_TOWN = 50_000

# Value, from 0 to 1, of looking up a name of each kind, if the text has a proper name besides the kind.
LOOKUP_VALUES: dict[LookupKind, float] = {
    "airport": 0.9, "station": 0.85, "business": 0.8, "street": 0.8, "landmark": 0.7, "place": 0.75,
}  # fmt: skip

UNKNOWN_NAME = 0.5
CHAIN = 0.6
WORLDWIDE_CHAIN = 0.35
# Factor on the value of a name made only of words that other signs have, too: "Pharmacie du Port".
COMMON_WORDS_FACTOR = 0.8

_HOURS = re.compile(
    r"(?<!\d)\d{1,2}\s?(?:[:.hH]\s?\d{2}|[hH]\b|[ap]\.?m\b|uhr\b)|(?<!\d)\d{1,2}\s?[-–]\s?\d{1,2}(?!\d)", re.IGNORECASE
)
_PRICE = re.compile(r"[€$£¥₩₹₽₴₺₫฿]\s?\d|\d\s?(?:[€$£¥₩₹₽₴₺₫฿円元원%]|zł|Kč|Ft|kr\b|CHF|EUR|USD)")
_ADDRESS = re.compile(r"@|www|https?:|\.(?:com|net|org|info|eu)\b", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"\d[\d\s./-]{5,}\d")
_LETTERS = re.compile(LETTERS)
_MARK = re.compile(f"[{MARKS}]")
_KINDS: tuple[LookupKind, ...] = ("airport", "station", "street", "business", "landmark")
_TIME = frozenset({"hours", "days"})
_EMPTY = frozenset({"notice", "hours", "days", "function"})
_TOWN_ANYWAY = frozenset({"function", "international"})

# Common first names, from general knowledge; not complete.
_FIRST_NAMES = frozenset({
    "abigail", "adam", "adelaide", "adriana", "agnes", "alberta", "alexander", "alexandra", "alexandria", "alfonso",
    "alice", "alma", "amelia", "amina", "ana", "anastasia", "andrea", "angela", "angelo", "anita", "anna", "antonia",
    "antonio", "arthur", "augusta", "aurora", "barbara", "beatrice", "bella", "benedict", "bernardo", "bianca",
    "bruno", "camilla", "carla", "carlos", "carmen", "carolina", "caroline", "cecilia", "charles", "charlotte",
    "chelsea", "christina", "clara", "claudia", "clinton", "constantine", "crystal", "cyril", "daisy", "daniel",
    "david", "diana", "diego", "dominic", "edgar", "eduardo", "elena", "eleonora", "elisabeth", "elizabeth", "ella",
    "emilia", "emma", "erica", "esther", "eugene", "eva", "fatima", "felicia", "felix", "fernando", "flora",
    "florence", "florencia", "francis", "francisco", "frankie", "gabriel", "gabriela", "george", "georgia", "gerald",
    "gloria", "grace", "hannah", "helena", "henry", "hugo", "ida", "ines", "irene", "isabel", "isabella", "ivan",
    "jackson", "jacob", "james", "jasmine", "jerome", "jose", "juan", "julia", "juliana", "karin", "karina",
    "katarina", "kelly", "laura", "lea", "leonardo", "leopold", "lily", "lincoln", "linda", "lisa", "logan", "lola",
    "lorena", "lorenzo", "louise", "lourdes", "lucia", "lucy", "luis", "luna", "madison", "magdalena", "manuel",
    "marcella", "margarita", "maria", "mariana", "marina", "mario", "marta", "martin", "maxim", "melissa", "mercedes",
    "michael", "miguel", "milena", "monica", "nadia", "nancy", "natalia", "nelson", "nina", "nora", "norman", "olga",
    "olivia", "oscar", "pamela", "patricia", "paula", "pedro", "peter", "philippa", "ramona", "raphael", "rebecca",
    "regina", "ricardo", "rita", "roberta", "rosa", "rosalia", "samuel", "sandra", "sara", "sarah", "sebastian",
    "selma", "sergio", "sharon", "sidney", "silvia", "simon", "sofia", "sonia", "sophia", "stella", "susana", "tamara",
    "teresa", "theodore", "thomas", "ursula", "valentina", "valeria", "vera", "veronica", "victor", "victoria",
    "viktoria", "vincent", "viola", "violetta", "virginia", "vladimir", "walter", "wayne", "william", "wilson",
    "xavier", "yasmin", "zara", "zoe",
})  # fmt: skip
_WHOLE_STREET_WORDS = frozenset(
    {"boulevard", "esplanade", "faubourg", "lotissement", "chaussee", "promenade", "carretera"}
)


@dataclass(frozen=True, slots=True)
class Named:
    """Name in a text, and the value of a lookup."""

    kind: LookupKind
    worth: float
    country: str | None = None


def analyze_name(text: str) -> Named | None:
    """Return the name in a text; None for figures, hours, prices or common words only."""
    if not _may_be_name(text):
        return None
    seen = [word for word in words_seen(text) if word.categories != {"function"}]
    country = country_code(text) if len(text) > MIN_NAME_LETTERS else None
    town = town_people(text)
    # "Granada" is what Spanish calls Grenada, and first of all a town.
    if country and not (town and fold(country_name(country)) != fold(text)):
        return Named("place", 0.5, country)
    if town and not any(word.categories - _TOWN_ANYWAY for word in seen):
        return Named("place", LOOKUP_VALUES["place"] * (1.0 if max(town.values()) >= LARGE_TOWN else 0.9))
    kind, own = _find_lookup_kind(seen), _own_words(text)
    if kind is None:
        return _analyze_unknown(text, own, seen) if own else None
    return Named(kind, LOOKUP_VALUES[kind]) if own else _of_common_words(kind, seen)


def kind_said(text: str) -> LookupKind | None:
    """The kind of thing that the words of a text say, be there a name or not: "Boulangerie" is a business."""
    return _find_lookup_kind(words_seen(text))


def is_first_name(text: str) -> bool:
    """Return whether a text is just a first name that is common somewhere, even if a town shares it."""
    return fold(text) in _FIRST_NAMES


def in_a_shops_name(word: str, line: str) -> bool:
    """Return whether a word of a line is part of a business's name rather than a town's.

    So it is beside a trade ("Papelaria Oliveira", "Hamilton Solicitors") and beside words that no table has, first
    names among them. "Wivenhoe Park" has neither.
    """
    words = [item for item in line.split() if sum(map(str.isalpha, item)) > 1]
    others = [item for item in words if fold(item) not in fold(word).split()]
    unknown = (other for other in others if not words_seen(other) and not list_languages(other))
    return bool(others) and (kind_said(line) == "business" or any(unknown))


def _may_be_name(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    least = MIN_NAME_LETTERS if text.isascii() else MIN_NAME_LETTERS - 1
    if letters < least or len(text) > MAX_NAME_CHARS or len(text.split()) > MAX_NAME_WORDS:
        return False
    if (
        letters < 0.5 * len(_MARK.sub("", text.replace(" ", "")))
        or _ADDRESS.search(text)
        or _PRICE.search(text)
        or _LONG_NUMBER.search(text)
    ):
        return False
    timed = any(word.categories & _TIME for word in words_seen(text)) and any(map(str.isdigit, text))
    hours = _HOURS.search(text) and _find_lookup_kind(words_seen(text)) != "street"
    return not (timed or hours or looks_like_plate(text) or is_road_number(text))


def _find_lookup_kind(seen: "list[WordSeen] | tuple[WordSeen, ...]") -> LookupKind | None:
    said: set[str] = set()
    for word in seen:
        # International words are shops at best: "Tour" on a bus is no tower.
        said |= word.categories & {"business"} if INTERNATIONAL in word.languages else word.categories
    return next((kind for kind in _KINDS if kind in said), None)


def _own_words(text: str) -> int:
    """Return the number of words, or characters in scripts without spaces, that are not common sign words."""
    seen = words_seen(text)
    inside = sum(len(word.text) for word in seen if not word.words)
    if inside:
        return max(0, sum(map(str.isalpha, text)) - inside)
    common = sum(word.words for word in seen if not _is_compound(word))
    return max(0, len(_LETTERS.findall(text)) - common)


def _is_compound(word: WordSeen) -> bool:
    """Return whether a word was found as the end of a longer one ("Mannerheimintie"), which is a name in itself."""
    return word.categories == {"street"} and len(word.text) >= 8 and fold(word.text) not in _WHOLE_STREET_WORDS


def _of_common_words(kind: LookupKind, seen: list[WordSeen]) -> Named | None:
    """A name that is made of words of the table: it takes one that says the kind and one that says something else."""
    leading = [word for word in seen if kind in word.categories]
    others = [word for word in seen if word not in leading]
    telling = [word for word in others if word.categories - _EMPTY - {"international"}]
    if telling or (kind == "street" and others):
        return Named(kind, LOOKUP_VALUES[kind] * COMMON_WORDS_FACTOR)
    local = kind == "landmark" and not any("en" in word.languages or INTERNATIONAL in word.languages for word in seen)
    return Named(kind, 0.25) if local and len(seen) == 1 else None


def _analyze_unknown(text: str, own: int, seen: list[WordSeen]) -> Named | None:
    if seen and own <= sum(word.words for word in seen if word.categories <= _EMPTY):
        return Named("business", 0.2) if own > 1 else None
    hits = brand_hits(text)
    if hits:
        return Named("business", WORLDWIDE_CHAIN if any(hit.countries is None for hit in hits) else CHAIN)
    return Named("business", UNKNOWN_NAME + (0.05 if 2 <= own <= 4 else 0.0))
