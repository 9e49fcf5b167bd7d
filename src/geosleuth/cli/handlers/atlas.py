"""The work of the ``atlas`` commands; imported only when one runs, so that ``--help`` stays fast."""

import asyncio
import os
import re
import shlex
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from geosleuth.atlas import (
    Atlas,
    Colocation,
    Document,
    Hit,
    Marker,
    OfflineAtlas,
    Picture,
    Place,
    Reverse,
    gazetteers_dir,
    regions_dir,
)
from geosleuth.atlas.facts.scripts import get_script
from geosleuth.atlas.folders import open_readonly
from geosleuth.atlas.place_facts import no_gazetteer
from geosleuth.atlas.suggestion import get_command
from geosleuth.cli.preparation import offline_atlas
from geosleuth.geo import SAME_SPOT_KM, Extent, LatLon, distance_km
from geosleuth.geo.extent import Outline, extent_dict, plain
from geosleuth.names import country_code, country_name, fold, require_country_code
from geosleuth.pipeline.area import Area, get_extent, parse_area, parse_point
from geosleuth.pipeline.searches import online_settings
from geosleuth.support.console import facts_view, progress, show, show_json, show_result, table_view, talk
from geosleuth.support.errors import BadInput
from geosleuth.support.files import make_folder, refuse_to_replace, write_bytes_atomically
from geosleuth.support.net import parse_host
from geosleuth.support.text.numbers import distance, plural
from geosleuth.support.text.safe import one_line

if TYPE_CHECKING:
    from geosleuth.atlas.facts.brands import BrandHit
    from geosleuth.atlas.facts.countries import CountryFacts, Postcode
    from geosleuth.atlas.facts.lookups import PhoneInfo
    from geosleuth.atlas.regions import RegionInfo, RegionStore

_NOTHING = "nothing found"
_MIN_COLOCATED = 2
_MIN_SCORE_ACROSS_SCRIPTS = 0.75
_MIN_LIKELY_SCORE = 0.6
_WIDE_CHARS = 100
_WIDE_ONLY_COLUMNS = ("streets", "addresses", "age")
_T = TypeVar("_T")
_Found = TypeVar("_Found", Hit, Colocation)
# Factor by which more results are requested within an outline, since the atlas searches its bounding box.
_OUTLINE_FACTOR = 10
_CATEGORY_EXAMPLES = "cafe, pharmacy, hotel, bus stop, shop=bakery or natural=peak"

# Values that people copy must not wrap; names may.
_UNBROKEN = ("where", "ids", "fit", "away", "features", "streets", "addresses", "MB", "data of", "age")


def ask(
    via: str | None, allow: Sequence[str], question: Callable[[Atlas], Awaitable[_T]], tiles: Path | None = None
) -> _T:
    """Return the answer of the offline atlas, or of the online service ``via`` with the hosts that the user allowed."""

    async def answer() -> _T:
        return await question(atlas)

    if via is None:
        atlas: Atlas = offline_atlas(tiles=tiles)
    else:
        from geosleuth.atlas.online import make_online

        atlas = make_online(via, online_settings(allow))
    return asyncio.run(answer())


# Command-line arguments.


def require_text(text: str, what: str) -> str:
    """Return a text argument.

    Raises:
        BadInput: it is blank; ``what`` says what was expected.
    """
    if not one_line(text).strip():
        raise BadInput(f"nothing given; name {what}")
    return text


def point(text: str) -> LatLon:
    """Parse a point."""
    return parse_point(text)


def optional_point(text: str | None) -> LatLon | None:
    """Parse a point, if one was given."""
    return None if text is None else parse_point(text)


@dataclass(frozen=True, slots=True)
class SearchArea:
    """The area of ``--within``, and its extent, which the atlas searches; both are None without that option."""

    area: Area | None
    extent: Extent | None

    def query_limit(self, limit: int) -> int:
        """Return how many results to request: more for an outline, since its bounding box is searched."""
        return min(1000, _OUTLINE_FACTOR * limit) if isinstance(self.extent, Outline) else limit

    def filter_results(self, found: Sequence[_Found], limit: int) -> list[_Found]:
        """Return the results that lie in the area itself."""
        if self.area is None or not isinstance(self.extent, Outline):
            return list(found)
        # The outline of a region extends a little into its neighbours, so the region itself is checked, too.
        both = self.area, replace(self.area, extent=None)
        return [result for result in found if all(area.contains(_get_point(result)) for area in both)][:limit]


def _get_point(found: Hit | Colocation) -> LatLon:
    return found.point if isinstance(found, Colocation) else found.place.point


def search_area(text: str | None) -> SearchArea:
    """Parse ``--within``, like ``locate --within``."""
    area = parse_area(text)
    return SearchArea(area, None if area is None else get_extent(area))


def category(text: str | None) -> str | None:
    """Check a category, if one was given."""
    return None if text is None else require_text(text, f"a category, such as {_CATEGORY_EXAMPLES}")


def country(text: str | None) -> str | None:
    """Return the code of a country given by name or code, if one was given."""
    return None if text is None else require_country_code(text)


def bearings(text: str | None, count: int) -> list[float | None] | None:
    """Parse ``--bearings``: degrees from the first of ``count`` features to each other one; None for "x"."""
    if text is None:
        return None
    try:
        values = [None if part.strip().casefold() in ("x", "") else float(part) for part in text.split(",")]
    except ValueError:
        values = []
    wanted = max(count, _MIN_COLOCATED) - 1
    if len(values) != wanted or not all(value is None or -360 <= value <= 360 for value in values):
        example = ",".join(["90", *"x" * (wanted - 1)])
        raise BadInput(
            "--bearings takes one direction fewer than there are features: from the first feature to each other one, "
            f"-360 to 360 degrees, x for any; for {wanted + 1} features such as {example}"
        )
    return [None if value is None else value % 360 for value in values]


def markers(texts: Sequence[str]) -> list[Marker]:
    """Return map pins, lettered in the order given."""
    return [Marker(parse_point(text), chr(ord("A") + number % 26)) for number, text in enumerate(texts)]


def check_png(path: Path, *, overwrite: bool) -> None:
    """Check before the work that a PNG file can be written.

    Raises:
        BadInput: it has another ending, its folder is missing, or it exists and may not be replaced.
    """
    if path.suffix.lower() != ".png":
        raise BadInput(f"{path}: maps are written as .png")
    if not path.parent.is_dir():
        raise BadInput(f"{path}: the folder {path.parent} does not exist")
    refuse_to_replace([path], overwrite=overwrite)


# Results.


def drop_chance_matches(text: str, hits: list[Hit]) -> list[Hit]:
    """Leave out weak fuzzy matches in another script than the query's; transliteration makes many names look alike."""
    query_scripts = _scripts(text)
    return [
        hit
        for hit in hits
        if hit.match != "fuzzy"
        or hit.score >= _MIN_SCORE_ACROSS_SCRIPTS
        or not query_scripts.isdisjoint(_scripts(hit.matched))
    ]


def _scripts(text: str) -> set[str]:
    return {script for letter in text if (script := get_script(letter)) is not None}


def explain_no_results(
    hits: list[Hit], via: str | None, where: LatLon | None = None, category: str | None = None
) -> None:
    """Print which data the atlas lacks if it found nothing, or only names that hardly match.

    Args:
        hits: the results.
        via: the online service that was used, if any; then nothing is printed.
        where: the point of the search, if any.
        category: the category of the search, if any.
    """
    if any(hit.match != "fuzzy" or hit.score >= _MIN_LIKELY_SCORE for hit in hits) or via is not None:
        return
    from geosleuth.atlas.borders import Borders
    from geosleuth.atlas.gazetteers import is_category

    atlas = OfflineAtlas()
    in_gazetteers = category is None or is_category(category)
    if category is not None and not in_gazetteers and atlas.has_regions and not _is_on_a_map(category):
        talk(f"no added map has the category {category[:60]!r}; write one such as {_CATEGORY_EXAMPLES}")
        return
    region = None if where is None else Borders.load().find_region(where)
    code = None if region is None else region.country
    fetch = get_command("andorra" if code is None else country_name(code).lower())
    which = "that of a country, region or city, such as Andorra," if code is None else f"that of {country_name(code)}"
    no_map = f"no map is added, so streets and shops are not known. Fetch {which} with: {fetch}"
    if not atlas.has_regions:
        talk(no_map)
    if in_gazetteers and not atlas.has_gazetteers:
        talk(no_gazetteer(code))


def _is_on_a_map(category: str) -> bool:
    from geosleuth.atlas.regions import RegionStore
    from geosleuth.atlas.regions.feature_kinds import matching_kinds

    return any(matching_kinds(category, region.kinds) for region in RegionStore(regions_dir()).open_all())


def show_hits(hits: list[Hit], *, as_json: bool) -> None:
    """Print places, best first."""
    show_result(result_dict(hits), hit_view(hits), as_json=as_json)


def show_search_radius(hits: list[Hit], radius_m: float, around: LatLon) -> None:
    """Print the search radius, and explain the columns if a place reaches nearer to the point than its middle."""
    talk(f"{plural(len(hits), 'place', 'places')} within {radius_m:,g} m of the point; --radius changes that")
    if any(_middle_is_farther(hit, around) for hit in hits):
        talk('"away" is the distance to a place\'s nearest part, "where" its middle; the middle of a street may be far')


def _middle_is_farther(hit: Hit, around: LatLon) -> bool:
    return hit.distance_km is not None and distance_km(hit.place.point, around) > hit.distance_km + SAME_SPOT_KM


def show_reverse(found: Reverse, *, as_json: bool) -> None:
    """Print what is at a point."""
    show_result(result_dict(found), reverse_view(found), as_json=as_json)


def show_place(place_id: str, place: Place | None, *, as_json: bool) -> None:
    """Print a place."""
    if place is None:
        raise BadInput(f"no place has the id {place_id[:80]!r}; ids are in the answers of search and geocode")
    show_result(result_dict(place), place_view(place), as_json=as_json)


def show_colocations(found: list[Colocation], *, as_json: bool) -> None:
    """Print groups of features."""
    show_result(result_dict(found), colocation_view(found), as_json=as_json)


def find_documents(text: str, zims: Sequence[Path], limit: int) -> list[Document]:
    """Search the bundled texts, downloaded Wikipedias and the user's Kiwix files."""
    from geosleuth.atlas.extracts.wikipedia import zim_files

    found = ask(None, (), lambda atlas: atlas.search_documents(text, limit=limit))
    for path in [*zim_files(), *zims]:
        from geosleuth.atlas.facts.documents import ZimDocuments

        found += ZimDocuments(path).search(text, limit=limit)
    return found


def show_documents(found: list[Document], *, as_json: bool) -> None:
    """Print passages of text."""
    show_result(result_dict(found), document_view(found), as_json=as_json)


def show_country(name: str, *, as_json: bool) -> None:
    """Print facts of a country."""
    from geosleuth.atlas.facts.countries import country_facts

    facts = country_facts(name)
    show_result(plain(facts), country_view(facts), as_json=as_json)


def show_brands(name: str, limit: int, *, as_json: bool) -> None:
    """Print brands and the countries they are found in."""
    from geosleuth.atlas.facts.brands import brand

    hits = brand(name, limit=limit)
    show_result(result_dict(hits), brand_view(hits), as_json=as_json)


def show_phone(number: str, region: str | None, *, as_json: bool) -> None:
    """Print the countries and places that a phone number belongs to."""
    from geosleuth.atlas.facts.lookups import phone

    found = phone(number, region)
    show_result(plain(found), phone_view(found), as_json=as_json)


def write_picture(path: Path, picture: Picture, *, as_json: bool) -> None:
    """Write a picture to a file, and print its attribution."""
    write_bytes_atomically(path, picture.png)
    if as_json:
        show_json({"file": str(path), "attribution": picture.attribution, "extent": extent_dict(picture.extent)})
    else:
        talk(f"wrote {path}; credit: {picture.attribution or 'none needed'}")


# Regions and gazetteers.


def add_region(given: str, name: str | None, countries: Sequence[str], names: Path | None, *, as_json: bool) -> None:
    """Import a file as a region or gazetteer.

    Raises:
        BadInput: there is no such file, it can't be read, or the atlas's folder can't be written to.
    """
    file = Path(given)
    if not given.strip():
        raise BadInput("name a file, such as: geosleuth atlas add monaco.osm.pbf")
    if not os.path.exists(given):  # noqa: PTH110  (Path.exists fails for names that are too long or malformed)
        fetch = f". To fetch the map of a place: {get_command(given)}" if _is_place(given) else ""
        raise BadInput(f"No such file: {given}{fetch}")
    take, folder = _importer(file, countries, names)
    make_folder(folder)
    with importing() as progress:
        found = take(file, name, folder=folder, progress=progress)
    if found.refused:
        left_out = plural(found.refused, "row was", "rows were")
        talk(f"{left_out} left out: no name, no position, or not in the file's format")
    show_result(plain(found), regions_view([found]), as_json=as_json)


def _is_place(text: str) -> bool:
    """Return whether ``atlas get`` may know a place of that name; does not build the base atlas to find out."""
    from geosleuth.atlas.base import base_path
    from geosleuth.atlas.map_place import map_place

    if country_code(text) is not None or not base_path().is_file():
        return country_code(text) is not None
    try:
        map_place(text)
    except BadInput:
        return False
    return True


def _importer(file: Path, countries: Sequence[str], names: Path | None) -> tuple[Callable[..., Any], Path]:
    from geosleuth.atlas.gazetteers import import_geonames, import_natural_earth, list_files
    from geosleuth.atlas.regions import copy_region, import_osm, import_overture

    ending = file.name.lower()
    if ending.endswith((".txt", ".tsv", ".zip", ".txt.gz")):
        return partial(import_geonames, countries=countries, more_names=names), gazetteers_dir()
    if countries or names:
        raise BadInput("--country and --names belong to GeoNames dumps (.txt, .zip)")
    if list_files(file):
        return import_natural_earth, gazetteers_dir()
    if file.is_dir():
        raise BadInput(f"{file} is a folder without Natural Earth files (.geojson, .geojson.gz)")
    if ending.endswith(".region.sqlite"):
        return copy_region, regions_dir()
    return (import_overture if ending.endswith((".parquet", ".geoparquet")) else import_osm), regions_dir()


def _stores() -> "list[RegionStore]":
    from geosleuth.atlas.regions import RegionStore

    return [RegionStore(regions_dir()), RegionStore(gazetteers_dir())]


def _find_store(name: str) -> "RegionStore":
    """Return the store that has a name; if neither has, that of regions, whose error lists the names there are."""
    regions, gazetteers = _stores()
    return gazetteers if name in gazetteers.names() and name not in regions.names() else regions


def show_regions(*, as_json: bool) -> None:
    """Print all regions and gazetteers, and how to repair damaged ones."""
    found: list[RegionInfo] = []
    damaged: list[_Damaged] = []
    for store in _stores():
        for name in store.names():
            try:
                found.append(store.info(name))
            except BadInput as error:
                damaged.append(_damage(store, name, error))
    if as_json:
        show_json([plain(item) for item in (*found, *damaged)])
        return
    lines = [Text(f"{item.name} is damaged: {item.damaged}. Repair it with: {item.repair}") for item in damaged]
    show(Group(*([regions_view(found)] if found or not damaged else []), *lines))


@dataclass(frozen=True, slots=True)
class _Damaged:
    """A region or gazetteer whose file can't be read; the fields are the keys of ``atlas list --json``."""

    name: str
    path: Path
    damaged: str  # why
    repair: str  # the command that repairs it


def _damage(store: "RegionStore", name: str, error: BadInput) -> _Damaged:
    from geosleuth.atlas.regions.region_file import region_path

    path = region_path(store.folder, name)
    if path.is_dir():
        return _Damaged(name, path, "it is a folder, not a file", f"mv {shlex.quote(str(path))} ELSEWHERE")
    return _Damaged(name, path, one_line(str(error.__cause__ or error)), _repair_command(name, _origin(path)))


def _origin(path: Path) -> str:
    """Return the URL that a damaged region was downloaded from; empty if that can't be read."""
    with suppress(sqlite3.Error, OSError), closing(open_readonly(path)) as conn:
        for (origin,) in conn.execute("SELECT value FROM meta WHERE key = 'origin'"):
            return origin if isinstance(origin, str) else ""
    return ""


def _repair_command(name: str, origin: str) -> str:
    """Return the command that downloads a damaged region again, or else a template for adding its file."""
    from geosleuth.atlas.regions import region_name

    file = origin.rpartition("/")[2]
    if not file.endswith((".osm.pbf", ".zip")):
        return f"geosleuth atlas add EXTRACT --name {name} (or: geosleuth atlas remove {name})"
    place = file.removesuffix(".zip") if file.endswith(".zip") else region_name(None, Path(file))
    kind = " --geonames" if file.endswith(".zip") else ""
    return f"{get_command(place)}{kind}" + ("" if fold(place) == name else f" --name {name}")


def remove_region(name: str, *, as_json: bool) -> None:
    """Delete a region, a gazetteer, or a Wikipedia given by its file's name."""
    from geosleuth.atlas.extracts.wikipedia import zim_files

    wikipedia = next((path for path in zim_files() if name in (path.name, path.stem)), None)
    if wikipedia is not None:
        wikipedia.unlink()
    else:
        _find_store(name).remove(name)
    if as_json:
        show_json({"removed": name})
    else:
        talk(f"removed {name}")


def show_info(name: str | None, *, as_json: bool) -> None:
    """Print the facts of a region or gazetteer, or of the whole atlas."""
    from geosleuth.atlas.base import base_path
    from geosleuth.atlas.extracts.wikipedia import zim_files

    if name is not None:
        found: Any = plain(_find_store(name).info(name))
    else:
        base = base_path()
        regions, gazetteers = _stores()
        found = {
            "base": str(base),
            "base_built": base.is_file(),
            "base_bytes": base.stat().st_size if base.is_file() else None,
            "regions_folder": str(regions_dir()),
            "regions": [item.name for item in regions.list()],
            "gazetteers": [item.name for item in gazetteers.list()],
            "wikipedia": [path.name for path in zim_files()],
        }
    show_result(found, facts_view(found), as_json=as_json)


def show_place_facts(point: LatLon, date: str | None, *, as_json: bool) -> None:
    """Print facts about the land at a point; ``date`` is for the length of the day."""
    from geosleuth.atlas.place_facts import read_day

    day = None if date is None else read_day(require_text(date, "a date, such as 2026-06-21"))
    found = asyncio.run(offline_atlas().place_facts(point, day)).as_dict()
    show_result(found, facts_view({key: value for key, value in found.items() if key != "point"}), as_json=as_json)


@contextmanager
def importing() -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar for an import; yield the function that the importer reports to."""
    with progress("importing") as bar:
        # A step that is reported only at its beginning and its end takes an unknown time.
        yield lambda what, done, total: bar.update(done, None if (done, total) == (0, 1) else total, what)


def result_dict(found: Any) -> Any:
    """Return results as JSON: a point as ``lat`` and ``lon``, the place of a hit as fields of the hit itself."""
    if isinstance(found, list | tuple):
        return [result_dict(item) for item in found]
    if not isinstance(found, Place | Hit | Reverse | Colocation):
        return plain(found)
    values = {item.name: result_dict(getattr(found, item.name)) for item in fields(found)}
    if isinstance(found, Hit):
        values["level"] = found.level
    elif isinstance(found, Reverse):
        values["address"] = found.address
    return {**values.pop("place", {}), **values.pop("point", {}), **values}


# Results as tables.


def _where(point: LatLon) -> str:
    return f"{point.lat:.5f}, {point.lon:.5f}"


def hit_view(hits: Sequence[Hit]) -> RenderableType:
    """Return a table of places, best first."""
    if not hits:
        return Text(_NOTHING)
    has_distances = any(hit.distance_km is not None for hit in hits)
    rows: list[Sequence[RenderableType]] = []
    for hit in hits:
        place = hit.place
        separate_address = bool(place.address) and not (place.address or "").startswith(place.name)
        name = Text(place.name if separate_address else place.address or place.name)
        name.append(f"\n{place.address}" if separate_address else "", style="dim")
        if hit.match == "alias" and fold(hit.matched) != fold(place.name):
            name.append(f"\nalso called {hit.matched}", style="dim")
        name.append(f"\n{place.id}", style="dim")
        away = [] if not has_distances else ["" if hit.distance_km is None else distance(hit.distance_km)]
        fit = f"{hit.match} {hit.score:.2f}" + "".join(f"\nwithout {part}" for part in hit.missing)
        rows.append((name, place.kind, _where(place.point), *away, fit))
    heads = ("place", "kind", "where", *(["away"] if has_distances else []), "fit")
    return table_view(heads, rows, unbroken=_UNBROKEN)


def reverse_view(found: Reverse) -> RenderableType:
    """Return the address at a point and a table of the places there."""
    if found.country is None:
        return Text("at sea: no country within 5 km")
    return Group(Text(found.address), hit_view(found.places))


def place_view(place: Place) -> RenderableType:
    """Return a table of a place's facts."""
    facts = {
        "name": place.name, "kind": place.kind, "where": _where(place.point), "address": place.address,
        "country": place.country, "region": place.region, "source": place.source, **place.details,
    }  # fmt: skip
    return facts_view({key: value for key, value in facts.items() if value})


def colocation_view(found: Sequence[Colocation]) -> RenderableType:
    """Return a table of groups of features."""
    if not found:
        return Text(_NOTHING)
    rows = [
        (
            "\n".join(f"{place.name} ({place.kind})" for place in item.places),
            _where(item.point),
            distance(item.spread_m / 1000),
            "\n".join(place.id for place in item.places),
        )
        for item in found
    ]
    return table_view(("features", "where", "apart", "ids"), rows, unbroken=_UNBROKEN)


def document_view(found: Sequence[Document]) -> RenderableType:
    """Return passages of text with their titles and sources."""
    if not found:
        return Text(_NOTHING)
    parts: list[RenderableType] = []
    for document in found:
        parts += [Text(document.title, style="bold"), Text(document.snippet), Text(document.source, style="dim"), ""]
    return Group(*parts[:-1])


def country_view(facts: "CountryFacts") -> RenderableType:
    """Return a table of those facts of a country that a photo may show."""
    from geosleuth.atlas.facts.writing_names import LANGUAGE_NAMES, SCRIPT_NAMES

    languages = [LANGUAGE_NAMES.get(language.code, language.name) for language in facts.languages]
    return facts_view(
        {
            "country": f"{facts.name} ({facts.code}, {facts.iso3})",
            "capital": facts.capital,
            "continent": facts.continent,
            "languages": languages[:8],
            "scripts": [SCRIPT_NAMES.get(script, script) for script in facts.scripts],
            "driving side": facts.driving_side,
            "speed unit": facts.speed_unit,
            "calling code": [f"+{code.lstrip('+')}" for code in facts.calling_codes],
            "internet": facts.tlds,
            "currency": [f"{money.name} ({money.code})" for money in facts.currencies],
            "postcode": None if facts.postcode is None else _postcode(facts.postcode),
            "plate": None if facts.plate is None else f"{facts.plate.pattern}; {facts.plate.colours}",
            "neighbours": [country_name(code) for code in facts.neighbours],
            "population": f"{facts.population:,}",
            "area, km²": None if facts.area_km2 is None else f"{facts.area_km2:,.0f}",
            "roads, km": None if facts.road_km is None else f"{facts.road_km:,.0f}",
        }
    )


def _postcode(postcode: "Postcode") -> str:
    if postcode.examples:
        return f"such as {' or '.join(postcode.examples[:2])}"
    digits = re.sub(r"\\d\{(\d+)\}", lambda found: "0" * int(found[1]), postcode.pattern.strip("()"))
    return f"{digits}, where 0 is any digit" if digits != postcode.pattern.strip("()") else digits


def brand_view(hits: Sequence["BrandHit"]) -> RenderableType:
    """Return a table of brands and the countries they are found in."""
    if not hits:
        return Text(_NOTHING)
    rows = [(hit.brand.name, hit.brand.kind, _spread(hit), f"{hit.how} {hit.score:.2f}") for hit in hits]
    return table_view(("brand", "kind", "countries", "fit"), rows, unbroken=_UNBROKEN)


def _spread(hit: "BrandHit") -> str:
    listed = hit.except_countries if hit.countries is None else hit.countries
    places = sorted(country_name(code) for code in listed)
    shown = ", ".join(places[:12]) + (f" and {len(places) - 12} more" if len(places) > 12 else "")
    if hit.countries is None:
        return f"worldwide except {shown}" if places else "worldwide"
    return shown


def phone_view(found: "PhoneInfo") -> RenderableType:
    """Return a table of the countries and places that a phone number belongs to."""
    if not found.countries:
        return Text("no country's numbering plan has this number")
    return facts_view(
        {
            "number": found.international or found.text,
            "countries": [country_name(code) for code in found.countries[:12]],
            "place": found.place,
            "kind": found.kind,
            "carrier": found.carrier,
            "time zones": found.time_zones,
        }
    )


def regions_view(found: Sequence["RegionInfo"]) -> RenderableType:
    """Return a table of regions, or how to add the first one."""
    if not found:
        return Text(
            f"no region was added yet; fetch one with: {get_command(None)}, such as geosleuth atlas get andorra"
        )
    return _RegionTable(found)


@dataclass(frozen=True, slots=True)
class _RegionTable:
    found: "Sequence[RegionInfo]"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = [_region_row(item) for item in self.found]
        heads = [head for head in rows[0] if options.max_width >= _WIDE_CHARS or head not in _WIDE_ONLY_COLUMNS]
        yield table_view(heads, ([row[head] for head in heads] for row in rows), unbroken=_UNBROKEN)
        for credit in dict.fromkeys(item.attribution for item in self.found):
            yield Text(f"credit: {credit}")


def _region_row(item: "RegionInfo") -> dict[str, str]:
    day, age = _age(item.data_date)
    return {
        "region": item.name,
        "features": f"{item.features:,}",
        "streets": f"{item.streets:,}",
        "addresses": f"{item.addresses:,}",
        "MB": f"{item.size_bytes / 1e6:.1f}",
        "data of": day,
        "age": age,
        "from": parse_host(item.origin) if item.origin else item.source,
    }


def _age(data_date: str | None) -> tuple[str, str]:
    try:
        day = date.fromisoformat((data_date or "")[:10])
    except ValueError:
        return "–", "–"
    days = max(0, (datetime.now(UTC).date() - day).days)
    return day.isoformat(), plural(days, "day", "days") if days < 100 else plural(
        round(days / 30.44), "month", "months"
    )
