"""What a stand-in caller would ask next, in the order in which it would: each call with what is missing and why it."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from geosleuth.data.spotagent import Box, Lettering
from geosleuth.names import country_code, country_name

from .caller_notes import Candidate, Noted, agreeing, clues_in, locality, quoted

ZOOM, GEOCODE, REVERSE, SEARCH, DETAIL, FACTS, WEB, CROSSING, RANGES = (
    "image_zoom_in_tool", "maps_geocode", "reverse_geocode", "poi_keyword_search", "poi_detail_query", "country_facts",
    "search_web", "find_crossing", "range_fix",
)  # fmt: skip

_ZOOMS = 2
_KNOWN_COUNTRY = 0.6
_LOOKS_IT_UP = 0.3
_READS_UP = 0.15
_MARGIN = 0.35
_FOREIGN = 0.01
_LEAST_MARGIN_PX = 12
_ANY_SIZE = (10_000, 10_000)
_MILES = ("United Kingdom", "United States")


@dataclass(frozen=True, slots=True)
class Question:
    """A call that could be made, what it would bring, and why it is the one to make."""

    tool: str
    arguments: Mapping[str, Any] = field(hash=False)
    missing: str
    why: str


def questions(
    noted: Noted,
    odds: Mapping[str, float],
    found: list[Candidate],
    sizes: Mapping[str, tuple[int, int]],
    chance: random.Random,
) -> Iterator[Question]:
    """The questions that are still worth asking, the best first."""
    country, share = next(iter(odds.items()))
    there = country_name(country) if share >= _KNOWN_COUNTRY else None
    town = spelt(noted)
    best = found[0] if found else None
    settled = best is not None and agreeing(best, found) >= 1
    if len(noted.zooms) < _ZOOMS and not settled:
        yield from (_closer(one, sizes, chance) for one in noted.unread[: _ZOOMS - len(noted.zooms)])
    if there and chance.random() < _LOOKS_IT_UP and not noted.made:
        yield Question(
            FACTS,
            {"country": country},
            f"whether driving side, plates and numbers of {there} fit what I see",
            f"country_facts lists just these for {there}.",
        )
    if not settled:
        yield from _names(noted, there, town, best, chance)
    if there and chance.random() < _READS_UP and not noted.of(FACTS):
        what = chance.choice(("licence plates", "calling code and postcodes", "languages"))
        yield Question(
            WEB,
            {"query": f"{there} {what}"},
            f"whether {what} of {there} are as they look here",
            "search_web has pages about countries, which confirm or exclude it.",
        )
    if best is not None and best.place_id and noted.phones and not best.place_id.startswith("geonames"):
        yield Question(
            DETAIL,
            {"poi_id": best.place_id},
            f"whether {best.name} has the number {quoted(noted.phones[0])}",
            "poi_detail_query shows address and telephone of this very place.",
        )
    if best is None:
        yield from _capital(noted, country_name(country), country)
    if best is not None:
        yield Question(
            REVERSE,
            {"latitude": round(best.point.lat, 5), "longitude": round(best.point.lon, 5)},
            f"whether the point of {best.name} lies where the other evidence says",
            "reverse_geocode names country, region and settlement at a point, so that I can compare them.",
        )


def spelt(noted: Noted) -> str | None:
    """The town as the map spells it, once it has been asked; before that as it was read."""
    town = next(iter(noted.towns), None)
    for made in noted.of(GEOCODE):
        arguments = made.call.arguments
        if isinstance(arguments, Mapping) and arguments.get("address") == town and made.results:
            return str(made.results[0].get("name") or town)
    return town


def widened(box: Box, size: tuple[int, int]) -> Box:
    """A box with a margin around it, within the picture."""
    left, top, right, bottom = box
    across = max(_LEAST_MARGIN_PX, round((right - left) * _MARGIN))
    down = max(_LEAST_MARGIN_PX, round((bottom - top) * _MARGIN))
    return max(0, left - across), max(0, top - down), min(size[0], right + across), min(size[1], bottom + down)


def town_in(place: Candidate) -> str:
    """The town of a candidate, as its address has it."""
    return locality(place.name.rpartition(", ")[2])


def local_shops(noted: Noted, there: str | None) -> list[str]:
    """The shops that may well be from here: of those that speak for another country nothing is asked."""
    if there is None:
        return noted.shops
    foreign = {
        clue.seen
        for clue in clues_in(noted.texts)
        if clue.countries and clue.countries.get(country_code(there) or "", 0.0) < _FOREIGN
    }
    return [name for name in noted.shops if name not in foreign]


def _closer(one: Lettering, sizes: Mapping[str, tuple[int, int]], chance: random.Random) -> Question:
    box = widened(one.box, sizes.get(one.handle, _ANY_SIZE))
    return Question(
        ZOOM,
        {"bbox_2d": list(box), "image": one.handle},
        chance.choice((f"what the {one.board} says; it is too small in this view", f"the words on the {one.board}")),
        chance.choice(
            (
                "image_zoom_in_tool cuts this part from the original pixels, where the letters may be legible.",
                "a magnified cut is the one way to read it; other tools need words that I don't have yet.",
            )
        ),
    )


def _names(
    noted: Noted, there: str | None, town: str | None, best: Candidate | None, chance: random.Random
) -> Iterator[Question]:
    country = {"country": there} if there else {}
    read = next(iter(noted.towns), None)
    if read and town:
        yield Question(
            GEOCODE,
            {"address": read, **country},
            f"where {read} lies",
            chance.choice(
                (
                    "maps_geocode turns the town's name into coordinates.",
                    "a name of a town is what maps_geocode is for.",
                )
            ),
        )
    near = town or (town_in(best) if best else there)
    for shop in local_shops(noted, there)[:2]:
        yield Question(
            SEARCH,
            {"keyword": shop, **({"near": town or there} if town or there else {})},
            f"where there is a {quoted(shop)}",
            chance.choice(
                (
                    "poi_keyword_search finds mapped shops by the name on their sign, also where a letter is misread.",
                    "a shop's name is rarer than anything else here, and poi_keyword_search looks for names.",
                )
            ),
        )
    if len(noted.streets) >= 2 and near:
        yield Question(
            CROSSING,
            {"first": noted.streets[0], "second": noted.streets[1], **({"area": town} if town else {})},
            "the spot where these two streets meet",
            "find_crossing gives the one point that both names share.",
        )
    for street in [*noted.addresses[:1], *noted.streets[:1]]:
        yield Question(
            GEOCODE,
            {
                "address": ", ".join(dict.fromkeys(filter(None, (street, town or (town_in(best) if best else None))))),
                **country,
            },
            f"where {quoted(street)} is",
            "maps_geocode finds streets and house numbers.",
        )
    for stop in noted.on(("bus stop",))[:1]:
        yield Question(
            SEARCH,
            {"keyword": stop, **({"near": near} if near else {})},
            f"where the stop {quoted(stop)} is",
            "poi_keyword_search knows stops by their names.",
        )
    if not town and len(noted.distances) > 1:
        yield _ranges(noted, there)
    if not town:
        for name in noted.near[:1]:
            yield Question(
                GEOCODE,
                {"address": name, **country},
                f"where {name} lies, to which the sign points",
                "the place is on the way there, and maps_geocode gives its coordinates.",
            )


def _ranges(noted: Noted, there: str | None) -> Question:
    rows = noted.distances[:4]
    miles = any(unit.startswith("mi") for _, _, unit in rows) or (there in _MILES and not any(row[2] for row in rows))
    return Question(
        RANGES,
        {
            "towns": [town for town, _, _ in rows],
            "distances": [far for _, far, _ in rows],
            "unit": "mi" if miles else "km",
            **({"area": there} if there else {}),
        },
        "the place that lies as far from these towns as the sign says",
        "range_fix puts the circles around the towns together, which no search for a name can do.",
    )


def _capital(noted: Noted, there: str, country: str) -> Iterator[Question]:
    """Nothing finer than a country is known: a large town there is the honest guess."""
    facts = noted.of(FACTS)
    capital = next(
        (one.observation.data.get("capital") for one in facts if isinstance(one.observation.data, Mapping)), None
    )
    if capital:
        yield Question(
            GEOCODE,
            {"address": str(capital), "country": there},
            f"a point in {there}; nothing I can read names a place there",
            "the largest town is the best guess where only the country is known, and maps_geocode has its point.",
        )
    else:
        yield Question(
            FACTS,
            {"country": country},
            f"whether what I see fits {there}, and which towns are likely there",
            f"country_facts has driving side, plates and capital of {there}.",
        )
