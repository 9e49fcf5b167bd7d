"""From free words to values of attributes: "pale wooden power poles" is ``utility_pole = round_wood``.

Words are brought to one form by ``data/words.csv`` (spellings, shades, compounds such as "lamp post"), and what stands
behind "no" or "without" is marked. A phrase of a table fits where all its words are said close together; words that
only name the thing, such as pole and post, stand for each other. Of the phrases that fit, those that say less than
another one are left out.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from .tables import Attribute, AttributeValue, field_guide

# Maximum number of additional words between the words of a phrase.
_MAX_EXTRA_WORDS = 3

# Maximum distance, in words, between a phrase's head noun and the rest of the phrase.
_MAX_HEAD_DISTANCE = 4

# Words added to the distance for each "with" or "on" in between: what follows belongs to another object.
_PREPOSITION_DISTANCE = 2

_LONGEST_COMPOUND = 5
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_NOT = "no:"
_NEGATIONS = frozenset({"no", "without", "not", "lacking", "missing"})
_BOUNDARIES = frozenset({
    "with", "on", "in", "beside", "behind", "along", "above", "over", "under", "below", "at", "by", "from", "between",
    "near", "across", "through", "around", "against", "but", "except",
})  # fmt: skip
_IDLE = frozenset({
    "a", "an", "the", "of", "to", "is", "are", "there", "and", "or", "its", "it", "one", "some", "very", "this", "that",
    "has", "have", "as", "like", "s", "into", "for", "shaped", "any", "seen", "visible", "painted", "coloured",
})  # fmt: skip
# Words that do not name an object by themselves, or that name one found in every street.
_APPEARANCE_WORDS = frozenset({
    "red", "orange", "yellow", "green", "blue", "white", "black", "grey", "brown", "pink", "purple", "silver", "gold",
    "small", "large", "long", "short", "round", "square", "wide", "narrow", "tall", "low", "old", "new", "plain",
    "metal", "wood", "concrete", "stone", "plastic", "steel", "double", "solid", "dashed", "single", "dark", "light",
    "straight", "flat", "steep", "line", "sign", "pole", "post", "plate", "house", "tree", "car", "road", "wall",
    "roof", "none", "bare", "dry", "field", "hill", "street", "building", "lamp", "window", "fence", "brick",
})  # fmt: skip

# Building materials that come in pieces: a street of concrete blocks is not a concrete street.
_MATERIAL_UNITS = frozenset({"block", "brick", "tile"})

# Nouns that make the name of a script or language enough to identify it.
_WRITING_NOUNS: Mapping[str, tuple[str, ...]] = {
    "script": ("letter", "character", "writing", "alphabet"),
    "language": ("word", "text", "language", "sign", "streetname", "name"),
}


@dataclass(frozen=True, slots=True)
class _Phrase:
    attribute: str
    value: str
    words: frozenset[str]
    headed: bool
    """Whether one of the attribute's heads must be said besides."""
    length: int
    """How many words it has with its heads."""


def describe(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each attribute that a text describes, with the values that fit best."""
    said = _positions(text)
    fitting: dict[str, dict[str, frozenset[str]]] = {}
    for phrase in _find_phrases(said):
        attribute = field_guide().attributes[phrase.attribute]
        heads = attribute.heads.intersection(said)
        # "No poles" rules out every pole, but not the phrase that says so.
        if not phrase.words >= attribute.unless.intersection(said) or not _close(phrase, said):
            continue
        if phrase.headed:
            heads = frozenset(head for head in heads if _is_near_head(said[head], phrase.words, said))
            if not heads:
                continue
        told = phrase.words | heads if phrase.headed else phrase.words
        values = fitting.setdefault(phrase.attribute, {})
        values[phrase.value] = max(values.get(phrase.value, frozenset()), told, key=len)
    best = {name: _telling(values) for name, values in fitting.items()}
    told_by = {name: frozenset().union(*values.values()) for name, values in best.items()}
    for name, values in best.items():
        # "Grey round concrete pole" is a utility pole, and not the grey post of a sign as well.
        if not any(told_by[name] < other for other in told_by.values()):
            yield name, _with_details(name, tuple(values))


def _telling(values: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    return {value: told for value, told in values.items() if not any(told < other for other in values.values())}


def _with_details(attribute: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return values and their more detailed variants: "yellow plate" may leave out a blue strip."""
    closer = (
        name
        for name in field_guide().values[attribute]
        if any(name.startswith(f"{value}_") for value in values if value != "none")
    )
    return tuple(dict.fromkeys((*values, *closer)))


def _find_phrases(said: Mapping[str, Sequence[int]]) -> Iterator[_Phrase]:
    for word in said:
        for phrase in _phrases_by_word().get(word, ()):
            if phrase.words.issubset(said.keys()):
                yield phrase


@cache
def _phrases_by_word() -> Mapping[str, tuple[_Phrase, ...]]:
    """Return all phrases, each under one of its words."""
    guide = field_guide()
    found: defaultdict[str, list[_Phrase]] = defaultdict(list)
    for name, values in guide.values.items():
        attribute = guide.attributes[name]
        for value in values.values():
            texts = (f"{value.label} {attribute.label}", *value.phrases, *_shorten_values(attribute, value))
            for words in {*_phrases(attribute, texts)}:
                found[min(words[0])].append(_Phrase(name, value.name, *words))
    return {word: tuple(phrases) for word, phrases in found.items()}


def _shorten_values(attribute: Attribute, value: AttributeValue) -> Iterator[str]:
    """Yield short forms that people use: "Spanish street name", "Chinese script", "white edge line"."""
    if attribute.name in _WRITING_NOUNS:
        label = value.label.split()
        for name in {value.name, label[0] if len(label) == 2 else value.name}:
            yield from (f"{name} {writing}" for writing in _WRITING_NOUNS[attribute.name])
    elif attribute.label.endswith(" line") and (colour := value.name.partition("_")[0]) in _APPEARANCE_WORDS - {"none"}:
        yield f"{colour} {attribute.label}"


def _phrases(attribute: Attribute, texts: Iterable[str]) -> Iterator[tuple[frozenset[str], bool, int]]:
    """Phrases as words without heads, whether they had one, and their length.

    A single word counts alone where it names a thing, as no colour does.
    """
    for text in texts:
        words = frozenset(_positions(text))
        core = words - attribute.heads
        headed = core != words
        if headed and core:
            yield core, True, len(words)
        elif words and (len(words) > 1 or not words <= _APPEARANCE_WORDS):
            yield words, False, len(words)


def _close(phrase: _Phrase, said: Mapping[str, Sequence[int]]) -> bool:
    """Return whether the words of a phrase stand together."""
    places = [said[word] for word in phrase.words]
    room = phrase.length - 1 + _MAX_EXTRA_WORDS
    for start in places[0]:
        nearest = [min(each, key=lambda at: abs(at - start)) for each in places]
        if max(nearest) - min(nearest) <= room:
            return True
    return False


def _is_near_head(head: Sequence[int], words: Iterable[str], said: Mapping[str, Sequence[int]]) -> bool:
    return any(abs(at - item) <= _MAX_HEAD_DISTANCE for at in head for word in words for item in said[word])


def _positions(text: str) -> dict[str, list[int]]:
    """Return the words of a text in normal form, and their positions."""
    found: dict[str, list[int]] = {}
    at, negated = 0, False
    words = list(_one_form([_stem(word) for word in _WORD.findall(text.lower())]))
    for word, after in pairwise((*words, "")):
        if word in _NEGATIONS:
            negated = True
        elif word in _BOUNDARIES:
            negated = False
            at += _PREPOSITION_DISTANCE
        elif word not in _IDLE:
            made_of = f"{word} {after}" if word in _APPEARANCE_WORDS and after in _MATERIAL_UNITS else word
            found.setdefault(f"{_NOT}{word}" if negated and not word.startswith(_NOT) else made_of, []).append(at)
            at += 1
    return found


def _one_form(words: Sequence[str]) -> Iterator[str]:
    """Yield words with synonyms replaced, the longest compound first."""
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST_COMPOUND, len(words) - at), 0, -1):
            means = _meanings().get(tuple(words[at : at + length]))
            if means is not None:
                yield from means
                break
        else:
            length = 1
            yield words[at]
        at += length


@cache
def _meanings() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    return {
        tuple(_stem(word) for word in _WORD.findall(said)): tuple(means.split())
        for said, means in field_guide().words.items()
    }


def _stem(word: str) -> str:
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1]
