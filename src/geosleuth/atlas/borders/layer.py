"""The file that ships: borders as lines, a coarse and a fine grid of zones, and the table of regions.

A *zone label* is 0 for no country's ground, ``i`` for the land of region ``i``, and ``regions + i`` for the waters that
belong to it. The grids hold the label at each cell's south-west corner; where no border touches a cell, that is the
label of all of it. Fine cells are kept only for blocks that a border runs through.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from geosleuth.errors import DataFault

from .arcs import Arcs, Ints, Labels
from .cells import BLOCK_COLUMNS, BLOCK_ROWS, COLUMNS, PER_BLOCK, corner_labels, touched_cells

DATA = Path(__file__).parent / "data"
BORDERS = DATA / "borders.zip"
OUTLINES = DATA / "outlines.zip"


@dataclass(frozen=True, slots=True)
class Region:
    """A first-level region of a country, or a part of one.

    ``code`` is ISO 3166-2 where the sources have it ("FR-IDF"), else GeoNames' ("HK.KKC"), else the country's. Where
    the polygon is finer than the first level (a French département, an English county), ``district`` and
    ``district_code`` name it, and several entries share one ``code``. ``geonames`` is GeoNames' code of the region
    ("FR.11"), where it has the same one.
    """

    code: str
    name: str
    country: str
    country_name: str
    district: str | None = None
    district_code: str | None = None
    geonames: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """All that is in the file. ``regions[0]`` stands for label 1: nothing is at 0 in the file."""

    arcs: Arcs
    coarse: Labels
    blocks: Labels
    regions: tuple[Region, ...]

    def to_bytes(self) -> bytes:
        """The file's bytes: the same for the same layer."""
        parts = self.arcs.to_bytes()
        parts["coarse"] = np.ascontiguousarray(self.coarse, dtype="<u2").tobytes()
        parts["blocks"] = np.ascontiguousarray(self.blocks, dtype="<u2").tobytes()
        parts["regions.json"] = _regions_json(self.regions)
        return pack(parts)


def compile_layer(arcs: Arcs, regions: Sequence[Region]) -> Layer:
    """Lay the grids over the lines."""
    fine = corner_labels(arcs)
    cells, _ = touched_cells(arcs)
    numbers = blocks_of(cells)
    square = fine.reshape(BLOCK_ROWS, PER_BLOCK, BLOCK_COLUMNS, PER_BLOCK)
    coarse = square[:, 0, :, 0].copy()
    blocks = square.transpose(0, 2, 1, 3).reshape(BLOCK_ROWS * BLOCK_COLUMNS, PER_BLOCK**2)[numbers]
    return Layer(arcs, coarse, blocks, tuple(regions))


def blocks_of(cells: Ints) -> Ints:
    """The numbers, sorted, of the blocks that hold these fine cells."""
    row, column = np.divmod(cells, np.int32(COLUMNS))
    held = np.zeros(BLOCK_ROWS * BLOCK_COLUMNS, dtype=bool)
    held[row // PER_BLOCK * BLOCK_COLUMNS + column // PER_BLOCK] = True
    return np.flatnonzero(held).astype(np.int32)


def read_layer(path: Path = BORDERS) -> Layer:
    """Read the file.

    Raises:
        DataFault: it is missing or damaged.
    """
    parts = unpack(path)
    try:
        return Layer(
            arcs=Arcs.from_bytes(parts),
            coarse=np.frombuffer(parts["coarse"], dtype="<u2").reshape(BLOCK_ROWS, BLOCK_COLUMNS),
            blocks=np.frombuffer(parts["blocks"], dtype="<u2").reshape(-1, PER_BLOCK**2),
            regions=tuple(Region(*row) for row in json.loads(parts["regions.json"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataFault(f"{path} is damaged ({error}); install geosleuth again") from error


def pack(parts: dict[str, bytes]) -> bytes:
    """A zip of these parts with no dates in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    return buffer.getvalue()


def unpack(path: Path) -> dict[str, bytes]:
    """The parts by name."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, EOFError, zipfile.BadZipFile, ValueError) as error:
        raise DataFault(f"{path} can't be read ({error}); install geosleuth again") from error


def _regions_json(regions: Sequence[Region]) -> bytes:
    rows = [list(asdict(region).values()) for region in regions]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
