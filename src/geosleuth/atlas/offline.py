"""The offline atlas: base places, borders, added regions, facts, documents and maps behind one protocol.

Nothing here opens a socket. Queries run in threads, each with its own read-only connections, so that several can run at
once and a slow disk never blocks the event loop. A hand-over costs 0.05 ms of CPU. A thread's first queries are slower,
because each thread has its own caches: so one thread takes all queries while it is idle, and the others take only
those that arrive while it is busy.
"""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from geosleuth.geo import Box, Disc, Extent, LatLon, distance_km
from geosleuth.names import country_code, country_name, fold, require_country_code
from geosleuth.support.errors import BadInput, DataFault

from .base import BasePlaces, base_path, ensure_base, open_base
from .base.geocode import MAX_FUZZY_SCORE
from .folders import data_dir
from .parts import MAX_PARTS, EnclosingPlaces, expand_street_name, split_written_parts, without_postcode
from .protocol import Colocation, Document, Hit, Level, Marker, MatchKind, Picture, Place, Reverse
from .search import is_same_name

if TYPE_CHECKING:
    from .borders import Borders, Detail
    from .gazetteers import Gazetteers
    from .maps.basemap import Settlement
    from .maps.canvas import MapView
    from .place_facts import PlaceFacts
    from .regions import Regions

_P = ParamSpec("_P")
_T = TypeVar("_T")

# Text read from a photo more often names something in a region that the user chose to add. So places of the world score
# less by this factor, unless they match exactly and are well known.
_WORLD_FACTOR = 0.9
_WELL_KNOWN_SCORE = 0.78
_THREADS = 4
_SNAP_KM = 5.0
# How many namesakes to look through for one that lies in the other parts of a query: first a few, then all.
_FEW_NAMESAKES, _NAMESAKES = 20, 200
_SAME_TOWN_KM = 10.0
_AREAS_OF_REGIONS = frozenset({"country", "state", "region", "province", "county", "district", "municipality"})
_AREAS_OF_THE_WORLD = frozenset({"country", "region", "county", "city"})
_MAX_CONTAINERS = 50
_AREA_MARGIN_KM = 0.2
_TOWNS_AROUND, _VILLAGES, _VILLAGE_KM = 3, 20, 5.0
# Radii of places that are only points on the map.
_PLACE_RADIUS_KM: Mapping[str, float] = {"city": 10.0, "town": 4.0, "village": 2.0, "suburb": 2.0, "municipality": 4.0}
_SMALL_PLACE_RADIUS_KM = 1.0
_MAP_TOWNS = 25
# Of namesakes around a town, the nearest one is meant: the penalty grows with the distance up to this maximum.
_FAR_KM, _FAR_PENALTY = 30.0, 0.02
_COARSENESS: Mapping[Level, int] = {"street": 1, "town": 2, "region": 3}
_MAX_LIMIT = 1000
_REVERSE_FEATURES, _REVERSE_RADIUS_M = 5, 250.0
# Peaks, lakes and islands of a gazetteer have no known size: label them only on maps that are detailed enough.
_FEATURES_FROM_ZOOM, _FEATURES, _FEATURE_RANK = 9, 30, 5


def regions_dir() -> Path:
    """Return the folder of added regions."""
    return data_dir() / "regions"


def gazetteers_dir(regions: Path | None = None) -> Path:
    """Return the folder of added gazetteers, beside that of the regions."""
    return (regions or regions_dir()).with_name("gazetteers")


class OfflineAtlas:
    """An `Atlas` that answers from local data only.

    Args:
        regions: the folder of added regions; defaults to the user's own.
        tiles: an MBTiles or PMTiles file of satellite or aerial images.
        remembered: how many answers of `geocode` to cache; 0 for none. Only use it if regions don't change meanwhile.
    """

    def __init__(
        self,
        regions: Path | None = None,
        *,
        tiles: Path | None = None,
        remembered: int = 0,
    ) -> None:
        """Store the settings; nothing is opened until the first query."""
        self._geocoded = lru_cache(remembered)(self._geocode) if remembered else self._geocode
        self._regions_dir = regions or regions_dir()
        self._tiles = tiles
        self._local = threading.local()
        # Own threads keep their open files from one event loop to the next.
        self._first_thread = ThreadPoolExecutor(1, thread_name_prefix="atlas")
        self._first_busy = threading.Lock()
        self._other_threads = ThreadPoolExecutor(_THREADS - 1, thread_name_prefix="atlas")
        self._building = threading.Lock()

    # The public queries.

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Return places, streets and addresses with that name, exact matches first."""
        code = None if country is None else require_country_code(country)
        geocode = self._geocoded if within is None else self._geocode
        return list(await self._run_in_thread(geocode, text, _check_limit(limit), within, code))

    async def reverse(self, point: LatLon) -> Reverse:
        """Return country and region (by polygon), settlements (by distance and size), and the nearest features."""
        return await self._run_in_thread(self._reverse, point)

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Return places with names that begin with the prefix: in the added regions, then in the world."""
        return await self._run_in_thread(self._suggest, prefix, _check_limit(limit), near)

    async def search_pois(
        self,
        text: str,
        *,
        near: LatLon | None = None,
        within: Extent | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Return features of the added regions and gazetteers; without a category, places of the world too."""
        return await self._run_in_thread(self._search_pois, text, near, within, category, _check_limit(limit))

    async def poi(self, place_id: str) -> Place | None:
        """Return a place by its id, with all its details."""
        return await self._run_in_thread(self._poi, place_id)

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Return features of the added regions and gazetteers around a point, nearest first."""
        return await self._run_in_thread(self._nearby, point, radius_m, category, _check_limit(limit))

    async def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Return where two streets of an added region meet."""
        return await self._run_in_thread(
            lambda: self._thread_regions.crossing(first, second, within=within, limit=_check_limit(limit))
        )

    async def colocated(
        self,
        features: Sequence[str],
        within_m: float,
        *,
        within: Extent | None = None,
        bearings_deg: Sequence[float | None] | None = None,
        in_order: bool = False,
        limit: int = 10,
    ) -> list[Colocation]:
        """Return where all these features of an added region stand near each other."""
        return await self._run_in_thread(
            lambda: self._thread_regions.colocated(
                features,
                within_m,
                within=within,
                bearings_deg=bearings_deg,
                in_order=in_order,
                limit=_check_limit(limit),
            )
        )

    async def search_documents(self, text: str, *, limit: int = 10) -> list[Document]:
        """Return passages of the World Factbook and of the atlas's own facts."""
        from .facts.documents import search_documents

        return await self._run_in_thread(lambda: search_documents(text, limit=_check_limit(limit)))

    async def map(
        self, centre: LatLon, *, zoom: float = 15, size: tuple[int, int] = (640, 640), markers: Sequence[Marker] = ()
    ) -> Picture:
        """Draw a map from the added regions, with borders and places of the world around them."""
        return await self._run_in_thread(self._map, centre, zoom, size, markers)

    async def place_facts(self, point: LatLon, day: date | None = None) -> "PlaceFacts":
        """Return facts about the land at a point; daylight is for a day, by default for both solstices."""
        return await self._run_in_thread(self._place_facts, point, day)

    @property
    def has_tiles(self) -> bool:
        """Return whether there are satellite or aerial images."""
        return self._tiles is not None

    @property
    def has_regions(self) -> bool:
        """Return whether a region was added; true if the folder can't be read, so that the next query reports it."""
        try:
            with os.scandir(self._regions_dir) as files:
                return any(file.name.endswith(".sqlite") for file in files)
        except FileNotFoundError:
            return False
        except OSError:
            return True

    @property
    def has_gazetteers(self) -> bool:
        """Return whether a gazetteer was added: names of lakes, rivers, ranges and small places."""
        return bool(self._gazetteers.store.names())

    @property
    def has_features(self) -> bool:
        """Return whether a region or a gazetteer was added, so that there is more than towns."""
        return self.has_regions or self.has_gazetteers

    async def list_detailed_maps(self, point: LatLon | None = None) -> list[str]:
        """Return the names of the added regions, or of those that contain a point."""
        return await self._run_in_thread(self._list_map_names, point)

    async def satellite(self, centre: LatLon, *, zoom: float = 16, size: tuple[int, int] = (640, 640)) -> Picture:
        """Return a satellite or aerial image from the user's own tiles."""
        return await self._run_in_thread(self._satellite, centre, zoom, size)

    # Their implementation, which runs in threads.

    async def _run_in_thread(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run a function in the first thread, or in another one if that is busy."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()
        is_first = self._first_busy.acquire(blocking=False)
        thread = self._first_thread if is_first else self._other_threads
        thread.submit(self._resolve_answer, partial(function, *args, **kwargs), loop, answer, is_first=is_first)
        try:
            return await answer
        except sqlite3.DatabaseError as error:
            # Damaged regions raise their own errors, so this must be the base atlas.
            raise DataFault(f"the base atlas is damaged ({error}); remove {base_path()} and ask again") from error

    def _resolve_answer(
        self, call: Callable[[], _T], loop: asyncio.AbstractEventLoop, answer: asyncio.Future[_T], *, is_first: bool
    ) -> None:
        """Run a query in this thread and pass its result to the event loop.

        `asyncio.wrap_future` would do the same, but takes a third longer.
        """
        result, error = None, None
        try:
            if not answer.cancelled():
                result = call()
        except BaseException as raised:  # noqa: BLE001  (passed on to the event loop)
            error = raised
        if is_first:  # release before the event loop gets the result, so that its next query finds this thread idle
            self._first_busy.release()
        with suppress(RuntimeError):  # the loop is closed, so no caller waits for the result
            loop.call_soon_threadsafe(_settle, answer, result, error)

    def _geocode(self, text: str, limit: int, within: Extent | None, country: str | None) -> list[Hit]:
        # Once this thread has opened the regions, checking whether there are any takes as long as searching none.
        is_open = hasattr(self._local, "regions")
        local = self._in_regions(text, limit, within, country) if is_open or self.has_features else []
        # Fuzzy hits rank behind exact ones: if there is one, skip the fuzzy search, which is most of the work.
        sure = any(hit.match in ("exact", "alias") and not hit.missing for hit in local)
        world = self._base.geocode(
            text, limit=limit, within=within, country=country, guesses=0 if sure else 2, partly=not sure
        )
        known = any(hit.match not in ("fuzzy", "part") for hit in world)
        if local and not known:
            fewest = min(map(_missing_parts, local))
            world = [hit for hit in world if hit.match != "part" or _missing_parts(hit) <= fewest]
        if any(hit.match in ("exact", "alias") and not hit.missing for hit in (*world, *local)):
            world, local = ([hit for hit in hits if hit.match != "fuzzy"] for hits in (world, local))
        # "Mount Everest" is the mountain rather than a restaurant: if the world has the name, businesses rank behind.
        return _merge_hits([*world, *local], limit, behind=lambda hit: known and not _is_geographic(hit.place))

    def _is_better_known(self, hit: Hit) -> bool:
        """Return whether an area or a town of an added region is one that the world has with its ground.

        A region ends at a border and holds a bit of what lies beyond: "Nice" and "France" are in an extract of Monaco.
        Its towns are labels without ground.
        """
        key, _, value = hit.place.kind.partition("=")
        if key not in ("boundary", "place"):
            return False
        is_area = key == "boundary" or value in _AREAS_OF_REGIONS
        known = self._base.geocode(hit.matched or hit.place.name, limit=_FEW_NAMESAKES, guesses=0, partly=False)
        return any(
            is_area or distance_km(item.place.point, hit.place.point) <= _SAME_TOWN_KM
            for item in known
            if item.place.kind in _AREAS_OF_THE_WORLD
        )

    def _in_regions(self, text: str, limit: int, within: Extent | None, country: str | None) -> list[Hit]:
        """Return features of added regions that one part of the text names and that lie in the other parts."""
        return [hit for hit in self._with_parts(text, limit, within, country) if not self._is_better_known(hit)]

    def _with_parts(self, text: str, limit: int, within: Extent | None, country: str | None) -> list[Hit]:
        parts = split_written_parts(text)
        if len(parts) == 1:
            hits = next(self._search_named(parts[0], limit, within, country))
        else:  # a name may contain brackets, dashes and commas: "Monte-Carlo (Casino)"
            hits = self._in_country(self._thread_regions.find_by_name(text, limit=limit, within=within), country)
            if not hits and (name := self._leading_name(text, within)):
                parts = [name, *split_written_parts(text.removeprefix(name))]
        if parts and not hits and len(parts) == 1:
            parts = self._base.split_at_places(parts[0], sure=False)
        if hits or len(parts) < 2:
            return hits
        found: list[Hit] = []
        for at, name in enumerate(parts):
            others = [*parts[:at], *parts[at + 1 :]]
            for hits in self._search_named_around(name, others, max(limit, _NAMESAKES), within, country):
                found += self._inside_others(hits, parts, at)
                if any(not hit.missing for hit in found):
                    return found
        return found

    def _search_named_around(
        self, name: str, others: Sequence[str], limit: int, within: Extent | None, country: str | None
    ) -> Iterator[list[Hit]]:
        """Yield batches of features with a name, in the order in which they are likely meant.

        A country may have thousands of namesakes, so that the right one is not among the first. Therefore the
        surroundings of the towns and villages in the other parts are searched too.
        """
        areas = (area for part in others for area in self._base.container(without_postcode(part)).town_areas)
        towns = [*self._select_mapped(areas, _TOWNS_AROUND)]

        def inside(hits: Iterable[Hit]) -> list[Hit]:
            return [hit for hit in hits if within is None or within.contains(hit.place.point)]

        for town in towns:
            yield inside(self._in_country(self._thread_regions.find_by_name(name, limit=limit, within=town), country))
        anywhere = self._search_named(name, limit, within, country)
        first = next(anywhere, [])
        yield first
        if len(first) >= limit // 2 and not self._base.container(name):
            villages = (Disc(hit.place.point, _VILLAGE_KM) for part in others for hit in self._containers_named(part))
            for village in self._select_mapped(villages, _VILLAGES):
                yield inside(
                    self._in_country(self._thread_regions.find_by_name(name, limit=limit, within=village), country)
                )
            for town in towns:
                yield from map(inside, self._search_named(name, limit, town, country))
        yield from anywhere

    def _select_mapped(self, areas: Iterable[Disc], most: int) -> Iterator[Disc]:
        """Return the first areas that an added region reaches."""
        return islice((area for area in areas if self._thread_regions.reach(area)), most)

    def _leading_name(self, text: str, within: Extent | None) -> str | None:
        """Return the longest beginning of a text, with a comma in it, that is exactly the name of a feature."""
        commas = [at for at, sign in enumerate(text) if sign == ","][: MAX_PARTS - 1]
        beginnings = (text[:at] for at in reversed(commas[1:]))
        return next(
            (name for name in beginnings if self._thread_regions.find_by_name(name, limit=1, within=within)), None
        )

    def _inside_others(self, hits: Iterable[Hit], parts: Sequence[str], at: int) -> Iterable[Hit]:
        """Yield the hits for one part that lie in other parts, scored by how many; drop hits that contradict a part."""
        from .regions.addresses import score_with_fit

        others = [*parts[:at], *parts[at + 1 :]]
        own = self._base.container(parts[at])
        containers = [(other, self._base.container(without_postcode(other))) for other in others]
        containers_named = cache(self._containers_named)  # slow, so only called if nothing else decides
        for hit in hits:
            is_fine = hit.level not in ("town", "region")
            if (hit.match == "fuzzy" and (at or own)) or (is_fine and own and self._holds(own, hit.place)):
                continue  # a bus that goes to Helsinki is not what "Helsinki, Arkadiankatu" means
            fits = [self._fits(hit, *item, containers_named) for item in containers]
            missing = tuple(other for other, fit in zip(others, fits, strict=True) if not fit)
            if None in fits or (missing and ((at and is_fine) or hit.level == "region")):
                continue
            far = sum(min(1.0, container.distance_km(hit.place.point) / _FAR_KM) for _, container in containers)
            score = score_with_fit(hit.score, sum(map(bool, fits)) / len(fits)) - _FAR_PENALTY * far / len(containers)
            match: MatchKind = hit.match if is_fine or not missing else "part"
            yield replace(hit, score=score, match=match, missing=(*hit.missing, *missing))

    def _search_named(self, name: str, limit: int, within: Extent | None, country: str | None) -> Iterator[list[Hit]]:
        """Yield features of added regions and gazetteers with this exact name, if any; then those with similar ones."""
        from .regions.addresses import split_crossing

        named = self._gazetteers.search(name, within=within, limit=limit)
        if not split_crossing(name):
            spellings = (name, *expand_street_name(name))
            searches = (
                self._thread_regions.find_by_name(spelling, limit=limit, within=within) for spelling in spellings
            )
            called = next(filter(None, searches), [])
            exact = self._in_country([*called, *(hit for hit in named if hit.match in ("exact", "alias"))], country)
            if exact:
                yield exact
        words = set(fold(name).split())
        for most in sorted({min(limit, _FEW_NAMESAKES), limit}):
            similar = self._thread_regions.geocode(name, limit=most, within=within)
            hits = self._in_country([*similar, *named], country)
            found = [
                hit
                for hit in hits
                if hit.match != "fuzzy" or hit.level == "address" or hit.place.kind == "postcode"
                or is_same_name(name, hit.matched)
            ]  # fmt: skip
            yield found or [hit for hit in hits if words <= set(fold(hit.matched).split())]
            if len(similar) < most:
                return

    def _containers_named(self, part: str) -> list[Hit]:
        hits = next(self._search_named(part, _MAX_CONTAINERS, None, None))
        return [hit for hit in hits if hit.match in ("exact", "alias") and hit.level in _COARSENESS]

    def _fits(
        self, hit: Hit, part: str, container: EnclosingPlaces, containers_named: Callable[[str], Sequence[Hit]]
    ) -> bool | None:
        """Return whether a feature lies in what a part names; None if it can't, because that place is elsewhere."""
        from .regions.addresses import address_fit

        place, coarseness = hit.place, _COARSENESS.get(hit.level, 0)
        if address_fit(part, place) == 1.0:
            return True
        if self._holds(container, place):
            return True
        if container.country or container.regions:
            return None
        coarser = [item.place for item in containers_named(part) if _COARSENESS[item.level] > coarseness]
        if any(item.extent.distance_km(Disc(place.point, 0.0)) <= _reach_km(item) for item in coarser):
            return True
        return None if container and not coarser else False

    def _holds(self, container: EnclosingPlaces, place: Place) -> bool:
        """Return whether a place lies in a container of the base atlas."""
        return container.holds(self._find_country_code(place), lambda: self._region_code(place.point), place.point)

    def _list_map_names(self, point: LatLon | None) -> list[str]:
        infos = self._thread_regions.store.list()
        return sorted(info.name for info in infos if point is None or info.extent.contains(point))

    def _region_code(self, point: LatLon) -> str | None:
        region = self._borders.find_region(point, snap_km=_SNAP_KM)
        return None if region is None else region.geonames

    def _in_country(self, hits: Iterable[Hit], country: str | None) -> list[Hit]:
        if country is None:
            return list(hits)
        return [hit for hit in hits if self._find_country_code(hit.place) == country.upper()]

    def _find_country_code(self, place: Place) -> str | None:
        own = place.country or _get_country_code(place)
        if own is not None:
            return own
        region = self._borders.find_region(place.point, snap_km=_SNAP_KM)
        return None if region is None else region.country

    def _reverse(self, point: LatLon) -> Reverse:
        region = self._borders.find_region(point, snap_km=_SNAP_KM)
        country = None if region is None else region.country
        places = self._base.around(point, country=country, region=region.geonames) if region and country else []
        near = self._thread_regions.nearby(point, _REVERSE_RADIUS_M, limit=_REVERSE_FEATURES)
        return Reverse(
            point=point,
            country=country,
            country_name=None if country is None else country_name(country),
            region=None if region is None else region.name or None,
            places=(*places, *near),
            source="borders, GeoNames" + (", added regions" if near else ""),
        )

    def _place_facts(self, point: LatLon, day: date | None) -> "PlaceFacts":
        from .place_facts import gather_facts

        return gather_facts(point, day, base=self._base, borders=self._borders, gazetteers=self._gazetteers)

    def _suggest(self, prefix: str, limit: int, near: LatLon | None) -> list[Hit]:
        local = self._thread_regions.suggest(prefix, limit=limit, near=near)
        world = [*self._base.suggest(prefix, limit=limit), *self._gazetteers.suggest(prefix, limit=limit)]
        world = list({hit.place.id: hit for hit in sorted(world, key=lambda hit: hit.score)}.values())[::-1]
        # Half from each if both have enough, so that neither hides the other.
        keep = max(limit - len(world), limit // 2)
        return [*local[:keep], *world][:limit]

    def _search_pois(
        self, text: str, near: LatLon | None, within: Extent | None, category: str | None, limit: int
    ) -> list[Hit]:
        found = self._thread_regions.search_pois(text, near=near, within=within, category=category, limit=limit)
        hits = [hit for hit in found if category is not None or not self._is_better_known(hit)]
        named = self._gazetteers.search(text, near=near, within=within, category=category, limit=limit)
        hits += [_weigh_world_hit(hit) for hit in named]
        if category is None:
            # Skip the fuzzy search of the world if there is an exact hit, or enough hits that no fuzzy one can outrank.
            likely = sum(hit.score > _WORLD_FACTOR * MAX_FUZZY_SCORE for hit in hits)
            guesses = int(likely < limit and all(hit.match == "fuzzy" for hit in hits))
            world = self._base.geocode(text, limit=limit, within=within, guesses=guesses, partly=False)
            hits += map(_weigh_world_hit, world)
        best = sorted(hits, key=lambda hit: (-hit.score, hit.place.id))
        return list({hit.place.id: hit for hit in reversed(best)}.values())[::-1][:limit]

    def _nearby(self, point: LatLon, radius_m: float, category: str | None, limit: int) -> list[Hit]:
        hits = self._thread_regions.nearby(point, radius_m, category=category, limit=limit)
        hits += self._gazetteers.nearby(point, radius_m, category=category, limit=limit)
        return sorted(hits, key=lambda hit: hit.distance_km or 0.0)[:limit]

    def _poi(self, place_id: str) -> Place | None:
        if place_id.startswith(("osm:", "overture:", "made-up:")):
            return self._thread_regions.poi(place_id)
        return self._base.place(place_id) or self._gazetteers.place(place_id)

    def _map(self, centre: LatLon, zoom: float, size: tuple[int, int], markers: Sequence[Marker]) -> Picture:
        from .facts.altitude import interpolate_altitudes
        from .maps import MapSources, draw_map

        sources = MapSources(
            regions=[info.path for info in self._thread_regions.store.list()],
            outlines=self._outlines,
            place_labels=self._place_labels,
            base_attribution="Natural Earth, GeoNames",
            towns=self._find_towns,
            gazetteers=[info.path for info in self._gazetteers.store.list()],
            altitudes=interpolate_altitudes,
        )
        return draw_map(sources, centre, zoom, size, markers)

    def _outlines(self, box: Box, zoom: float) -> Iterable[tuple[object, str, str]]:
        detail: Detail = "full" if zoom >= 9 else "light"
        for shape in self._borders.find_shapes(box, level="country", detail=detail):
            yield shape.geometry, "country", shape.name
        if zoom >= 5:
            for shape in self._borders.find_shapes(box, level="region", detail=detail):
                yield shape.geometry, "region", shape.name

    def _place_labels(self, box: Box, zoom: float) -> Iterable[tuple[LatLon, str, int]]:
        for place in self._base.labels(box.south, box.west, box.north, box.east, limit=60):
            people = int(place.details.get("population", "0"))
            rank = sum(people < limit for limit in (5e6, 1e6, 3e5, 1e5, 3e4, 1e4, 2e3)) + 1
            if rank <= max(2, zoom - 2):
                yield place.point, place.name, rank
        if zoom >= _FEATURES_FROM_ZOOM:
            for place in self._gazetteers.labels(box, limit=_FEATURES):
                yield place.point, place.name, _FEATURE_RANK

    def _find_towns(self, view: "MapView") -> "list[Settlement]":
        """Return the largest settlements in a view, and the nearest ones to its centre."""
        box = view.box
        inside = self._base.labels(box.south, box.west, box.north, box.east, limit=_MAP_TOWNS)
        around = [hit.place for hit in self._base.around(view.centre, country=None, limit=_MAP_TOWNS)]
        places = {place.id: place for place in (*inside, *around)}
        return [
            (place.point, place.name, place.extent.radius_km if isinstance(place.extent, Disc) else 0.0)
            for place in places.values()
        ]

    def _satellite(self, centre: LatLon, zoom: float, size: tuple[int, int]) -> Picture:
        from .maps import satellite

        if self._tiles is None:
            raise BadInput(
                "pictures from above need tiles: give an MBTiles or PMTiles file with --tiles, or a tile server"
            )
        return satellite(self._tiles, centre, zoom, size)

    @property
    def _base(self) -> BasePlaces:
        base: BasePlaces | None = getattr(self._local, "base", None)
        if base is None:
            with self._building:
                path = ensure_base()
            base = self._local.base = BasePlaces(open_base(path))
        return base

    @property
    def _borders(self) -> "Borders":
        from .borders import Borders

        return Borders.load()

    @property
    def _thread_regions(self) -> "Regions":
        from .regions import Regions

        regions: Regions | None = getattr(self._local, "regions", None)
        if regions is None:
            regions = self._local.regions = Regions(self._regions_dir)
        return regions

    @property
    def _gazetteers(self) -> "Gazetteers":
        from .gazetteers import Gazetteers

        gazetteers: Gazetteers | None = getattr(self._local, "gazetteers", None)
        if gazetteers is None:
            gazetteers = self._local.gazetteers = Gazetteers(gazetteers_dir(self._regions_dir))
        return gazetteers


def _weigh_world_hit(hit: Hit) -> Hit:
    """Lower the score of a hit from outside the regions, unless it is a good exact match."""
    if hit.match != "fuzzy" and hit.score >= _WELL_KNOWN_SCORE:
        return hit
    return Hit(hit.place, _WORLD_FACTOR * hit.score, hit.match, hit.matched)


def _settle(answer: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
    """Set the result or the error of a future, unless it was cancelled."""
    if answer.done():
        return
    if error is None:
        answer.set_result(result)
    else:
        answer.set_exception(error)


def _get_country_code(place: Place) -> str | None:
    """Return the code of a country if the feature is one: the middle of its area may lie at sea or in a neighbour."""
    tags = place.details
    if place.kind == "place=country" or (place.kind == "boundary=administrative" and tags.get("admin_level") == "2"):
        return country_code(tags.get("ISO3166-1:alpha2") or tags.get("ISO3166-1") or place.name)
    return None


def _reach_km(container: Place) -> float:
    """Return how far outside its extent a place still belongs to a quarter, town or street."""
    extent = container.extent
    if not isinstance(extent, Box) or (extent.south, extent.west) != (extent.north, extent.east):
        return _AREA_MARGIN_KM
    return _PLACE_RADIUS_KM.get(container.kind.partition("=")[2], _SMALL_PLACE_RADIUS_KM)


def _check_limit(limit: int) -> int:
    if not 1 <= limit <= _MAX_LIMIT:
        raise BadInput(f"the number of results must lie between 1 and {_MAX_LIMIT}, not {limit}")
    return limit


def _is_geographic(place: Place) -> bool:
    """Return whether it is a settlement, street, boundary or natural feature rather than a building or business."""
    kind = place.kind.partition("=")
    return not kind[1] or kind[0] in ("highway", "place", "boundary", "natural", "waterway", "railway")


def _missing_parts(hit: Hit) -> float:
    """Return how many parts of the query are missing; a house number counts half."""
    return sum(0.5 if part[:1].isdigit() and len(part) <= 6 else 1.0 for part in hit.missing)


def _merge_hits(hits: Iterable[Hit], limit: int, behind: Callable[[Hit], bool]) -> list[Hit]:
    """Return each place once, those with fewest missing parts first, exact before fuzzy, then by score."""
    unique = {hit.place.id: hit for hit in sorted(hits, key=lambda hit: hit.score)}

    def rank(hit: Hit) -> tuple[float, bool, bool, float, str]:
        return _missing_parts(hit), hit.match == "fuzzy", behind(hit), -hit.score, hit.place.id

    return sorted(unique.values(), key=rank)[:limit]
