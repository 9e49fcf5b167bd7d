"""The next calls of a stand-in caller, the best first: each with what is missing and why this tool."""

import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from geosleuth.lab.traces.spotagent import Box, Lettering
from geosleuth.names import country_code, country_name

from .caller_notes import CallerNotes, Candidate, agreeing, clues_in, locality, quoted

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
    """A possible call: the tool, what it would find, and why to make it."""

    tool: str
    arguments: Mapping[str, Any] = field(hash=False)
    missing: str
    why: str


def questions(
    notes: CallerNotes,
    odds: Mapping[str, float],
    found: list[Candidate],
    sizes: Mapping[str, tuple[int, int]],
    chance: random.Random,
    *,
    searches: bool = False,
) -> Iterator[Question]:
    """Yield the questions still worth asking, the best first; with ``searches``, the web's pages about shops too."""
    country, share = next(iter(odds.items()))
    there = country_name(country) if share >= _KNOWN_COUNTRY else None
    town = town_name(notes)
    best = found[0] if found else None
    settled = best is not None and agreeing(best, found) >= 1
    if len(notes.zooms) < _ZOOMS and not settled:
        yield from (_closer(one, sizes, chance) for one in notes.unread[: _ZOOMS - len(notes.zooms)])
    if there and chance.random() < _LOOKS_IT_UP and not notes.made:
        yield Question(
            FACTS,
            {"country": country},
            f"whether driving side, plates and numbers of {there} fit what I see",
            f"country_facts lists just these for {there}.",
        )
    if searches and not settled:
        yield from _pages(notes, there, chance)
    if not settled:
        yield from _names(notes, there, town, best, chance)
    if there and chance.random() < _READS_UP and not notes.of(FACTS):
        what = chance.choice(("licence plates", "calling code and postcodes", "languages"))
        yield Question(
            WEB,
            {"query": f"{there} {what}"},
            f"whether {what} of {there} are as they look here",
            "search_web has pages about countries, which confirm or exclude it.",
        )
    if best is not None and best.place_id and notes.phones and not best.place_id.startswith("geonames"):
        yield Question(
            DETAIL,
            {"poi_id": best.place_id},
            f"whether {best.name} has the number {quoted(notes.phones[0])}",
            "poi_detail_query shows address and telephone of this very place.",
        )
    if best is None:
        yield from _capital(notes, country_name(country), country)
    if best is not None:
        yield Question(
            REVERSE,
            {"latitude": round(best.point.lat, 5), "longitude": round(best.point.lon, 5)},
            f"whether the point of {best.name} lies where the other evidence says",
            "reverse_geocode names country, region and settlement at a point, so that I can compare them.",
        )


def as_offered(question: Question, tools: Collection[str]) -> Question:
    """Return the question for the tools that are on: without a search for shops, the map is asked for their names."""
    if question.tool != SEARCH or SEARCH in tools:
        return question
    keyword, near = (str(question.arguments.get(name, "")) for name in ("keyword", "near"))
    place = {"country": near} if country_code(near) else {}
    address = keyword if place or not near else f"{keyword}, {near}"
    return Question(
        GEOCODE, {"address": address, **place}, question.missing, "maps_geocode finds what the map has by name."
    )


def town_name(notes: CallerNotes) -> str | None:
    """Return the town as the map spells it if it was looked up, else as it was read."""
    town = next(iter(notes.towns), None)
    for made in notes.of(GEOCODE):
        arguments = made.call.arguments
        if isinstance(arguments, Mapping) and arguments.get("address") == town and made.results:
            return str(made.results[0].get("name") or town)
    return town


def with_margin(box: Box, size: tuple[int, int]) -> Box:
    """Return a box with a margin around it, clipped to the picture."""
    left, top, right, bottom = box
    across = max(_LEAST_MARGIN_PX, round((right - left) * _MARGIN))
    down = max(_LEAST_MARGIN_PX, round((bottom - top) * _MARGIN))
    return max(0, left - across), max(0, top - down), min(size[0], right + across), min(size[1], bottom + down)


def town_in(place: Candidate) -> str:
    """Return the town in a candidate's address."""
    return locality(place.name.rpartition(", ")[2])


def local_shops(notes: CallerNotes, there: str | None) -> list[str]:
    """Return the shops that may be local; leave out those whose names indicate another country."""
    if there is None:
        return notes.shops
    foreign = {
        clue.seen
        for clue in clues_in(notes.texts)
        if clue.countries and clue.countries.get(country_code(there) or "", 0.0) < _FOREIGN
    }
    return [name for name in notes.shops if name not in foreign]


def _closer(one: Lettering, sizes: Mapping[str, tuple[int, int]], chance: random.Random) -> Question:
    box = with_margin(one.box, sizes.get(one.handle, _ANY_SIZE))
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
    notes: CallerNotes, there: str | None, town: str | None, best: Candidate | None, chance: random.Random
) -> Iterator[Question]:
    country = {"country": there} if there else {}
    read = next(iter(notes.towns), None)
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
    for shop in local_shops(notes, there)[:2]:
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
    if len(notes.streets) >= 2 and near:
        yield Question(
            CROSSING,
            {"first": notes.streets[0], "second": notes.streets[1], **({"area": town} if town else {})},
            "the spot where these two streets meet",
            "find_crossing gives the one point that both names share.",
        )
    for street in [*notes.addresses[:1], *notes.streets[:1]]:
        yield Question(
            GEOCODE,
            {
                "address": ", ".join(dict.fromkeys(filter(None, (street, town or (town_in(best) if best else None))))),
                **country,
            },
            f"where {quoted(street)} is",
            "maps_geocode finds streets and house numbers.",
        )
    for stop in notes.on(("bus stop",))[:1]:
        yield Question(
            SEARCH,
            {"keyword": stop, **({"near": near} if near else {})},
            f"where the stop {quoted(stop)} is",
            "poi_keyword_search knows stops by their names.",
        )
    if not town and len(notes.distances) > 1:
        yield _ranges(notes, there)
    if not town:
        for name in notes.near[:1]:
            yield Question(
                GEOCODE,
                {"address": name, **country},
                f"where {name} lies, to which the sign points",
                "the place is on the way there, and maps_geocode gives its coordinates.",
            )


def _pages(notes: CallerNotes, there: str | None, chance: random.Random) -> Iterator[Question]:
    """Ask the web which shop of a name has the year that was read, once the map was asked for the name."""
    shops = [shop for shop in local_shops(notes, there) if not any(shop == year for year in notes.years)]
    if not (shops and notes.years and notes.of(SEARCH, GEOCODE)):
        return
    yield Question(
        WEB,
        {"query": f"{shops[0]} {notes.years[0]}"},
        f"which {quoted(shops[0])} dates from {notes.years[0]}",
        chance.choice(
            (
                "the map has several of that name and no years; search_web finds pages that tell them apart.",
                "search_web finds what is written about a shop, such as when it was founded.",
            )
        ),
    )
    if notes.page_town:
        yield Question(
            GEOCODE,
            {"address": notes.page_town, **({"country": there} if there else {})},
            f"where {notes.page_town} lies, which the page names",
            "maps_geocode turns the town's name into coordinates.",
        )
        yield Question(
            SEARCH,
            {"keyword": shops[0], "near": notes.page_town},
            f"the door of {quoted(shops[0])} in {notes.page_town}",
            "poi_keyword_search finds it near that town.",
        )


def _ranges(notes: CallerNotes, there: str | None) -> Question:
    rows = notes.distances[:4]
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


def _capital(notes: CallerNotes, there: str, country: str) -> Iterator[Question]:
    """Ask for the capital: if only the country is known, a large town is the honest guess."""
    facts = notes.of(FACTS)
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
