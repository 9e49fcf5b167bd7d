"""Compile brands and networks with the countries they are found in: src/geosleuth/atlas/facts/data/brands.bin.gz.

    python scripts/build_brands.py

Source: ``dist/json/nsi.min.json`` of the npm package name-suggestion-index (BSD-3-Clause). Its location sets name
countries, groups of countries, shapes of its own (``us-tx.geojson``) and circles; each is brought to ISO codes with
country-coder (``territories.py``), shapes whose file name does not say the country and circles by their position.
A shape or circle that is excluded takes away only part of a country, so it excludes nothing here. Flags are left out.

Entries that differ only in what kind of place they are become one. The file holds arrays: the folded names, each with
the numbers of its brands; the names by length; the letters of each (for misread names); the lengths; the brands as
JSON; where each of them begins. Same package, same bytes.
"""

import gzip
import json
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry import shape

from geosleuth.atlas.array_file import pack_arrays
from geosleuth.atlas.facts.brands import BrandRow, letter_sets
from geosleuth.atlas.sorted_rows import SortedRows
from geosleuth.names.folding import compact
from registry import npm_file
from territories import VERSION as CODER_VERSION
from territories import countries_in, features, iso_code

TABLE = Path(__file__).parents[1] / "src/geosleuth/atlas/facts/data/brands.bin.gz"
PACKAGE, VERSION = "name-suggestion-index", "8.0.20260918"
WHOLE_WORLD = "001"
LEFT_OUT = ("flags/",)
OTHER_NAME_TAGS = frozenset({"name", "brand", "operator", "network", "short_name", "alt_name", "official_name"})
COMMON_KEYS = ("shop", "amenity", "tourism", "leisure", "office")
_BRACKET = re.compile(r"\s*[(（][^)）]*[)）]\s*$")


def main() -> None:
    """Read, resolve, write, say how large it is."""
    index = json.loads(npm_file(PACKAGE, VERSION, "dist/json/nsi.min.json"))["nsi"]
    shapes = _shapes()
    places: dict[tuple[str, ...], int] = {}
    merged: dict[tuple[Any, ...], _Entry] = {}
    for category, entry in sorted(index.items()):
        if not category.startswith(LEFT_OUT):
            for item in sorted(entry["items"], key=lambda item: str(item["id"])):
                _add(merged, category, item, shapes, places)
    rows = sorted(merged.items())
    data = pack_arrays(arrays(rows, [" ".join(codes) for codes in places]))
    TABLE.write_bytes(gzip.compress(data, compresslevel=9, mtime=0))
    print(f"{len(rows)} brands, {len(places)} sets of countries, {TABLE.stat().st_size} bytes", file=sys.stderr)


@dataclass
class _Entry:
    kinds: set[str]
    on_signs: set[str]
    others: set[str]
    is_brand: bool


def _add(
    merged: dict[tuple[Any, ...], _Entry],
    category: str,
    item: dict[str, Any],
    shapes: dict[str, frozenset[str]],
    places: dict[tuple[str, ...], int],
) -> None:
    tags = item["tags"]
    tree, key, value = category.split("/")
    wikidata = tags.get("brand:wikidata") or tags.get("operator:wikidata") or tags.get("network:wikidata") or ""
    include, exclude = item["locationSet"].get("include", []), item["locationSet"].get("exclude", [])
    worldwide = not include or WHOLE_WORLD in include
    included = frozenset().union(*(_resolve(place, shapes) for place in include)) if not worldwide else frozenset()
    excluded = frozenset().union(*(countries_in(str(place)) for place in exclude if _is_whole_region(place)))
    codes = tuple(sorted(excluded if worldwide else included - excluded))
    number = places.setdefault(codes, len(places))
    entry = merged.setdefault(
        (item["displayName"], wikidata, number, int(worldwide)), _Entry(set(), set(), set(), is_brand=False)
    )
    entry.kinds.add(f"{key}={value}")
    entry.is_brand |= tree == "brands"
    entry.on_signs.add(_BRACKET.sub("", item["displayName"]))
    entry.on_signs.add(tags.get("name", ""))
    entry.others.update(item.get("matchNames", ()))
    entry.others.update(
        value for tag, value in tags.items() if tag.split(":")[0] in OTHER_NAME_TAGS and not tag.endswith(":wikidata")
    )


def arrays(rows: Sequence[tuple[tuple[Any, ...], _Entry]], places: Sequence[str]) -> list[NDArray[Any]]:
    """What the file holds; `geosleuth.atlas.facts.brands` reads it."""
    by_name: dict[str, list[int]] = defaultdict(list)
    brands = []
    for number, ((name, wikidata, place, worldwide), entry) in enumerate(rows):
        on_signs = {compact(part) for written in entry.on_signs for part in written.split(";")} - {""}
        others = {compact(part) for written in entry.others for part in written.split(";")} - on_signs - {""}
        for key in sorted(on_signs):
            by_name[key].append(2 * number)
        for key in sorted(others):
            by_name[key].append(2 * number + 1)
        kinds = " ".join(sorted(entry.kinds, key=_commonest_first))
        brands.append(
            msgspec.json.encode(BrandRow(name, kinds, wikidata, places[place], worldwide, int(entry.is_brand)))
        )
    names = sorted(by_name, key=len)
    return [
        np.frombuffer(
            SortedRows.encode_table({name: " ".join(map(str, by_name[name])) for name in by_name}), dtype="u1"
        ),
        np.frombuffer("\n".join(names).encode(), dtype="u1"),
        letter_sets(names).astype("<u4"),
        np.array([len(name) for name in names], dtype="<i4"),
        np.frombuffer(b"".join(brands), dtype="u1"),
        np.cumsum([0, *map(len, brands)]).astype("<i8"),
    ]


def _commonest_first(kind: str) -> tuple[int, str]:
    key = kind.split("=", maxsplit=1)[0]
    return (COMMON_KEYS.index(key) if key in COMMON_KEYS else len(COMMON_KEYS), kind)


def _is_whole_region(place: object) -> bool:
    return isinstance(place, str) and not place.endswith(".geojson")


def _resolve(place: Any, shapes: dict[str, frozenset[str]]) -> frozenset[str]:
    if isinstance(place, list):
        lon, lat = place[:2]
        return countries_at(shapely.Point(lon, lat))
    if place.endswith(".geojson"):
        return shapes[place.lower()]
    return countries_in(place)


def _shapes() -> dict[str, frozenset[str]]:
    """Countries of the index's own shapes: by their name where it begins with a country's code, else by position."""
    collection = json.loads(npm_file(PACKAGE, VERSION, "dist/json/featureCollection.min.json"))
    codes = {iso_code(feature) for feature in features()}
    found = {}
    for feature in collection["features"]:
        name = str(feature["id"]).lower()
        code = re.match(r"([a-z]{2})(?:-|\.geojson$)", name)
        if code and code[1].upper() in codes:
            found[name] = frozenset({code[1].upper()})
        else:
            found[name] = countries_at(shapely.make_valid(shape(feature["geometry"])))
    return found


def countries_at(area: Any) -> frozenset[str]:
    """Countries that hold at least a hundredth of an area, so that a coarse outline does not drag neighbours in."""
    tree, codes = _country_shapes()
    hits = [int(number) for number in tree.query(area, predicate="intersects")]
    if area.area == 0:
        return frozenset(codes[number] for number in hits)
    return frozenset(
        codes[number] for number in hits if tree.geometries[number].intersection(area).area >= area.area / 100
    )


_cached: list[tuple[Any, list[str]]] = []


def _country_shapes() -> tuple[Any, list[str]]:
    if not _cached:
        borders = json.loads(npm_file("@rapideditor/country-coder", CODER_VERSION, "src/data/borders.json"))
        drawn = [feature for feature in borders["features"] if feature["geometry"]]
        geometries = [shapely.make_valid(shape(feature["geometry"])) for feature in drawn]
        _cached.append((shapely.STRtree(geometries), [iso_code(feature["properties"]) for feature in drawn]))
    return _cached[0]


if __name__ == "__main__":
    main()
