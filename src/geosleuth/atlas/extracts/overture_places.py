"""Download Overture's places within a box, without the rest of its files.

A release is a few large Parquet files. Its STAC index lists the bounding box of each file; the footer of a file holds
the least and greatest coordinates of each row group. Only the row groups that touch the box are downloaded, with range
requests, into a sparse copy of the file. From it, the rows of the box are written to a small file for the importer.
"""

import os
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from geosleuth.atlas.online.http import OnlineClient, ServiceRequest, parse_json
from geosleuth.atlas.regions.overture import COLUMNS
from geosleuth.geo import Box
from geosleuth.support.errors import BadInput, ServiceFault, require
from geosleuth.support.net import parse_host

from .download import MAX_BYTES, ask_offer, missing_file_fault

STAC: Final = "https://stac.overturemaps.org"
DATA: Final = "https://overturemaps-us-west-2.s3.us-west-2.amazonaws.com"

_RELEASE: Final = re.compile(r"\d{4}-\d\d-\d\d\.\d{1,3}")
_FOOTER_GUESS_BYTES: Final = 1 << 16
_MAX_FOOTER_BYTES: Final = 24 << 20
_REQUEST_BYTES: Final = 8 << 20
_MERGE_GAP_BYTES: Final = 1 << 18  # a gap this small is cheaper to download than to skip with another request
_MAX_FILES: Final = 400
_INDEX_CACHE_S: Final = 7 * 86_400.0
_BBOX_COLUMNS: Final = ("bbox.xmin", "bbox.xmax", "bbox.ymin", "bbox.ymax")

Span = tuple[int, int]
"""The first byte of a part of a file, and the byte after its last."""


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A file of a release: its footer, and the row groups and byte spans that hold places of a box."""

    url: str
    size_bytes: int
    footer: bytes
    groups: tuple[int, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PlacesOffer:
    """The places of a release within a box, ready to download."""

    release: str
    box: Box
    host: str
    parts: tuple[_Part, ...]

    @property
    def size_bytes(self) -> int:
        """The number of bytes to download."""
        return sum(end - begin for part in self.parts for begin, end in part.spans)

    @property
    def day(self) -> str:
        """The date of the release, YYYY-MM-DD."""
        return self.release[:10]


async def find_places(client: OnlineClient, box: Box, *, stac: str = STAC, data: str = DATA) -> PlacesOffer:
    """Find the places of the newest release within a box; only the index and file footers are downloaded.

    Raises:
        BadInput: the box crosses the 180th meridian, or there are no places in it.
        ServiceFault: a server fails, or its index or a file can't be read.
        MissingExtra: pyarrow is not installed.
    """
    parquet = require("pyarrow.parquet", extra="atlas")
    if box.west > box.east:
        raise BadInput("this box crosses the 180th meridian; download its two sides separately")
    release = await _latest_release(client, stac)
    index_url = f"{stac}/{release}/collections.parquet"
    index = await client.ask(
        ServiceRequest(url=index_url, keep_s=_INDEX_CACHE_S, absent=(404,)),
        partial(_read_index, parquet=parquet, host=parse_host(stac)),
    )
    if index is None:
        raise missing_file_fault(index_url)
    touched = [await _read_part(client, f"{data}/{path}", box, parquet) for path in _place_files(index, release, box)]
    parts = tuple(part for part in touched if part.groups)
    if not parts:
        raise BadInput(f"Overture's release {release} has no places there")
    return PlacesOffer(release, box, parse_host(data), parts)


async def fetch_places(
    client: OnlineClient, offer: PlacesOffer, path: Path, progress: Callable[[int, int], None]
) -> None:
    """Download places and write them to a Parquet file; ``progress`` gets the bytes downloaded so far and in total.

    Raises:
        BadInput: it can't be written there.
        ServiceFault: a server fails, or its files contradict their footers.
    """
    parquet = require("pyarrow.parquet", extra="atlas")
    sparse, done, writer = path.with_name(f"{path.name}.part"), 0, None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for part in offer.parts:
            with sparse.open("wb") as file:
                file.truncate(part.size_bytes)
                file.seek(part.size_bytes - len(part.footer))
                file.write(part.footer)
                for begin, end in _requests(part.spans):
                    body = await _fetch_range(client, part.url, begin, end)
                    file.seek(begin)
                    file.write(body)
                    done += len(body)
                    progress(done, offer.size_bytes)
            with _parquet_errors_as_faults(part.url):
                for rows in _rows_in_box(parquet, sparse, part.groups, offer.box):
                    writer = writer or parquet.ParquetWriter(path, rows.schema)
                    writer.write_table(rows)
    except OSError as error:
        raise BadInput(f"{path.parent}: the download can't be kept there: {error.strerror or error}") from error
    finally:
        if writer is not None:
            writer.close()
        sparse.unlink(missing_ok=True)
    if writer is None:
        raise BadInput(f"Overture's release {offer.release} has no places there")


async def _latest_release(client: OnlineClient, stac: str) -> str:
    def read(body: bytes) -> str:
        catalogue = parse_json(body, parse_host(stac))
        release = catalogue.get("latest") if isinstance(catalogue, dict) else None
        if not isinstance(release, str) or not _RELEASE.fullmatch(release):
            raise ServiceFault(parse_host(stac), "its catalogue names no release")
        return release

    url = f"{stac}/catalog.json"
    release = await client.ask(ServiceRequest(url=url, absent=(404,)), read)
    if release is None:
        raise missing_file_fault(url)
    return release


def _read_index(body: bytes, *, parquet: Any, host: str) -> list[dict[str, Any]]:
    with _parquet_errors_as_faults(f"https://{host}/collections.parquet"):
        table = parquet.read_table(BytesIO(body), columns=["collection", "bbox", "assets"])
        rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _place_files(rows: Sequence[dict[str, Any]], release: str, box: Box) -> list[str]:
    """Return the paths of the files of places that a box touches.

    The index is untrusted: only a path of the expected form is taken from it, never a host.
    """
    path_pattern = re.compile(
        rf"release/{re.escape(release)}/theme=places/type=place/[A-Za-z0-9][A-Za-z0-9._-]*\.parquet"
    )
    found: dict[str, None] = {}
    for row in rows:
        edges = row.get("bbox")
        if row.get("collection") != "place" or not isinstance(edges, dict):
            continue
        try:
            west, east, south, north = (float(edges[edge]) for edge in ("xmin", "xmax", "ymin", "ymax"))
        except (KeyError, TypeError, ValueError):
            continue
        if west <= box.east and east >= box.west and south <= box.north and north >= box.south:
            path = path_pattern.search(str(row.get("assets")))
            if path:
                found[path[0]] = None
    return list(found)[:_MAX_FILES]


async def _read_part(client: OnlineClient, url: str, box: Box, parquet: Any) -> _Part:
    """Read a file's footer and return what to download of the file for a box."""
    offer = await ask_offer(client, url, checked=False)
    tail = await _fetch_range(client, url, max(0, offer.size_bytes - _FOOTER_GUESS_BYTES), offer.size_bytes)
    # A Parquet file ends with its metadata, the metadata's length in four bytes, and "PAR1".
    length = struct.unpack_from("<I", tail, len(tail) - 8)[0] + 8 if tail[-4:] == b"PAR1" and len(tail) > 8 else 0
    if not 8 < length <= min(offer.size_bytes, _MAX_FOOTER_BYTES):
        raise ServiceFault(parse_host(url), "has a file of places that is not Parquet")
    if length > len(tail):
        tail = await _fetch_range(client, url, offer.size_bytes - length, offer.size_bytes)
    footer = tail[-length:]
    with _parquet_errors_as_faults(url):
        # To read its metadata, pyarrow accepts a file that consists of the magic bytes and the footer.
        metadata = parquet.read_metadata(BytesIO(b"PAR1" + footer))
        groups = tuple(number for number in range(metadata.num_row_groups) if _touches(metadata.row_group(number), box))
        spans = sorted(span for number in groups for span in _column_spans(metadata.row_group(number)))
    if (
        any(not 4 <= begin < end <= offer.size_bytes for begin, end in spans)
        or sum(end - begin for begin, end in spans) > MAX_BYTES
    ):
        raise ServiceFault(parse_host(url), "has a file of places whose footer refers to bytes outside the file")
    return _Part(url, offer.size_bytes, footer, groups, tuple(_merge_spans(spans)))


def _touches(group: Any, box: Box) -> bool:
    """Return whether a row group may hold places within a box; true if it has no statistics."""
    statistics: dict[str, Any] = {}
    for number in range(group.num_columns):
        column = group.column(number)
        if column.path_in_schema in _BBOX_COLUMNS and column.statistics is not None and column.statistics.has_min_max:
            statistics[column.path_in_schema] = column.statistics
    if len(statistics) < len(_BBOX_COLUMNS):
        return True
    return bool(
        statistics["bbox.xmin"].min <= box.east
        and statistics["bbox.xmax"].max >= box.west
        and statistics["bbox.ymin"].min <= box.north
        and statistics["bbox.ymax"].max >= box.south
    )


def _column_spans(group: Any) -> Iterator[Span]:
    for number in range(group.num_columns):
        column = group.column(number)
        if column.path_in_schema.partition(".")[0] in COLUMNS:
            first = column.dictionary_page_offset
            begin = column.data_page_offset if first is None else min(first, column.data_page_offset)
            yield begin, begin + column.total_compressed_size


def _merge_spans(spans: Sequence[Span]) -> Iterator[Span]:
    """Merge sorted spans that overlap or lie near each other."""
    current: Span | None = None
    for begin, end in spans:
        if current is not None and begin <= current[1] + _MERGE_GAP_BYTES:
            current = current[0], max(current[1], end)
        else:
            if current is not None:
                yield current
            current = begin, end
    if current is not None:
        yield current


def _requests(spans: Sequence[Span]) -> Iterator[Span]:
    """Split spans into parts that are small enough for one request each."""
    for begin, end in spans:
        for part_begin in range(begin, end, _REQUEST_BYTES):
            yield part_begin, min(end, part_begin + _REQUEST_BYTES)


async def _fetch_range(client: OnlineClient, url: str, begin: int, end: int) -> bytes:
    def check_length(body: bytes) -> bytes:
        if len(body) != end - begin:
            raise ServiceFault(parse_host(url), "its answer was cut short", retryable=True)
        return body

    headers = (("accept-encoding", "identity"), ("range", f"bytes={begin}-{end - 1}"))
    body = await client.ask(ServiceRequest(url=url, headers=headers, accepted=(206,), absent=(404,)), check_length)
    if body is None:
        raise missing_file_fault(url)
    return body


def _rows_in_box(parquet: Any, sparse: Path, groups: Sequence[int], box: Box) -> Iterator[Any]:
    compute = require("pyarrow.compute", extra="atlas")
    source = parquet.ParquetFile(sparse)
    columns = [name for name in source.schema_arrow.names if name in COLUMNS]
    for number in groups:
        rows = source.read_row_group(number, columns=columns)
        edges = {name: compute.struct_field(rows["bbox"], name) for name in ("xmin", "xmax", "ymin", "ymax")}
        inside = compute.and_(
            compute.and_(compute.less_equal(edges["xmin"], box.east), compute.greater_equal(edges["xmax"], box.west)),
            compute.and_(compute.less_equal(edges["ymin"], box.north), compute.greater_equal(edges["ymax"], box.south)),
        )
        kept = rows.filter(inside)
        if len(kept):
            yield kept


@contextmanager
def _parquet_errors_as_faults(url: str) -> Iterator[None]:
    """Turn pyarrow's errors about a server's file into a `ServiceFault` of one line."""
    arrow = require("pyarrow", extra="atlas")
    try:
        yield
    except (arrow.ArrowException, KeyError, ValueError, OSError) as error:
        # pyarrow also raises OSError for damaged data, without an error number; with one, the disk is at fault.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        why = " ".join(str(error).split())[:120]
        raise ServiceFault(parse_host(url), f"its file can't be read as Parquet ({why})") from error


def file_name(offer: PlacesOffer) -> str:
    """Return the name of the temporary file of rows; with the process id, so that processes don't collide."""
    edges = "_".join(f"{edge:g}" for edge in (offer.box.south, offer.box.west, offer.box.north, offer.box.east))
    return f"overture-{offer.release}-{edges}-{os.getpid()}.parquet"
