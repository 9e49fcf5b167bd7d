"""The packaged tables that the base atlas is built from, and lookups in its blocks of sorted names.

The tables hold names already folded and sorted, which is most of the work, so that building takes only a second or
two. Railway stations are in a separate file because of their licence (ODbL), and parks, sights and second-level units
in a third that changes more often.
"""

import sqlite3
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib.resources import files
from io import BytesIO
from typing import overload
from zlib import error as ZlibError  # noqa: N812

import numpy as np
from numpy.typing import NDArray

from geosleuth.atlas.keyed_rows import select_rows
from geosleuth.atlas.search import NameIndex
from geosleuth.support.errors import DataFault

TABLES = ("places.zip", "stations_odbl.zip")
# File of parks, islands, lakes, mountains, sights and second-level units; built by `scripts/make_named_places.py`.
NAMED_PLACES_FILE = "named_places.zip"

MADE_OF = "made_of.txt"
_ROLE_BITS = 2
_LZMA_MEMBERS = frozenset({"keys.txt", "names.txt", "texts.txt", "owners.u4"})
_STAMP = (1980, 1, 1, 0, 0, 0)

BLOCK = 32
_LAST = "\U0010ffff"


@dataclass(frozen=True)
class PlaceTables:
    """Places and their folded names as columns; names are sorted by text, then by place."""

    refs: list[int | str]
    """GeoNames ids, or texts such as "airport:NCE"."""
    names: list[str]
    kinds: NDArray[np.uint8]
    countries: list[str]
    regions: list[str]
    lat_e5: NDArray[np.int32]
    lon_e5: NDArray[np.int32]
    populations: NDArray[np.int32]
    radii: NDArray[np.uint16]
    """How far each place reaches, in hundreds of metres; 0 where only its population tells."""
    keys: "PackedLines"
    owners: NDArray[np.uint32]
    """For each key the place's number, from 1, and the role of the name; see `pack_owner`."""

    def concatenate(self, later: "PlaceTables") -> "PlaceTables":
        """Return both tables as one, with the later's places numbered after these."""
        at = self.keys.find_insert_positions(later.keys)
        return PlaceTables(
            refs=[*self.refs, *later.refs],
            names=[*self.names, *later.names],
            kinds=np.concatenate([self.kinds, later.kinds]),
            countries=[*self.countries, *later.countries],
            regions=[*self.regions, *later.regions],
            lat_e5=np.concatenate([self.lat_e5, later.lat_e5]),
            lon_e5=np.concatenate([self.lon_e5, later.lon_e5]),
            populations=np.concatenate([self.populations, later.populations]),
            radii=np.concatenate([self.radii, later.radii]),
            keys=self.keys.with_lines(at, later.keys),
            owners=np.insert(self.owners, at, later.owners + np.uint32(pack_owner(len(self.refs), 0))),
        )


class PackedLines(Sequence[bytes]):
    """Lines of UTF-8 text, each ending with a line break, stored as one byte string to save memory."""

    def __init__(self, data: bytes) -> None:
        """Index the lines of the text."""
        self.data = data
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1
        self._ends: list[int] = ends.tolist()

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> list[bytes]: ...
    def __getitem__(self, at: int | slice) -> bytes | list[bytes]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        return self.between(at, at + 1)[:-1]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.data.split(b"\n")[:-1])

    def between(self, start: int, end: int) -> bytes:
        """Return consecutive lines as one text, with their line breaks."""
        return self.data[self._ends[start - 1] if start else 0 : self._ends[end - 1] if end else 0]

    def find_insert_positions(self, lines: Iterable[bytes]) -> list[int]:
        """Return where to insert other lines, which must ascend, to keep these sorted: after lines that are equal."""
        listed, found, at = list(self), [], 0
        for line in lines:
            at = bisect_right(listed, line, at)
            found.append(at)
        return found

    def with_lines(self, at: Sequence[int], more: Iterable[bytes]) -> "PackedLines":
        """Return these lines with others inserted before the lines at given places, which must ascend."""
        parts, done = [], 0
        for place, line in zip(at, more, strict=True):
            parts += [self.between(done, place), line, b"\n"]
            done = place
        return PackedLines(b"".join([*parts, self.between(done, len(self))]))

    def where(self, chosen: NDArray[np.bool_]) -> "PackedLines":
        """Return the lines for which the mask is true."""
        each = np.repeat(chosen, np.diff(np.asarray(self._ends), prepend=0))
        return PackedLines(np.frombuffer(self.data, dtype=np.uint8)[each].tobytes())


def pack_owner(place: int, role: int) -> int:
    """Pack a place's number and a name's role into one number."""
    return place << _ROLE_BITS | role


def unpack_places(owners: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the place numbers that `pack_owner` packed."""
    return owners >> np.uint32(_ROLE_BITS)


def unpack_roles(owners: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the roles that `pack_owner` packed."""
    return owners & np.uint32((1 << _ROLE_BITS) - 1)


def read_tables() -> PlaceTables:
    """Read all packaged tables.

    Raises:
        DataFault: a table is missing or damaged.
    """
    first, *others = (unpack_tables(read_packaged(name)) for name in (*TABLES, NAMED_PLACES_FILE))
    return reduce(PlaceTables.concatenate, others, first)


def read_packaged(name: str) -> bytes:
    """Return the bytes of a packaged table.

    Raises:
        DataFault: the table is missing.
    """
    source = files("geosleuth.atlas.base") / "data" / name
    try:
        return source.read_bytes()
    except OSError as error:
        raise DataFault(f"a table of the base atlas can't be read: {source}") from error


def pack_tables(tables: PlaceTables, made_of: str) -> bytes:
    """Return the tables as a zip file; `read_sources_line` is one line of text that names their sources."""
    numbers = [ref for ref in tables.refs if isinstance(ref, int)]
    texts = [ref for ref in tables.refs if isinstance(ref, str)]
    if [*numbers, *texts] != tables.refs:
        raise ValueError("places with numbers must come before those without")
    members = {
        MADE_OF: made_of.encode(),
        "numbers.i4": np.asarray(numbers, dtype="<i4").tobytes(),
        "texts.txt": encode_lines(texts),
        "names.txt": encode_lines(tables.names),
        "kinds.u1": tables.kinds.astype("u1").tobytes(),
        "countries.txt": encode_lines(tables.countries),
        "regions.txt": encode_lines(tables.regions),
        "lat_e5.i4": tables.lat_e5.astype("<i4").tobytes(),
        "lon_e5.i4": tables.lon_e5.astype("<i4").tobytes(),
        "populations.i4": tables.populations.astype("<i4").tobytes(),
        **({"radii.u2": tables.radii.astype("<u2").tobytes()} if tables.radii.any() else {}),
        "keys.txt": tables.keys.data,
        "owners.u4": tables.owners.astype("<u4").tobytes(),
    }
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", compresslevel=9) as archive:
        for name, data in members.items():
            about = zipfile.ZipInfo(name, _STAMP)
            # LZMA packs texts and owners much smaller; for other numbers it gains little and unpacks more slowly.
            about.compress_type = zipfile.ZIP_LZMA if name in _LZMA_MEMBERS else zipfile.ZIP_DEFLATED
            archive.writestr(about, data)
    return stream.getvalue()


def unpack_tables(data: bytes) -> PlaceTables:
    """Read the tables from a zip file.

    Raises:
        DataFault: the file is damaged.
    """
    from lzma import LZMAError

    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            part = {name: archive.read(name) for name in archive.namelist()}
            numbers: list[int] = np.frombuffer(part["numbers.i4"], dtype="<i4").tolist()
            return PlaceTables(
                refs=[*numbers, *_split_lines(part["texts.txt"])],
                names=_split_lines(part["names.txt"]),
                kinds=np.frombuffer(part["kinds.u1"], dtype="u1"),
                countries=_split_lines(part["countries.txt"]),
                regions=_split_lines(part["regions.txt"]),
                lat_e5=np.frombuffer(part["lat_e5.i4"], dtype="<i4"),
                lon_e5=np.frombuffer(part["lon_e5.i4"], dtype="<i4"),
                populations=np.frombuffer(part["populations.i4"], dtype="<i4"),
                radii=np.frombuffer(part.get("radii.u2", bytes(len(part["populations.i4"]) // 2)), dtype="<u2"),
                keys=PackedLines(part["keys.txt"]),
                owners=np.frombuffer(part["owners.u4"], dtype="<u4"),
            )
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, LZMAError, ZlibError) as error:
        raise DataFault("a table of the base atlas is damaged; install geosleuth again") from error


def read_sources_line(data: bytes) -> str:
    """Return the line that names the sources of the tables in a zip file."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return archive.read(MADE_OF).decode()


def encode_lines(lines: Sequence[str]) -> bytes:
    """Return lines as one text, each ending with a line break."""
    if any("\n" in line for line in lines):
        raise ValueError("a name contains a line break")
    return "".join(f"{line}\n" for line in lines).encode()


def _split_lines(data: bytes) -> list[str]:
    return data.decode().split("\n")[:-1]


def owners_called(conn: sqlite3.Connection, key: str) -> dict[int, int]:
    """Return the places with a folded name: the role of the name by place number, in ascending order."""
    found = conn.execute(
        "SELECT keys, owners FROM alias WHERE first <= ? ORDER BY first DESC LIMIT 1", (key,)
    ).fetchone()
    if found is None:
        return {}
    keys = found[0].split("\n")
    begin, end = bisect_left(keys, key), bisect_right(keys, key)
    if begin == end:
        return {}
    part = np.frombuffer(found[1], dtype="<u4")[begin:end]
    return dict(zip(unpack_places(part).tolist(), unpack_roles(part).tolist(), strict=True))


def keys_beginning(
    conn: sqlite3.Connection, beginning: str
) -> tuple[list[str], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return all folded names with this beginning, sorted, with their places and roles."""
    last = beginning + _LAST
    blocks = conn.execute(
        "SELECT keys, owners FROM alias WHERE first < ? AND first >= "
        "(SELECT COALESCE(MAX(first), '') FROM alias WHERE first <= ?) ORDER BY first",
        (last, beginning),
    ).fetchall()
    keys = [key for block, _ in blocks for key in block.split("\n")]
    owners = np.frombuffer(b"".join(packed for _, packed in blocks), dtype="<u4")
    part = slice(bisect_left(keys, beginning), bisect_left(keys, last))
    return keys[part], unpack_places(owners[part]), unpack_roles(owners[part])


class BaseNames(NameIndex):
    """The fuzzy index: names that are worth finding when misspelled."""

    def _read_names(self, ids: Sequence[int]) -> Iterator[tuple[int, int, str, int, str]]:
        starts = {number: (number - 1) // BLOCK * BLOCK + 1 for number in ids}
        chosen = list(dict.fromkeys(starts.values()))
        rows = select_rows(self._conn, "SELECT id, keys, owners FROM fuzzy WHERE id", chosen)
        blocks = {start: (keys.split("\n"), owners) for start, keys, owners in rows}
        for number, start in starts.items():
            keys, owners = blocks[start]
            key = keys[number - start]
            owner = int.from_bytes(owners[4 * (number - start) : 4 * (number - start) + 4], "little")
            yield number, owner >> _ROLE_BITS, key, owner & ((1 << _ROLE_BITS) - 1), key
