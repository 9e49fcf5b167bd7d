"""One file of NumPy arrays, each aligned, so that a mapped file is read only as far as it is used."""

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
    """Return the bytes of a file that holds these arrays: a JSON header with types and shapes, then the data."""
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
    """Return the arrays of such a file, as views of its bytes.

    Raises:
        ValueError: it is no such file, or cut short. Other errors are possible for bytes that somebody forged.
    """
    import numpy as np

    at = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    arrays = []
    for dtype, shape in json.loads(data[_LENGTH_BYTES:at]):
        at += -at % _ALIGNMENT
        arrays.append(np.frombuffer(data, dtype, prod(shape), at).reshape(shape))
        at += arrays[-1].nbytes
    return arrays
