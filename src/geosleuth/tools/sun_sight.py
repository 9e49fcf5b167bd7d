"""How the sun is said to stand: read from shadows or given outright, with tolerances."""

from dataclasses import dataclass

from geosleuth.errors import BadInput
from geosleuth.geo import SunSight, elevation_of_shadow, shadow_of_elevation

_COMPASS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
_LOWEST_DEG = 1.0  # below that shadows are too long and faint to have a direction


@dataclass(frozen=True, slots=True)
class Sight:
    """The sun's height and bearing in degrees as far as they are known, and how far off each may be."""

    elevation_deg: float | None
    azimuth_deg: float | None
    tolerance_deg: float
    azimuth_tolerance_deg: float

    @property
    def bounds(self) -> SunSight:
        """The same as limits; a height that is not known is any at which there are shadows."""
        low, high = _LOWEST_DEG, 90.0
        if self.elevation_deg is not None:
            low = max(0.0, self.elevation_deg - self.tolerance_deg)
            high = min(90.0, self.elevation_deg + self.tolerance_deg)
        return SunSight(low, high, self.azimuth_deg, self.azimuth_tolerance_deg)

    @property
    def step_deg(self) -> float:
        """How far the sun may move between two looks and neither leap over what is sought nor leave its edge ragged."""
        return min(
            tolerance / 2
            for tolerance, known in (
                (self.tolerance_deg, self.elevation_deg),
                (self.azimuth_tolerance_deg, self.azimuth_deg),
            )
            if known is not None
        )

    @property
    def words(self) -> str:
        """It in words, after "the sun stands"."""
        parts = []
        if self.elevation_deg is not None:
            ratio = shadow_of_elevation(self.elevation_deg)
            shadow = f" (shadows {ratio:.3g} times the height)" if ratio < 1000 else ""
            parts.append(f"{self.elevation_deg:.1f}° ± {self.tolerance_deg:g}° high{shadow}")
        if self.azimuth_deg is not None:
            parts.append(
                f"in the {compass(self.azimuth_deg)} ({self.azimuth_deg:.0f}° ± {self.azimuth_tolerance_deg:g}°)"
            )
        return " ".join(parts)


def sight_of(
    shadow_ratio: float | None,
    sun_elevation: float | None,
    shadow_direction: float | None,
    sun_azimuth: float | None,
    tolerance_deg: float,
    direction_tolerance_deg: float,
) -> Sight | None:
    """What the arguments say about the sun, None where they say nothing.

    Raises:
        BadInput: values that can't be, or that say the same thing twice.
    """
    if not 0.5 <= tolerance_deg <= 30:
        raise BadInput(f"tolerance_deg is {tolerance_deg:g}; it must lie between 0.5 and 30 degrees")
    if not 1 <= direction_tolerance_deg <= 90:
        raise BadInput(f"direction_tolerance_deg is {direction_tolerance_deg:g}; it must lie between 1 and 90 degrees")
    elevation = _elevation(shadow_ratio, sun_elevation)
    azimuth = _azimuth(shadow_direction, sun_azimuth)
    if elevation is None and azimuth is None:
        return None
    return Sight(elevation, azimuth, tolerance_deg, direction_tolerance_deg)


def _elevation(shadow_ratio: float | None, sun_elevation: float | None) -> float | None:
    if shadow_ratio is None:
        if sun_elevation is not None and not 0 <= sun_elevation <= 90:
            raise BadInput(f"sun_elevation is {sun_elevation:g}; it must lie between 0 (the horizon) and 90 degrees")
        return sun_elevation
    if sun_elevation is not None:
        raise BadInput("shadow_ratio and sun_elevation say the same thing; give one of them")
    if not 0 <= shadow_ratio <= 60:
        raise BadInput(
            f"shadow_ratio is {shadow_ratio:g}; it is the shadow's length divided by the height, from 0 to 60"
        )
    return elevation_of_shadow(shadow_ratio)


def _azimuth(shadow_direction: float | None, sun_azimuth: float | None) -> float | None:
    if shadow_direction is not None and sun_azimuth is not None:
        raise BadInput("shadow_direction and sun_azimuth say the same thing; give one of them")
    azimuth = sun_azimuth if shadow_direction is None else shadow_direction + 180
    if azimuth is None:
        return None
    if not -360 <= azimuth <= 720:
        raise BadInput("a compass bearing must lie between 0 and 360 degrees: 0 north, 90 east")
    return azimuth % 360


def compass(bearing_deg: float) -> str:
    """A bearing as one of eight directions."""
    return _COMPASS[round(bearing_deg / 45) % 8]
