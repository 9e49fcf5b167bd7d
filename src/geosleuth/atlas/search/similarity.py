"""How alike two names are, for what text reading, memory and word order do to them."""

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from .keys import squeeze


def similarity(query: str, name: str) -> float:
    """Likeness of two exact keys in [0, 1]; 1 only where they are equal but for spaces.

    The best of four views: letter by letter; word by word in any order; the query as a part of a longer name (words
    left out, ends cut); the name as a part of a longer query.
    """
    if not query or not name:
        return 0.0
    tight_query, tight_name = squeeze(query), squeeze(name)
    letters = OSA.normalized_similarity(tight_query, tight_name)
    if letters == 1.0:
        return 1.0 if query.replace(" ", "") == name.replace(" ", "") else 0.985
    best = letters
    if " " in query or " " in name:
        best = max(best, 0.97 * fuzz.token_sort_ratio(query, name) / 100)
    shorter, longer = sorted((len(tight_query), len(tight_name)))
    if shorter >= 4 and shorter < 0.8 * longer:
        # A part says less the smaller its share of the whole is; with nearly all letters there, letters decide.
        share = shorter / longer
        part = fuzz.partial_ratio(tight_query, tight_name) / 100
        words = fuzz.token_set_ratio(query, name) / 100 if " " in query or " " in name else 0.0
        # A part of one single word is a weaker sign than words left out.
        whole_words = " " in query or " " in name
        best = max(best, max(part**2, words**2) * (0.6 + 0.35 * share) * (1.0 if whole_words else 0.8))
    return min(best, 0.98)
