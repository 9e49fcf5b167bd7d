"""Lines between neighbouring zones, each stored once with the zone on either side: the one geometry that ships.

Coordinates are whole numbers of 1e-5 degree (about a metre), so that neighbours share their border to the bit, no gap
and no overlap. A zone's polygon is what its lines enclose.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

UNITS_PER_DEGREE = 100_000

Ints = npt.NDArray[np.int32]
Labels = npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Lines: ``i`` has vertices ``starts[i]`` up to ``starts[i + 1]`` of ``x`` and ``y``, a label on each side."""

    x: Ints
    y: Ints
    starts: Ints
    left: Labels
    right: Labels

    def __len__(self) -> int:
        return len(self.left)

    def edges(self) -> Ints:
        """The first vertex of every straight piece; its end is the vertex after it."""
        inner = np.ones(len(self.x), dtype=bool)
        inner[self.starts[1:] - 1] = False
        return np.flatnonzero(inner).astype(np.int32)

    def arc_of_edge(self) -> Ints:
        """For each of `edges`, the number of the line it is part of."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts) - 1)

    def to_bytes(self) -> dict[str, bytes]:
        """Byte strings that compress well, by name."""
        return {
            "lengths": _planes(np.diff(self.starts)),
            "x": _planes(_steps(self.x)),
            "y": _planes(_steps(self.y)),
            "left": _planes(_steps(self.left.astype(np.int32))),
            "right": _planes(_steps(self.right.astype(np.int32))),
        }

    @classmethod
    def from_bytes(cls, parts: dict[str, bytes]) -> "Arcs":
        """The reverse of `to_bytes`."""
        lengths = _joined(parts["lengths"])
        starts = np.zeros(len(lengths) + 1, dtype=np.int32)
        np.cumsum(lengths, out=starts[1:])
        return cls(
            x=_walked(_joined(parts["x"])),
            y=_walked(_joined(parts["y"])),
            starts=starts,
            left=_walked(_joined(parts["left"])).astype(np.uint16),
            right=_walked(_joined(parts["right"])).astype(np.uint16),
        )


def _steps(values: npt.NDArray[Any]) -> Ints:
    steps = values.astype(np.int32)
    steps[1:] -= values[:-1]
    return (steps << 1) ^ (steps >> 31)  # small steps either way become small positive numbers


def _walked(zigzag: Ints) -> Ints:
    steps = (zigzag.view(np.uint32) >> 1).astype(np.int32) ^ -(zigzag & 1)
    return np.cumsum(steps, dtype=np.int32)


def _planes(values: npt.NDArray[Any]) -> bytes:
    # All low bytes first, then the next ones: the high planes are nearly all zero and cost nothing once compressed.
    as_bytes = np.ascontiguousarray(values, dtype="<i4").view(np.uint8).reshape(-1, 4)
    return np.ascontiguousarray(as_bytes.T).tobytes()


def _joined(planes: bytes) -> Ints:
    as_bytes = np.frombuffer(planes, dtype=np.uint8).reshape(4, -1)
    return np.ascontiguousarray(as_bytes.T).view("<i4").reshape(-1).astype(np.int32, copy=False)
