"""Import GeoNames dumps: ``allCountries``, one country's or the cities', as text, gzip or zip.

Rows are read one at a time, so memory does not depend on the size of the dump. Malformed rows are counted and skipped;
a file that is compressed further than text can be is refused.
"""

import gzip
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from math import log10
from pathlib import Path
from typing import IO, Final

from geosleuth.atlas.regions import RegionInfo, RegionStore, region_name
from geosleuth.atlas.regions.region_file import Progress, check_readable, compute_digest, no_progress
from geosleuth.names import require_country_code
from geosleuth.support.errors import BadFile

from .gazetteer_file import MAX_NAME_CHARS, MAX_NAMES, GazetteerRow, GazetteerWriter, writing_gazetteer

# Maximum size of a decompressed dump: ten times that of the whole world.
MAX_BYTES: Final = 16 << 30

# Maximum compression ratio. Names and numbers compress to a quarter; a ratio of 100 is no GeoNames dump.
MAX_RATIO: Final = 60

_MAX_LINE_BYTES: Final = 1 << 16
_COLUMNS: Final = 19
_NAME_COLUMNS: Final = range(4, 11)
_REPORT_EVERY: Final = 50_000
_NOT_LANGUAGES: Final = frozenset({"link", "post", "iata", "icao", "faac", "tcid", "unlc", "wkdt", "phon", "abbr"})

_CLASSES: Final = {
    "A": "region", "H": "water", "L": "area", "P": "city", "R": "road", "S": "site", "T": "terrain", "U": "undersea",
    "V": "forest",
}  # fmt: skip
_CODES: Final = {
    "PCLI": "country", "PCLD": "country", "PCLF": "country", "PCLS": "country", "PCL": "country", "PCLIX": "country",
    "CONT": "continent", "PRK": "park", "RES": "park", "RESN": "park", "RESP": "park", "RESW": "park", "RESF": "forest",
    "LK": "lake", "LKS": "lake", "LKI": "lake", "LKSI": "lake", "LKC": "lake", "LKN": "lake", "LKO": "lake",
    "RSV": "reservoir", "RSVI": "reservoir", "RSVT": "reservoir",
    "STM": "river", "STMS": "river", "STMI": "stream", "STMIX": "river", "STMA": "river", "STMD": "river",
    "CNL": "canal", "CNLI": "canal", "CNLN": "canal", "FLLS": "waterfall", "SPNG": "spring", "SPNT": "spring",
    "GLCR": "glacier", "MRSH": "wetland", "SWMP": "wetland", "BOG": "wetland", "WTLD": "wetland", "SEA": "sea",
    "OCN": "ocean", "BAY": "bay", "BAYS": "bay", "COVE": "bay", "BGHT": "bay", "INLT": "bay", "GULF": "gulf",
    "STRT": "strait", "CHN": "strait", "SD": "strait", "FJD": "fjord", "FJDS": "fjord", "LGN": "lagoon",
    "LGNS": "lagoon", "RF": "reef", "RFC": "reef", "HBR": "bay", "ANCH": "bay",
    "MT": "peak", "PK": "peak", "PKS": "peak", "MTS": "range", "RDGE": "range", "HLL": "hill", "HLLS": "hill",
    "VLC": "volcano", "PASS": "pass", "GAP": "pass", "CLF": "cliff", "VAL": "valley", "VALS": "valley",
    "CNYN": "valley", "GRGE": "valley", "PLN": "plain", "PLNS": "plain", "PLAT": "plateau", "DSRT": "desert",
    "ERG": "desert", "ISL": "island", "ISLET": "island", "ISLF": "island", "ISLX": "island", "ISLS": "island group",
    "ATOL": "island", "CAPE": "cape", "PT": "cape", "HDLD": "cape", "PEN": "peninsula", "BCH": "beach",
    "BCHS": "beach", "CST": "coast", "FRST": "forest", "ST": "road", "RR": "railway", "RSTN": "railway",
    "AIRP": "airport", "AIRF": "airport", "BDG": "bridge", "DAM": "dam", "MN": "mine",
}  # fmt: skip
_FAME: Final = {
    "country": 0.75, "continent": 1.0, "ocean": 1.0, "sea": 0.7, "gulf": 0.5, "strait": 0.4, "range": 0.35, "park": 0.3,
    "island": 0.3, "island group": 0.4, "lake": 0.3, "river": 0.25, "volcano": 0.35, "peak": 0.25, "desert": 0.4,
    "region": 0.3, "waterfall": 0.3, "glacier": 0.25, "bay": 0.25, "cape": 0.25, "peninsula": 0.3, "fjord": 0.25,
    "airport": 0.3, "plateau": 0.25, "reservoir": 0.2, "city": 0.15, "site": 0.1, "stream": 0.1,
}  # fmt: skip


def import_geonames(
    path: Path,
    name: str | None = None,
    *,
    folder: Path,
    countries: Collection[str] = (),
    more_names: Path | None = None,
    progress: Progress | None = None,
    origin: Mapping[str, str] | None = None,
) -> RegionInfo:
    """Import a GeoNames dump as a gazetteer; one of the same name is replaced at the end.

    Args:
        path: ``allCountries.txt``, ``FR.txt``, ``cities500.txt`` and the like, or the zip or gzip file of one.
        name: the name of the gazetteer; by default that of the file.
        folder: the folder of gazetteers.
        countries: the countries to import, by name or code; by default all.
        more_names: ``alternateNamesV2``, as text, gzip or zip.
        progress: called with the current step, what is done of it, and its total.
        origin: metadata on where the file is from.

    Raises:
        BadInput: a file is missing, not a dump, or decompresses to too much; nothing has been changed then.
    """
    wanted = frozenset(require_country_code(country) for country in countries)
    report = progress or no_progress
    files = [path, *([more_names] if more_names else [])]
    for file in files:
        check_readable(file)
    called = region_name(name, path)
    digest = compute_digest(path, report)
    with writing_gazetteer(folder, called) as writer:
        _add_features(writer, path, wanted, report)
        if more_names:
            _add_names(writer, more_names, report)
        writer.finish(
            {
                "name": called,
                "kind": "geonames",
                "source": path.name,
                "sha256": digest,
                "licence": "CC-BY-4.0",
                "attribution": "GeoNames (geonames.org), CC BY 4.0",
                **(origin or {}),
            },
            report,
        )
    return RegionStore(folder).info(called)


def _add_features(writer: GazetteerWriter, path: Path, wanted: frozenset[str], report: Progress) -> None:
    for line in _read_lines(path, writer, "reading", report):
        fields = line.split("\t")
        if len(fields) != _COLUMNS:
            writer.refuse("a wrong number of columns")
            continue
        country = fields[8]
        if wanted and country not in wanted:
            continue
        try:
            feature = _feature(fields, country)
        except ValueError as error:
            writer.refuse(str(error))
            continue
        writer.add(feature)


def _feature(fields: list[str], country: str) -> GazetteerRow:
    """Parse a row of a dump.

    Raises:
        ValueError: the row is malformed; the message is the reason.
    """
    number = _integer(fields[0])
    if number is None or number <= 0:
        raise ValueError("no number")
    name = fields[1].strip() or fields[2].strip()
    if not name:
        raise ValueError("no name")
    try:
        lat, lon = float(fields[4]), float(fields[5])
    except ValueError:
        raise ValueError("no position") from None
    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        raise ValueError("no position")
    kind = _CODES.get(fields[7]) or _CLASSES.get(fields[6], "site")
    population = None if fields[14] == "0" else _integer(fields[14])
    elevation = _integer(fields[15]) if fields[15] else None
    others = [other[:MAX_NAME_CHARS] for other in fields[3].split(",")] if fields[3] else []
    fame = _FAME.get(kind, 0.05) + 0.004 * min(len(others), 50)
    if population and population > 0:
        fame = max(fame, 0.1 + 0.1 * log10(population))
    if fields[2] and fields[2] != name:
        others.append(fields[2][:MAX_NAME_CHARS])
    return GazetteerRow(
        number, name[:MAX_NAME_CHARS], kind, lat, lon, min(fame, 1.0), others[:MAX_NAMES],
        country if len(country) == 2 and country.isascii() and country.isupper() else None,
        fields[10][:20] or None, population, elevation,
    )  # fmt: skip


def _integer(text: str) -> int | None:
    """Parse an integer of up to twelve digits; None for anything else."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 12 else None


def _add_names(writer: GazetteerWriter, path: Path, report: Progress) -> None:
    writer.flush()
    for line in _read_lines(path, writer, "reading names", report):
        fields = line.split("\t")
        number = _integer(fields[1]) if len(fields) in _NAME_COLUMNS else None
        if number is None or not fields[3].strip():
            writer.refuse("a wrong number of columns of names")
            continue
        if fields[2] in _NOT_LANGUAGES:
            continue
        row = writer.conn.execute("SELECT fame, name FROM feature WHERE id = ?", (number,)).fetchone()
        if row is not None and row[1] != fields[3]:
            writer.add_names(number, row[0], None, [fields[3][:MAX_NAME_CHARS]])
    writer.flush()


def _read_lines(path: Path, writer: GazetteerWriter, step: str, report: Progress) -> Iterator[str]:
    """Yield the lines of a dump; lines that are too long or not UTF-8 are refused and skipped."""
    with _open_dump(path) as (stream, size):
        max_bytes = min(size * MAX_RATIO + (1 << 20), MAX_BYTES)
        done = count = 0
        at_line_start = True
        try:
            while block := stream.readline(_MAX_LINE_BYTES):
                done += len(block)
                if done > max_bytes:
                    raise BadFile(path, "unpacks to far more than a dump of its size could", "it was not added")
                ends = block.endswith(b"\n") or len(block) < _MAX_LINE_BYTES
                if not (at_line_start and ends):
                    # The beginning, middle or end of a line that is too long.
                    if at_line_start:
                        writer.refuse("too long a line")
                    at_line_start = ends
                    continue
                count += 1
                if count % _REPORT_EVERY == 0:
                    writer.flush()
                    report(f"{step}, {count:,} rows", done, 0)
                try:
                    line = block.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError:
                    writer.refuse("invalid UTF-8")
                    continue
                if line and not line.startswith("#"):
                    yield line
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise BadFile(path, f"can't be read ({error})", "download it again") from error


@contextmanager
def _open_dump(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """Open a dump; yield a stream of its decompressed bytes and its compressed size.

    A zip file may hold a readme besides the dump.
    """
    size = path.stat().st_size
    suffix = path.suffix.lower()
    if suffix == ".gz":
        with gzip.open(path, "rb") as stream:
            yield stream, size  # type: ignore[misc]
        return
    if suffix != ".zip":
        with path.open("rb") as stream:
            yield stream, MAX_BYTES  # no compression ratio to check
        return
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BadFile(path, f"is no zip file, or is damaged ({error})", "download it again") from error
    with archive:
        dumps = [
            entry for entry in archive.infolist()
            if entry.filename.endswith(".txt") and "readme" not in entry.filename.lower()
            and not entry.filename.startswith("iso-")
        ]  # fmt: skip
        if len(dumps) != 1:
            raise BadFile(path, f"holds {len(dumps)} text files", "a GeoNames dump holds one")
        try:
            with archive.open(dumps[0]) as member:
                yield member, size
        except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise BadFile(path, f"can't be unpacked ({error})") from error
