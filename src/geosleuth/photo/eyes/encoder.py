"""What every network that looks at pictures offers."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

Features: TypeAlias = npt.NDArray[np.float32]

BATCH = 8
"""Pictures looked at together: more are no faster on a processor and take more memory."""


class Encoder(Protocol):
    """Turns pictures into features. May be used from several threads at once."""

    @property
    def name(self) -> str:
        """What it is; two encoders of one name give the same features."""
        ...

    @property
    def dimension(self) -> int:
        """How many features a picture has."""
        ...

    def features(self, images: "Sequence[Image]") -> Features:
        """One row a picture, each of length 1, so that the product of two rows is their cosine."""
        ...


def unit_rows(rows: npt.NDArray[np.floating]) -> Features:
    """Each row brought to length 1; a row of zeros stays one."""
    wide = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Features = wide / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit


def pooled(output: npt.NDArray[np.floating], *, channels_first: bool = True) -> npt.NDArray[np.floating]:
    """A network's output as one row a picture: the first of several tokens, the mean over a map."""
    row: npt.NDArray[np.floating] = output
    if output.ndim == 3:
        row = output[:, 0]
    elif output.ndim == 4:
        row = output.mean(axis=(2, 3) if channels_first else (1, 2))
    return row


def digest_of(*paths: Path) -> str:
    """A short fingerprint of some files' content."""
    hashing = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                hashing.update(block)
    return hashing.hexdigest()[:12]
