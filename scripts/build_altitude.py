"""Compile the world's altitudes: src/geosleuth/atlas/facts/data/altitude.bin.

    python scripts/build_altitude.py

Source: ``Altitude.h5`` of PyPI pvlib 0.16.1 (BSD-3-Clause): terrain by Mapzen (open data of many agencies, named in
NOTICE) on a grid of a twelfth of a degree, 2160 rows from the north and 4320 columns from the date line, in steps of
28 m from -450 m on; 255 is no data, which is the sea. pvlib itself needs pandas, h5py and a second to import.

The file: per band of rows the length of its data (4 bytes, little endian), then the bands, each compressed by zlib with
every cell but a row's first stored as its difference (modulo 256) from the one to the west. Same package, same bytes.
"""

import io
import struct
import sys
import zlib
from pathlib import Path

import h5py  # type: ignore[import-untyped]
import numpy as np

from registry import wheel_files

TABLE = Path(__file__).parents[1] / "src/geosleuth/atlas/facts/data/altitude.bin"
ROWS, COLUMNS, BAND_ROWS = 2160, 4320, 12


def main() -> None:
    """Read the grid, check it, write the bands."""
    (packed,) = wheel_files("pvlib", "0.16.1", "data/Altitude.h5").values()
    with h5py.File(io.BytesIO(packed)) as file:
        grid = np.asarray(file["Altitude"])
    if grid.shape != (ROWS, COLUMNS) or grid.dtype != np.uint8:
        raise SystemExit("the grid is not what it was")
    steps = grid.copy()
    steps[:, 1:] -= grid[:, :-1]
    bands = [zlib.compress(steps[row : row + BAND_ROWS].tobytes(), level=9) for row in range(0, ROWS, BAND_ROWS)]
    TABLE.write_bytes(struct.pack(f"<{len(bands)}I", *map(len, bands)) + b"".join(bands))
    print(f"{len(bands)} bands, {TABLE.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
