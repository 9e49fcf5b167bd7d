"""Skies, lights and empty streets, for drawing without a whole scene."""

from datetime import UTC, datetime
from typing import Literal

from geosleuth.lab.scenes.drawing.camera import View
from geosleuth.lab.scenes.drawing.canvas import Canvas
from geosleuth.lab.scenes.drawing.sky import Light, compute_light
from geosleuth.lab.scenes.scene import Camera, Sky

CAMERA = Camera(180.0, 1.7, 70.0)
Weather = Literal["clear", "cloudy", "overcast", "rain", "snow", "fog"]
Season = Literal["spring", "summer", "autumn", "winter", "wet", "dry"]


def sky_with(
    aside_deg: float = 90.0, elevation_deg: float = 40.0, weather: Weather = "clear", season: Season = "summer"
) -> Sky:
    """A sky whose sun stands so far to the right of the way the camera looks."""
    moment = datetime(2025, 6, 14, 12, 0, tzinfo=UTC)
    return Sky(moment, (CAMERA.heading_deg + aside_deg) % 360, elevation_deg, weather, season)


def light_with(
    aside_deg: float = 90.0, elevation_deg: float = 40.0, weather: Weather = "clear", season: Season = "summer"
) -> Light:
    """The light under such a sky."""
    return compute_light(sky_with(aside_deg, elevation_deg, weather, season), CAMERA)


def empty_street(size: tuple[int, int] = (1024, 768), x_m: float = 0.0) -> Canvas:
    """Nothing but grey, as a camera sees it that looks along the street."""
    return Canvas(View(*size, CAMERA.field_deg, CAMERA.height_m, x_m=x_m), (150, 150, 150))
