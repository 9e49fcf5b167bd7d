"""Ask the base atlas: places by name, by beginning, and around a point; and what a query may mean."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log10, pi
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geosleuth.atlas.facts.countries import country_names
from geosleuth.atlas.model import Hit, MatchKind, Place
from geosleuth.atlas.search import ATTRIBUTE, MAIN, MAX_QUERY_CHARS, OTHER, exact_key
from geosleuth.geo import Disc, Extent, LatLon, distances_km
from geosleuth.names import country_code, country_name, fold

from .build import CITY, COUNTRY, LANDMARK, REGION
from .tables import BaseNames, keys_beginning, owners_called

_MAX_PARTS = 6
_COUNTRY_OR_REGION = frozenset({"georgia"})


@dataclass(frozen=True, slots=True)
class Reading:
    """A name to look up, the country it must be in, and keys of what it may lie in."""

    name: str
    country: str | None = None
    parents: tuple[str, ...] = ()
    guessed: bool = False  # no comma said where the name ends: what follows it must be known to hold it

    @property
    def key(self) -> str:
        """The name, folded."""
        return exact_key(self.name)


def readings(text: str, country: str | None = None) -> list[Reading]:
    """The ways to read a query, most literal first; none for an empty one.

    "Paris, Texas, USA" is Paris inside Texas inside a country. Without commas, trailing words may be the country or
    what the place lies in: "springfield illinois".
    """
    text = " ".join(text[:MAX_QUERY_CHARS].split())
    parts = [part.strip() for part in text.split(",") if exact_key(part)][:_MAX_PARTS]
    if not parts:
        return []
    found = [Reading(text, country)] if len(parts) > 1 else []
    found += _from_parts(parts, country)
    if len(parts) == 1:
        found += _from_words(parts[0].split(), country)
    unique = {(reading.key, reading.country, reading.parents): reading for reading in reversed(found)}
    return [reading for reading in reversed(unique.values()) if reading.key]


def _from_parts(parts: list[str], country: str | None) -> list[Reading]:
    name, *rest = parts
    keys = tuple(exact_key(part) for part in rest)
    code = country_code(rest[-1]) if rest and country is None else None
    if code is None:
        return [Reading(name, country, keys)]
    inside = Reading(name, code, keys[:-1])
    # "Athens, Georgia" and "Cambridge, MA": what may be a region too is tried as both, and what is found decides.
    return [inside, Reading(name, None, keys)] if _may_be_region(rest[-1]) else [inside]


def _may_be_region(tail: str) -> bool:
    return exact_key(tail) in _COUNTRY_OR_REGION or (len(tail.strip()) == 2 and tail.isascii())


def _from_words(words: list[str], country: str | None) -> list[Reading]:
    found = []
    for cut in range(len(words) - 1, max(0, len(words) - 4), -1):
        name, tail = " ".join(words[:cut]), " ".join(words[cut:])
        if exact_key(tail) == exact_key(name):  # Bora Bora, Baden-Baden
            continue
        code = country_code(tail) if country is None else None
        if code is not None:
            found.append(Reading(name, code))
        if code is None or _may_be_region(tail):
            found.append(Reading(name, country, (exact_key(tail),), guessed=True))
    return found


SOURCE = "GeoNames"
_KINDS = {CITY: "city", REGION: "region", COUNTRY: "country"}
_COLUMNS = "id, ref, name, kind, country, region, lat_e5, lon_e5, population"
_ALIAS_PENALTY, _CODE_PENALTY, _REGION_BONUS, _REGION_PENALTY = 0.09, 0.15, 0.1, 0.16
_CITY_OF_ITS_REGION = 50_000
_LEAST_LIKENESS = 0.7
_NEAR_POOL = 40
_MOST_NAMESAKES = 400
_PARENT_POPULATION = 20_000
REACHES = 2.0
"""How many of its own radii a settlement reaches at most."""


class BasePlaces:
    """The places of one open base atlas; one per connection."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        """Take an open, read-only connection."""
        self._conn = conn
        self._names = BaseNames(conn)

    def geocode(
        self,
        text: str,
        *,
        limit: int = 5,
        within: Extent | None = None,
        country: str | None = None,
        guesses: int = 2,
    ) -> list[Hit]:
        """Places that the text may mean, best first: "Paris", "Paris, Texas", "Springfield, Illinois, USA".

        Exact names come first; only where there is none are misspellings considered, in that many readings of the text.
        """
        found: dict[int, Hit] = {}
        options = readings(text, country)
        for reading in options:
            for owner, hit in self._exact(reading).items():
                if (known := found.get(owner)) is None or hit.score > known.score:
                    found[owner] = hit
        hits = _sorted(found.values(), within)
        if not hits:
            hits = _sorted((hit for reading in options[:guesses] for hit in self._fuzzy(reading, limit)), within)
        return hits[:limit]

    def suggest(self, prefix: str, *, limit: int = 10) -> list[Hit]:
        """Names that begin so, the most populous places first."""
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
                self._place(row := self._row(int(found[at]))),
                _prominence(int(str(row[8]))),
                "exact" if role[at] == MAIN else "alias",
                keys[named[firsts[at]]],
            )
            for at in np.lexsort((-found.astype(np.int64), -rank))[:limit]
        ]

    def place(self, place_id: str) -> Place | None:
        """A place by its id."""
        number = place_id.removeprefix("geonames:")
        rows = _rows_of(self._conn)
        if number != place_id and number.isascii() and number.isdigit() and len(number) <= 12:
            found = rows.of_number(int(number))
        else:
            found = rows.of_text.get(place_id)
        return None if found is None else self._place(self._row(found))

    def around(self, point: LatLon, *, country: str | None, region: str | None = None, limit: int = 5) -> list[Hit]:
        """Settlements at a point: first those whose own size reaches it, the surest first, then the nearest ones.

        Only places of the given country count, where one is given, and those of the given region ("FR.11") come first:
        polygons know better than points.
        """
        cities = self._cities
        near = self._within_reach(point, country)
        if not len(near):
            return []
        km = distances_km(point.lat, point.lon, cities.lat[near], cities.lon[near])
        reach = km / radius_km(cities.population[near])
        chosen = np.union1d(np.argsort(reach)[:_NEAR_POOL], np.argsort(km)[:_NEAR_POOL])
        ranked = []
        for index in chosen:
            row = self._row(int(cities.id[near[index]]))
            elsewhere = region is not None and f"{row[4]}.{row[5]}" != region
            outside = bool(reach[index] > REACHES)
            ranked.append((outside, elsewhere, float(km[index] if outside else reach[index]), float(km[index]), row))
        ranked.sort(key=lambda item: (*item[:4], str(item[4][1])))
        return [Hit(self._place(row), 1 / (1 + away), "near", str(row[2]), away) for *_, away, row in ranked[:limit]]

    def nearest_city(self, point: LatLon, least_population: int = 0) -> Hit | None:
        """The nearest settlement of at least so many people, in whatever country."""
        large = np.flatnonzero(self._cities.population >= least_population)
        if not len(large):
            return None
        km = distances_km(point.lat, point.lon, self._cities.lat[large], self._cities.lon[large])
        at = int(np.argmin(km))
        row = self._row(int(self._cities.id[large[at]]))
        return Hit(self._place(row), 1.0, "near", str(row[2]), float(km[at]))

    def _within_reach(self, point: LatLon, country: str | None) -> NDArray[np.int64]:
        """Rows of the cities around a point, looking farther until there are some."""
        cities = self._cities
        reach_deg = 1.5
        while True:
            first, last = np.searchsorted(cities.lat, [point.lat - reach_deg, point.lat + reach_deg])
            near: NDArray[np.int64] = np.arange(first, last)
            if country is not None:
                near = near[cities.country[near] == country.encode("ascii", "replace")]
            gap = np.abs(cities.lon[near] - point.lon)
            width = reach_deg / max(0.02, float(np.cos(np.radians(point.lat))))
            near = near[np.minimum(gap, 360 - gap) <= width]
            if len(near) or reach_deg >= 180:
                return np.asarray(near, dtype=np.int64)
            reach_deg *= 4

    def labels(self, south: float, west: float, north: float, east: float, limit: int) -> list[Place]:
        """The most populous cities inside a box, for maps."""
        cities = self._cities
        first, last = np.searchsorted(cities.lat, [south, north])
        near = np.arange(first, last)
        lon = cities.lon[near]
        near = near[(lon >= west) & (lon <= east) if west <= east else (lon >= west) | (lon <= east)]
        chosen = near[np.argsort(-cities.population[near], kind="stable")[:limit]]
        return [self._place(self._row(int(number))) for number in cities.id[chosen]]

    def _exact(self, reading: Reading) -> dict[int, Hit]:
        called = owners_called(self._conn, reading.key)
        # The largest, and of equally large ones the first.
        largest = sorted(self._rows(called), key=lambda row: -int(str(row[8])))[:_MOST_NAMESAKES]
        rows: list[tuple[Any, ...]] = [(*row, called[int(str(row[0]))]) for row in largest]
        rows += [(*row, MAIN) for row in self._country_called(reading, found_else=bool(rows))]
        cities = {(row[4], row[5]) for row in rows if row[3] == CITY and row[8] >= _CITY_OF_ITS_REGION}
        hits = {}
        for *row, role in rows:
            score, fits = self._fit(row, reading)
            if score > 0:
                score -= _ALIAS_PENALTY * (role != MAIN) + _CODE_PENALTY * (role == ATTRIBUTE)
                # A bare "New York" or "São Paulo" is the city rather than the region around it.
                score -= _REGION_PENALTY * (row[3] == REGION and (row[4], row[5]) in cities)
                match: MatchKind = "fuzzy" if not fits else "exact" if role == MAIN else "alias"
                hits[row[0]] = Hit(self._place(row), min(1.0, max(0.01, score)), match, reading.name)
        return hits

    def _country_called(self, reading: Reading, *, found_else: bool) -> list[tuple[object, ...]]:
        """The country of that name.

        Names it has in some language count always, what only means it ("UK") where nothing else goes by the name:
        Scotland and Gaza are places of their own.
        """
        code = None if "," in reading.name else country_code(reading.name)
        if code is None or code not in self._countries:
            return []
        # A name in one language only may mean a part: to some, England is all of the United Kingdom.
        languages = sum(fold(name) == reading.key for name in country_names(code).values())
        own = languages > 1 or reading.key == fold(country_name(code))
        return [self._countries[code]] if own or not found_else else []

    def _fuzzy(self, reading: Reading, limit: int) -> list[Hit]:
        among = None if reading.country is None else self._owners_in(reading.country)
        hits = []
        for found in self._names.search(reading.name, limit=5 * limit, among=among, boost=self._boost):
            row = self._row(found.owner)
            fit, _fits = self._fit(row, reading)
            if fit > 0 and found.score >= _LEAST_LIKENESS:
                # How alike it is decides; how prominent the place is breaks near-ties.
                score = 0.78 * found.score + 0.17 * fit
                hits.append(Hit(self._place(row), min(0.95, score), "fuzzy", found.text))
        return hits

    def _fit(self, row: Sequence[object], reading: Reading) -> tuple[float, bool]:
        """How well a place fits what the text says beside its name (0: contradicts it), and whether all of it fits."""
        kind, country, region, people = row[3], str(row[4]), str(row[5]), int(str(row[8]))
        if reading.country is not None and country != reading.country:
            return 0.0, False
        score = 0.6 + 0.3 * _prominence(people) + (0.04 if kind == COUNTRY else 0.0)
        if not reading.parents:
            return score, True
        if kind == COUNTRY or (kind == REGION and reading.country is None):
            return 0.0, False
        inside = f"{country}.{region}" in self._region_codes(reading.parents)
        if not inside and reading.guessed:
            return 0.0, False
        return score + (_REGION_BONUS if inside else -2 * _REGION_BONUS), inside

    def _region_codes(self, parents: tuple[str, ...]) -> set[str]:
        """Codes of the regions that go by any of these names, or hold a place that does ("Brooklyn, New York")."""
        codes: set[str] = set()
        for parent in parents:
            for row in self._rows(owners_called(self._conn, parent)):
                if row[3] == REGION or int(str(row[8])) > _PARENT_POPULATION:
                    codes.add(f"{row[4]}.{row[5]}")
        return codes

    def _row(self, number: int) -> tuple[object, ...]:
        row: tuple[object, ...] = self._conn.execute(
            f"SELECT {_COLUMNS} FROM place WHERE id = ?",  # noqa: S608
            (number,),
        ).fetchone()
        return row

    def _rows(self, numbers: Iterable[int]) -> list[tuple[object, ...]]:
        chosen = list(numbers)
        marks = ",".join("?" * len(chosen))
        return self._conn.execute(
            f"SELECT {_COLUMNS} FROM place WHERE id IN ({marks}) ORDER BY id",  # noqa: S608
            chosen,
        ).fetchall()

    def _place(self, row: Sequence[object]) -> Place:
        _, ref, name, kind, country, region, lat_e5, lon_e5, people = row
        point = LatLon(int(str(lat_e5)) / 1e5, int(str(lon_e5)) / 1e5)
        population = int(str(people))
        region_name = self._regions.get(f"{country}.{region}") if region else None
        parts = (str(name), region_name if kind != REGION else None, country_name(str(country)) if country else None)
        return Place(
            id=f"geonames:{ref}" if isinstance(ref, int) else str(ref),
            name=str(name),
            kind=_KINDS.get(int(str(kind))) or str(ref).partition(":")[0],
            point=point,
            extent=Disc(point, float(radius_km(np.array(population))) if kind != LANDMARK else 1.0),
            source=SOURCE if kind != LANDMARK else "landmarks",
            country=str(country) or None,
            region=region_name,
            address=", ".join(dict.fromkeys(part for part in parts if part)),
            details={"population": str(population)} if population and kind != LANDMARK else {},
        )

    @cached_property
    def _boost(self) -> NDArray[np.float64]:
        """Misspelled names mean large places more often than hamlets: a head start in choosing candidates."""
        people = np.zeros(int(self._names.owners.max()) + 1)
        people[self._cities.id] = self._cities.population
        return 1 + 0.08 * np.log10(np.maximum(1, people[self._names.owners]))

    @cached_property
    def _regions(self) -> dict[str, str]:
        return dict(self._conn.execute("SELECT code, name FROM region"))

    @cached_property
    def _countries(self) -> dict[str | None, tuple[object, ...]]:
        rows = self._conn.execute(f"SELECT {_COLUMNS} FROM place WHERE kind = ?", (COUNTRY,))  # noqa: S608
        return {row[4]: row for row in rows}

    @cached_property
    def _cities(self) -> "_Cities":
        return _Cities(self._conn)

    @cached_property
    def _populations(self) -> NDArray[np.int64]:
        (packed,) = self._conn.execute("SELECT bytes FROM place_column WHERE \"column\" = 'population'").fetchone()
        return np.frombuffer(packed, dtype="<i4").astype(np.int64)

    def _owners_in(self, country: str) -> NDArray[np.int64]:
        rows = self._owners_by_country.get(country)
        if rows is None:
            found = self._conn.execute("SELECT id FROM place WHERE country = ? ORDER BY id", (country,)).fetchall()
            rows = self._owners_by_country[country] = np.asarray([number for (number,) in found], dtype=np.int64)
        return rows

    @cached_property
    def _owners_by_country(self) -> dict[str, NDArray[np.int64]]:
        return {}


class _Cities:
    """Columns of all settlements, sorted by latitude."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        packed = dict(conn.execute("SELECT * FROM city_column"))
        self.id = np.frombuffer(packed["id"], dtype="<i4")
        self.lat = np.frombuffer(packed["lat_e5"], dtype="<i4") / 1e5
        self.lon = np.frombuffer(packed["lon_e5"], dtype="<i4") / 1e5
        self.population = np.frombuffer(packed["population"], dtype="<i4").astype(np.float64)
        self.country = np.frombuffer(packed["country"], dtype="S2")


def radius_km(population: NDArray[np.float64]) -> NDArray[np.float64]:
    """About how far a settlement reaches, from its people at 3,000 to the square kilometre; at least 600 m."""
    return np.maximum(0.6, np.sqrt(np.maximum(population, 1.0) / (3000 * pi)))


def _prominence(population: int) -> float:
    """0 for a hamlet, 1 for the largest cities."""
    return min(1.0, log10(max(1, population)) / 7.5)


def _sorted(hits: Iterable[Hit], within: Extent | None) -> list[Hit]:
    listed = list(hits)
    if within is not None:
        listed = [hit for hit in listed if within.contains(hit.place.point)]
    unique = {hit.place.id: hit for hit in sorted(listed, key=lambda hit: hit.score)}
    return sorted(unique.values(), key=lambda hit: (-hit.score, hit.place.id))


@dataclass(frozen=True, slots=True)
class _Rows:
    """In which row a place stands, by GeoNames' number or by its text: an index would make the file too large."""

    numbers: NDArray[np.int64]
    rows: NDArray[np.int64]
    of_text: Mapping[str, int]

    def of_number(self, number: int) -> int | None:
        at = int(np.searchsorted(self.numbers, number))
        return int(self.rows[at]) if at < len(self.numbers) and self.numbers[at] == number else None


_rows_kept: dict[tuple[str, int], _Rows] = {}
_reading_rows = Lock()


def _rows_of(conn: sqlite3.Connection) -> _Rows:
    """Every thread has a connection of its own; the rows are read once for all of them."""
    (_, _, path), *_ = conn.execute("PRAGMA database_list").fetchall()
    key = path, Path(path).stat().st_mtime_ns
    with _reading_rows:
        if key not in _rows_kept:
            numbered = conn.execute("SELECT ref, id FROM place WHERE typeof(ref) = 'integer' ORDER BY ref").fetchall()
            named = conn.execute("SELECT ref, id FROM place WHERE typeof(ref) = 'text'").fetchall()
            columns = np.array(numbered, dtype=np.int64).reshape(-1, 2)
            _rows_kept.clear()
            _rows_kept[key] = _Rows(columns[:, 0].copy(), columns[:, 1].copy(), dict(named))
        return _rows_kept[key]
