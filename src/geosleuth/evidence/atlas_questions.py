"""Questions to the atlas: which strings of a scene to look up, as what, and in which order.

Names of shops, streets, stops and towns are; telephone numbers, prices, hours and words that any sign has ("EXIT",
"Café" alone) are not. A name that goes on in the next line is offered as one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import permutations

from geosleuth.names import fold
from geosleuth.names.letters import EDGES

from .clue import TextSeen
from .distances import TownDistance, distances
from .naming import MAX_NAME_CHARS, LookupKind, Named, analyze_name, kind_said
from .phones import PhoneSeen, phones_seen
from .postcodes import PostcodeSeen, postcodes_seen
from .roads import is_road_number
from .sign_layout import continues_below, height, join_seen_lines, usable
from .town_names import Manner, find_settlements, region_country, town_people
from .vocabulary import words_seen
from .web import AddressSeen, addresses_seen

MAX_LOOKUPS = 24

_EDGES = re.compile(EDGES)
_CODES = re.compile(r"(?<!\w)(?:[A-Z]{1,3}-)?\d{4,6}(?!\w)")
_HOUSE_FIRST = re.compile(r"^\d{1,4}\s?(?:[a-zA-Z]|bis|ter)?[,\s]+(?=[^\W\d_]{2})")
_HOUSE_LAST = re.compile(r"(?<=[^\W\d_])[,\s]+\d{1,4}\s?[a-zA-Z]?(?:\s?[-/]\s?\d{1,4}\s?[a-zA-Z]?)?$")
_OPEN_ENDED = tuple([word] for word in (
    "de", "du", "des", "la", "le", "les", "d", "l", "von", "van", "der", "den", "del", "della", "di", "da", "do",
    "dos", "das", "of", "the", "and", "und", "et", "y", "e", "am", "an", "zum", "zur", "im",
))  # fmt: skip
# Hosts of public mail services and platforms, which anyone can have an address on.
_SHARED_HOSTS = frozenset({
    "gmail", "googlemail", "google", "hotmail", "outlook", "yahoo", "icloud", "facebook", "instagram", "tripadvisor",
    "booking", "airbnb", "youtube", "tiktok", "twitter", "whatsapp", "linkedin", "orange", "wanadoo", "free", "gmx",
    "mail",
})  # fmt: skip

_STRONG = 0.6
_TOWN_BESIDE_CODE = 0.85
_TOWN_ON_SIGN = 0.9
_TOWN_SAID = 0.95
_TOWN_WITH_MORE = 0.75
_NAME_IN_ADDRESS = 0.3
_AIRPORT_OF_NAME = 0.5


@dataclass(frozen=True, slots=True)
class Lookup:
    """A question for the atlas: a name, what it seems to name, the line it stands in, and a country where one is named.

    ``worth`` (0 to 1) orders the questions; it is no probability. ``manner`` is how it stands there, which
    counts where it turns out to be a town's name.
    """

    text: str
    kind: LookupKind
    where: TextSeen
    country_hint: str | None = None
    worth: float = 0.5
    manner: Manner = "part"


@dataclass(frozen=True, slots=True)
class _Scene:
    lines: Sequence[TextSeen]
    phones: Sequence[PhoneSeen]
    postcodes: Sequence[PostcodeSeen]
    addresses: Sequence[AddressSeen]

    def hint(self, seen: TextSeen) -> str | None:
        """The country that a line, or the sign it belongs to, names outright."""
        named = [
            *(_single(postcode.countries) for postcode in self.postcodes if _are_near(postcode.where, seen)),
            *(phone.info.country for phone in self.phones if phone.international and _are_near(phone.where, seen)),
        ]
        return next((code for code in named if code), None)


def lookups(lines: Sequence[TextSeen], *, limit: int = MAX_LOOKUPS) -> list[Lookup]:
    """Return the lookups for the atlas, the most informative first, each name once.

    Text that was misread is offered as it stands: the atlas forgives small errors.
    """
    chosen = usable(lines)
    towns = distances(chosen)
    on_signs = {town.where.text for town in towns}
    others = [seen for seen in chosen if seen.text not in on_signs]
    scene = _Scene(others, phones_seen(chosen), postcodes_seen(chosen), addresses_seen(chosen))
    tallest = max(map(height, chosen), default=1.0)
    best: dict[tuple[str, str], Lookup] = {}
    in_regions = list(_in_regions(scene))
    finer = {(region.where.text, fold(region.text.partition(",")[0])) for region in in_regions}
    for found in (
        *in_regions,
        *(settlement for settlement in _settlements(scene) if not _is_finer(settlement, finer)),
        *_find_coded(scene),
        *_distance_towns(towns),
        *_airports(scene),
        *(item for item in _find_named(scene) if not _is_finer(item, finer)),
        *_over_two_lines(scene),
    ):
        prominence = 0.85 + 0.15 * min(1.0, height(found.where) / tallest)
        worth = found.worth * prominence * (0.5 + 0.5 * min(max(found.where.confidence, 0.0), 1.0))
        item = replace(found, worth=worth)
        key = (fold(item.text), item.kind)
        if key[0] and (key not in best or best[key].worth < worth):
            best[key] = item
    return sorted(best.values(), key=lambda item: (-item.worth, item.text))[: max(0, limit)]


def _settlements(scene: _Scene) -> Iterator[Lookup]:
    """Towns with something before or behind their names."""
    for seen in scene.lines:
        for found in find_settlements(seen.text):
            worth = _TOWN_SAID if found.manner == "said" or found.country else _TOWN_WITH_MORE
            yield Lookup(found.name, "place", seen, found.country or scene.hint(seen), worth, found.manner)


def _in_regions(scene: _Scene) -> Iterator[Lookup]:
    """Towns with their state or province below: "Welcome to Sydney / Nova Scotia"."""
    for upper, lower in permutations(scene.lines, 2):
        country = region_country(lower.text)
        if country is None or not continues_below(upper, lower):
            continue
        said = next(iter(find_settlements(upper.text)), None)
        town, manner = (said.name, said.manner) if said else (_EDGES.sub("", upper.text), "line")
        if country in town_people(town):
            yield Lookup(f"{town}, {_EDGES.sub('', lower.text)}", "place", upper, country, _TOWN_SAID, manner)


def _is_finer(lookup: Lookup, finer: Set[tuple[str, str]]) -> bool:
    """Return whether the same town is looked up with its region already: then only that namesake is meant."""
    return (lookup.where.text, fold(lookup.text)) in finer


def _find_named(scene: _Scene) -> Iterator[Lookup]:
    for seen in scene.lines:
        for text in _split_line(seen.text):
            yield from _questions(text, seen, scene)


def _questions(text: str, seen: TextSeen, scene: _Scene) -> Iterator[Lookup]:
    name = _EDGES.sub("", " ".join(text.split()))
    found = analyze_name(name)
    if found is None:
        return
    hint = found.country or scene.hint(seen)
    manner: Manner = "line" if fold(name) == fold(seen.text) else "part"
    yield Lookup(name, found.kind, seen, hint, found.worth, manner)
    if found.kind == "street":
        without_number = _HOUSE_LAST.sub("", _HOUSE_FIRST.sub("", name))
        if without_number != name:
            yield Lookup(without_number, found.kind, seen, hint, found.worth * 0.95)


def _split_line(text: str) -> Iterator[str]:
    """Yield a line as it is, or the pieces of an address: "12 Rue Grimaldi, 98000 Monaco"."""
    pieces = [piece for piece in re.split(r"[,;|•·]|\s[-–]\s", text) if piece.strip()]
    for piece in pieces:
        yield _CODES.sub(" ", piece)
    if 1 < len(pieces) <= 3 and len(text) <= MAX_NAME_CHARS and not _CODES.search(text):
        yield text


def _over_two_lines(scene: _Scene) -> Iterator[Lookup]:
    """Names that go on below: one line says too little alone, or ends in the middle ("Hôtel de")."""
    said = {seen: analyze_name(_EDGES.sub("", seen.text)) for seen in scene.lines}
    coded = {postcode.where for postcode in scene.postcodes} | {phone.where for phone in scene.phones}
    coded |= {address.where for address in scene.addresses}
    for upper, lower in permutations([seen for seen in scene.lines if seen not in coded], 2):
        if not continues_below(upper, lower):
            continue
        ends_open = fold(upper.text).split()[-1:] in _OPEN_ENDED
        item, two = said[upper], said[lower]
        weak = [line for line, name in ((upper, item), (lower, two)) if name is None]
        unsaid = len(weak) == 1 and kind_said(weak[0].text) is not None and max(map(_worth, (item, two))) < _STRONG
        both_unknown = item is not None and two is not None and max(item.worth, two.worth) < _STRONG
        if ends_open or unsaid or both_unknown:
            text = f"{upper.text} {lower.text}"
            whole = join_seen_lines((upper, lower), text)
            factor = 0.8 if both_unknown and not ends_open else 1.05
            for found in _questions(text, whole, scene):
                yield Lookup(found.text, found.kind, whole, found.country_hint, min(1.0, found.worth * factor))


def _worth(name: Named | None) -> float:
    return name.worth if name else 0.0


def _find_coded(scene: _Scene) -> Iterator[Lookup]:
    """Yield towns beside postcodes, and names in web addresses."""
    for postcode in scene.postcodes:
        town = postcode.town and re.split(r"[,(;]", postcode.town)[0].strip()
        if town and analyze_name(town):
            yield Lookup(town, "place", postcode.where, _single(postcode.countries), _TOWN_BESIDE_CODE, "said")
    for address in scene.addresses:
        label = re.sub(r"[-_]+", " ", address.label)
        if len(label) >= 5 and not words_seen(label) and not label.isdigit() and label not in _SHARED_HOSTS:
            yield Lookup(label, "business", address.where, None, _NAME_IN_ADDRESS)


def _airports(scene: _Scene) -> Iterator[Lookup]:
    """Names beside a road number that are no large town's: road signs call airports by their own names alone."""
    numbered = {seen.image for seen in scene.lines if is_road_number(seen.text)}
    for seen in scene.lines:
        name = _EDGES.sub("", " ".join(seen.text.split()))
        found = analyze_name(name) if seen.image in numbered else None
        if found is not None and found.kind == "business" and not words_seen(name) and not town_people(name):
            yield Lookup(f"{name} Airport", "airport", seen, None, _AIRPORT_OF_NAME, "line")


def _distance_towns(towns: Sequence[TownDistance]) -> Iterator[Lookup]:
    for town in towns:
        yield Lookup(town.town, "place", town.where, None, _TOWN_ON_SIGN, "line")


def _single(countries: Mapping[str, float]) -> str | None:
    return next((code for code, share in countries.items() if share >= 0.75), None)


def _are_near(seen: TextSeen, other: TextSeen) -> bool:
    """Return whether two lines seem to belong to one sign."""
    if seen.image != other.image:
        return False
    across = max(seen.upright[0], other.upright[0]) - min(seen.upright[2], other.upright[2])
    down = max(seen.upright[1], other.upright[1]) - min(seen.upright[3], other.upright[3])
    reach = 2.5 * max(height(seen), height(other))
    return across <= reach and down <= reach
