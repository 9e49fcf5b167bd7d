"""Pictures from above, out of small files with the real layout."""

import gzip
import io
import sqlite3
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from PIL import Image

from geosleuth.atlas import Picture
from geosleuth.atlas.maps import satellite
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput

Decode = Callable[[Picture], Image.Image]
Key = tuple[int, int, int]
ORIGIN = LatLon(0, 0)
RED, GREEN, BLUE, WHITE = (200, 0, 0), (0, 200, 0), (0, 0, 200), (255, 255, 255)
GREY = (0x8F, 0x94, 0x99)
QUARTERS = {(1, 0, 0): RED, (1, 1, 0): GREEN, (1, 0, 1): BLUE, (1, 1, 1): WHITE}  # NW, NE, SW, SE


def tile(colour: tuple[int, int, int], side: int = 256, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (side, side), colour).save(out, kind, **({"lossless": True} if kind == "WEBP" else {}))
    return out.getvalue()


def write_mbtiles(path: Path, tiles: Mapping[Key, bytes], meta: Mapping[str, str] | None = None) -> Path:
    conn = sqlite3.connect(path)
    conn.executescript(
        "CREATE TABLE metadata (name TEXT, value TEXT);"
        "CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);"
    )
    conn.executemany("INSERT INTO metadata VALUES (?, ?)", (meta or {"format": "png"}).items())
    rows = [(z, x, 2**z - 1 - y, data) for (z, x, y), data in tiles.items()]
    conn.executemany("INSERT INTO tiles VALUES (?, ?, ?, ?)", rows)
    conn.commit()
    conn.close()
    return path


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def directory(entries: list[tuple[int, int, int, int]]) -> bytes:
    """Entries (tile, run, length, offset) as PMTiles 3 writes them, column by column."""
    steps = [now[0] - before for now, before in zip(entries, [0, *(entry[0] for entry in entries)], strict=False)]
    columns = [steps, [e[1] for e in entries], [e[2] for e in entries], [e[3] + 1 for e in entries]]
    return gzip.compress(b"".join(map(varint, [len(entries), *(n for column in columns for n in column)])))


# Numbers of tiles along the Hilbert curve, from the specification's table.
CURVE = {(0, 0, 0): 0, (1, 0, 0): 1, (1, 0, 1): 2, (1, 1, 1): 3, (1, 1, 0): 4, (2, 0, 0): 5}


def write_pmtiles(
    path: Path, tiles: Mapping[Key, bytes], *, kind: int = 2, leaves: bool = False, version: int = 3
) -> Path:
    data, entries = b"", []
    for number, key in sorted((CURVE[key], key) for key in tiles):
        entries.append((number, 1, len(tiles[key]), len(data)))
        data += tiles[key]
    root, leaf = directory(entries), b""
    if leaves:
        leaf, root = root, directory([(entries[0][0], 0, len(root), 0)])
    begin = 127 + len(root)
    head = struct.pack(
        "<7sB11Q6B4iB2i",
        b"PMTiles", version, 127, len(root), begin, 0, begin, len(leaf), begin + len(leaf), len(data),
        len(tiles), len(tiles), len(tiles), 1, 2, 1, kind, 0, max(z for z, _, _ in tiles), 0, 0, 0, 0, 0, 0, 0,
    )  # fmt: skip
    path.write_bytes(head + root + leaf + data)
    return path


@pytest.fixture(params=["mbtiles", "pmtiles", "pmtiles with leaves"])
def quarters(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The world in four colours at zoom 1."""
    tiles = {key: tile(colour) for key, colour in QUARTERS.items()}
    if request.param == "mbtiles":
        return write_mbtiles(tmp_path / "world.mbtiles", tiles)
    return write_pmtiles(tmp_path / "world.pmtiles", tiles, leaves="leaves" in request.param)


def test_tiles_lie_in_their_quarters(quarters: Path, opened: Decode) -> None:
    image = opened(satellite(quarters, ORIGIN, 1, (400, 300)))
    assert image.size == (400, 300)
    corners = [image.getpixel(spot) for spot in ((20, 20), (380, 20), (20, 280), (380, 280))]
    assert corners == [RED, GREEN, BLUE, WHITE]


def test_deeper_zooms_are_enlarged(quarters: Path, opened: Decode) -> None:
    image = opened(satellite(quarters, LatLon(0, 20), 6, (256, 256)))
    assert image.getpixel((128, 5)) == GREEN
    assert image.getpixel((128, 250)) == WHITE
    assert opened(satellite(quarters, LatLon(-30, -30), 20, (256, 256))).getcolors() == [(256 * 256, BLUE)]


def test_across_the_antimeridian_and_beyond_the_pole(quarters: Path, opened: Decode) -> None:
    image = opened(satellite(quarters, LatLon(40, 180), 1, (200, 100)))
    assert image.getpixel((10, 50)) == GREEN
    assert image.getpixel((190, 50)) == RED
    image = opened(satellite(quarters, LatLon(90, 90), 1, (200, 200)))
    assert image.getpixel((100, 20)) == GREY
    assert image.getpixel((100, 180)) == GREEN


def test_a_missing_tile_comes_from_a_coarser_one(tmp_path: Path, opened: Decode) -> None:
    world = Image.new("RGB", (256, 256), RED)
    world.paste(BLUE, (128, 128, 256, 256))
    out = io.BytesIO()
    world.save(out, "PNG")
    path = write_mbtiles(tmp_path / "a.mbtiles", {(0, 0, 0): out.getvalue(), (1, 0, 0): tile(GREEN)})
    image = opened(satellite(path, ORIGIN, 1, (400, 400)))
    assert image.getpixel((50, 50)) == GREEN
    assert image.getpixel((350, 350)) == BLUE
    assert image.getpixel((350, 50)) == RED


def test_damaged_tiles_become_grey_and_are_told(tmp_path: Path, opened: Decode) -> None:
    broken = {
        (1, 0, 0): b"\x89PNG\r\n\x1a\nrubbish",
        (1, 1, 0): tile(GREEN)[:60],
        (1, 0, 1): b"",
        (1, 1, 1): tile(WHITE),
    }
    picture = satellite(write_mbtiles(tmp_path / "a.mbtiles", broken), ORIGIN, 1, (400, 400))
    image = opened(picture)
    assert "3 of 4 tiles are damaged" in picture.source
    assert image.getpixel((20, 100)) == GREY
    assert image.getpixel((350, 350)) == WHITE


def test_credit_comes_from_the_file(tmp_path: Path, opened: Decode) -> None:
    path = write_mbtiles(tmp_path / "a.mbtiles", {(0, 0, 0): tile(BLUE)}, {"format": "png", "attribution": "© Someone"})
    picture = satellite(path, ORIGIN, 0, (256, 256))
    assert picture.attribution == "© Someone"
    assert opened(picture).getpixel((250, 250)) != BLUE


def test_clear_words_where_it_can_not_be(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="satellite needs a tile source: set"):
        satellite(None, ORIGIN)
    with pytest.raises(BadInput, match="can't be read"):
        satellite(tmp_path / "absent.mbtiles", ORIGIN)
    empty = write_mbtiles(tmp_path / "empty.mbtiles", {})
    with pytest.raises(BadInput, match="no picture of this place"):
        satellite(empty, ORIGIN)
    with pytest.raises(BadInput, match="vector tiles"):
        satellite(write_mbtiles(tmp_path / "vector.mbtiles", {}, {"format": "pbf"}), ORIGIN)
    with pytest.raises(BadInput, match="vector tiles"):
        satellite(write_pmtiles(tmp_path / "v.pmtiles", {(0, 0, 0): b"x"}, kind=1), ORIGIN)
    with pytest.raises(BadInput, match="version 2"):
        satellite(write_pmtiles(tmp_path / "2.pmtiles", {(0, 0, 0): b"x"}, version=2), ORIGIN)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(BadInput, match="neither MBTiles nor PMTiles"):
        satellite(tmp_path / "text", ORIGIN)
    (tmp_path / "other.sqlite").write_bytes(b"SQLite format 3\x00 and nothing more")
    with pytest.raises(BadInput, match="not MBTiles"):
        satellite(tmp_path / "other.sqlite", ORIGIN)


def test_a_pmtiles_file_cut_off_anywhere(tmp_path: Path) -> None:
    whole = write_pmtiles(tmp_path / "a.pmtiles", {key: tile(QUARTERS.get(key, RED)) for key in CURVE}).read_bytes()
    for length in range(7, len(whole), 37):
        path = tmp_path / "cut.pmtiles"
        path.write_bytes(whole[:length])
        try:
            assert satellite(path, ORIGIN, 1, (64, 64)).png
        except BadInput as error:
            assert "cut.pmtiles" in str(error)  # noqa: PT017


def test_a_directory_that_unpacks_without_end(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(64_000_000))
    head = struct.pack("<7sB11Q6B4iB2i", b"PMTiles", 3, 127, len(bomb), *([0] * 9), 1, 2, 1, 2, 0, 5, *([0] * 7))
    (tmp_path / "bomb.pmtiles").write_bytes(head + bomb)
    with pytest.raises(BadInput, match="damaged"):
        satellite(tmp_path / "bomb.pmtiles", ORIGIN, 3)
