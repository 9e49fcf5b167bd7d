"""Import Natural Earth files: named ranges, islands, lakes, rivers, peaks, capes and seas with their shapes.

A file is GeoJSON, optionally compressed with gzip; a folder of such files becomes one gazetteer. Features are read one
at a time. Those without a name or a valid shape are counted and skipped.
"""

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final

import shapely

from geosleuth.atlas.regions import RegionInfo, RegionStore, region_name
from geosleuth.atlas.regions.region_file import Progress, check_readable, no_progress
from geosleuth.geo.extent import repair
from geosleuth.support.errors import BadFile, BadInput

from .gazetteer_file import MAX_NAME_CHARS, GazetteerRow, GazetteerWriter, writing_gazetteer

SUFFIXES: Final = (".geojson", ".geojson.gz", ".json", ".json.gz")
MAX_BYTES: Final = 2 << 30
_MAX_FEATURE: Final = 64 << 20
_BLOCK_BYTES: Final = 1 << 20
_MAX_POINTS: Final = 2_000_000
_FIRST_OWN_NUMBER: Final = 1 << 40  # for features without a number; those of Natural Earth have ten digits

_KINDS: Final = {
    "range/mtn": "range", "mountain": "peak", "spot elevation": "peak", "foothills": "range", "island": "island",
    "island group": "island group", "pen/cape": "peninsula", "peninsula": "peninsula", "isthmus": "peninsula",
    "cape": "cape", "plateau": "plateau", "desert": "desert", "plain": "plain", "lowland": "plain", "basin": "plain",
    "delta": "wetland", "wetlands": "wetland", "tundra": "plain", "valley": "valley", "gorge": "valley",
    "depression": "valley", "pass": "pass", "coast": "coast", "continent": "continent", "geoarea": "area",
    "lake": "lake", "alkaline lake": "lake", "reservoir": "reservoir", "playa": "lake", "river": "river",
    "lake centerline": "river", "river (intermittent)": "river", "canal": "canal", "waterfall": "waterfall",
    "ocean": "ocean", "sea": "sea", "gulf": "gulf", "bay": "bay", "strait": "strait", "sound": "strait",
    "channel": "strait", "lagoon": "lagoon", "fjord": "fjord", "inlet": "bay", "reef": "reef", "generic": "bay",
    "national park service": "park", "glaciated areas": "glacier", "populated place": "city", "pole": "area",
}  # fmt: skip
_NAME_KEYS: Final = ("label", "name_abb", "name_alt", "namealt", "name_local", "nameascii", "unit_name", "note_name")
_DRAWN: Final = frozenset({"lake", "reservoir", "river", "canal"})
_SMALL_WORDS: Final = frozenset({"Of", "The", "De", "Do", "Da", "Du", "Des", "And", "La", "El"})
_MALFORMED_ERRORS: Final = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, shapely.errors.ShapelyError, RecursionError,
)  # fmt: skip


def import_natural_earth(
    path: Path, name: str | None = None, *, folder: Path, progress: Progress | None = None
) -> RegionInfo:
    """Import a Natural Earth file, or all in a folder, as a gazetteer; one of the same name is replaced at the end.

    Raises:
        BadInput: a file is missing, not GeoJSON, or decompresses to too much; nothing has been changed then.
    """
    files = list_files(path)
    if not files:
        raise BadInput(f"{path} holds no Natural Earth file (.geojson or .geojson.gz)")
    report = progress or no_progress
    called = region_name(name, path)
    digest = sha256()
    with writing_gazetteer(folder, called) as writer:
        for at, file in enumerate(files):
            check_readable(file)
            for feature in _features(file, digest.update):
                _add(writer, feature)
            writer.flush()
            report(f"reading {file.name}", at + 1, len(files))
        writer.finish(
            {
                "name": called,
                "kind": "naturalearth",
                "source": path.name,
                "sha256": digest.hexdigest(),
                "licence": "public domain",
                "attribution": "Made with Natural Earth",
            },
            report,
        )
    return RegionStore(folder).info(called)


def list_files(path: Path) -> list[Path]:
    """Return the file itself, or the Natural Earth files of a folder."""
    found = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in found if file.name.lower().endswith(SUFFIXES)]


def _features(path: Path, on_block: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the features of a file one at a time; ``on_block`` is called with each decompressed block."""
    open_file: Any = partial(gzip.open, path, "rb") if path.name.lower().endswith(".gz") else partial(path.open, "rb")
    try:
        with open_file() as stream:
            yield from _parse_features(path, stream, on_block)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadFile(path, f"can't be read ({error})", "download it again") from error


def _parse_features(path: Path, stream: IO[bytes], on_block: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the features of a GeoJSON collection as they are read, so that only one is in memory."""
    decoder, decode = json.JSONDecoder(), codecs.getincrementaldecoder("utf-8")()
    text, at, read, wanted = "", -1, 0, _BLOCK_BYTES
    while True:
        block = stream.read(wanted)
        on_block(block)
        read += len(block)
        if read > MAX_BYTES:
            raise BadFile(path, f"unpacks to more than {MAX_BYTES >> 30} GB", "it was not added")
        text += decode.decode(block, final=not block)
        if at < 0:
            begin = text.find('"features"')
            at = text.find("[", begin) + 1 if begin >= 0 else 0
            if at <= 0:
                if not block or len(text) > _MAX_FEATURE:
                    raise BadFile(path, "is no GeoJSON collection of features")
                at = -1
                continue
        while True:
            at = _skip_separators(text, at)
            if text[at : at + 1] == "]":
                return
            try:
                found, at = decoder.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                # Only truncated text may continue in the next block; other errors, such as too long a number, may not.
                if not block or len(text) - at > _MAX_FEATURE or not isinstance(error, json.JSONDecodeError):
                    raise BadFile(path, f"is cut short, or no GeoJSON ({error})") from error
                break
            yield found
        text, at = text[at:], 0
        wanted = max(_BLOCK_BYTES, len(text))  # doubles, so that a feature of many blocks is not parsed anew for each


def _skip_separators(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at


def _add(writer: GazetteerWriter, feature: Any) -> None:
    if not isinstance(feature, Mapping) or not isinstance(feature.get("properties"), Mapping):
        writer.refuse("no properties")
        return
    properties = {str(key).lower(): value for key, value in feature["properties"].items()}
    names = _read_feature_names(properties)
    if not names:
        writer.refuse("no name")
        return
    try:
        shape = _shape(feature["geometry"])
    except _MALFORMED_ERRORS:
        writer.refuse("no shape")
        return
    kind = _KINDS.get(str(properties.get("featurecla", "")).lower(), "area")
    rank = properties.get("scalerank")
    rank = float(rank) if isinstance(rank, int | float) and 0 <= rank <= 12 else 8.0
    point = shape if shape.geom_type == "Point" else _middle(shape)
    height = properties.get("elevation")
    number = properties.get("ne_id")
    if not (isinstance(number, int) and 0 < number < _FIRST_OWN_NUMBER):
        number = _own_number(names[0], kind, point)
    writer.add(
        GazetteerRow(
            number, names[0], kind, point.y, point.x, 1.0 - 0.06 * rank, names[1:],
            elevation=round(height) if isinstance(height, int | float) and abs(height) < 12_000 else None,
        )
    )  # fmt: skip
    if shape.geom_type != "Point":
        writer.add_area(number, shape)
    if kind in _DRAWN:
        writer.add_shape("water", 1, names[0], shape)
    else:
        writer.add_shape("place", _label_rank(kind, rank), names[0], point)


def _read_feature_names(properties: Mapping[str, Any]) -> list[str]:
    """Return the main name, then those in other languages; names in capitals are converted to title case."""
    keys = ("name", "name_en", *_NAME_KEYS, *sorted(key for key in properties if key.startswith("name_")))
    found: dict[str, None] = {}
    for key in keys:
        value = properties.get(key)
        if isinstance(value, str) and value.strip() and len(value) <= MAX_NAME_CHARS:
            text = value.strip()
            found[_as_a_name(text) if text.isupper() and len(text) > 3 else text] = None
    return list(found)


def _as_a_name(text: str) -> str:
    words = text.title().split(" ")
    return " ".join(word.lower() if at and word in _SMALL_WORDS else word for at, word in enumerate(words))


def _shape(geometry: Any) -> shapely.Geometry:
    """Parse a geometry, and repair it if it is invalid.

    Raises:
        ValueError, TypeError, KeyError, ShapelyError: it is malformed or not on Earth.
    """
    if _count_points(geometry["coordinates"]) > _MAX_POINTS:
        raise ValueError("too many points")
    shape: shapely.Geometry = shapely.force_2d(shapely.geometry.shape(geometry))
    west, south, east, north = shapely.bounds(shape).tolist()
    if shape.is_empty or not (-180.001 <= west <= east <= 180.001 and -90.001 <= south <= north <= 90.001):
        raise ValueError("nowhere on Earth")
    return repair(shape)


def _count_points(coordinates: Any) -> int:
    if not isinstance(coordinates, list):
        raise TypeError("no coordinates")
    if coordinates and isinstance(coordinates[0], list):
        return sum(map(_count_points, coordinates))
    return 1


def _middle(shape: shapely.Geometry) -> shapely.Point:
    """Return a point inside a shape's largest part, or half-way along its longest line."""
    parts = shapely.get_parts(shape)
    sizes = shapely.area(parts) if shapely.get_dimensions(shape) == 2 else shapely.length(parts)
    largest = parts[int(sizes.argmax())]
    if largest.geom_type == "LineString":
        return largest.interpolate(0.5, normalized=True)
    return shapely.point_on_surface(largest)


def _own_number(name: str, kind: str, point: shapely.Point) -> int:
    """Return a number for a feature without one; the same feature gets the same number in every import."""
    key = f"{name}|{kind}|{point.x:.2f}|{point.y:.2f}".encode()
    return _FIRST_OWN_NUMBER + int.from_bytes(sha256(key).digest()[:4], "big")


def _label_rank(kind: str, rank: float) -> int:
    """Return the rank by which a map labels a feature, as for places in a region file."""
    large = kind in ("ocean", "sea", "continent", "range", "desert", "gulf", "island group")
    return max(1, min(5, round(rank / 2) + (0 if large else 1)))
