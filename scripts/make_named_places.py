"""Compile parks, islands, lakes, sights and second-level units: src/geosleuth/atlas/base/data/named_places.zip.

    python scripts/make_named_places.py [--check]

- sights, parks, islands and other features of all continents, written by hand: the tables ``data/sights_*.txt``;
- mountains, islands, lakes and the like: ``data/natural_earth.txt``, from scripts/build_natural_earth.py;
- counties, districts, provinces and the like: ``data/units.txt.gz``, from scripts/build_units.py.

Each row of a table: kind; name and other names; countries, the main one first; latitude; longitude; radius in km. A
feature belongs to all first-level regions within its radius in these countries, so that "Lake Tahoe, Nevada" and
"Lake Tahoe, California" are both found. ``--check`` lists the features that lie in none of their countries.
Names are folded and sorted here. Run it again when a table or folding changes; a test says so.
"""

import argparse
import gzip
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import cos, pi, radians, sin
from pathlib import Path
from typing import Any

from build_base_tables import SRC, table_of
from geosleuth.atlas.base.build import LANDMARK, UNIT
from geosleuth.atlas.base.packed_tables import NAMED_PLACES_FILE, pack_tables
from geosleuth.atlas.borders import Borders
from geosleuth.atlas.parts import town_names, unit_names
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import fold

TABLES = Path(__file__).parent / "data"
UNITS, NATURAL_EARTH = TABLES / "units.txt.gz", TABLES / "natural_earth.txt"
OUT = SRC / "geosleuth/atlas/base/data" / NAMED_PLACES_FILE
_MAKERS = (Path(__file__), SRC / "geosleuth/names/folding.py", SRC / "geosleuth/atlas/parts.py")

NEAR_KM = 30.0
"""How far from its country's land a feature may lie: islets, straits and reefs are missing in the borders."""

MAX_REGIONS = 12
"""Of features over more regions than this, only the countries are kept."""

FAME, WIDE_FAME, WORLD_FAME = 30_000, 60_000, 200_000
"""As well known as a town of so many people: a sight, one of 5 km and more, one that has a name in another script."""

_WIDE_KM = 5.0
_RINGS, _SPOKES = (0.3, 0.6, 0.85), 12

_OTHER_FORMS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "park": [(r"(.+) National Park", ("Parque Nacional {}", "Parque Nacional de {}", "Parc national {}",
                                      "Parc national de {}", "Nationalpark {}", "Parco Nazionale {}", "{} NP"))],
    "lake": [(r"Lake (.+)", ("{} Lake", "Lac {}", "Lago {}", "Lago de {}", "Lago di {}")),
             (r"(.+) Lake", ("Lake {}",))],
    "island": [(r"(?:Isle of|Isla|Île|Ilha|Pulau|Ko) (.+)", ("{} Island", "Island of {}")),
               (r"(.+) Island", ("Isla {}", "Isle of {}", "Island of {}", "Île {}")),
               (r"([^ ]+)", ("{} Island", "Isle of {}", "Island of {}"))],
    "mountain": [(r"Mount (.+)", ("Mt {}", "Monte {}", "Mont {}")), (r"(.+) Mountains", ("{} Range",))],
    "volcano": [(r"Mount (.+)", ("Mt {}", "Monte {}", "{} Volcano"))],
}  # fmt: skip
"""Other forms of the main name by kind, as people of other languages write it."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A named feature before it is packed."""

    kind: str
    names: tuple[str, ...]
    countries: tuple[str, ...]
    lat: float
    lon: float
    radius_km: float
    regions: tuple[str, ...] = ()
    most_fame: int = WORLD_FAME

    @property
    def point(self) -> LatLon:
        """Its middle."""
        return LatLon(self.lat, self.lon)

    @property
    def fame(self) -> int:
        """The population of a town that is as well known."""
        return min(self.most_fame, self._fame)

    @property
    def _fame(self) -> int:
        if any(not name.isascii() and any(ord(letter) > 0x24F for letter in name) for name in self.names):
            return WORLD_FAME
        return WIDE_FAME if self.radius_km >= _WIDE_KM else FAME


def main() -> None:
    """Compile and write, or check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="list features outside their countries, and write nothing")
    features = list(sights())
    if parser.parse_args().check:
        sys.exit("\n".join(map(str, filter(is_astray, features))) or None)
    places = [*rows([*features, *natural_earth()]), *units()]
    data = pack_tables(table_of(places), sources())
    OUT.write_bytes(data)
    print(f"{NAMED_PLACES_FILE}: {len(features)} features, {len(places)} places, {len(data)} bytes")


def sources() -> str:
    """What the table is made from: digests of our own files."""
    return " ".join(
        hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in (*sight_tables(), NATURAL_EARTH, UNITS, *_MAKERS)
    )


def sight_tables() -> list[Path]:
    """The tables written by hand."""
    return sorted(TABLES.glob("sights_*.txt"))


def sights() -> Iterator[Feature]:
    """The features of the tables written by hand."""
    for path in sight_tables():
        yield from read_table(path)


def natural_earth() -> Iterator[Feature]:
    """The features of Natural Earth, no better known than a small town: nobody chose them for their fame."""
    for feature in read_table(NATURAL_EARTH):
        yield replace(feature, most_fame=FAME)


def read_table(path: Path) -> Iterator[Feature]:
    """The features of a table of text."""
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            continue
        kind, names, countries, lat, lon, radius_km = line.split(";")
        codes = tuple(code for code in countries.split(",") if code)
        yield Feature(kind, tuple(names.split("|")), codes, float(lat), float(lon), float(radius_km))


def rows(features: Iterable[Feature]) -> Iterator[dict[str, Any]]:
    """The rows of the packed table; a feature twice in the tables counts once, with the names of both."""
    listed: dict[str, Feature] = {}
    for feature in features:
        ref = f"{feature.kind}:{feature.countries[0].lower()}-{fold(feature.names[0]).replace(' ', '-')}"
        known = listed.setdefault(ref, feature)
        if distance_km(known.point, feature.point) <= max(NEAR_KM, known.radius_km):
            listed[ref] = replace(known, names=tuple(dict.fromkeys((*known.names, *feature.names))))
    for ref, feature in listed.items():
        name, *others = feature.names
        where = " ".join(feature.regions or regions_of(feature))
        yield {
            "row": (ref, name, LANDMARK, feature.countries[0], where, feature.lat, feature.lon, feature.fame),
            "names": [*others, *other_forms(feature.kind, feature.names)],
            "radius_hm": max(1, round(10 * feature.radius_km)),
        }


def units() -> Iterator[dict[str, Any]]:
    """The rows of the packed table for second-level units, called by their full names and by their bare ones."""
    for line in gzip.decompress(UNITS.read_bytes()).decode().splitlines():
        code, names, lat, lon, radius_km, thousands = line.split(";")
        country, region, _ = code.split(".", 2)
        name, *others = names.split("|")
        # Nobody calls Orange County "Orange"; its towns are called so.
        bare = [] if country == "US" else bare_names(name)
        yield {
            "row": (f"county:{code}", name, UNIT, country, region, float(lat), float(lon), 100 * int(thousands)),
            "names": [*others, *bare],
            "radius_hm": 10 * int(radius_km),
        }


def bare_names(name: str) -> list[str]:
    """The name of a unit without the words for its kind, with and without its article; none without such words."""
    return [bare for bare in (*unit_names(name), *town_names(name)) if bare in name and bare != name]


def other_forms(kind: str, names: Iterable[str]) -> Iterator[str]:
    """Other forms of names in Latin letters: "Lac Superior" for "Lake Superior"."""
    for name in names:
        for pattern, forms in _OTHER_FORMS.get(kind, []):
            if (found := re.fullmatch(pattern, name)) and name.isascii():
                yield from (form.format(found[1]) for form in forms)
                break


def regions_of(feature: Feature) -> list[str]:
    """Codes of the first-level regions in a feature, the main country's first; "AQ." for a country without regions."""
    found = borders().lookup(*points_in(feature))
    codes = set()
    for number in set(found.tolist()) - {0}:
        region = borders().regions[number]
        if region.country in feature.countries:
            codes.add(region.geonames or f"{region.country}.")
    missing = set(feature.countries) - {code[:2] for code in codes}
    codes |= {f"{country}." for country in missing}
    if len(codes) > MAX_REGIONS:
        codes = {f"{code[:2]}." for code in codes}
    return sorted(codes, key=lambda code: (feature.countries.index(code[:2]), code))


def is_astray(feature: Feature) -> bool:
    """Whether no point of a feature, and none nearby, lies in any of its countries."""
    if feature.names[0] in _FAR_AT_SEA:
        return False
    near = borders().countries(*points_in(feature, margin_km=NEAR_KM if feature.kind in _AT_SEA else 2.0))
    return not set(feature.countries) & set(near.tolist())


_AT_SEA = frozenset({"island", "islands", "reef", "sea", "atoll", "lagoon", "trench", "bay", "strait"})
_FAR_AT_SEA = frozenset(
    {"Hunga Tonga–Hunga Haʻapai", "Mariana Trench", "Dry Tortugas National Park", "Dokdo", "Krakatoa"}
)
"""Features whose islets the borders do not have."""


def points_in(feature: Feature, margin_km: float = 0.0) -> tuple[list[float], list[float]]:
    """Latitudes and longitudes of its middle and of points around it."""
    lats, lons = [feature.lat], [feature.lon]
    for ring in _RINGS:
        reach_deg = ring * (feature.radius_km + margin_km) / 111.2
        for spoke in range(_SPOKES):
            angle = 2 * pi * spoke / _SPOKES
            lats.append(max(-90.0, min(90.0, feature.lat + reach_deg * cos(angle))))
            lon = feature.lon + reach_deg * sin(angle) / max(0.02, cos(radians(feature.lat)))
            lons.append((lon + 180) % 360 - 180)
    return lats, lons


@cache
def borders() -> Borders:
    """The borders that come with the package."""
    return Borders.load()


if __name__ == "__main__":
    main()
