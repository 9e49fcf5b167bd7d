"""What looks at a street: a view, or a panorama."""

from typing import Protocol

from .camera import Point2, Point3


class Lens(Protocol):
    """What sees the street: a view, or a panorama."""

    @property
    def width(self) -> int:
        """Pixels from side to side."""

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""

    @property
    def x_m(self) -> float:
        """Where across the street it stands."""

    @property
    def height_m(self) -> float:
        """How high it stands."""

    def project(self, point: Point3) -> Point2 | None:
        """The pixel of a point, where it has one."""

    def pixels_per_metre(self, point: Point3) -> float:
        """How large a metre is there."""

    @property
    def sees_behind(self) -> bool:
        """Whether what is behind the camera is in the picture as well."""

    @property
    def horizon_px(self) -> float:
        """The row of the horizon."""

    def direction(self, azimuth_deg: float, elevation_deg: float) -> Point2 | None:
        """The pixel of something endlessly far away, to the right of the street's direction and up."""
