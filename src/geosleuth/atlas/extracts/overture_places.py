"""Overture's places within a box: only the parts of its files that hold some are downloaded.

A release is a few large Parquet files. Its STAC index says which of them a box touches, and the end of each file says
which row groups do, by the least and greatest values of their columns. Those are fetched by ranges into a file with
holes, from which the rows of the box are written into a small file for the importer.
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

from geosleuth.atlas.online.http import OnlineClient, Question, parse_json
from geosleuth.atlas.regions.overture import COLUMNS
from geosleuth.errors import BadInput, ServiceFault, require
from geosleuth.geo import Box
from geosleuth.net import host_of

from .download import MOST_BYTES, ask_offer, has_no

STAC: Final = "https://stac.overturemaps.org"
DATA: Final = "https://overturemaps-us-west-2.s3.us-west-2.amazonaws.com"

_RELEASE: Final = re.compile(r"\d{4}-\d\d-\d\d\.\d{1,3}")
_END_BYTES: Final = 1 << 16
_MOST_END_BYTES: Final = 24 << 20
_PIECE_BYTES: Final = 8 << 20
_GAP_BYTES: Final = 1 << 18
_MOST_FILES: Final = 400
_INDEX_KEEP_S: Final = 7 * 86_400.0
_EDGES: Final = ("bbox.xmin", "bbox.xmax", "bbox.ymin", "bbox.ymax")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A file of a release: its end, and the row groups and bytes that a box needs of it."""

    url: str
    size_bytes: int
    end: bytes
    groups: tuple[int, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PlacesOffer:
    """The places of a box, as a release has them."""

    release: str
    box: Box
    host: str
    parts: tuple[_Part, ...]

    @property
    def size_bytes(self) -> int:
        """How much is to be downloaded."""
        return sum(end - begin for part in self.parts for begin, end in part.spans)

    @property
    def day(self) -> str:
        """The day of the release."""
        return self.release[:10]


async def find_places(client: OnlineClient, box: Box, *, stac: str = STAC, data: str = DATA) -> PlacesOffer:
    """Return what the newest release has within a box; only indexes are fetched.

    Raises:
        BadInput: the box crosses the 180th meridian, or there are no places in it.
        ServiceFault: a server fails, or has no index that can be read.
        MissingExtra: pyarrow is not installed.
    """
    parquet = require("pyarrow.parquet", extra="overture")
    if box.west > box.east:
        raise BadInput("this box crosses the 180th meridian; fetch its two sides one by one")
    release = await _latest(client, stac)
    table = await client.ask(
        Question(url=f"{stac}/{release}/collections.parquet", keep_s=_INDEX_KEEP_S, absent=(404,)),
        partial(_index, parquet=parquet, host=host_of(stac)),
    )
    if table is None:
        raise has_no(f"{stac}/{release}/collections.parquet")
    found = [await _part(client, f"{data}/{path}", box, parquet) for path in _paths(table, release, box)]
    parts = tuple(part for part in found if part.groups)
    if not parts:
        raise BadInput(f"Overture's release {release} has no places there")
    return PlacesOffer(release, box, host_of(data), parts)


async def fetch_places(
    client: OnlineClient, offer: PlacesOffer, path: Path, progress: Callable[[int, int], None]
) -> None:
    """Write the rows of a box into a Parquet file.

    Raises:
        BadInput: it can't be written there.
        ServiceFault: a server fails, or its files are not what their ends say.
    """
    parquet = require("pyarrow.parquet", extra="overture")
    holes, done, writer = path.with_name(f"{path.name}.part"), 0, None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for part in offer.parts:
            with holes.open("wb") as file:
                file.truncate(part.size_bytes)
                file.seek(part.size_bytes - len(part.end))
                file.write(part.end)
                for begin, end in _pieces(part.spans):
                    body = await _range(client, part.url, begin, end)
                    file.seek(begin)
                    file.write(body)
                    done += len(body)
                    progress(done, offer.size_bytes)
            with _explained(part.url):
                for rows in _rows(parquet, holes, part.groups, offer.box):
                    writer = writer or parquet.ParquetWriter(path, rows.schema)
                    writer.write_table(rows)
    except OSError as error:
        raise BadInput(f"{path.parent}: the download can't be kept there: {error.strerror or error}") from error
    finally:
        if writer is not None:
            writer.close()
        holes.unlink(missing_ok=True)
    if writer is None:
        raise BadInput(f"Overture's release {offer.release} has no places there")


async def _latest(client: OnlineClient, stac: str) -> str:
    def read(body: bytes) -> str:
        told = parse_json(body, host_of(stac))
        release = told.get("latest") if isinstance(told, dict) else None
        if not isinstance(release, str) or not _RELEASE.fullmatch(release):
            raise ServiceFault(host_of(stac), "its catalogue names no release")
        return release

    url = f"{stac}/catalog.json"
    found = await client.ask(Question(url=url, absent=(404,)), read)
    if found is None:
        raise has_no(url)
    return found


def _index(body: bytes, *, parquet: Any, host: str) -> list[dict[str, Any]]:
    with _explained(f"https://{host}/collections.parquet"):
        table = parquet.read_table(BytesIO(body), columns=["collection", "bbox", "assets"])
        rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _paths(rows: Sequence[dict[str, Any]], release: str, box: Box) -> list[str]:
    """The files of places that a box touches; of an address only the path is used, and only such a one."""
    wanted = re.compile(rf"release/{re.escape(release)}/theme=places/type=place/[A-Za-z0-9][A-Za-z0-9._-]*\.parquet")
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
            path = wanted.search(str(row.get("assets")))
            if path:
                found[path[0]] = None
    return list(found)[:_MOST_FILES]


async def _part(client: OnlineClient, url: str, box: Box, parquet: Any) -> _Part:
    offer = await ask_offer(client, url, checked=False)
    end = await _range(client, url, max(0, offer.size_bytes - _END_BYTES), offer.size_bytes)
    length = struct.unpack_from("<I", end, len(end) - 8)[0] + 8 if end[-4:] == b"PAR1" and len(end) > 8 else 0
    if not 8 < length <= min(offer.size_bytes, _MOST_END_BYTES):
        raise ServiceFault(host_of(url), "has a file of places that is no Parquet")
    if length > len(end):
        end = await _range(client, url, offer.size_bytes - length, offer.size_bytes)
    end = end[-length:]
    with _explained(url):
        # A file that is nothing but its end can be asked for what its end says.
        about = parquet.read_metadata(BytesIO(b"PAR1" + end))
        groups = tuple(number for number in range(about.num_row_groups) if _touches(about.row_group(number), box))
        spans = sorted(span for number in groups for span in _spans(about.row_group(number)))
    if (
        any(not 4 <= begin < stop <= offer.size_bytes for begin, stop in spans)
        or sum(b - a for a, b in spans) > MOST_BYTES
    ):
        raise ServiceFault(host_of(url), "has a file of places whose end speaks of bytes that it has not")
    return _Part(url, offer.size_bytes, end, groups, tuple(_joined(spans)))


def _touches(group: Any, box: Box) -> bool:
    """Whether a row group may hold places of a box; one that says nothing may."""
    known: dict[str, Any] = {}
    for number in range(group.num_columns):
        column = group.column(number)
        if column.path_in_schema in _EDGES and column.statistics is not None and column.statistics.has_min_max:
            known[column.path_in_schema] = column.statistics
    if len(known) < len(_EDGES):
        return True
    return bool(
        known["bbox.xmin"].min <= box.east
        and known["bbox.xmax"].max >= box.west
        and known["bbox.ymin"].min <= box.north
        and known["bbox.ymax"].max >= box.south
    )


def _spans(group: Any) -> Iterator[Span]:
    for number in range(group.num_columns):
        column = group.column(number)
        if column.path_in_schema.partition(".")[0] in COLUMNS:
            first = column.dictionary_page_offset
            begin = column.data_page_offset if first is None else min(first, column.data_page_offset)
            yield begin, begin + column.total_compressed_size


def _joined(spans: Sequence[Span]) -> Iterator[Span]:
    """Spans that lie near each other as one."""
    held: Span | None = None
    for begin, end in spans:
        if held is not None and begin <= held[1] + _GAP_BYTES:
            held = held[0], max(held[1], end)
        else:
            if held is not None:
                yield held
            held = begin, end
    if held is not None:
        yield held


def _pieces(spans: Sequence[Span]) -> Iterator[Span]:
    for begin, end in spans:
        for at in range(begin, end, _PIECE_BYTES):
            yield at, min(end, at + _PIECE_BYTES)


async def _range(client: OnlineClient, url: str, begin: int, end: int) -> bytes:
    """Some bytes of a file, tried again where the connection breaks."""

    def whole(body: bytes) -> bytes:
        if len(body) != end - begin:
            raise ServiceFault(host_of(url), "its answer was cut short", retryable=True)
        return body

    headers = (("accept-encoding", "identity"), ("range", f"bytes={begin}-{end - 1}"))
    found = await client.ask(Question(url=url, headers=headers, accepted=(206,), absent=(404,)), whole)
    if found is None:
        raise has_no(url)
    return found


def _rows(parquet: Any, holes: Path, groups: Sequence[int], box: Box) -> Iterator[Any]:
    """The rows of a box, one row group after another."""
    compute = require("pyarrow.compute", extra="overture")
    source = parquet.ParquetFile(holes)
    columns = [name for name in source.schema_arrow.names if name in COLUMNS]
    for number in groups:
        rows = source.read_row_group(number, columns=columns)
        edge = {name: compute.struct_field(rows["bbox"], name) for name in ("xmin", "xmax", "ymin", "ymax")}
        inside = compute.and_(
            compute.and_(compute.less_equal(edge["xmin"], box.east), compute.greater_equal(edge["xmax"], box.west)),
            compute.and_(compute.less_equal(edge["ymin"], box.north), compute.greater_equal(edge["ymax"], box.south)),
        )
        kept = rows.filter(inside)
        if len(kept):
            yield kept


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Pyarrow's complaints about what a server sent, as one line."""
    arrow = require("pyarrow", extra="overture")
    try:
        yield
    except (arrow.ArrowException, KeyError, ValueError) as error:
        why = " ".join(str(error).split())[:120]
        raise ServiceFault(host_of(url), f"its file can't be read as Parquet ({why})") from error
    except OSError as error:
        if error.errno is not None:
            raise
        why = " ".join(str(error).split())[:120]
        raise ServiceFault(host_of(url), f"its file can't be read as Parquet ({why})") from error


def file_name(offer: PlacesOffer) -> str:
    """What the small file is called while it lies among the downloads."""
    edges = "_".join(f"{edge:g}" for edge in (offer.box.south, offer.box.west, offer.box.north, offer.box.east))
    return f"overture-{offer.release}-{edges}-{os.getpid()}.parquet"
