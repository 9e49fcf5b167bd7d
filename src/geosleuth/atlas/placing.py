"""Geocode words to a point: one rule for single runs, teams, scorers, judges, rewards, evaluation and final checks.

The finest part of the words that the atlas knows, inside everything else that they name, is the place. A part that is
not known is listed in ``missing`` and never replaced by a town that was not named: "Nowhere Park, Utah" is placed at
the level of the region, with the extent of Utah. Words of which nothing is known have no placement.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from geosleuth.answer import Address, Answer
from geosleuth.answer.answer import PIN_KM, format_words
from geosleuth.geo import Disc, Extent, LatLon, distance_km
from geosleuth.names import country_code, country_name, fold
from geosleuth.names.cities import list_regions, same_region, without_region_words
from geosleuth.support.errors import BadInput

from .parts import (
    belongs_to_country,
    either,
    extract_bracketed_parts,
    feature_names,
    is_compass,
    split_parts,
    split_script,
    split_written_parts,
    town_names,
    unit_names,
    without_qualifiers,
)
from .place_extent import at_its_middle, get_extent, get_radius_km
from .protocol import UNIT_KIND, Atlas, Hit, Level, Place

_MAX_NAMESAKES = 12
_MAX_ABBREVIATION, _TERRITORY_CODE = 3, 2
_TRAFFIC = ("airport", "port", "station", "street", "route")
_Wanted = Literal["town", "unit", "feature", "region"]
_AREAS: frozenset[Level] = frozenset({"region", "country"})


@dataclass(frozen=True, slots=True)
class Placement:
    """The place that words name: the level that matched, how far that place reaches, and what was not found."""

    place: Place
    level: Level
    extent: Extent
    radius_km: float
    """Distance from ``point`` to the farthest part of the extent; 0 where only the point is known."""
    missing: tuple[str, ...] = ()
    others: tuple["Placement", ...] = ()
    """Places of the same name that the words may mean as well, the likeliest first."""

    @property
    def point(self) -> LatLon:
        """Return a point in the middle of the extent and inside it; scorers measure from here."""
        return self.place.point

    def holds(self, point: LatLon) -> bool:
        """Return whether a point lies no farther from its own than the extent reaches."""
        return distance_km(self.point, point) <= self.radius_km

    @property
    def is_area(self) -> bool:
        """Return whether this is a whole country too wide for its middle to be an answer."""
        return self.level == "country" and self.radius_km > PIN_KM


class Placer:
    """Places words and answers with one atlas; each text is looked up once, and again only if a service failed."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._known: dict[str, Placement | None] = {}

    async def place(self, words: str) -> Placement | None:
        """Return the likeliest place that the words name; None if nothing of them is known.

        Raises:
            ServiceFault: a service failed.
        """
        if words not in self._known:
            self._known[words] = await _place_text(self._atlas, words)
        return self._known[words]

    async def place_answer(self, answer: Answer) -> Placement | None:
        """Return the place that the address of an answer names, whether or not the answer has a point."""
        return await self.place_address(answer.address)

    async def place_address(self, address: Address) -> Placement | None:
        """Return the place that an address names."""
        return await self.place(format_words(address))

    async def fits(self, address: Address, point: LatLon, within_km: float) -> bool:
        """Return whether a place of the address lies within some distance of a point, whichever namesake is meant.

        Raises:
            ServiceFault: a service failed.
        """
        known = await self.place_address(address)
        if known is None:
            return False
        if any(distance_km(other.point, point) - other.radius_km <= within_km for other in (known, *known.others)):
            return True
        near = await self._atlas.geocode(format_words(address), limit=_MAX_NAMESAKES, within=Disc(point, within_km))
        return any(hit.match != "fuzzy" and len(hit.missing) <= len(known.missing) for hit in near)


async def place_words(atlas: Atlas, words: Iterable[str]) -> dict[str, Placement]:
    """Return the placement of each distinct text; texts of which nothing is known are left out.

    Raises:
        ServiceFault: a service failed.
    """
    placer = Placer(atlas)
    found = {text: await placer.place(text) for text in dict.fromkeys(words)}
    return {text: placement for text, placement in found.items() if placement is not None}


def with_point(answer: Answer, placement: Placement | None) -> Answer:
    """Return the answer with the point and radius of its placement, unless it has a point or names only a country."""
    if answer.point is not None or placement is None or placement.is_area:
        return answer
    return replace(answer, point=placement.point, radius_km=answer.radius_km or placement.radius_km or None)


async def _place_text(atlas: Atlas, words: str) -> Placement | None:
    parts, aside = _in_territory(split_written_parts(words)), extract_bracketed_parts(words)
    named = [part for part in parts if not is_compass(part)]
    if not named:
        return None
    native = () if ", ".join(named).isascii() else _expand_regions([step for part in named for step in _steps(part)])
    first_readings = (*native, _Reading(tuple(parts)))
    best = await _best(atlas, first_readings, aside)
    if best is not None and best.missing and named != parts:
        best = None  # "North East, Pennsylvania" is a town, "Colorado (north-east)" is not in it
    # What stands in brackets and is not known says nothing of the place.
    unknown = aside if best is None or best.level == "feature" else aside.intersection(best.missing)
    plain = [without_qualifiers(part) for part in named if part not in unknown]
    if best is None or best.missing:
        first, rest = (plain[0], plain[1:]) if plain else ("", [])
        units, towns = unit_names(first), town_names(first)
        features = [
            *(_Reading((name, *rest), wanted="feature") for name in feature_names(first)),
            *(_Reading((name, *rest), wanted="unit") for name in (*units, *towns)),
            *(_Reading((name, *rest), wanted="town") for name in towns),
        ]
        readings = dict.fromkeys(
            (_Reading(tuple(named)), _Reading(tuple(plain)), *_expand_regions(plain, best), *features)
        )
        best = await _best(atlas, [reading for reading in readings if reading not in first_readings], aside, best)
        if (best is None or best.missing) and units:
            best = await _best(atlas, await _of_seats(atlas, units, rest), aside, best)
    elif plain != parts and best.level not in _AREAS:
        # "Cologne (Köln)" is the city and no port in it; "sur de Chile" is the country and no farm of that name.
        found = await _place_parts(atlas, plain, aside)
        if found and not found.missing and (found.level == "country" or (unknown and found.holds(best.point))):
            return found
    if (best is None or best.missing) and len(names := either(", ".join(named))) > 1:
        rest = named[1:] if "," not in names[0] else []
        tries = [await _place_text(atlas, name if "," in name else ", ".join((name, *rest))) for name in names]
        if placed := [placement for placement in tries if placement is not None]:
            best = replace(placed[0], others=(*placed[1:], *placed[0].others))
    return best


def _in_territory(parts: list[str]) -> list[str]:
    """Return the parts with a territory's name in place of its code and its country: "Río Piedras, PR, USA"."""
    owner = country_code(parts[-1]) if len(parts) > 1 else None
    for at, part in enumerate(parts[:-1]):
        code = country_code(part) if len(part) == _TERRITORY_CODE and part.isupper() else None
        if owner and code and code != owner and belongs_to_country(code, owner):
            return [*parts[:at], *parts[at + 1 : -1], country_name(code)]
    return parts


def _steps(part: str) -> list[str]:
    return split_script(part)[::-1]


@dataclass(frozen=True, slots=True)
class _Reading:
    """The parts of a text, and the region in which the place must then lie."""

    parts: tuple[str, ...]
    region: str | None = None
    country: str | None = None
    wanted: _Wanted | None = None
    """The only level that may be meant: "Isola di Capri" is no town named Capri, and "広島県" not the city."""
    is_region: bool = False
    """Whether its region goes by a word for regions: of "霧裂村, 長野県", nothing known but that, not the city is."""

    def is_better(self, found: Placement, best: Placement) -> bool:
        """Return whether a placement of this reading says more than another one."""
        gain = len(best.missing) - len(found.missing)
        return gain > 0 or (gain == 0 and self.is_region and (found.level, best.level) == ("region", "town"))

    def holds(self, found: Placement) -> bool:
        """Return whether a placement is one of this reading."""
        place = found.place
        inside = place.name if place.kind == "region" else place.region
        return self.region is None or inside is None or same_region(inside, self.region, self.country)


async def _best(
    atlas: Atlas, readings: Iterable[_Reading], aside: set[str], best: Placement | None = None
) -> Placement | None:
    """Return the placement of the reading with the fewest missing parts; of equals, of the first."""
    for reading in readings:
        if best is not None and not best.missing:
            break
        found = await _place_parts(atlas, reading.parts, aside, reading.wanted) if reading.parts else None
        if found is not None and reading.is_region and reading.region and found.missing and found.level == "town":
            whole = await _place_parts(atlas, (reading.region, reading.parts[-1]), aside, "region")
            if whole is not None and same_region(found.place.name, reading.region, reading.country):
                found = replace(whole, missing=found.missing)
        if found is not None and reading.holds(found) and (not best or reading.is_better(found, best)):
            best = found
    return best


async def _of_seats(atlas: Atlas, names: Sequence[str], rest: Sequence[str]) -> list[_Reading]:
    """Return readings for a unit by another name of its seat: "Provincia di Firenze" goes by Florence."""
    towns = [await _place_parts(atlas, (name, *rest), set(), "town") for name in names]
    found = [town.place for town in towns if town is not None and not town.missing]
    named = [(item.name, item.region, country_name(item.country or "")) for item in found]
    return [_Reading(tuple(filter(None, parts)), wanted="unit") for parts in named]


def _expand_regions(parts: Sequence[str], known: Placement | None = None) -> Iterator[_Reading]:
    """Yield the parts with the name of a region in place of its abbreviation or its name in another language."""
    codes = {code for part in parts[-1:] if len(part) > _MAX_ABBREVIATION and (code := country_code(part))}
    for at, part in enumerate(parts):
        is_short = len(part) <= _MAX_ABBREVIATION
        is_open = not known or part in known.missing or (is_short and bool(at))  # "WA" is two regions
        may_be_region = is_open and (at or not is_short or not part.isascii())
        is_region = fold(part) != without_region_words(fold(part))
        wanted: _Wanted | None = "region" if not at and is_region else None
        for country, name in list_regions(part) if may_be_region else ():
            if not codes or country in codes:
                whole = () if codes else (country_name(country),)
                yield _Reading((*parts[:at], name, *parts[at + 1 :], *whole), name, country, wanted, is_region)


async def _place_parts(
    atlas: Atlas, parts: Sequence[str], aside: set[str], wanted: _Wanted | None = None
) -> Placement | None:
    """Return the likeliest place; words in brackets qualify a name, so no town is placed by them alone."""
    try:
        hits = await _places_named(atlas, parts, whole=wanted is not None)
    except BadInput:
        return None  # models also write texts that can't be an address
    outside = {part for part in parts if part not in aside}
    hits = [hit for hit in hits if hit.level in _AREAS or not outside or not outside.issubset(hit.missing)]
    if wanted is not None:
        hits = [hit for hit in hits if wanted == ("unit" if hit.place.kind == UNIT_KIND else hit.level)]
        hits = [hit for hit in hits if hit.place.kind not in _TRAFFIC]
    found = [await asyncio.to_thread(_placement, hit) for hit in hits]
    return replace(found[0], others=tuple(found[1:])) if found else None


def _placement(hit: Hit) -> Placement:
    place = at_its_middle(hit.place)
    return Placement(place, hit.level, get_extent(place) or place.extent, get_radius_km(place) or 0.0, hit.missing)


async def _places_named(atlas: Atlas, written: Sequence[str], *, whole: bool) -> list[Hit]:
    """Return the places that the parts of a text may name, the likeliest first, inside the country that they name.

    The offline atlas itself falls back from an address to its town, region and country. For online services, the query
    is repeated without its finest part until something is found. A similar spelling is no match.
    """
    last = split_parts(written[-1]) if len(written) > 1 else []
    codes = [code for part in last[-1:] if (code := country_code(part)) is not None]
    for start in range(1 if whole else len(written)):
        found = []
        for hit in await atlas.geocode(", ".join(written[start:]), limit=_MAX_NAMESAKES):
            if hit.match == "fuzzy":
                continue
            country = hit.place.country or (await atlas.reverse(hit.place.point)).country if codes else None
            if country is None or any(belongs_to_country(country, code) for code in codes):
                missing = (*written[:start], *hit.missing)
                found.append(replace(hit, match="part", missing=missing) if start else hit)
        if found:
            return found
    return []
