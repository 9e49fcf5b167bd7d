"""Importing GeoNames dumps: ``allCountries``, one country's or the cities', as text, gzip or zip.

Rows are read one at a time, so that the size of a dump does not matter to memory. A row that is not what GeoNames
writes is counted and passed over; a file that is packed tighter than text can be is refused.
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
from geosleuth.atlas.regions.region_file import Progress, check_readable, digest_of, no_progress
from geosleuth.errors import BadFile
from geosleuth.names import required_country_code

from .gazetteer_file import MAX_NAME_CHARS, MAX_NAMES, GazetteerWriter, Named, writing_gazetteer

MAX_BYTES: Final = 16 << 30
"""Unpacked; the whole world is a tenth of it."""

MAX_RATIO: Final = 60
"""Unpacked to packed. Names and numbers pack to a quarter; what packs to a hundredth is no dump."""

_MAX_LINE: Final = 1 << 16
_COLUMNS: Final = 19
_NAME_COLUMNS: Final = range(4, 11)
_REPORT_EVERY: Final = 50_000
_NO_LANGUAGES: Final = frozenset({"link", "post", "iata", "icao", "faac", "tcid", "unlc", "wkdt", "phon", "abbr"})

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
    """Add a GeoNames dump as a gazetteer; one of the same name is replaced when done.

    Args:
        path: ``allCountries.txt``, ``FR.txt``, ``cities500.txt`` and the like, or the zip or gzip file of one.
        name: what to call it; the file's name without it.
        folder: where gazetteers lie.
        countries: only these, by name or code; all without any.
        more_names: ``alternateNamesV2``, as text, gzip or zip.
        progress: hears how far it is.
        origin: what its record says of where the file is from.

    Raises:
        BadInput: a file is missing, no dump or packed too tightly; nothing has been changed then.
    """
    wanted = frozenset(required_country_code(country) for country in countries)
    report = progress or no_progress
    files = [path, *([more_names] if more_names else [])]
    for file in files:
        check_readable(file)
    called = region_name(name, path)
    digest = digest_of(path, report)
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
    for line in _lines(path, writer, "reading", report):
        fields = line.split("\t")
        if len(fields) != _COLUMNS:
            writer.refuse("other columns")
            continue
        country = fields[8]
        if wanted and country not in wanted:
            continue
        try:
            found = _feature(fields, country)
        except ValueError as error:
            writer.refuse(str(error))
            continue
        writer.add(found)


def _feature(fields: list[str], country: str) -> Named:
    """A row as a feature.

    Raises:
        ValueError: it is none; the message is the reason.
    """
    number = _whole(fields[0])
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
    population = None if fields[14] == "0" else _whole(fields[14])
    elevation = _whole(fields[15]) if fields[15] else None
    others = [one[:MAX_NAME_CHARS] for one in fields[3].split(",")] if fields[3] else []
    fame = _FAME.get(kind, 0.05) + 0.004 * min(len(others), 50)
    if population and population > 0:
        fame = max(fame, 0.1 + 0.1 * log10(population))
    if fields[2] and fields[2] != name:
        others.append(fields[2][:MAX_NAME_CHARS])
    return Named(
        number, name[:MAX_NAME_CHARS], kind, lat, lon, min(fame, 1.0), others[:MAX_NAMES],
        country if len(country) == 2 and country.isascii() and country.isupper() else None,
        fields[10][:20] or None, population, elevation,
    )  # fmt: skip


def _whole(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 12 else None


def _add_names(writer: GazetteerWriter, path: Path, report: Progress) -> None:
    """Names of ``alternateNamesV2`` for the features that are there already."""
    writer.flush()
    for line in _lines(path, writer, "reading names", report):
        fields = line.split("\t")
        number = _whole(fields[1]) if len(fields) in _NAME_COLUMNS else None
        if number is None or not fields[3].strip():
            writer.refuse("other columns of names")
            continue
        if fields[2] in _NO_LANGUAGES:
            continue
        row = writer.conn.execute("SELECT fame, name FROM feature WHERE id = ?", (number,)).fetchone()
        if row is not None and row[1] != fields[3]:
            writer.add_names(number, row[0], None, [fields[3][:MAX_NAME_CHARS]])
    writer.flush()


def _lines(path: Path, writer: GazetteerWriter, what: str, report: Progress) -> Iterator[str]:
    """The lines of a dump. One that is too long, or no text, is refused and read past."""
    with _opened(path) as (stream, size):
        most = min(size * MAX_RATIO + (1 << 20), MAX_BYTES)
        done = count = 0
        whole = True
        try:
            while block := stream.readline(_MAX_LINE):
                done += len(block)
                if done > most:
                    raise BadFile(path, "unpacks to far more than a dump of its size could", "it was not added")
                ends = block.endswith(b"\n") or len(block) < _MAX_LINE
                if not (whole and ends):
                    # The beginning, middle or end of a line that is too long.
                    if whole:
                        writer.refuse("a line too long")
                    whole = ends
                    continue
                count += 1
                if count % _REPORT_EVERY == 0:
                    writer.flush()
                    report(f"{what}, {count:,} rows", done, 0)
                try:
                    line = block.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError:
                    writer.refuse("no text")
                    continue
                if line and not line.startswith("#"):
                    yield line
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise BadFile(path, f"can't be read ({error})", "download it again") from error


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """A dump's bytes, unpacked, and its packed size; a zip file holds one dump and perhaps a readme."""
    size = path.stat().st_size
    suffix = path.suffix.lower()
    if suffix == ".gz":
        with gzip.open(path, "rb") as stream:
            yield stream, size  # type: ignore[misc]
        return
    if suffix != ".zip":
        with path.open("rb") as stream:
            yield stream, MAX_BYTES  # plain text may be as long as it likes
        return
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BadFile(path, f"is no zip file, or damaged ({error})", "download it again") from error
    with archive:
        dumps = [
            one for one in archive.infolist() if one.filename.endswith(".txt") and "readme" not in one.filename.lower()
            and not one.filename.startswith("iso-")
        ]  # fmt: skip
        if len(dumps) != 1:
            raise BadFile(path, f"holds {len(dumps)} text files", "a GeoNames dump holds one")
        try:
            with archive.open(dumps[0]) as member:
                yield member, size
        except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise BadFile(path, f"can't be unpacked ({error})") from error
