"""Chains and brands on signs. One that is everywhere says nothing; one of few countries says much, if it is the one."""

from collections.abc import Sequence

from geosleuth.atlas.facts import BrandHit, all_countries, brand
from geosleuth.names import fold

from .clue import TextSeen
from .country_prior import by_how_common
from .text_clue import ClueDraft
from .town_names import town_people
from .vocabulary import list_languages, words_seen

MAX_LINES = 40
# Weight of a neighbour relative to a country where the chain is known to be: branches cross borders, and lists lag.
NEIGHBOUR_WEIGHT = 0.1

MANY_COUNTRIES = 60
MAX_SIGN_WORDS = 6

_AMONG_OTHERS = 0.3
_OF_SHOPS = frozenset({"business", "hours", "function"})
_MIN_FUZZY_CHARS = 7
_MIN_FUZZY_SCORE = 0.8
_MIN_EXACT_CHARS = 4
_MIN_PART_CHARS = 5
_MIN_PART_SHARE = 0.5
_OTHER_THINGS = frozenset({"street", "station", "airport", "landmark"})
_NOT_ON_SHOPS = ("man_made=", "advertising=", "highway=", "power=", "telecom=", "pipeline=", "landuse=", "boundary=")


def brand_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """One finding for each brand that few enough countries have."""
    found: dict[str, ClueDraft] = {}
    for seen in lines[:MAX_LINES]:
        hits = brand_hits(seen.text)
        if not hits or any(hit.countries is None for hit in hits):
            continue
        places = frozenset(code for hit in hits for code in hit.countries or ())
        if not places or len(places) > MANY_COUNTRIES:
            continue
        best = hits[0]
        sort = {"exact": "brand", "within": "brand.part", "fuzzy": "brand.misspelled"}[best.how]
        factor = _AMONG_OTHERS if best.how == "within" and _says_more(seen.text, best.matched) else 1.0
        known_in = f", in {len(places)} countries" if len(places) > 1 else ""
        meaning = f"{best.brand.name} ({best.brand.kind.partition('=')[2].replace('_', ' ')}{known_in})"
        found.setdefault(
            best.brand.name,
            ClueDraft(
                "brand", sort, seen.text, meaning, _weigh_countries(places), seen, ("Name Suggestion Index",), factor
            ),
        )
    return list(found.values())


def brand_hits(text: str) -> list[BrandHit]:
    """The brands that a sign names best, all of the same rank; empty where the text is more likely something else."""
    folded = fold(text)
    words = folded.split()
    if not words or len(words) > MAX_SIGN_WORDS or folded.replace(" ", "").isdigit():
        return []
    hits = [hit for hit in brand(text, limit=20) if not hit.brand.kind.startswith(_NOT_ON_SHOPS)]
    if not hits or not _trustworthy(hits[0], text, len(words)):
        return []
    return [hit for hit in hits if hit.score == hits[0].score]


def is_meant(hit: BrandHit, text: str) -> bool:
    """Return whether a text may mean the brand.

    By most of its letters, or all but the kind of shop ("Lidl Supermarkt").
    """
    return hit.how != "within" or _is_main_part(fold(hit.matched), text) or not _says_more(text, hit.matched)


def _is_main_part(matched: str, text: str) -> bool:
    letters = len(fold(text).replace(" ", ""))
    return len(matched) >= _MIN_PART_CHARS and len(matched) >= _MIN_PART_SHARE * letters


def _trustworthy(hit: BrandHit, text: str, words: int) -> bool:
    matched = fold(hit.matched)
    if any(seen.words == words for seen in words_seen(text)) or (hit.how != "exact" and town_people(hit.matched)):
        return False
    if _only_common_words(hit.matched) or len(list_languages(text)) > 1:
        return False
    if hit.how == "exact":
        return len(matched) >= _MIN_EXACT_CHARS and not town_people(text)
    if hit.how == "fuzzy":
        misspelled = min(len(matched), len(fold(text))) >= _MIN_FUZZY_CHARS and hit.score >= _MIN_FUZZY_SCORE
        # In a short name a look-alike figure is a misreading, a wrong letter another name.
        look_alike = any(character.isdigit() for character in text) and len(matched) <= 4
        return (misspelled or look_alike) and not words_seen(text)
    if any(seen.categories & _OTHER_THINGS for seen in words_seen(text)):
        return False
    return _is_main_part(matched, text)


def _says_more(text: str, matched: str) -> bool:
    """Return whether a sign says more than a brand and the kind of its shop: "Lucky Star" is no branch of Lucky."""
    rest = " ".join(word for word in fold(text).split() if word not in fold(matched).split())
    said = sum(seen.words for seen in words_seen(rest) if seen.categories & _OF_SHOPS)
    return len(rest.split()) > said


def _only_common_words(name: str) -> bool:
    """Return whether a name consists of words that any sign may have: "Central Market"."""
    seen = words_seen(name)
    return bool(seen) and sum(word.words for word in seen) >= len(fold(name).split())


def _weigh_countries(places: frozenset[str]) -> dict[str, float]:
    known = all_countries()
    common = dict.fromkeys(places, 1.0)
    for code in places:
        for neighbour in known[code].neighbours if code in known else ():
            if neighbour not in places and neighbour in known:
                # A small neighbour gets a branch as any province does; a large one has chains of its own.
                spill = min(1.0, known[code].population / max(known[neighbour].population, 1))
                common[neighbour] = max(common.get(neighbour, 0.0), NEIGHBOUR_WEIGHT * spill)
    return by_how_common(common)
