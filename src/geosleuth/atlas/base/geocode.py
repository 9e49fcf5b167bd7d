"""Query the base atlas: geocoding, prefix search, and settlements around a point."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import cos, log10, pi, radians, sqrt
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geosleuth.atlas.facts.countries import country_names
from geosleuth.atlas.parts import (
    TOWN_REACHES,
    EnclosingPlaces,
    EnclosingTown,
    belongs_to_country,
    cuts,
    feature_names,
    names_street,
    split_parts,
    split_script,
    town_names,
    unit_names,
)
from geosleuth.atlas.protocol import UNIT_KIND, Hit, MatchKind, Place
from geosleuth.atlas.search import ATTRIBUTE, MAIN, MAX_QUERY_CHARS, OTHER, exact_key, is_abbreviation, is_same_name
from geosleuth.geo import Disc, Extent, FloatArray, LatLon, distances_from_km
from geosleuth.names import country_code, country_name, fold
from geosleuth.names.cities import list_regions, without_city_words, without_region_words

from .build import CITY, COUNTRY, LANDMARK, REGION, UNIT
from .packed_tables import BaseNames, keys_beginning, owners_called

_AREA_HM = 30
SOURCE = "GeoNames"
_KINDS = {CITY: "city", REGION: "region", COUNTRY: "country", UNIT: UNIT_KIND}
# Other names say less than the main one, and attributes such as codes still less.
_ALIAS_PENALTY, _CODE_PENALTY = 0.09, 0.15
_REGION_BONUS = 0.1  # for what lies in a region that was named
# Score penalty of regions that share their city's name: a bare "New York" or "São Paulo" means the city.
_REGION_PENALTY = 0.16
# A bare "Siena" or "York" is the town and not the unit around it, unless that is so many times as well known.
_UNIT_PENALTY, _UNIT_OUTWEIGHS = 0.4, 20
# A city so large is meant before the region of its name around it, a great one before any of its country: Buenos Aires
# is not in the province of its name.
_CITY_OF_ITS_REGION, _GREAT_CITY = 50_000, 1_000_000
_MIN_LIKENESS = 0.7  # a guess less like the query is another name
_NEAR_POOL = 40  # settlements that are ranked around a point; more can't be among the results
_MAX_NAMESAKES, _MAX_TOWNS = 400, 50  # the most populous of a name, so that a common one costs no more than others
_MAX_ABBREVIATION = 3  # so short, words are codes of several regions: "WA" is two
_MAX_CONTAINERS, _MAX_REMEMBERED = 4096, 2048  # bounds of memory: then it is forgotten
# Minimum population of towns recognised from one part of a query or its last words: smaller ones are too ambiguous.
_SURE_POPULATION = 15_000
# Score factor for hits that match one part of a query, and the penalty for each further part that is missing.
_PARTIAL_FACTOR, _MISSING_PART_PENALTY = 0.7, 0.1
# The population given to parks, islands and second-level units as containers: any town may lie in one.
_AREA_PEOPLE = 10**9
_NAMESAKE_SHARE = 0.9  # of the best score: with part of the query missing, other namesakes are unlikely
_COARSENESS = {COUNTRY: 0, REGION: 1}  # of a name alone, the coarsest is the likeliest
_LARGE_CITY = 100_000  # the nearest so large is always among the results
# Maximum score of a fuzzy match.
MAX_FUZZY_SCORE = 0.95
# Maximum distance from a settlement at which a point still belongs to it, as a multiple of the settlement's radius.
MAX_REACH_FACTOR = 2.0
_MIN_RADIUS_KM, _PEOPLE_PER_KM2 = 0.6, 3000  # GeoNames has populations and no areas
_shared_caches: dict[tuple[str, int], dict[str, Any]] = {}
_shared_lock = Lock()


@dataclass(frozen=True, slots=True)
class QueryReading:
    """One interpretation of a query: a name to look up, the country it must be in, and the places it must lie in."""

    name: str
    country: str | None = None
    inside: tuple[EnclosingPlaces, ...] = ()

    @property
    def key(self) -> str:
        """Return the name, folded for exact lookup."""
        return exact_key(self.name)


class _PlaceRow(NamedTuple):
    """A row of the table `place`; see `build` for its columns."""

    id: int
    ref: int | str
    name: str
    kind: int
    country: str
    region: str
    lat_e5: int
    lon_e5: int
    population: int
    radius_hm: int

    @property
    def is_area(self) -> bool:
        """Return whether other places may lie in it, although it is no settlement, region or country."""
        return self.kind == UNIT or (self.kind == LANDMARK and self.radius_hm >= _AREA_HM)

    @property
    def regions(self) -> list[str]:
        """Return the codes of all regions that a feature touches; empty for places that lie in one."""
        return self.region.split() if "." in self.region else []


_COLUMNS = ", ".join(_PlaceRow._fields)


class BasePlaces:
    """Queries over one open base atlas; use one instance per connection."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        """Take an open, read-only connection."""
        self._conn = conn
        self._shared = _get_shared_cache(conn)
        self._names = BaseNames(conn, self._shared)

    def geocode(
        self,
        text: str,
        *,
        limit: int = 5,
        within: Extent | None = None,
        country: str | None = None,
        guesses: int = 2,
        partly: bool = True,
    ) -> list[Hit]:
        """Return places that the text may mean, best first: "Paris", "Paris, Texas", "Springfield, Illinois, USA".

        Tries, in this order and until something is found: exact names that lie in all other parts of the text;
        misspelled names; and the finest part that is known, whose hits have the match "part".

        Args:
            text: the query.
            limit: the highest number of hits.
            within: only places inside.
            country: only places in the country with this code.
            guesses: in how many interpretations of the text to look for misspelled names; 0 for none.
            partly: whether to fall back to the finest part that is known.
        """
        parts = split_parts(text)
        if not parts:
            return []
        hits = _rank_hits(self._find_whole_names(text, parts, country), within)
        if not hits and guesses:
            hits = _rank_hits(self._find_misspelled(parts, country, limit, guesses), within)
        if not hits and partly:
            if len(parts) == 1:
                parts = self.split_at_places(parts[0], sure=True)
            hits = _rank_hits(self._partly(parts, country), within) if len(parts) > 1 else []
        return hits[:limit]

    def split_at_places(self, text: str, *, sure: bool) -> list[str]:
        """Split a text without commas into parts, the finest first: "Rue de Rivoli Paris France" has three.

        A part is split off at the end, or else at the beginning, if it names a country, a region or a larger town.
        With `sure`, the rest must also be a street, or one such part must lie in the next: "Hotel Paris" stays whole.
        """
        steps = split_script(text)
        if len(steps) > 1:
            return steps[::-1]
        if " in " in text:
            return text.split(" in ", 1)
        words, ends, nested = text.split(), list[str](), False
        while True:
            inside = self.container(ends[0]) if ends else None
            for name, tail in cuts(words):
                if inside is None:
                    found = self.is_container(tail)
                else:  # a further part must lie in the last one, or else it is just a word that is also a place
                    found = any(self._fits(row, inside) for row in self._places_named(tail))
                if found and not tail.isdigit():
                    words, ends, nested = name.split(), [tail, *ends], inside is not None
                    break
            else:
                break
        if not ends:
            beginnings = (" ".join(words[:count]) for count in range(min(4, len(words) - 1), 0, -1))
            head = next(filter(self.is_container, beginnings), None)
            if head is None:
                return [text]
            words, ends = words[len(head.split()) :], [head]
        rest = " ".join(words)
        return [rest, *ends] if not sure or nested or names_street(rest) else [text]

    def container(self, part: str) -> EnclosingPlaces:
        """Return the country, regions and towns that a part of a query may name; empty if there are none."""
        known = self._containers.get(part)
        if known is None:
            if len(self._containers) >= _MAX_CONTAINERS:
                self._containers.clear()
            known = self._containers[part] = self._container(part)
        return known

    def _container(self, part: str) -> EnclosingPlaces:
        key = exact_key(part)
        others = map(exact_key, (*feature_names(part), *unit_names(part), *town_names(part)))
        keys = dict.fromkeys((key, without_region_words(key), without_city_words(key), *others))
        rows = list(next((rows for rows in map(self._rows_named, keys) if rows), ()))
        cities = sorted((row for row in rows if row.kind == CITY), key=lambda row: -row.population)[:_MAX_TOWNS]
        towns = [
            EnclosingTown(row.country, _decode_point(row), _radius_km(row.population), row.population) for row in cities
        ]
        for row in rows:
            if row.is_area:
                reach_km = row.radius_hm / 10 / TOWN_REACHES
                towns += [
                    EnclosingTown(code, _decode_point(row), reach_km, _AREA_PEOPLE) for code in _list_countries(row)
                ]
        if len(part) > _MAX_ABBREVIATION or not part.isascii():
            listed = list_regions(part)
            rows += [row for code, name in listed for row in self._rows_named(exact_key(name)) if row.country == code]
        return EnclosingPlaces(
            part,
            country_code(part),
            frozenset(f"{row.country}.{row.region}" for row in rows if row.kind == REGION),
            tuple(towns),
        )

    def _rows_named(self, key: str) -> list[_PlaceRow]:
        """Return the places with a folded name; codes only count as names of regions."""
        roles = owners_called(self._conn, key)
        return [row for row in self._read_place_rows(roles) if roles[row.id] < ATTRIBUTE or row.kind == REGION]

    def _places_named(self, name: str) -> list[_PlaceRow]:
        return [row for row in self._rows_named(exact_key(name)) if row.kind not in (LANDMARK, UNIT)]

    def is_container(self, text: str) -> bool:
        """Return whether the text names a country, a region or a larger town."""
        found = self.container(text)
        return bool(found.country or found.regions) or any(
            _SURE_POPULATION <= town.population < _AREA_PEOPLE for town in found.towns
        )

    def _find_whole_names(self, text: str, parts: Sequence[str], country: str | None) -> Iterable[Hit]:
        """Return places with an exact name that lie in all other parts of the text."""
        readings = [QueryReading(" ".join(text[:MAX_QUERY_CHARS].split()), country), QueryReading(parts[0], country)]
        if len(parts) == 1:
            # Check the beginning first: it is rarely a place, and checking costs less than building the container.
            readings += [
                QueryReading(name, country, (self.container(tail),))
                for name, tail in cuts(parts[0].split())
                if self._is_place(name)
            ]
            steps = split_script(parts[0])
            parts = steps[::-1] if len(steps) > 1 else parts
        else:  # a name may contain commas: "Washington, D.C., USA"
            readings = [
                QueryReading(" ".join(parts[:end]), country, tuple(map(self.container, parts[end:])))
                for end in range(len(parts), 1, -1)
            ]
        found: dict[int, Hit] = {}
        for reading in readings:
            self._add_exact(found, reading)
        for at, part in enumerate(parts if len(parts) > 1 and not found else ()):
            others = tuple(self.container(other) for other in (*parts[:at], *parts[at + 1 :]))
            self._add_exact(found, QueryReading(part, country, others))
            if found:
                break
        return found.values()

    def _is_place(self, name: str) -> bool:
        return bool(owners_called(self._conn, exact_key(name))) or country_code(name) is not None

    def _add_exact(self, found: dict[int, Hit], reading: QueryReading) -> None:
        """Add the exact hits of a reading, keeping the better of two hits for the same place."""
        if not all(reading.inside):
            return
        for owner, hit in self._exact(reading).items():
            if (known := found.get(owner)) is None or hit.score > known.score:
                found[owner] = hit

    def _find_misspelled(self, parts: Sequence[str], country: str | None, limit: int, guesses: int) -> Iterable[Hit]:
        """Return places with a similar name, inside all other parts that are known."""
        if len(parts) == 1:
            tails = [(name, tail) for name, tail in cuts(parts[0].split()) if self.is_container(tail)]
            tries = [(parts[0], list[str]()), *((name, [tail]) for name, tail in tails)]
        else:
            tries = [(part, [*parts[:at], *parts[at + 1 :]]) for at, part in enumerate(parts)]
        for name, others in [attempt for attempt in tries if self._may_be_place(attempt[0])][:guesses]:
            if others and self.container(name):
                return
            known = {other: self.container(other) for other in others}
            inside = tuple(container for container in known.values() if container)
            missing = tuple(other for other, container in known.items() if not container)
            hits = self._fuzzy(QueryReading(name, country, inside), limit)
            yield from (
                # With its own name it is not misspelled, only found by one of the parts.
                replace(
                    hit,
                    missing=missing,
                    match="part" if missing and exact_key(hit.matched) == exact_key(name) else hit.match,
                )
                for hit in hits
            )
            if hits or inside:
                return

    def _may_be_place(self, name: str) -> bool:
        """Return whether a name may be a place rather than a street; "Praha 1" is a district, not an address."""
        return not names_street(name) or self.is_container(name.rstrip(" 0123456789"))

    def _partly(self, parts: Sequence[str], country: str | None) -> Iterable[Hit]:
        """Return places named by the part that lies in most of the others; of equals, by the coarsest and last one."""
        found: list[tuple[tuple[int, int, int], Hit]] = []
        for at, part in enumerate(parts):
            others = [*parts[:at], *parts[at + 1 :]]
            candidates = self._find_candidates(QueryReading(part, country))
            regions = {(row.country, row.region) for row, *_ in candidates if row.kind == REGION}
            bearers = sum(row.kind == CITY for row, *_ in candidates)
            best_known = max((row.population for row, *_ in candidates if row.kind in (LANDMARK, UNIT)), default=0)
            for row, role, score in candidates:
                inside = {other: self.container(other) for other in others}
                missing = tuple(other for other, one in inside.items() if not self._fits(row, one))
                coarseness = _COARSENESS.get(row.kind, 1 if (row.country, row.region) in regions else 2)
                alone = len(missing) == len(others)
                is_sure = (
                    (bearers == 1 and row.population >= best_known)
                    or any(map(names_street, missing))
                    or row.population >= _SURE_POPULATION
                )
                if alone and (
                    row.kind == LANDMARK
                    or (row.kind == UNIT and len(candidates) > 1)
                    or (row.kind == CITY and not is_sure)
                ):
                    continue  # some village somewhere has the name of almost any word
                if alone and row.kind == REGION and 0 < at < len(parts) - 1:
                    continue  # a region that does not lie in the part after it is a namesake
                name_score = score - _ALIAS_PENALTY * (role != MAIN)
                worth = _PARTIAL_FACTOR * name_score - _MISSING_PART_PENALTY * (len(missing) - 1)
                place = self._build_base_place(row, self._choose_country(row, inside.values()))
                hit = Hit(place, max(0.01, worth), "part", part, missing=missing)
                found.append(((len(missing), coarseness if alone else 0, -at if alone else 0), hit))
        best = min((rank for rank, _ in found), default=None)
        hits = sorted((hit for rank, hit in found if rank == best), key=lambda hit: -hit.score)
        # Namesakes in other countries are unlikely: the rest of the query was about the best hit.
        return [
            hit
            for hit in hits
            if hit.place.country == hits[0].place.country and hit.score >= _NAMESAKE_SHARE * hits[0].score
        ]

    def suggest(self, prefix: str, *, limit: int = 10) -> list[Hit]:
        """Return places with names that begin with the prefix, the most populous first."""
        key = exact_key(prefix)
        if not key:
            return []
        keys, owners, roles = keys_beginning(self._conn, key)
        named = np.flatnonzero(roles < ATTRIBUTE)
        found, firsts, which = np.unique(owners[named], return_index=True, return_inverse=True)
        role = np.full(len(found), OTHER)
        np.minimum.at(role, which, roles[named])
        rank = self._populations[found.astype(np.int64) - 1] * np.where(role == MAIN, 20, 1)
        return [
            Hit(
                self._build_base_place(row := self._read_place_row(int(found[at]))),
                _prominence(row.population),
                "exact" if role[at] == MAIN else "alias",
                keys[named[firsts[at]]],
            )
            for at in np.lexsort((-found.astype(np.int64), -rank))[:limit]
        ]

    def place(self, place_id: str) -> Place | None:
        """Return a place by its id."""
        number = place_id.removeprefix("geonames:")
        rows = _get_row_numbers(self._conn)
        if number != place_id and number.isascii() and number.isdigit() and len(number) <= 12:
            found = rows.of_number(int(number))
        else:
            found = rows.of_text.get(place_id)
        return None if found is None else self._build_base_place(self._read_place_row(found))

    def around(self, point: LatLon, *, country: str | None, region: str | None = None, limit: int = 5) -> list[Hit]:
        """Return settlements at a point: first those that reach it, in order of distance per radius, then the nearest.

        If none of them is a large city, one nearby replaces the last.

        Args:
            point: where to look.
            country: only settlements of the country with this code.
            region: settlements that reach the point rank first if they are in this region ("FR.11"). Borders are more
                reliable than distances.
            limit: the highest number of hits.
        """
        cities = self._cities
        near = self._within_reach(point, country)
        if not len(near):
            return []
        km = distances_from_km(point, cities.lat[near], cities.lon[near])
        reach = km / cities.radius_km[near]
        large = (cities.population[near] >= _LARGE_CITY).nonzero()[0]
        large = large[km[large].argsort()[:1]]
        order = km.argpartition(_NEAR_POOL)[:_NEAR_POOL] if len(near) > _NEAR_POOL else np.arange(len(near))
        holding = (reach <= MAX_REACH_FACTOR).nonzero()[0]
        if len(holding) > _NEAR_POOL:
            holding = holding[reach[holding].argsort()[:_NEAR_POOL]]
        # Of those that don't reach the point, only the nearest can be among the results.
        beyond = order[reach[order] > MAX_REACH_FACTOR]
        beyond = beyond[km[beyond].argsort()[:limit]]
        chosen = sorted({*holding.tolist(), *beyond.tolist(), *large.tolist()})
        ranked = []
        towns = self._settlements(cities.id[near[chosen]].tolist())
        for town, away, radii in zip(towns, km[chosen].tolist(), reach[chosen].tolist(), strict=True):
            # Settlements that reach the point rank by region and distance per radius, all others by distance.
            if radii > MAX_REACH_FACTOR:
                ranked.append((True, False, away, town.ref, away, town))
            else:
                ranked.append((False, region is not None and town.region != region, radii, town.ref, away, town))
        ranked.sort(key=itemgetter(0, 1, 2, 4, 3))
        kept = ranked[:limit]
        if 1 < limit < len(ranked) and not any(town.population >= _LARGE_CITY for *_, town in kept):
            city = next((item for item in ranked[limit:] if item[-1].population >= _LARGE_CITY), None)
            kept = kept if city is None else [*kept[:-1], city]
        return [Hit(town.place, 1 / (1 + away), "near", town.place.name, away) for *_, away, town in kept]

    def nearest_city(self, point: LatLon, least_population: int = 0) -> Hit | None:
        """Return the nearest settlement with at least this population, in any country."""
        large = np.flatnonzero(self._cities.population >= least_population)
        if not len(large):
            return None
        km = distances_from_km(point, self._cities.lat[large], self._cities.lon[large])
        at = int(np.argmin(km))
        row = self._read_place_row(int(self._cities.id[large[at]]))
        return Hit(self._build_base_place(row), 1.0, "near", row.name, float(km[at]))

    def _within_reach(self, point: LatLon, country: str | None) -> NDArray[np.int64]:
        """Return indices of settlements around a point, in a window that grows until it has some."""
        cities = self._cities
        rows, lats, lons = (None, cities.lat, cities.lon) if country is None else cities.of_country(country)
        reach_deg = 1.5
        while True:
            first, last = lats.searchsorted([point.lat - reach_deg, point.lat + reach_deg])
            gap = np.abs(lons[first:last] - point.lon)
            width = reach_deg / max(0.02, cos(radians(point.lat)))
            near: NDArray[np.int64] = first + (np.minimum(gap, 360 - gap) <= width).nonzero()[0]
            if len(near) or reach_deg >= 180:
                return np.asarray(near if rows is None else rows[near], dtype=np.int64)
            reach_deg *= 4

    def labels(self, south: float, west: float, north: float, east: float, limit: int) -> list[Place]:
        """Return the most populous settlements inside a box, for map labels."""
        cities = self._cities
        first, last = np.searchsorted(cities.lat, [south, north])
        near = np.arange(first, last)
        lon = cities.lon[near]
        near = near[(lon >= west) & (lon <= east) if west <= east else (lon >= west) | (lon <= east)]
        chosen = near[np.argsort(-cities.population[near], kind="stable")[:limit]]
        return [self._build_base_place(self._read_place_row(int(number))) for number in cities.id[chosen]]

    def _exact(self, reading: QueryReading) -> dict[int, Hit]:
        hits = {}
        for row, role, fame in self._find_candidates(reading):
            score = fame - _ALIAS_PENALTY * (role != MAIN) - _CODE_PENALTY * (role == ATTRIBUTE)
            match: MatchKind = "exact" if role == MAIN else "alias"
            place = self._build_base_place(row, self._choose_country(row, reading.inside))
            hits[row.id] = Hit(place, min(1.0, max(0.01, score)), match, reading.name)
        return hits

    def _find_candidates(self, reading: QueryReading) -> list[tuple[_PlaceRow, int, float]]:
        """Return places with the exact name that fit a reading, with the name's role and the place's fame."""
        roles = owners_called(self._conn, reading.key)
        rows = [row for row in self._read_place_rows(roles) if self._fits_all(row, reading)]
        rows = sorted(rows, key=lambda row: -row.population)[:_MAX_NAMESAKES]
        found = [(row, roles[row.id]) for row in rows]
        countries = self._country_called(reading, found_else=bool(roles))
        found += [(row, MAIN) for row in countries if self._fits_all(row, reading)]
        towns = {(row.country, row.region): row.population for row in reversed(rows) if row.kind == CITY}
        cities = {place for place, population in towns.items() if population >= _CITY_OF_ITS_REGION}
        # Buenos Aires is not in the province of its name.
        great = {row.country for row in rows if row.kind == CITY and row.population >= _GREAT_CITY}
        return [
            # A bare "New York" or "São Paulo" is the city rather than the region around it.
            (
                row,
                role,
                self._fame(row, reading)
                - _REGION_PENALTY
                * (row.kind == REGION and ((row.country, row.region) in cities or row.country in great))
                - _UNIT_PENALTY
                * (row.kind == UNIT and row.population <= _UNIT_OUTWEIGHS * towns.get((row.country, row.region), -1)),
            )
            for row, role in found
        ]

    def _country_called(self, reading: QueryReading, *, found_else: bool) -> list[_PlaceRow]:
        """Return the country with this name, as a list of at most one.

        Its names in other languages always count. A text that only implies it, such as "UK", counts if nothing else has
        that name: Scotland and Gaza are places in their own right.
        """
        code = None if "," in reading.name else country_code(reading.name)
        if code is None or code not in self._country_rows:
            return []
        # A name in a single language may be that of a part: some languages call the United Kingdom England.
        languages = sum(fold(name) == reading.key for name in country_names(code).values())
        own = languages > 1 or reading.key == fold(country_name(code))
        return [self._country_rows[code]] if own or not found_else else []

    def _fuzzy(self, reading: QueryReading, limit: int) -> list[Hit]:
        countries = {reading.country, *(item.country for item in reading.inside if not item.regions and not item.towns)}
        only = next((code for code in countries if code), None)
        among = None if only is None else self._find_country_owners(only)
        hits = []
        for found in self._names.search(reading.name, limit=5 * limit, among=among, boost=self._boost):
            if found.score < _MIN_LIKENESS or not (
                is_same_name(reading.name, found.text) or is_abbreviation(reading.key, found.text)
            ):
                continue
            row = self._read_place_row(found.owner)
            if self._fits_all(row, reading):
                # Similarity decides; fame breaks near-ties.
                score = 0.78 * found.score + 0.17 * self._fame(row, reading)
                hits.append(Hit(self._build_base_place(row), min(MAX_FUZZY_SCORE, score), "fuzzy", found.text))
        return hits

    @staticmethod
    def _fame(row: _PlaceRow, reading: QueryReading) -> float:
        """Return how well known a place is, with a bonus if it lies in a region or town that was named."""
        in_named_region = any(item.country != row.country for item in reading.inside)
        fame = 0.6 + 0.3 * _prominence(row.population)
        return fame + (0.04 if row.kind == COUNTRY else 0.0) + _REGION_BONUS * in_named_region

    def _fits_all(self, row: _PlaceRow, reading: QueryReading) -> bool:
        if reading.country is not None and reading.country not in _list_countries(row):
            return False
        return all(self._fits(row, item) for item in reading.inside)

    def _fits(self, row: _PlaceRow, container: EnclosingPlaces) -> bool:
        if row.kind == COUNTRY or not container:
            return False
        if row.kind == REGION:
            return container.country is not None and replace(container, regions=frozenset(), towns=()).holds(
                row.country, lambda: None, _decode_point(row)
            )
        if row.regions:
            point = _decode_point(row)
            return any(container.holds(code[:2], partial(str, code), point) for code in row.regions)
        population = row.population if row.kind == CITY else 0
        return container.holds(row.country, lambda: self._get_region_code(row), _decode_point(row), population)

    def _get_region_code(self, row: _PlaceRow) -> str | None:
        """Return the code of a place's region; for a landmark, that of the nearest settlement."""
        if row.region:
            return f"{row.country}.{row.region}"
        near = self._within_reach(_decode_point(row), row.country)
        if not len(near):
            return None
        cities, at = self._cities, _decode_point(row)
        nearest = near[int(np.argmin(distances_from_km(at, cities.lat[near], cities.lon[near])))]
        settlement = self._read_place_row(int(cities.id[nearest]))
        return f"{settlement.country}.{settlement.region}"

    def _read_place_row(self, number: int) -> _PlaceRow:
        found = self._conn.execute(f"SELECT {_COLUMNS} FROM place WHERE id = ?", (number,))  # noqa: S608
        return _PlaceRow._make(found.fetchone())

    def _read_place_rows(self, numbers: Iterable[int]) -> list[_PlaceRow]:
        chosen = list(numbers)
        if not chosen:
            return []
        marks = ",".join("?" * len(chosen))
        found = self._conn.execute(
            f"SELECT {_COLUMNS} FROM place WHERE id IN ({marks}) ORDER BY id",  # noqa: S608
            chosen,
        )
        return list(map(_PlaceRow._make, found))

    def _settlements(self, numbers: Sequence[int]) -> list["_Settlement"]:
        """Return settlements in this order, from a cache: the same ones are near many points."""
        known = self._settlement_cache
        missing = [number for number in numbers if number not in known]
        if missing:
            if len(known) + len(missing) > _MAX_REMEMBERED:
                known.clear()
                missing = list(numbers)
            for row in self._read_place_rows(missing):
                region, people = f"{row.country}.{row.region}", row.population
                known[row.id] = _Settlement(self._build_base_place(row), str(row.ref), region, people)
        return [known[number] for number in numbers]

    def _choose_country(self, row: _PlaceRow, inside: Iterable[EnclosingPlaces]) -> str:
        """Return the country of a place that the query names, of those that share it, or else its main one."""
        named = [item.country for item in inside if item.country]
        return next(
            (code for code in _list_countries(row) for item in named if belongs_to_country(code, item)), row.country
        )

    def _build_base_place(self, row: _PlaceRow, country: str | None = None) -> Place:
        point, is_landmark, country = _decode_point(row), row.kind == LANDMARK, country or row.country
        codes = [code for code in row.regions if code[:2] == country] or [f"{row.country}.{row.region}"]
        region_name = self._region_names.get(codes[0]) if row.region and len(codes) == 1 else None
        parts = (
            row.name,
            region_name if row.kind != REGION else None,
            country_name(country) if country else None,
        )
        return Place(
            id=f"geonames:{row.ref}" if isinstance(row.ref, int) else row.ref,
            name=row.name,
            kind=_KINDS.get(row.kind) or str(row.ref).partition(":")[0],
            point=point,
            extent=Disc(
                point, row.radius_hm / 10 if row.radius_hm else 1.0 if is_landmark else _radius_km(row.population)
            ),
            source="landmarks" if is_landmark else SOURCE,
            country=country or None,
            region=region_name,
            address=", ".join(dict.fromkeys(part for part in parts if part)),
            details={"population": str(row.population)}
            if row.population and not (is_landmark or row.kind == UNIT)
            else {},
        )

    @property
    def _boost(self) -> NDArray[np.float64]:
        """Return a weight for each name that favours large places when candidates are chosen."""
        known = self._shared.get("boost")
        if not isinstance(known, np.ndarray):
            people = np.zeros(int(self._names.owners.max()) + 1)
            people[self._cities.id] = self._cities.population
            known = self._shared["boost"] = 1 + 0.08 * np.log10(np.maximum(1, people[self._names.owners]))
        return known

    @cached_property
    def _region_names(self) -> dict[str, str]:
        return dict(self._conn.execute("SELECT code, name FROM region"))

    @cached_property
    def _country_rows(self) -> dict[str | None, _PlaceRow]:
        rows = self._conn.execute(f"SELECT {_COLUMNS} FROM place WHERE kind = ?", (COUNTRY,))  # noqa: S608
        return {row.country: row for row in map(_PlaceRow._make, rows)}

    @property
    def _cities(self) -> "_Cities":
        known = self._shared.get("cities")
        if not isinstance(known, _Cities):
            known = self._shared["cities"] = _Cities(self._conn)
        return known

    @cached_property
    def _populations(self) -> NDArray[np.int64]:
        (packed,) = self._conn.execute("SELECT bytes FROM place_column WHERE \"column\" = 'population'").fetchone()
        return np.frombuffer(packed, dtype="<i4").astype(np.int64)

    def _find_country_owners(self, country: str) -> NDArray[np.int64]:
        rows = self._owners_by_country.get(country)
        if rows is None:
            found = self._conn.execute("SELECT id FROM place WHERE country = ? ORDER BY id", (country,)).fetchall()
            rows = self._owners_by_country[country] = np.asarray([number for (number,) in found], dtype=np.int64)
        return rows

    @cached_property
    def _owners_by_country(self) -> dict[str, NDArray[np.int64]]:
        return {}

    @cached_property
    def _containers(self) -> dict[str, EnclosingPlaces]:
        return {}

    @cached_property
    def _settlement_cache(self) -> "dict[int, _Settlement]":
        return {}


@dataclass(frozen=True, slots=True)
class _Settlement:
    place: Place
    ref: str
    region: str  # "FR.11"
    population: int


class _Cities:
    """All settlements as columns, sorted by latitude."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        packed = dict(conn.execute("SELECT * FROM city_column"))
        self.id = np.frombuffer(packed["id"], dtype="<i4")
        self.lat = np.frombuffer(packed["lat_e5"], dtype="<i4") / 1e5
        self.lon = np.frombuffer(packed["lon_e5"], dtype="<i4") / 1e5
        self.population = np.frombuffer(packed["population"], dtype="<i4").astype(np.float64)
        self.radius_km = radius_km(self.population)
        self.country = np.frombuffer(packed["country"], dtype="S2")
        order = np.argsort(self.country, kind="stable")
        codes, firsts = np.unique(self.country[order], return_index=True)
        self._of_country: dict[bytes, NDArray[np.int64]] = dict(
            zip(codes.tolist(), np.split(order, firsts[1:]), strict=True)
        )
        self._latest: tuple[bytes, FloatArray, FloatArray] = b"", np.empty(0), np.empty(0)

    def of_country(self, code: str) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
        """Return the indices of a country's settlements, their latitudes and their longitudes."""
        key = code.encode("ascii", "replace")
        rows = self._of_country.get(key, np.empty(0, dtype=np.int64))
        # Successive queries are often about the same country. Read once, since other threads may replace it.
        latest = self._latest
        if latest[0] != key:
            latest = self._latest = key, self.lat[rows], self.lon[rows]
        return rows, *latest[1:]


def _list_countries(row: _PlaceRow) -> list[str]:
    """Return the codes of all countries that a place lies in, the main one first."""
    return list(dict.fromkeys([row.country, *(code[:2] for code in row.regions)]))


def _decode_point(row: _PlaceRow) -> LatLon:
    return LatLon(row.lat_e5 / 1e5, row.lon_e5 / 1e5)


def radius_km(population: NDArray[np.float64]) -> NDArray[np.float64]:
    """Estimate radii of settlements from their populations, at 3,000 people per square kilometre; at least 600 m."""
    return np.maximum(_MIN_RADIUS_KM, np.sqrt(np.maximum(population, 1.0) / (_PEOPLE_PER_KM2 * pi)))


def _radius_km(population: int) -> float:
    """Return `radius_km` of a single settlement, without NumPy."""
    return max(_MIN_RADIUS_KM, sqrt(max(population, 1) / (_PEOPLE_PER_KM2 * pi)))


def _prominence(population: int) -> float:
    """Return 0 for a hamlet and up to 1 for the largest cities, by the logarithm of the population."""
    return min(1.0, log10(max(1, population)) / 7.5)


def _rank_hits(hits: Iterable[Hit], within: Extent | None) -> list[Hit]:
    """Return the best hit of each place inside the extent, best first."""
    listed = list(hits)
    if within is not None:
        listed = [hit for hit in listed if within.contains(hit.place.point)]
    unique = {hit.place.id: hit for hit in sorted(listed, key=lambda hit: hit.score)}
    return sorted(unique.values(), key=lambda hit: (-hit.score, hit.place.id))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Row numbers of places by GeoNames id or by text id, in memory: an index would make the file too large."""

    numbers: NDArray[np.int64]
    rows: NDArray[np.int64]
    of_text: Mapping[str, int]

    def of_number(self, number: int) -> int | None:
        at = int(np.searchsorted(self.numbers, number))
        return int(self.rows[at]) if at < len(self.numbers) and self.numbers[at] == number else None


def _get_shared_cache(conn: sqlite3.Connection) -> dict[str, Any]:
    """Return the cache of a base atlas that all threads share; each thread has its own connection."""
    (_, _, path), *_ = conn.execute("PRAGMA database_list").fetchall()
    if not path:  # in memory
        return {}
    key = path, Path(path).stat().st_mtime_ns
    with _shared_lock:
        if key not in _shared_caches:
            _shared_caches.clear()
            _shared_caches[key] = {}
        return _shared_caches[key]


def _get_row_numbers(conn: sqlite3.Connection) -> _Rows:
    """Return the row numbers of a base atlas, read once."""
    shared = _get_shared_cache(conn)
    with _shared_lock:
        if "rows" not in shared:
            numbered = conn.execute("SELECT ref, id FROM place WHERE typeof(ref) = 'integer' ORDER BY ref").fetchall()
            named = conn.execute("SELECT ref, id FROM place WHERE typeof(ref) = 'text'").fetchall()
            columns = np.array(numbered, dtype=np.int64).reshape(-1, 2)
            shared["rows"] = _Rows(columns[:, 0].copy(), columns[:, 1].copy(), dict(named))
        rows: _Rows = shared["rows"]
        return rows
