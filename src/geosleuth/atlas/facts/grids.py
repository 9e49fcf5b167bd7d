"""World grids that ship with the package: bands of rows, each compressed, after the lengths of all bands."""

import struct
import zlib
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import LatLon
from geosleuth.support.errors import DataFault

from .countries import read_bytes

BAND_ROWS: Final = 12
_CACHED_BANDS: Final = 64


class WorldGrid:
    """A grid of bytes from north-west to south-east; a band is read when one of its rows is first needed.

    Args:
        name: the file.
        rows: from pole to pole; a row has twice as many columns.
        undo: accumulates what the file holds: the steps along a row, or what differs from the row above.
        axis: 1 for steps along a row, 0 for differences from the row above.
    """

    def __init__(self, name: str, rows: int, undo: np.ufunc, axis: int) -> None:
        self.rows, self.columns = rows, 2 * rows
        self._name, self._undo, self._axis = name, undo, axis
        self.band = lru_cache(maxsize=_CACHED_BANDS)(self._read_band)

    def find_cell(self, point: LatLon) -> tuple[int, int]:
        """Return the row and column of the cell that a point lies in."""
        per_degree = self.rows / 180
        row = min(self.rows - 1, int((90 - point.lat) * per_degree))
        return row, int((point.lon + 180) * per_degree) % self.columns

    def row(self, number: int) -> NDArray[np.uint8]:
        """Return a row.

        Raises:
            DataFault: the file is missing or damaged.
        """
        row: NDArray[np.uint8] = self.band(number // BAND_ROWS)[number % BAND_ROWS]
        return row

    @cached_property
    def _file(self) -> tuple[bytes, list[int]]:
        data, count = read_bytes(self._name), self.rows // BAND_ROWS
        head = struct.calcsize(f"<{count}I")
        if len(data) < head:
            raise DataFault(f"a table of the atlas is damaged: {self._name}")
        ends = np.cumsum(struct.unpack(f"<{count}I", data[:head])) + head
        return data, [head, *ends.tolist()]

    def _read_band(self, number: int) -> NDArray[np.uint8]:
        data, starts = self._file
        try:
            coded = np.frombuffer(zlib.decompress(data[starts[number] : starts[number + 1]]), dtype=np.uint8)
            rows: NDArray[np.uint8] = self._undo.accumulate(
                coded.reshape(BAND_ROWS, self.columns), axis=self._axis, dtype=np.uint8
            )
        except (zlib.error, ValueError) as error:
            raise DataFault(f"a table of the atlas is damaged: {self._name}") from error
        return rows
