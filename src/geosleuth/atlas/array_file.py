"""Pack NumPy arrays into one file and unpack them as views, without copying.

Layout: the length of the header (8 bytes, little-endian), a JSON header with the type and shape of each array, then the
arrays, each aligned to 64 bytes. Of a memory-mapped file only the pages that are used are read.
"""

import json
from collections.abc import Sequence
from math import prod
from mmap import mmap
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALIGNMENT: Final = 64
_LENGTH_BYTES: Final = 8


def pack_arrays(arrays: Sequence["NDArray[Any]"]) -> bytes:
    """Return the bytes of a file that contains these arrays."""
    import numpy as np

    parts = [np.ascontiguousarray(array) for array in arrays]
    header = json.dumps([[part.dtype.str, part.shape] for part in parts]).encode()
    pieces, size = [len(header).to_bytes(_LENGTH_BYTES, "little"), header], _LENGTH_BYTES + len(header)
    for part in parts:
        padding = -size % _ALIGNMENT
        pieces += [bytes(padding), part.tobytes()]
        size += padding + part.nbytes
    return b"".join(pieces)


def unpack_arrays(data: bytes | mmap) -> list["NDArray[Any]"]:
    """Return the arrays in a file that `pack_arrays` made, as views of its bytes.

    Raises:
        ValueError: the file is of another format, or incomplete. Forged files can cause other errors.
    """
    import numpy as np

    at = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    arrays = []
    for dtype, shape in json.loads(data[_LENGTH_BYTES:at]):
        at += -at % _ALIGNMENT
        arrays.append(np.frombuffer(data, dtype, prod(shape), at).reshape(shape))
        at += arrays[-1].nbytes
    return arrays
