"""Claims of a photo's metadata: shown in the report beside the finding, never used as evidence for it."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from geosleuth.geo import LatLon, distance_km

from .carrier import Carrier, FileFormat
from .exif import ExifData, finite, is_estimate, xmp_point, xmp_values
from .sidecar import SidecarClaim

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class PanoramaClaim:
    """Claims of the file about itself as a panorama (the GPano terms of XMP)."""

    projection: str
    # Compass heading of the middle of the picture.
    pose_heading_deg: float | None
    # Whether the picture shows the whole sphere; None where the file does not say.
    full_sphere: bool | None


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims of the file about itself; anyone could have written them.

    `estimated` is set where the file says that its place was estimated, as copies that geosleuth writes do: such a
    place is no second opinion, agrees with nothing and contradicts nothing. `taken_at` has a time zone only where the
    file gives one. `size_px` is the size as stored, before turning. `focal_35mm` is the focal length in mm that would
    show as much on 35 mm film. `sidecars` is what XMP files beside the photo's say. `not_a_photo` is what the picture
    looks like, "screenshot", "document" or "drawing", where it has been judged and is no photograph; see
    `geosleuth.photo.nature`.
    """

    format: FileFormat
    file_bytes: int
    sha256: str
    size_px: tuple[int, int]
    point: LatLon | None = None
    altitude_m: float | None = None
    heading_deg: float | None = None
    taken_at: "datetime | None" = None
    camera_make: str | None = None
    camera_model: str | None = None
    focal_35mm: float | None = None
    software: str | None = None
    panorama: PanoramaClaim | None = None
    notes: tuple[str, ...] = ()
    estimated: bool = False
    sidecars: tuple[SidecarClaim, ...] = ()
    not_a_photo: str | None = None

    @property
    def own_point(self) -> LatLon | None:
        """The claimed place, unless it was estimated from the picture."""
        return None if self.estimated else self.point

    def contradicts(self, point: LatLon, radius_km: float) -> bool | None:
        """Return whether the claimed place is farther than `radius_km` from a finding; None if none is claimed.

        An estimated place counts as none.

        Raises:
            ValueError: the radius is negative or not a number.
        """
        if not radius_km >= 0:
            raise ValueError(f"radius_km must be zero or more, not {radius_km}")
        return None if self.own_point is None else distance_km(self.own_point, point) > radius_km


def gather_claims(data: bytes, carrier: Carrier, said: ExifData, notes: list[str]) -> Claims:
    """Gather what the file says, with notes on how it was opened."""
    xmp = xmp_values(carrier.xmp)
    estimated = said.estimated if said.point else is_estimate(xmp.get("exif:GPSProcessingMethod", "").encode())
    return Claims(
        format=carrier.format,
        file_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        size_px=carrier.size,
        point=said.point or xmp_point(xmp),
        estimated=estimated,
        altitude_m=said.altitude_m,
        heading_deg=said.heading_deg,
        taken_at=said.taken_at,
        camera_make=said.camera_make,
        camera_model=said.camera_model,
        focal_35mm=said.focal_35mm,
        software=said.software,
        panorama=_panorama(xmp),
        notes=(*said.notes, *notes),
    )


def _panorama(xmp: dict[str, str]) -> PanoramaClaim | None:
    projection = xmp.get("GPano:ProjectionType")
    if projection is None:
        return None
    heading = finite(xmp.get("GPano:PoseHeadingDegrees"))
    full = [finite(xmp.get(f"GPano:FullPano{side}Pixels")) for side in ("Width", "Height")]
    shown = [finite(xmp.get(f"GPano:CroppedAreaImage{side}Pixels")) for side in ("Width", "Height")]
    return PanoramaClaim(
        projection=projection.lower(),
        pose_heading_deg=None if heading is None else heading % 360,
        full_sphere=None if None in full or None in shown else full == shown,
    )
