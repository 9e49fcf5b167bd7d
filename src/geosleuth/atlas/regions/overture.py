"""Import Overture Maps places from GeoParquet files."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from struct import unpack_from
from typing import Any, Final

from geosleuth.atlas.search import ATTRIBUTE, MAIN, OTHER
from geosleuth.support.errors import BadFile, require

from .feature_kinds import estimate_rank
from .region_file import Progress, check_readable, compute_digest, no_progress, region_name
from .region_store import RegionInfo, RegionStore
from .region_writer import FeatureRow, RegionWriter, open_writer
from .tags import MAX_TEXT_CHARS

_BATCH_ROWS: Final = 5_000
COLUMNS: Final = (
    "id", "names", "categories", "addresses", "phones", "websites", "emails", "socials", "brand", "geometry", "bbox",
    "confidence", "basic_category", "taxonomy",
)  # fmt: skip
_REQUIRED: Final = ("id", "names")

# OpenStreetMap kinds of Overture categories, so that a search by category finds both.
_OSM_KINDS: Final = {
    "bakery": "shop=bakery", "bank": "amenity=bank", "atms": "amenity=atm", "bar": "amenity=bar", "pub": "amenity=pub",
    "beach": "natural=beach", "cafe": "amenity=cafe", "coffee_shop": "amenity=cafe", "church_cathedral":
    "amenity=place_of_worship",
    "mosque": "amenity=place_of_worship", "synagogue": "amenity=place_of_worship", "convenience_store":
    "shop=convenience",
    "dentist": "amenity=dentist", "doctor": "amenity=doctors", "fast_food_restaurant": "amenity=fast_food",
    "fire_department": "amenity=fire_station", "flowers_and_gifts_shop": "shop=florist", "gas_station": "amenity=fuel",
    "grocery_store": "shop=supermarket", "supermarket": "shop=supermarket", "gym": "leisure=fitness_centre",
    "hair_salon": "shop=hairdresser", "hospital": "amenity=hospital", "hotel": "tourism=hotel", "library":
    "amenity=library",
    "museum": "tourism=museum", "park": "leisure=park", "parking": "amenity=parking", "pharmacy": "amenity=pharmacy",
    "police_department": "amenity=police", "post_office": "amenity=post_office", "restaurant": "amenity=restaurant",
    "school": "amenity=school", "shopping_center": "shop=mall", "train_station": "railway=station",
    "bus_station": "amenity=bus_station", "airport": "aeroway=aerodrome", "college_university": "amenity=university",
    "movie_theater": "amenity=cinema", "theatre": "amenity=theatre", "town_hall": "amenity=townhall",
}  # fmt: skip

_EDGES: Final = ("xmin", "ymin", "xmax", "ymax")


def import_overture(
    path: Path,
    name: str | None = None,
    *,
    folder: Path,
    progress: Progress | None = None,
    origin: Mapping[str, str] | None = None,
) -> RegionInfo:
    """Import Overture places from a GeoParquet file; they replace a region of the same name.

    ``origin`` holds metadata about the source of the file: see `geosleuth.atlas.regions.region_file`.

    Raises:
        BadInput: the file is missing or has no Overture places. No region has been changed.
        MissingExtra: pyarrow is not installed.
    """
    parquet = require("pyarrow.parquet", extra="atlas")
    region = region_name(name, path)
    report = progress or no_progress
    check_readable(path)
    digest = compute_digest(path, report)
    with _errors_explained(path):
        source = parquet.ParquetFile(path)
        present = source.schema_arrow.names
        missing = [column for column in _REQUIRED if column not in present]
        if missing or not ({"geometry", "bbox"} & set(present)):
            lacking = ", ".join(missing) or "geometry"
            raise BadFile(path, f"is not an Overture places file: it has no column {lacking}")
        total, done = source.metadata.num_rows, 0
    if not total:
        raise BadFile(path, "holds no places")
    with open_writer(folder, region) as writer, _errors_explained(path):
        for batch in source.iter_batches(_BATCH_ROWS, columns=[column for column in COLUMNS if column in present]):
            for row in batch.to_pylist():
                _add_place(writer, row)
            done += len(batch)
            report("reading", done, total)
        if not writer.counts["features"]:
            raise BadFile(path, "holds no place with a position")
        report("indexing", 0, 1)
        writer.finish(
            {
                "name": region,
                "kind": "overture",
                "source": path.name,
                "sha256": digest,
                "licence": "CDLA-Permissive-2.0",
                "attribution": "© Overture Maps Foundation, overturemaps.org",
                **(origin or {}),
            }
        )
        report("indexing", 1, 1)
    return RegionStore(folder).info(region)


def _add_place(writer: RegionWriter, row: Mapping[str, Any]) -> None:
    """Add a place as a feature, unless it lacks an id or a position."""
    at = _position(row)
    names = row.get("names") or {}
    primary = str(names.get("primary") or "").strip()[:MAX_TEXT_CHARS]
    gers_id = str(row.get("id") or "")
    if at is None or not gers_id:
        return
    tags = _tags(row, primary)
    kind = _build_kind(row)
    address = tags.get("addr:full")
    roles: dict[str, int] = {primary: MAIN} if primary else {}  # by text to find it by
    for text in _other_names(row):
        roles.setdefault(text[:MAX_TEXT_CHARS], OTHER)
    for text in (*(row.get("phones") or ()), *(row.get("websites") or ()), *(row.get("emails") or ())):
        if text:
            roles.setdefault(str(text).strip()[:MAX_TEXT_CHARS], ATTRIBUTE)
    confidence = row.get("confidence")
    rank = estimate_rank(kind, {}) * (0.5 + 0.5 * (confidence if isinstance(confidence, float) else 0.5))
    lat, lon = at
    writer.add_feature(
        FeatureRow(
            gers_id, primary, kind, at, (lat, lon, lat, lon), rank, address,
            json.dumps(tags, ensure_ascii=False, sort_keys=True, separators=(",", ":")), list(roles.items()),
        ),
        {},
    )  # fmt: skip


def _build_kind(row: Mapping[str, Any]) -> str:
    category = (row.get("categories") or {}).get("primary") or row.get("basic_category")
    word = str(category or (row.get("taxonomy") or {}).get("primary") or "place")
    return _OSM_KINDS.get(word, f"overture={word}")


def _other_names(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield names in other languages, by other rules, and of the brand."""
    for names in (row.get("names") or {}, (row.get("brand") or {}).get("names") or {}):
        primary = names.get("primary")
        if primary:
            yield str(primary).strip()
        yield from _values(names.get("common"))
        for rule in names.get("rules") or ():
            if rule and rule.get("value"):
                yield str(rule["value"]).strip()


def _values(common: object) -> list[str]:
    """Return the values of a map column (a list of pairs) or of a struct (a mapping)."""
    if isinstance(common, Mapping):
        return [str(value).strip() for value in common.values() if value]
    if isinstance(common, list):
        return [str(pair[1]).strip() for pair in common if pair and pair[1]]
    return []


def _tags(row: Mapping[str, Any], primary: str) -> dict[str, str]:
    """Return the details of a place under OpenStreetMap keys."""
    tags = {"name": primary} if primary else {}
    for key, column in (("phone", "phones"), ("website", "websites"), ("email", "emails"), ("social", "socials")):
        values = [str(value) for value in row.get(column) or () if value]
        if values:
            tags[key] = "; ".join(values)[:1000]
    brand = ((row.get("brand") or {}).get("names") or {}).get("primary")
    if brand:
        tags["brand"] = str(brand)
    categories = row.get("categories") or {}
    words = [categories.get("primary"), *(categories.get("alternate") or ())]
    if any(words):
        tags["category"] = "; ".join(str(word) for word in words if word)
    addresses = [item for item in row.get("addresses") or () if item]
    if addresses:
        first = addresses[0]
        town = " ".join(str(first[key]) for key in ("postcode", "locality") if first.get(key))
        parts = (first.get("freeform"), town, first.get("region"), first.get("country"))
        tags["addr:full"] = ", ".join(str(part) for part in parts if part)[:MAX_TEXT_CHARS]
        if first.get("country"):
            tags["addr:country"] = str(first["country"])
    if isinstance(row.get("confidence"), float):
        tags["confidence"] = f"{row['confidence']:.3f}"
    return {key: value for key, value in tags.items() if value}


def _position(row: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return latitude and longitude of the WKB point, or else of the middle of the box; None if there is neither."""
    geometry, box = row.get("geometry"), row.get("bbox")
    lat = lon = math.nan
    if isinstance(geometry, bytes) and len(geometry) >= 21:
        order = "<" if geometry[0] == 1 else ">"
        if unpack_from(f"{order}I", geometry, 1)[0] % 1000 == 1:
            lon, lat = unpack_from(f"{order}dd", geometry, 5)
    if math.isnan(lat) and isinstance(box, Mapping) and all(box.get(edge) is not None for edge in _EDGES):
        west, south, east, north = (float(box[edge]) for edge in _EDGES)
        lat, lon = (south + north) / 2, (west + east) / 2
    return (lat, lon) if -90 <= lat <= 90 and -180 <= lon <= 180 else None


@contextmanager
def _errors_explained(path: Path) -> Iterator[None]:
    """Turn errors of pyarrow into a one-line message for the user."""
    arrow = require("pyarrow", extra="atlas")
    try:
        yield
    # A column name that is not UTF-8 raises a ValueError.
    except (arrow.ArrowException, OSError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise BadFile(path, f"can't be read as Parquet ({why})") from error
