"""Sets of a table and a folder of photos: Im2GPS3k, YFCC4k, YFCC26k, GeoGlobe, IMAGEO-Bench, OpenStreetView-5M.

The tables have ``IMG_ID, AUTHOR, LAT, LON, S3_Label, S16_Label, S365_Label, Prob_indoor, Prob_natural, Prob_urban``.
The first published table of Im2GPS3k has LAT and LON swapped; it is recognised and corrected.

GeoGlobe's names cities and gives no points: the truth's point is that of the place that they name, see
`geosleuth.atlas.placing`.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput

from .archives import BadName, Shelf
from .cards import CARDS
from .dataset import Card, DataSet, Entry, Fault, Item, Part, Strict
from .table_rows import (
    Row,
    TableColumns,
    build_entry,
    check_header,
    clean_text,
    collect_fields,
    degrees,
    flatten_row,
    parse_text,
    parse_truth,
    pick,
    read_header,
    read_rows,
    table_entries,
)

if TYPE_CHECKING:
    from geosleuth.atlas.placing import Placement

_SCENES = {"0": "indoor", "1": "natural", "2": "urban"}
_COLUMNS = TableColumns(
    image=("IMG_ID", "img_id", "image_id"),
    id=("IMG_ID", "img_id", "image_id"),
    left_out=("AUTHOR", "Prob_indoor", "Prob_natural", "Prob_urban", "S3_Label"),
)
_EXCHANGED = replace(_COLUMNS, lat=_COLUMNS.lon, lon=_COLUMNS.lat)

_GEOGLOBE_COLUMNS = TableColumns(image=("images",), id=("index",), left_out=("index",))
# Field for the precision at which a true place in words was geocoded: "town", "feature", "region" …
TRUTH_LEVEL = "truth_level"
_IMAGEO_COLUMNS = TableColumns(
    image=("image_id",),
    id=("image_id",),
    region=("state",),
    left_out=(
        "name", "address", "gmap_id", "description", "url", "hours", "misc", "relative_results", "street", "orig_id",
        "img_path", "sequence_id", "sequence_index", "datetime_local", "city_id", "label_method", "category",
        "category_list", "avg_rating", "num_of_reviews", "price",
    ),
)  # fmt: skip
_TABLE_FOLDERS = ("", "data", "analysis", "IMAGEO-Bench-datasets")
_IMAGEO2_TESTS = 902
_MP16_COLUMNS = TableColumns(
    image=("file", "IMG_ID"),
    id=("IMG_ID",),
    region=("state", "region"),
    left_out=("neighbourhood", "county", "region", "AUTHOR", "Prob_indoor", "Prob_natural", "Prob_urban", "S3_Label"),
)
_GEOCOMP_COLUMNS = TableColumns(
    image=("image", "image_path", "file", "panoId", "pano_id"), id=("panoId", "pano_id", "id")
)
_FOLDERS: Mapping[Part, int] = {"test": 5, "train": 98}
_OSV5M_COLUMNS = TableColumns(
    image=("file", "id"),
    id=("id",),
    country=("country", "unique_country"),
    region=("region",),
    city=("city",),
    left_out=(
        "thumb_original_url", "sequence", "captured_at", "creator_username", "creator_id", "cell", "lat_bin", "lon_bin",
        "unique_country", "unique_region", "unique_sub-region", "unique_city", "quadtree_10_500", "quadtree_10_1000",
        "quadtree_10_2500", "quadtree_10_5000", "quadtree_10_12500", "quadtree_10_25000", "quadtree_10_50000",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Layout:
    tables: tuple[str, ...]
    folders: tuple[str, ...]


_LAYOUTS = {
    "im2gps3k": _Layout(
        ("im2gps3k_places365.csv", "im2gps3ktest.csv", "im2gps3k.csv"), ("images", "im2gps3ktest", "im2gps3k", "")
    ),
    "yfcc4k": _Layout(
        ("yfcc4k_places365.csv", "0aaaa.r.imagedata.txt", "yfcc4k.csv"), ("images", "yfcc4k", "yfcc4k/yfcc4k", "")
    ),
    "yfcc26k": _Layout(
        ("yfcc25600_places365.csv", "yfcc26k.csv"),
        ("images/yfcc25600", "images", "yfcc25600", "yfcc25600/images", "yfcc26k", ""),
    ),
}


def open_flickr(name: str, path: Path, photos: Path | None = None) -> DataSet:
    """Open Im2GPS3k, YFCC4k or YFCC26k: a table or the authors' own list, and photos as files or packed.

    Raises:
        BadInput: there is no table.
    """
    layout = _LAYOUTS[name]
    table = find_table(path, layout.tables)
    shelf = Shelf(photos or table.parent, layout.folders)
    card = CARDS[name]
    if table.suffix == ".txt":
        return DataSet(card, table.parent, Strict(lambda: _read_photo_list(table, shelf)))
    check_header(table, _COLUMNS)
    columns = _COLUMNS
    if _is_exchanged(table):
        columns = _EXCHANGED
        card = _with_note(
            card, f"{table.name} on this disk has LAT and LON exchanged; they are read the right way round"
        )
    return DataSet(card, table.parent, Strict(lambda: table_entries(table, shelf, columns, change=_with_scene)))


def find_table(path: Path, names: tuple[str, ...], within: tuple[str, ...] = ("", "metadata", "meta")) -> Path:
    """Return the first existing table in a folder or one of its usual subfolders; a file is taken as it is.

    Raises:
        BadInput: there is none; the message names what was looked for.
    """
    if path.is_file():
        return path
    for folder in within:
        for name in names:
            if (path / folder / name).is_file():
                return path / folder / name
    raise BadInput(f"{path}: nothing found; looked for {' or '.join(names)}, see the data set's card")


def _with_note(card: Card, note: str) -> Card:
    return replace(card, faults=(*card.faults, note))


def _is_exchanged(table: Path) -> bool:
    """Return whether latitude and longitude are swapped.

    Some LAT is impossible while every LON is a possible latitude.
    """
    impossible = False
    for _, row in read_rows(table):
        if isinstance(row, Fault):
            continue
        try:
            lat, lon = degrees(row.get("LAT"), "LAT"), degrees(row.get("LON"), "LON")
        except ValueError:
            continue
        if abs(lon) > 90:
            return False
        impossible |= abs(lat) > 90
    return impossible


def _with_scene(row: Row) -> Row:
    scene = _SCENES.get(str(row.get("S3_Label", "")).strip())
    surroundings = "natural" if scene == "natural" else "man-made"
    return {**row, "scene": scene, "surroundings": surroundings} if scene else row


def _read_photo_list(table: Path, shelf: Shelf) -> Iterator[Entry]:
    """Read the authors' list of YFCC4k: a path, a latitude and a longitude per line."""
    known = _COLUMNS.list_names()
    try:
        with table.open(encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, 1):
                parts = line.split()
                if not parts:
                    continue
                if len(parts) < 3:
                    yield Fault(f"{table}:{number}", "a line is a photo's path, a latitude and a longitude")
                    continue
                name = PurePosixPath(parts[0].replace("\\", "/")).stem
                row = {"IMG_ID": name, "LAT": parts[1], "LON": parts[2]}
                yield build_entry(row, f"{table}:{number}", shelf.picture, _COLUMNS, known)
    except OSError as error:
        raise BadInput(f"{table}: can't be read: {error.strerror or error}") from error


def open_geoglobe(path: Path, photos: Path | None = None) -> DataSet:
    """Open all photos of all attractions.

    Raises:
        BadInput: there is no ``location.csv``, or it lacks the columns city, country or images.
    """
    table = find_table(path, ("location.csv",), ("", "data"))
    header = {name.lower() for name in read_header(table)}
    if missing := [name for name in ("city", "country", "images") if name not in header]:
        raise BadInput(f"{table}: no column {missing[0]}: looked for index; city; country; category; images …")
    shelf = Shelf(photos or table.parent, ("pic", "images", ""))
    return DataSet(CARDS["geoglobe"], table.parent, Strict(lambda: _read_geoglobe_entries(table, shelf)))


def _read_geoglobe_entries(table: Path, shelf: Shelf) -> Iterator[Entry]:
    known, place = _GEOGLOBE_COLUMNS.list_names(), _base_placer()
    for number, row in read_rows(table):
        where = f"{table}:{number}"
        if isinstance(row, Fault):
            yield row
            continue
        truth, level = _truth(row, place)
        names = str(row.get("images") or "").split()
        if isinstance(truth, str):
            yield Fault(where, truth, expected=True)
            continue
        fields = collect_fields(flatten_row(row, _GEOGLOBE_COLUMNS), known)
        if made := fields.get("natural_or_human_made"):
            fields["surroundings"] = "natural" if "natur" in made.casefold() else "man-made"
        fields |= {TRUTH_LEVEL: level} if level else {}
        for name in names:
            try:
                yield Item(clean_text(name), shelf.picture(name), truth, fields)
            except BadName as error:
                yield Fault(where, str(error))


def _base_placer() -> Callable[[str], "Placement | None"]:
    """Return a function that places words by the base atlas, so that truths do not depend on added maps."""
    # The atlas takes half a second to import, and only this set needs it.
    from geosleuth.atlas import OfflineAtlas
    from geosleuth.atlas.base.build import base_path
    from geosleuth.atlas.placing import Placer
    from geosleuth.tools.surfaces import Background

    placer, background = Placer(OfflineAtlas(base_path().parent / "no-regions" / "regions")), Background()
    return lambda words: background.run(placer.place(words))


def _truth(row: Row, place: Callable[[str], "Placement | None"]) -> tuple[Truth | str, str]:
    """Return the truth or the reason why there is none, and the level of its place if words give it."""
    cells = flatten_row(row, _GEOGLOBE_COLUMNS)
    if pick(cells, _GEOGLOBE_COLUMNS.lat) is not None:
        try:
            return parse_truth(cells, _GEOGLOBE_COLUMNS), ""
        except ValueError as error:
            return str(error), ""
    city, country = parse_text(pick(cells, _GEOGLOBE_COLUMNS.city)), parse_text(pick(cells, _GEOGLOBE_COLUMNS.country))
    sight = str(pick(cells, ("category",)) or "").removeprefix("Category:").replace("_", " ").strip()
    for name in (city, sight) if country else ():
        found = place(f"{name}, {country}") if name else None
        if found is not None and not found.missing and not found.is_area:
            return Truth(found.point, country=clean_text(country or ""), city=clean_text(city or "")), found.level
    return f"no point: the atlas knows neither {city!r} nor {sight!r} in {country!r}"[:200], ""


def open_imageo2_part(part: Part, path: Path, photos: Path | None = None) -> DataSet:
    """Open what Thinking with Map trains or tests on, by a column ``split``; without one by a hash of the ids.

    Raises:
        BadInput: the table is missing.
    """
    whole = open_imageo(2, path, photos)
    card = CARDS[f"imageo2-{part}"]
    if any("split" in item.fields for item in islice(whole, 1)):
        return whole.filter_items(lambda item: (item.fields.get("split") == "test") == (part == "test"), card)
    ids = sorted((entry.id for entry in whole), key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    tests = frozenset(ids[:_IMAGEO2_TESTS])
    return whole.filter_items(lambda item: (item.id in tests) == (part == "test"), card)


def open_mp16_pro(path: Path, photos: Path | None = None) -> DataSet:
    """Open MP16-Pro's table; the photos may be named by their ids with slashes or with underscores.

    Raises:
        BadInput: its table is missing.
    """
    table = find_table(path, ("MP16_Pro_filtered.csv", "MP16_Pro_places365.csv", "mp16_pro.csv"))
    check_header(table, _MP16_COLUMNS)
    shelf = Shelf(photos or table.parent, ("images", "mp16", "mp-16-images", "mp-16", ""))
    first = next((row for _, row in read_rows(table) if not isinstance(row, Fault)), {})
    flat = shelf.picture(str(first.get("IMG_ID", "")).replace("/", "_")).size_bytes() is not None

    def change(row: Row) -> Row:
        name = str(row.get("IMG_ID") or "")
        return _with_scene({**row, "file": name.replace("/", "_") if flat else name})

    return DataSet(
        CARDS["mp16-pro"], table.parent, Strict(lambda: table_entries(table, shelf, _MP16_COLUMNS, change=change))
    )


def open_geocomp(path: Path, photos: Path | None = None) -> DataSet:
    """Open a table of GeoComp.

    Raises:
        BadInput: there is no table, or none of its columns is known.
    """
    table = find_table(path, ("geocomp.csv", "tuxun_combined.csv", "tuxun.csv", "train.csv"), ("", "data"))
    check_header(table, _GEOCOMP_COLUMNS)
    shelf = Shelf(photos or table.parent, ("images", "pano", ""))
    return DataSet(CARDS["geocomp"], table.parent, Strict(lambda: table_entries(table, shelf, _GEOCOMP_COLUMNS)))


def open_imageo(number: int, path: Path, photos: Path | None = None) -> DataSet:
    """Open one of the three.

    Raises:
        BadInput: its table is missing.
    """
    part = f"dataset{number}"
    table = find_table(path, (f"{part}_info.csv", f"{part}.csv"), (*_TABLE_FOLDERS, part))
    check_header(table, _IMAGEO_COLUMNS)
    root = photos or (path if path.is_dir() else path.parent)
    shelf = Shelf(root, (part, f"data/{part}", f"IMAGEO-Bench-datasets/{part}", f"{part}/images", "images", ""))

    def change(row: Row) -> Row:
        # The table of the second has no country: its places are all in the United States.
        return {**row, "country": "United States"} if number == 2 and not row.get("country") else row

    return DataSet(
        CARDS[f"imageo{number}"], root, Strict(lambda: table_entries(table, shelf, _IMAGEO_COLUMNS, change=change))
    )


def open_osv5m(part: Part, path: Path, photos: Path | None = None) -> DataSet:
    """Open the test or the training part; the table alone is enough to describe it.

    Raises:
        BadInput: there is no ``test.csv``, or ``train.csv``.
    """
    table = find_table(path, (f"{part}.csv",), ("", part))
    check_header(table, _OSV5M_COLUMNS)
    root = photos or (table.parent.parent if table.parent.name == part else table.parent)
    below = (f"images/{part}", part, f"{part}/images", f"{part}/{part}", "images", "")
    folders = tuple(f"{folder}/{number:02}" for folder in below[:2] for number in range(_FOLDERS[part]))
    shelf = Shelf(root, (*folders, *below))
    return DataSet(
        CARDS["osv5m" if part == "test" else "osv5m-train"],
        root,
        Strict(lambda: table_entries(table, shelf, _OSV5M_COLUMNS, change=_with_file)),
    )


def _with_file(row: Row) -> Row:
    number = str(row.get("id") or "").strip()
    return {**row, "file": f"{number}.jpg"} if number else row
