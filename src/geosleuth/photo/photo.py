"""The photo that everything else works on, and how large a file may be."""

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from PIL.Image import Image

Kind = Literal["photo", "panorama"]


@dataclass(frozen=True, slots=True)
class PhotoLimits:
    """Limits on the cost of a photo, checked before anything of it is decoded.

    A photo takes 4 bytes a pixel once it is open and 8 while it is opened (12 if it has to be turned or its colours
    converted, 16 to 20 for WebP): at the limit of 200 million pixels 0.8 GB, and 1.6 GB or more on the way.
    """

    max_bytes: int = 100 * 1024 * 1024
    max_pixels: int = 200_000_000
    # As many as a JPEG can have. A picture of one endless row takes many times the memory of a square one.
    max_side: int = 65_535
    # Of all photos of one case, which are open at the same time: 2 GB.
    max_case_pixels: int = 500_000_000
    # Chunks, segments and strips: a hundred times what a large photo has.
    max_parts: int = 65_536
    # A progressive JPEG is gone through once for every scan; cameras write about ten.
    max_scanned_pixels: int = 2_000_000_000
    max_scans: int = 100


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Photo:
    """Pixels and a random handle: no name, no path, no metadata.

    `image` is RGB, upright, and has an empty `info`. It is shared, not copied: look, don't draw.
    """

    image: "Image" = field(repr=False)
    kind: Kind = "photo"
    handle: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.image.size
