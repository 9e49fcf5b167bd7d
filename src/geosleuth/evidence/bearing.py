"""Evidence of a name: whether the text is that name, and how many other places may bear it."""

import math
from functools import lru_cache

from geosleuth.atlas.facts import brand
from geosleuth.names import country_code, fold

from .atlas_hits import Found
from .naming import kind_said
from .town_names import town_people
from .vocabulary import front_of_compound, list_languages, of_common_words, words_seen

# Weight of a shop or street from a region that the user added, relative to one elsewhere: users add regions for their
# photos.
ADDED_REGION_WEIGHT = 100.0

# Weight of such a shop or street if only part of its name, or of the text, matches. Partial matches are found for 0.4 %
# of names from elsewhere (region of about a thousand names), but for few of the region's own signs.
PARTIAL_MATCH_WEIGHT = 10.0

FEATURES_OF_A_NAME = 3000.0
STREETS_OF_A_NAME = 30_000.0
# Distinctive letters that make a name ten times rarer. A guess, like the worldwide counts above: a name of eight
# letters is shared by about six shops and sixty streets.
LETTERS_PER_TENFOLD = 3.0

BRANCHES_A_COUNTRY = 20.0

_ALIAS_IDENTITY = 0.85
_ADDED_ALIAS_IDENTITY = 0.5
_KIND_LEFT_OUT = 0.8
_MISREAD_IDENTITY = 0.9  # letters that text reading confuses, and nothing else
_EDITS_SHARE = 4.0
_PART_IDENTITY = 0.6
_MIN_PART_LETTERS = 6
_SHARED = frozenset({"business", "street", "function", "station", "airport", "landmark", "international"})
_ON_ANY_DOOR = frozenset({"notice", "days", "hours", "function"})
_COMPOUND_LETTERS = 10
_COMPOUND_ENDING = 4
_EVERY_TOWNS_LETTERS = 3
_COMPOUND = frozenset({"street"})
_LONGEST_BRAND = 16
_WORLDWIDE = 60
_TOWN_PULL, _REGION_PULL = 2.0, 1.0
_CODE_LETTERS, _CODE_IDENTITY = 3.0, 0.1
_LARGE_AIRPORT_PULL, _MILLION = 20.0, 1_000_000
_PULLS = {"airport": 5.0, "station": 3.0, "landmark": 60.0}


def identity(query: str, place: Found) -> float:
    """Return the probability that a text is the name by which a place was found, 0 to 1.

    Every letter that differs costs, and the more the shorter the name: one wrong letter of five leaves 4 %, one of
    twelve 44 %. A name of which only words are left out counts with the square of the share that is there.
    """
    if place.match == "exact":
        return 1.0
    if place.match == "fuzzy" and place.sort == "town" and of_common_words(query):
        return 0.0  # a word that is spelled rightly is no misread name
    if place.match == "alias":
        if sum(map(_letter, fold(query))) <= _CODE_LETTERS and not place.added:
            return _CODE_IDENTITY  # airports' and stations' codes, which words on signs spell by chance
        # Among the other names of OpenStreetMap are operators, brands and numbers.
        return _ADDED_ALIAS_IDENTITY if place.added else _ALIAS_IDENTITY
    if place.clue_kind == "airport" and not place.added and _is_shortened(query, place.matched):
        return _KIND_LEFT_OUT
    # "Café Roma" may be short for a longer name of a café, but is no town called Roma, and no station of that town.
    of_town = (
        place.clue_kind in ("station", "airport")
        and not place.added
        and kind_said(query) != place.clue_kind
        and set(fold(place.matched).split()) <= set(fold(query).split())
    )
    return likeness(query, place.matched, parts=place.sort in ("feature", "street") and not of_town)


def _is_shortened(query: str, name: str) -> bool:
    """Return whether a text is an airport's name without the town that it serves: "Heathrow Airport"."""
    asked, known = fold(query).split(), fold(name).split()
    left_out = " ".join(word for word in known if word not in asked)
    return set(asked) <= set(known) and bool(town_people(left_out))


def likeness(query: str, name: str, *, parts: bool = True) -> float:
    """`identity` from the letters alone; ``parts`` is whether words may be left out."""
    from rapidfuzz.distance import OSA

    from geosleuth.atlas.search import squeeze

    asked, known = fold(query), fold(name)
    if not asked or not known:
        return 0.0
    if asked.replace(" ", "") == known.replace(" ", ""):
        return 1.0
    tight, other = squeeze(asked), squeeze(known)
    if tight == other:
        return _MISREAD_IDENTITY
    longer, shorter = max(len(tight), len(other)), min(len(tight), len(other))
    whole = float(max(0.0, 1.0 - _EDITS_SHARE * OSA.distance(tight, other) / longer)) ** 2
    if not parts:
        return whole
    asked_words, known_words = set(asked.split()), set(known.split())
    part = 0.0
    if shorter >= _MIN_PART_LETTERS and (asked_words <= known_words or known_words <= asked_words):
        part = _PART_IDENTITY * (shorter / longer) ** 2
        if not any(map(telling_letters, asked_words ^ known_words)):
            part = max(part, _KIND_LEFT_OUT)  # "Hotel Hermitage" and "Hermitage"
    return max(whole, part)


def begins(prefix: str, name: str) -> float:
    """Return the probability that an incomplete text is the beginning of a name."""
    begun, whole = fold(prefix), fold(name)
    if not begun or not whole.startswith(begun):
        return likeness(prefix, name)
    return 1.0 if begun == whole else _PART_IDENTITY * (len(begun) / len(whole)) ** 2


def is_in_part(query: str, place: Found) -> bool:
    """Return whether a text is only a part of the name by which a place was found, or that name a part of it.

    Words that say what a place is anyway ("Hotel"), and such as stand on any door ("ouvert"), are no part of a name.
    """
    asked, known = set(fold(query).split()), set(fold(place.matched).split())
    if not (asked < known or known < asked):
        return False
    return any(not _goes_without_saying(word, place) for word in asked ^ known)


def _goes_without_saying(word: str, place: Found) -> bool:
    said = {category for seen in words_seen(word) for category in seen.categories}
    return bool(said) and (place.clue_kind in said or said <= _ON_ANY_DOOR)


def pull(place: Found, *, in_part: bool = False) -> float:
    """Return how often a photo with a place's name shows that place, relative to a shop of that name anywhere."""
    if place.sort == "country":
        return 200.0
    if place.sort in ("town", "region"):
        crowd = math.pow(max(place.people, 50.0) / 1000, 0.75)
        return crowd * (_REGION_PULL if place.sort == "region" else _TOWN_PULL)
    if place.added:
        if in_part:
            return 1.0 if _is_countrys(place.matched) else PARTIAL_MATCH_WEIGHT
        return ADDED_REGION_WEIGHT
    large = place.clue_kind == "airport" and _serves_large_town(place.name)
    return _LARGE_AIRPORT_PULL if large else _PULLS.get(place.clue_kind, 1.0)


@lru_cache(maxsize=1024)
def _is_countrys(name: str) -> bool:
    """Return whether a name is a country's, beside words such as "de": a thousand longer names end in it."""
    function = {seen.text for seen in words_seen(name) if "function" in seen.categories}
    return country_code(" ".join(word for word in name.split() if fold(word) not in function)) is not None


@lru_cache(maxsize=1024)
def _serves_large_town(name: str) -> bool:
    """Return whether the first words of an airport's name are a city of a million."""
    words = name.split()
    towns = (town_people(" ".join(words[:count])) for count in range(1, len(words)))
    return any(max(people.values(), default=0) >= _MILLION for people in towns)


def others_of_name(name: str, *, street: bool = False) -> float:
    """Return the approximate number of places with this name that the atlas does not know."""
    letters = telling_letters(name)
    others = (STREETS_OF_A_NAME if street else FEATURES_OF_A_NAME) / 10 ** (letters / LETTERS_PER_TENFOLD)
    return others + (branches(name) if 0 < letters <= _LONGEST_BRAND else 0.0)


def branches(name: str) -> float:
    """Return the number of branches of a chain, estimated from its countries; 0 if there is no such chain."""
    hits = [hit for hit in brand(name, 3) if hit.how == "exact"]
    countries = max((len(hit.countries) if hit.countries else _WORLDWIDE for hit in hits), default=0)
    return BRANCHES_A_COUNTRY * countries


@lru_cache(maxsize=4096)
def telling_letters(name: str) -> float:
    """Letters of a name beside words that signs share ("Café", "Rue de la"); Chinese and Korean ones count more."""
    # A letter with a mark of its own is rarer on signs of the world than a plain one.
    letters = sum(map(_letter, fold(name))) + sum(character.isalpha() for character in name if _is_marked(character))
    for seen in words_seen(name):
        if not seen.categories & _SHARED:
            continue
        common = sum(map(_letter, fold(seen.text)))
        # The table knows "Mannerheimintie" by its ending: the street's own name is in front of it.
        compound = seen.categories == _COMPOUND and " " not in seen.text and common >= _COMPOUND_LETTERS
        ending = common - _EVERY_TOWNS_LETTERS if _is_every_towns(seen.text) else _COMPOUND_ENDING
        letters -= ending if compound else common
    return max(0.0, letters)


def _is_every_towns(street: str) -> bool:
    """Return whether a one-word street is named after something every town has: "Bahnhofstrasse", "Kirchgasse"."""
    front = front_of_compound(street)
    return bool(list_languages(front)) or any(seen.text == front and seen.exact for seen in words_seen(front))


def _is_marked(character: str) -> bool:
    return "\u00c0" <= character <= "\u024f"


def _letter(character: str) -> float:
    if not character.isalnum():
        return 0.0
    if "\u2e80" <= character <= "\u9fff":
        return 3.0
    return 2.0 if "\uac00" <= character <= "\ud7af" else 1.0
