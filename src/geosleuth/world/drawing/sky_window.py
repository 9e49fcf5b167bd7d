"""Which part of the sky a picture shows: directions to pixels and back."""

import math
from dataclasses import dataclass, field

from .camera import View


@dataclass(frozen=True, slots=True)
class SkyWindow:
    """A picture as a window onto the sky.

    ``round`` is a panorama: all directions side by side, with the heading in the middle. Any other picture is flat, as
    wide as ``field_deg``. Directions leave here rounded, so that every machine sees the same sky.
    """

    size: tuple[int, int]
    horizon_y: float
    heading_deg: float
    field_deg: float
    round: bool = False
    far_px: float = field(init=False)
    """How far in front of the eye the picture stands, in its own pixels; for a panorama, pixels per radian."""

    def __post_init__(self) -> None:
        width = self.size[0]
        far = width / math.tau if self.round else width / 2 / math.tan(math.radians(self.field_deg) / 2)
        object.__setattr__(self, "far_px", round(far, 6))

    @classmethod
    def of(cls, view: View, heading_deg: float) -> "SkyWindow":
        """What a camera sees of the sky in a street that runs along this heading."""
        return cls((view.width, view.height), view.horizon_px, heading_deg + view.yaw_deg, view.field_deg)

    def azimuth_at(self, x: float) -> float:
        """The direction of a column, in degrees from north to east."""
        aside = (x - self.size[0] / 2) / self.far_px
        return round(self.heading_deg + math.degrees(aside if self.round else math.atan(aside)), 6)

    def elevation_at(self, y: float) -> float:
        """How high above the horizon a row looks, in degrees."""
        up = (self.horizon_y - y) / self.far_px
        return round(math.degrees(up if self.round else math.atan(up)), 6)

    def aside_deg(self, azimuth_deg: float) -> float:
        """How far right of the middle a direction is, between -180 and 180."""
        return round((azimuth_deg - self.heading_deg + 180) % 360 - 180, 6)

    def x_of(self, azimuth_deg: float) -> float | None:
        """The column of a direction; None behind the camera."""
        aside = self.aside_deg(azimuth_deg)
        if self.round:
            return self.size[0] / 2 + math.radians(aside) * self.far_px
        return None if abs(aside) > 80 else round(self.size[0] / 2 + math.tan(math.radians(aside)) * self.far_px, 4)

    def y_of(self, elevation_deg: float) -> float:
        """The row of a height above the horizon."""
        up = math.radians(elevation_deg)
        return round(self.horizon_y - (up if self.round else math.tan(up)) * self.far_px, 4)
