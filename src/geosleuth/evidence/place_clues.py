"""Clues from the atlas's answers: their JSON data and the text that was looked up.

A text and everything found for it is one clue. Its spots share what the name is worth: a place weighs more the surer
the text is its name, the more people live there, and the fewer others bear the name, whether the atlas knows them or
not. What is left over goes to places that no lookup found.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, Literal

from geosleuth.atlas.facts import all_countries
from geosleuth.geo import distance_km as distance_between_km
from geosleuth.names import country_name, fold

from .atlas_hits import Found, read_place, read_places, read_point, read_results
from .bearing import begins, identity, is_in_part, likeness, others_of_name, telling_letters
from .bearing import pull as pull_of
from .clue import Clue, ClueKind, CluePlace, TextSeen
from .clue_reliability import Reliability, read_rightly
from .country_prior import country_prior
from .heartlands import find_country
from .languages import compute_ratio
from .naming import is_first_name, kind_said
from .posterior import SEPARATOR
from .town_names import Manner
from .vocabulary import is_common_word

# Probability that a name of this kind refers to the place where it is read. Judgements, like those of the other clues.
RELIABILITY: Mapping[str, Reliability] = {
    "place": Reliability(0.55, "names of towns stand on signs to them, on buses and on shops far away"),
    "place.line": Reliability(0.7, "names of towns stand on signs to them, on buses and on shops far away"),
    "place.small": Reliability(0.35, "small towns share their names with people, shops and words"),
    "place.said": Reliability(0.85, "a twin town or an advertisement may be named so, too"),
    "place.towards": Reliability(0.8, "signs name towns that are far ahead"),
    "place.road": Reliability(0.35, "roads are called after towns that they do not lead to"),
    "place.word": Reliability(0.08, "it is a common word first"),
    "place.person": Reliability(0.1, "people, shops and ships are called so, too"),
    "place.region": Reliability(0.5, "names of regions stand on products and shops far away"),
    "place.country": Reliability(0.35, "names of countries stand on products, embassies and advertisements everywhere"),
    "street": Reliability(0.75, "streets of the same name are everywhere, and addresses stand on vans and posters"),
    "business": Reliability(0.75, "shops of the same name are elsewhere, and their names on vans and bags"),
    "business.word": Reliability(0.1, "it is a common word first: a bill says table, and a restaurant is called so"),
    "station": Reliability(0.65, "stops are named on vehicles and signs that lead to them"),
    "airport": Reliability(0.4, "airports are named on signs from afar and on advertisements"),
    "landmark": Reliability(0.55, "sights are named on posters and on signs that lead to them"),
    "together": Reliability(0.85, "the names may be common ones that meet by chance"),
    "distance_sign": Reliability(0.85, "sights and companies give distances to faraway places in jest"),
}

# Weight of unmapped crossings of streets with these names, relative to one that was found: they are rare.
UNMAPPED_CROSSINGS_WEIGHT = 0.05

# Maximum places of a name that are considered: with more, each of them gains too little to matter.
MAX_SPOTS = 12

# Exponent of the likelihood ratio of a name's language in the region's country. At 1, all other places of the name
# would lie where the language is written; in tests some do not.
LANGUAGE_EXPONENT = 0.75

# Probability that a shop named after a town stands in that town, as opposed to elsewhere in its country.
SHOP_IN_TOWN_PROBABILITY = 0.15

SearchKind = Literal["address", "name", "beginning", "crossing", "colocated", "ranges"]
"""How places were searched for: by address, by name, by the beginning of a name, by two streets that cross, by things
that stand close together, by distances to towns."""

# Maximum number of places in an answer; a full answer has left some out.
_ANSWER_LIMITS: Mapping[SearchKind, int] = {"address": 5, "name": 10, "beginning": 10}

_SAME_FEATURE_KM, _SAME_STATION_KM = 0.1, 0.5  # the platforms of a station are mapped apart
_MIN_WEIGHT = 1e-4  # what is less likely moves nothing
_MISREAD_INTO_ANOTHER = 0.1  # names are misread seldom, and still more seldom into another's
_NAMED_LIKENESS = 0.4  # from here on a place counts as called so, for a name that may be cut or misread
_LARGE_TOWN = 15_000  # people; of smaller towns' names most signs are something else's
_LETTERS_OF_VILLAGE = 6.0  # shorter words are villages' names by chance
_TOWN_OF_STATION_KM = 2.0  # a station is called after its town: "Wivenhoe Park" is somewhere there
# How often a town's name means a country in another language, and the region that is called after the town.
_FOREIGN_NAME, _AFTER_TOWN = 0.05, 0.3
_NOT_THE_TOWN = 0.01  # "28013 Madrid" is the town and not the region
# Expected number of shops named after a town, by the position of the name on the sign.
_SHOPS_BY_MANNER: Mapping[Manner, float] = {"part": 1.0, "line": 0.3, "said": 0.03, "towards": 0.03, "road": 1.0}

# A line alone that is a small town's name is more often something else: "PERICO" on a menu. Plain words most often.
_SMALL_TOWN, _SHOPS_LIKE_SMALL_TOWN, _SHOPS_LIKE_A_WORD = 50_000, 3.0, 5.0

# Typical distance from a town of the signs towards it and of the roads named after it.
_TOWN_SIGN_KM = 20.0

_CALLED_AFTER_KM = 4.0  # "Wivenhoe Park" lies at Wivenhoe, in it or a little outside
_WELL_KNOWN_KM, _AFTER_LARGE_TOWN = 6.0, 0.4
# From these radii on, the world knows a town's name and paints it over kitchens and barbers.
_FAMOUS_KM, _AFTER_FAMOUS_CITY = 12.0, 0.1

_PERSON_IN_A_LINE = 0.1  # "ELIZABETH, HIS WIFE": beside other words a first name is a person's
_MISREAD_DISTANCE = 0.1  # what a sign says as it was read is likelier than what it may say besides
# How common signs are in the unit that a country does not use, to towns of other countries only, and at sea.
_OTHER_UNIT, _ABROAD, _AT_SEA = 0.01, 0.2, 0.02

_WORTH_SAYING = 0.3  # of the first candidate's weight: a second one below it would only confuse


def place_clues(
    search: SearchKind,
    data: Any,
    seen: TextSeen | Sequence[TextSeen] = (),
    *,
    asked: str | Sequence[str] = (),
    manner: Manner = "part",
) -> list[Clue]:
    """The clues in one answer of the atlas: one, or none where it found nothing.

    Args:
        search: how places were searched for.
        data: the answer; what is malformed in it is passed over.
        seen: the text that was looked up, or the texts, in the order they were asked for.
        asked: the words that were asked for, where they are not the whole text.
        manner: how the name stands in the text, if it is a town's.

    Raises:
        ValueError: there is no such search.
    """
    if search not in PLACE_SEARCHES:
        raise ValueError(f"{search} finds no places; these do: {', '.join(PLACE_SEARCHES)}")
    texts = (seen,) if isinstance(seen, TextSeen) else tuple(seen)
    words = (asked,) if isinstance(asked, str) else tuple(asked)
    words = words or tuple(text.text for text in texts)
    line = texts[0].text if len(texts) == len(words) == 1 else ""
    clue = PLACE_SEARCHES[search](search, data, words, manner, line) if isinstance(data, Mapping) and words else None
    if clue is None:
        return []
    read = min((text.confidence for text in texts), default=1.0)
    sure = clue.reliability * read_rightly(read)
    clue = replace(clue, reliability=sure, where=texts[0] if texts else None)
    return [_as_it_stands(clue, line, words[0], manner) if line else clue]


def _as_it_stands(clue: Clue, text: str, query: str, manner: Manner) -> Clue:
    """A clue with what follows from how its name stands in its line."""
    line, asked = fold(text), fold(query)
    if asked not in line and asked.startswith(f"{line} "):
        # Words were added to ask with, as for an airport on a sign of the road to it: another reading of the text.
        return replace(_ahead(clue), seen=text)
    if clue.kind == "place" and manner != "said" and line != asked and is_first_name(query):
        # "ELIZABETH, HIS WIFE": beside other words it is a person's.
        return replace(clue, reliability=clue.reliability * _PERSON_IN_A_LINE)
    piece = fold(_find_piece(query, text))
    if clue.kind != "place" or manner != "part" or piece == asked or any(map(str.isdigit, piece)):
        return clue
    # "Wivenhoe Park" lies at Wivenhoe, in it or a little outside.
    return replace(
        clue, spots=tuple(replace(spot, radius_km=max(spot.radius_km, _CALLED_AFTER_KM)) for spot in clue.spots)
    )


def _find_piece(query: str, line: str) -> str:
    return next((piece for piece in line.split(",") if fold(query) in fold(piece)), query)


def _build_name_clue(
    search: SearchKind, data: Mapping[str, Any], words: Sequence[str], manner: Manner, line: str
) -> Clue | None:
    query = words[0]
    piece = _find_piece(query, line)
    # What a postcode says is told elsewhere, see `geosleuth.evidence.postcode_places`.
    places = [place for place in read_places(read_results(data)) if place.clue_kind != "postcode"]
    how_like = begins if search == "beginning" else None

    def pull(place: Found) -> float:
        return pull_of(place, in_part=is_in_part(query, place) or is_in_part(piece, place))

    likely = [(place, how_like(query, place.name) if how_like else identity(query, place)) for place in places]
    if any(place.match == "exact" for place in places):
        # Names are misread seldom, and still more seldom into another's.
        likely = [(place, like * (_MISREAD_INTO_ANOTHER if place.match == "fuzzy" else 1.0)) for place, like in likely]
    bearers = _bearers(_of_name([pair for pair in likely if pair[1] > 0], query, manner), pull)
    if not bearers:
        return None
    street = bearers[0][0].sort == "street" or kind_said(query) == "street"
    # Of "High Street, Whitby" it is the High Street that was found, and that is what others are called, too.
    common = min(query, bearers[0][0].matched, key=telling_letters)
    named_after = bearers[0][0].sort == "town" and (manner == "said" or _is_known(query, bearers[0][0]))
    stands: Manner = manner if named_after else "part"
    small = stands == "line" and bearers[0][0].people < _SMALL_TOWN
    shops = _SHOPS_BY_MANNER[stands]
    if small:
        shops = _SHOPS_LIKE_A_WORD if _is_one_plain_word(query) else _SHOPS_LIKE_SMALL_TOWN
    unseen = others_of_name(common, street=street) * shops
    home = bearers[0][0].country or find_country(bearers[0][0].point)
    by_alias = bearers[0][0].match == "alias" and bearers[0][0].people < _SMALL_TOWN
    if home and (bearers[0][0].added or by_alias):
        # Others of the name stand where its language is written, and the language speaks for all of those.
        unseen *= compute_ratio(home, line or query) ** LANGUAGE_EXPONENT
    if sum(like >= _NAMED_LIKENESS for _, like in likely) >= _ANSWER_LIMITS[search]:  # a full answer has left some out
        unseen += 2 * min(pull(place) for place, _ in bearers)
    surest = max(like for _, like in bearers)
    total = unseen + sum(like * pull(place) for place, like in bearers)
    weighed = [(place, surest * like * pull(place) / total) for place, like in bearers]
    weighed = [(place, weight) for place, weight in weighed if weight >= _MIN_WEIGHT]
    if not weighed:
        return None
    clue = _clue(query, weighed, surest, len(bearers), stands)
    if small and clue.kind == "place" and _is_one_plain_word(query):
        row = RELIABILITY["place.small"]
        clue = replace(clue, reliability=min(clue.reliability, row.value), caution=row.misled_by)
    return clue


def _is_one_plain_word(query: str) -> bool:
    return query.isascii() and query.isalpha()


def _is_known(query: str, town: Found) -> bool:
    """Return whether a line likely means the town of its name: short words are villages' names by chance."""
    return town.people >= _LARGE_TOWN or telling_letters(query) >= _LETTERS_OF_VILLAGE


def _of_name(likely: Sequence[tuple[Found, float]], query: str, manner: Manner) -> list[tuple[Found, float]]:
    """Return the less usual bearers: a country in another language, a region called after its town, a longer name."""
    towns = [place for place, like in likely if place.sort == "town" and fold(place.name) == fold(query)]
    large = any(town.people >= _LARGE_TOWN for town in towns)
    found = []
    at_station = kind_said(query) == "station"
    for item, like in likely:
        # A station is called after its town: "Wivenhoe Park" is somewhere there.
        of_town = item.clue_kind == "station" and not item.added and not at_station
        place = replace(item, radius_km=max(item.radius_km, _TOWN_OF_STATION_KM)) if of_town else item
        foreign = place.sort == "country" and large and fold(place.name) != fold(query)
        after_town = place.sort == "region" and any(town.country == place.country for town in towns)
        short_for = place.sort == "town" and large and place.match == "alias"
        if after_town and manner == "said":
            found.append((place, like * _NOT_THE_TOWN))
            continue
        found.append((place, like * (_FOREIGN_NAME if foreign else _AFTER_TOWN if after_town or short_for else 1.0)))
    return found


def _clue(query: str, weighed: Sequence[tuple[Found, float]], surest: float, bearers: int, manner: Manner) -> Clue:
    best, weight = max(weighed, key=lambda pair: pair[1])
    row: str = best.clue_kind
    if manner not in ("said", "towards") and best.sort in ("town", "region") and is_common_word(query):
        row = "place.word"
    elif row in ("business", "landmark") and is_common_word(best.name):
        row = "business.word"
    elif manner != "said" and best.sort in ("town", "region") and is_first_name(query):
        row = "place.person"
    elif best.sort in ("country", "region"):
        row = f"place.{best.sort}"
    elif row == "place" and manner != "part":
        row = f"place.{manner}"
    spots = _spots([(place, share) for place, share in weighed if place.sort != "country"])
    of_countries = {place.country: share for place, share in weighed if place.sort == "country" and place.country}
    like = "" if surest > 0.95 else " is like" if surest < 0.5 else " may be"
    name = f"{like} the name of" if like else " is the name of"
    among = f", one of {bearers} places found" if bearers > 1 else ""
    clue = Clue(
        kind=best.clue_kind,
        seen=query,
        says=f'"{query}"{name} {_describe_place(best)}{among}',
        reliability=RELIABILITY[row].value,
        countries=_marginal(of_countries, spots) if of_countries else {},
        spots=spots,
        sources=tuple(dict.fromkeys(place.source for place, _ in weighed if place.source)),
        caution=RELIABILITY[row].misled_by
        if weight > 0.2
        else f"{RELIABILITY[row].misled_by}; and it is a common name",
    )
    return _ahead(clue) if manner in ("towards", "road") else clue


def _ahead(clue: Clue) -> Clue:
    """A clue whose place lies ahead and not here."""
    return replace(
        clue, spots=tuple(replace(spot, radius_km=max(spot.radius_km, _TOWN_SIGN_KM)) for spot in clue.spots)
    )


def _bearers(likely: Sequence[tuple[Found, float]], pull: Callable[[Found], float]) -> list[tuple[Found, float]]:
    """Return each place once: a town, its district and its station of the same name are the same place."""
    kept: list[tuple[Found, float]] = []
    ranked = sorted(likely, key=lambda pair: (-pair[1] * pull(pair[0]), pair[0].place_id or pair[0].name))
    # Towns go first: the port and the station of a town are called after it.
    for place, like in sorted(ranked, key=lambda pair: pair[0].sort != "town"):
        if not any(_same(place, other) for other, _ in kept):
            kept.append((place, like))
    return sorted(kept, key=lambda pair: -pair[1] * pull(pair[0]))[:MAX_SPOTS]


def _same(place: Found, kept: Found) -> bool:
    away = distance_between_km(place.point, kept.point)
    if {kept.sort, place.sort} == {"town", "region"}:
        return False
    if kept.sort in ("town", "region") and place.sort != "country":
        # A shop in Monaco that is called Monaco is in Monaco all the same; it adds nothing.
        return away <= max(kept.radius_km, 2.0) and fold(kept.name) in fold(place.name)
    if place.clue_kind == kept.clue_kind == "station":  # its platforms are named apart: "Place d'Armes (Port)"
        return away <= _SAME_STATION_KM and fold(place.matched) == fold(kept.matched)
    return away <= max(_SAME_FEATURE_KM, min(place.radius_km, kept.radius_km)) and fold(place.name) == fold(kept.name)


def _crossing(
    _search: SearchKind, data: Mapping[str, Any], words: Sequence[str], _manner: Manner, _line: str
) -> Clue | None:
    """Return the clue of a street crossing, which is rarer than either street."""
    places = read_places(read_results(data))
    scores = [_clip_value(place.score) ** 2 for place in places]
    total = sum(scores) + UNMAPPED_CROSSINGS_WEIGHT
    weighed = [(place, score / total) for place, score in zip(places, scores, strict=True) if score > 0]
    if not weighed:
        return None
    return _together("street", words, weighed, f"meet at {_describe_place(weighed[0][0])}")


def _build_group_clue(
    _search: SearchKind, data: Mapping[str, Any], words: Sequence[str], _manner: Manner, _line: str
) -> Clue | None:
    """Return the clue of features near each other. Names are specific, categories such as "pharmacy" are not."""
    weighed: list[tuple[Found, float]] = []
    kinds: list[ClueKind] = []
    names = 0
    for row in read_results(data):
        point, inside = read_point(row), row.get("places")
        if point is None or not isinstance(inside, list):
            continue
        places = [place for item in inside if isinstance(item, Mapping) and (place := read_place(item))]
        likes = [max((likeness(word, place.name) for word in words), default=0.0) for place in places]
        named = [place for place, like in zip(places, likes, strict=True) if like >= _NAMED_LIKENESS]
        spread, score = row.get("spread_m"), row.get("score")
        if not named or not isinstance(spread, int | float) or not isinstance(score, int | float):
            continue
        finest = min(named, key=lambda place: place.radius_km)
        radius_km = max(0.1, _clip_value(spread / 1000, 20.0) / 2)
        weighed.append((replace(finest, point=point, radius_km=radius_km), _clip_value(score) ** 2))
        kinds.append(finest.clue_kind)
        names = max(names, len(named))
    if not weighed:
        return None
    street = kinds[0] == "street"
    others = [others_of_name(word, street=street) for word in words]
    # The chance of two names to meet somewhere else falls with the rarity of both.
    unseen = 0.1 * (min(others) / 100) ** max(1, names) if names > 1 else min(others) / 10
    total = sum(weight for _, weight in weighed) + min(unseen, 100.0)
    shared = [(place, weight / total) for place, weight in weighed]
    return _together(kinds[0], words, shared, f"stand together near {_describe_place(weighed[0][0])}")


def _together(kind: ClueKind, words: Sequence[str], weighed: Sequence[tuple[Found, float]], what: str) -> Clue:
    quoted = " and ".join(f'"{word}"' for word in words)
    return Clue(
        kind=kind,
        seen=SEPARATOR.join(words),
        says=f"{quoted} {what}",
        reliability=RELIABILITY["together"].value,
        spots=_spots(weighed[:MAX_SPOTS]),
        sources=tuple(dict.fromkeys(place.source for place, _ in weighed if place.source)),
        caution=RELIABILITY["together"].misled_by,
    )


def _range(
    _search: SearchKind, data: Mapping[str, Any], words: Sequence[str], _manner: Manner, _line: str
) -> Clue | None:
    return range_clue([data], words)


def range_clue(answers: Sequence[Mapping[str, Any]], words: Sequence[str]) -> Clue | None:
    """Pieces of ground at given distances from towns, of all readings of the towns' names and of the unit.

    A piece weighs by how well known the towns of its reading are and how well the distances fit. Where the road signs
    of its country are in the other unit, where none of the towns is in its country, and at sea, hardly a sign stands.
    The first answer of each unit is for the distances as they were read; others count little where it has places.
    """
    as_read: dict[object, tuple[object, ...]] = {}
    pieces = []
    for data in answers:
        kilometres = tuple(town.get("distance_km") for town in _list_mappings(data.get("towns")))
        share = 1.0 if as_read.setdefault(data.get("unit"), kilometres) == kilometres else _MISREAD_DISTANCE
        pieces += [(spot, share * worth) for spot, worth in _pieces(data)]
    total = sum(worth for _, worth in pieces)
    if total <= 0:
        return None
    spots = tuple(replace(spot, weight=worth / total) for spot, worth in sorted(pieces, key=lambda pair: -pair[1]))
    trouble = min(_clip_number(data.get("conflict"), 0.0) for data in answers)
    row = RELIABILITY["distance_sign"]
    return Clue(
        kind="distance_sign",
        seen=SEPARATOR.join(words),
        says=f"the distances meet {_add_preposition(spots[0].name)}, "
        f"within {spots[0].radius_km:.0f} km{_or_else(spots)}",
        reliability=row.value * max(0.0, 1.0 - 2 * trouble),
        spots=spots[:MAX_SPOTS],
        caution=row.misled_by if trouble < 0.01 else "the distances do not quite fit together",
    )


def _pieces(data: Mapping[str, Any]) -> list[tuple[CluePlace, float]]:
    towns = [row for row in _list_mappings(data.get("towns")) if isinstance(row.get("name"), str)]
    whole = _clip_number(data.get("plausibility"), 1.0)
    found = []
    for key, usual in (("fixes", whole), ("other_readings", 0.5 * whole)):
        for row in _list_mappings(data.get(key)):
            point, radius_km = read_point(row), row.get("radius_km")
            if point is None or not isinstance(radius_km, int | float) or not isfinite(radius_km):
                continue
            country = find_country(point)
            homes = {town.get("country") for town in towns} if key == "fixes" else {country}
            worth = _clip_number(row.get("share"), 1.0) * _clip_number(row.get("plausibility"), usual)
            worth *= _road_signs(country, data.get("unit")) * (1.0 if country in homes else _ABROAD)
            found.append(
                (CluePlace(_get_place_name(row, towns), point, max(0.5, float(radius_km)), 1.0, country), worth)
            )
    return found


def _road_signs(country: str | None, unit: Any) -> float:
    """Return how common road signs in a unit are in a country, relative to its own unit; 0 at sea."""
    if country is None:
        return _AT_SEA
    known = all_countries().get(country)
    return 1.0 if known is None or unit not in ("km", "mi") or known.distance_unit == unit else _OTHER_UNIT


def _get_place_name(row: Mapping[str, Any], towns: Sequence[Mapping[str, Any]]) -> str:
    if row.get("is_ring") and towns:
        nearest = min(towns, key=lambda town: _clip_number(town.get("distance_km"), 0.0, 1e6))
        return f"around {nearest['name']}"
    place = row.get("place")
    return place if isinstance(place, str) and place else "where the distances of the sign meet"


def _add_preposition(name: str) -> str:
    return name if name.startswith(("near ", "around ", "where ")) else f"at {name}"


def _or_else(spots: Sequence[CluePlace]) -> str:
    """The second candidate, where it is not far less likely than the first."""
    if len(spots) < 2 or spots[1].weight < _WORTH_SAYING * spots[0].weight:
        return ""
    return f", or {_add_preposition(spots[1].name)}"


def _list_mappings(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _clip_number(value: Any, otherwise: float, most: float = 1.0) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _clip_value(value, most) if is_number else otherwise


def around(clue: Clue, distance_km: float) -> Clue:
    """A name that stands on a sign with a distance: the sign stands so far from the town, and not in it."""
    return replace(
        clue,
        kind="distance_sign",
        says=f"{clue.says}, and the sign stands {distance_km:.0f} km from it",
        spots=tuple(
            replace(spot, name=f"around {spot.name}", radius_km=max(spot.radius_km, distance_km), place_id=None)
            for spot in clue.spots
        ),
    )


def of_somebody(clue: Clue) -> Clue:
    """A town's name that is part of a shop's, or of a web address: most often its owner's, who bears a name of there.

    It speaks for the country whose towns are called so, and for the town hardly more than for any other of it. Of large
    towns the whole world knows the names and paints them over kitchens and barbers.
    """
    if any(spot.radius_km >= _WELL_KNOWN_KM for spot in clue.spots):
        said = "shops everywhere are called after large towns"
        famous = any(spot.radius_km >= _FAMOUS_KM for spot in clue.spots)
        share = _AFTER_FAMOUS_CITY if famous else _AFTER_LARGE_TOWN
        clue = replace(clue, reliability=clue.reliability * share, caution=said)
    return replace(
        clue,
        countries=clue.countries or _marginal({}, clue.spots),
        spots=tuple(replace(spot, weight=spot.weight * SHOP_IN_TOWN_PROBABILITY) for spot in clue.spots),
    )


def restrict_to_country(clue: Clue, country: str) -> Clue:
    """Limit a name clue to the country searched: it separates its towns, and says nothing for the country.

    Others of the name were not asked for, and most countries have a village of most names.
    """
    share = country_prior().get(country, 0.0)
    spots = tuple(replace(spot, weight=spot.weight * share) for spot in clue.spots)
    return replace(clue, countries={}, spots=spots)


# Searches whose answers this module can interpret.
PLACE_SEARCHES: Mapping[
    SearchKind, Callable[[SearchKind, Mapping[str, Any], Sequence[str], Manner, str], Clue | None]
] = {
    "address": _build_name_clue,
    "name": _build_name_clue,
    "beginning": _build_name_clue,
    "crossing": _crossing,
    "colocated": _build_group_clue,
    "ranges": _range,
}


def _spots(weighed: Sequence[tuple[Found, float]]) -> tuple[CluePlace, ...]:
    return tuple(
        CluePlace(
            name=place.name,
            point=place.point,
            radius_km=place.radius_km,
            weight=weight,
            country=place.country or find_country(place.point),
            place_id=place.place_id,
        )
        for place, weight in weighed
    )


def _marginal(of_countries: Mapping[str, float], spots: Sequence[CluePlace]) -> dict[str, float]:
    """P(country | clue) of a name that is a country's and others': with what is left spread as the prior is."""
    left = max(0.0, 1.0 - sum(of_countries.values()) - sum(spot.weight for spot in spots))
    shares = {code: left * share for code, share in country_prior().items()}
    for code, weight in (*of_countries.items(), *((spot.country, spot.weight) for spot in spots)):
        if code in shares:
            shares[code] += weight
    return shares


def _describe_place(place: Found) -> str:
    if place.sort == "country" and place.country:
        return country_name(place.country)
    address = place.address or ""
    if fold(place.name) in fold(address):
        return address
    return ", ".join(filter(None, (place.name, address)))


def _clip_value(value: float, most: float = 1.0) -> float:
    return min(max(float(value), 0.0), most) if isfinite(value) else 0.0
