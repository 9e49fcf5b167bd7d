"""Compile features of Natural Earth (public domain): scripts/data/natural_earth.txt, in the form of the sights' tables.

    python scripts/build_natural_earth.py FOLDER        # with the layers as geography_*.geojson.gz and lakes.geojson.gz

Mountains, islands, capes, ranges, deserts, lakes and the like, with their names in all languages that there are. A
feature that a table written by hand has already only gives it its names: its row repeats that row's name and place.
"""

import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import shapely

from geosleuth.atlas.base.build import admin1_table
from geosleuth.geo import distance_km
from geosleuth.names import fold
from make_named_places import TABLES, Feature, borders, points_in, read_table

OUT = TABLES / "natural_earth.txt"
_LAYERS = ("geography_regions_elevation_points", "geography_regions_points", "geography_regions_polys", "lakes")
_LANGUAGES = (
    "en",
    "de",
    "es",
    "fr",
    "it",
    "ja",
    "ko",
    "nl",
    "pl",
    "pt",
    "ru",
    "tr",
    "vi",
    "zh",
    "ar",
    "el",
    "id",
    "uk",
)
_KINDS = {
    "mountain": "mountain", "pass": "pass", "cape": "cape", "island": "island", "island group": "islands",
    "waterfall": "waterfall", "range/mtn": "mountain", "plateau": "plateau", "desert": "desert",
    "pen/cape": "peninsula", "peninsula": "peninsula", "geoarea": "area", "coast": "coast", "plain": "plain",
    "delta": "delta", "basin": "area", "valley": "valley", "wetlands": "wetland", "gorge": "gorge", "isthmus": "area",
    "lake": "lake",
    "reservoir": "lake", "alkaline lake": "lake",
}  # fmt: skip
_MISPLACED = frozenset({"Lago di Como"})
"""Rows that Natural Earth has elsewhere: this one lies on Lake Maggiore."""

_WIDEST_KM = 900.0
_POINT_KM = {"mountain": 6.0, "island": 8.0}
_NEAR_KM = 25.0
_ALIKE = {"volcano": "mountain", "rock": "mountain", "hill": "mountain", "islands": "island", "lagoon": "lake"}


def main() -> None:
    """Compile and write."""
    known = defaultdict(list)
    for path in sorted(TABLES.glob("sights_*.txt")):
        for feature in read_table(path):
            for name in feature.names:
                known[fold(name)].append(feature)
    lines = set()
    regions = {(code[:2], fold(name)) for code, (main, _, others) in admin1_table().items() for name in (main, *others)}
    for feature in features(Path(sys.argv[1])):
        same = [
            one
            for name in feature.names
            for one in known[fold(name)]
            if alike(one.kind) == alike(feature.kind)
            and distance_km(one.point, feature.point) <= max(_NEAR_KM, one.radius_km)
        ]
        if not same and regions & {(code, fold(name)) for code in feature.countries for name in feature.names}:
            continue  # "Bretagne" is the region
        if same:
            one = same[0]
            names, where = [one.names[0], *feature.names], one
        else:
            names, where = list(feature.names), feature
        kind = where.kind if same else feature.kind
        row = (kind, "|".join(dict.fromkeys(names)), ",".join(where.countries))
        lines.add(";".join((*row, f"{where.lat:.3f}", f"{where.lon:.3f}", f"{where.radius_km:g}")) + "\n")
    OUT.write_text("# kind;name|other names;country codes;latitude;longitude;radius in km\n" + "".join(sorted(lines)))
    print(f"{OUT.name}: {len(lines)} features")


def alike(kind: str) -> str:
    """A kind that stands for all that go by the same names."""
    return _ALIKE.get(kind, kind)


def features(folder: Path) -> Iterator[Feature]:
    """The named features of the layers that lie in a country."""
    for layer in _LAYERS:
        for row in json.loads(gzip.decompress((folder / f"{layer}.geojson.gz").read_bytes()))["features"]:
            about = {key.lower(): value for key, value in row["properties"].items()}
            kind, names = _KINDS.get(str(about["featurecla"]).lower()), names_of(about)
            if kind is None or not names or names[0] in _MISPLACED:
                continue
            if kind == "lake" and "lake" not in fold(names[0]) and "lago" not in fold(names[0]):
                names[0] = f"{names[0]} Reservoir" if about["featurecla"] == "Reservoir" else f"Lake {names[0]}"
            feature = measured(kind, tuple(names), shapely.geometry.shape(row["geometry"]))
            if feature.countries and feature.radius_km <= _WIDEST_KM:
                yield feature


def names_of(about: dict[str, Any]) -> list[str]:
    """The names of a feature, the English one first, without abbreviations and shouting."""
    names = [about.get("name"), *(about.get(f"name_{language}") for language in _LANGUAGES)]
    plain = [" ".join(name.replace(";", ",").replace("|", "/").split()) for name in names if name]
    plain = [name.replace("Mt. ", "Mount ").replace("I. ", "Island ").replace("Pk.", "Peak") for name in plain]
    return list(dict.fromkeys(name.title() if name.isupper() and name.isascii() else name for name in plain))


def measured(kind: str, names: tuple[str, ...], shape: Any) -> Feature:
    """A feature with its middle, its size and the countries that it lies in, the largest share first."""
    west, south, east, north = shape.bounds
    middle = shape.centroid
    if shape.area and not shapely.contains(shape, middle):
        middle = shape.representative_point()
    corners = [(lat, lon) for lat in (south, north) for lon in (west, east)]
    plain = Feature(kind, names, (), middle.y, middle.x, 0.0)
    far = max(distance_km(plain.point, type(plain.point)(lat, lon)) for lat, lon in corners)
    radius_km = _POINT_KM.get(kind, 5.0) if shape.geom_type == "Point" else max(1.0, 0.9 * far)
    around = Feature(kind, names, (), middle.y, middle.x, radius_km)
    found = Counter(code for code in borders().countries(*points_in(around)).tolist() if code)
    countries = tuple(code for code, _ in found.most_common(8))
    return Feature(kind, names, countries, middle.y, middle.x, round(radius_km, 1))


if __name__ == "__main__":
    main()
