"""The light of a scene: where it comes from, how strong it is, and what it makes of a colour."""

import math
from bisect import bisect_right
from dataclasses import dataclass

from geosleuth.world.model import Camera, Sky

from .canvas import Colour, mixed

Vector = tuple[float, float, float]

# By the height of the sun in degrees: the sky overhead, the sky at the horizon, the glow about the sun, how bright
# the day is (thousandths), and the colour of the light itself.
_HOURS: tuple[tuple[int, Colour, Colour, Colour, int, Colour], ...] = (
    (-18, (10, 14, 32), (26, 31, 54), (30, 36, 62), 300, (138, 156, 214)),
    (-9, (18, 26, 58), (54, 58, 92), (96, 84, 110), 360, (146, 160, 216)),
    (-4, (44, 62, 112), (166, 134, 140), (232, 150, 110), 520, (178, 176, 208)),
    (1, (86, 120, 172), (238, 190, 150), (255, 188, 112), 720, (255, 214, 178)),
    (8, (92, 146, 205), (236, 218, 194), (255, 222, 158), 880, (255, 230, 200)),
    (20, (70, 138, 212), (205, 224, 238), (255, 244, 214), 970, (255, 245, 230)),
    (45, (52, 122, 208), (188, 217, 240), (255, 252, 238), 1000, (255, 252, 246)),
    (90, (44, 112, 204), (178, 212, 240), (255, 253, 244), 1000, (255, 253, 250)),
)
# What cloud makes of it: the sky's own grey by day, how much of it covers the blue, brightness, direct sun, haze
# (thousandths, the last two for 100 m).
_CLOUDED: dict[str, tuple[Colour, int, int, int, int]] = {
    "clear": ((214, 224, 232), 0, 1000, 1000, 18),
    "cloudy": ((206, 216, 226), 140, 980, 820, 24),
    "overcast": ((190, 196, 202), 860, 880, 0, 46),
    "rain": ((146, 154, 164), 920, 770, 0, 110),
    "snow": ((212, 217, 224), 940, 920, 0, 150),
    "fog": ((208, 211, 213), 970, 900, 0, 1100),
}


@dataclass(frozen=True, slots=True)
class Light:
    """What everything in a picture has in common.

    ``sun`` points to the sun in metres of the street (right, forward, up). ``direct`` is how strong sunlight is beside
    the light of the sky, from 0 (nothing casts a shadow) to 1. ``haze`` is the share of a colour that 100 m of air
    take away.
    """

    sun: Vector
    direct: float
    brightness: float
    tint: Colour
    zenith: Colour
    horizon: Colour
    glow: Colour
    haze: float
    night: bool

    def shade(self, colour: Colour, facing: Vector = (0.0, 0.0, 1.0)) -> Colour:
        """A colour as it looks on a surface that faces this way."""
        x, y, z = self.sun
        towards = facing[0] * x + facing[1] * y + facing[2] * z
        # Even a side that the sun misses gets three quarters of the light: streets are full of it.
        share = self.direct * (0.34 * towards - 0.26 if towards > 0 else -0.26)
        lit = self.brightness * (1 + share) / 255
        red, green, blue = self.tint
        return (
            min(255, int(colour[0] * red * lit + 0.5)),
            min(255, int(colour[1] * green * lit + 0.5)),
            min(255, int(colour[2] * blue * lit + 0.5)),
        )

    def hazed(self, colour: Colour, distance_m: float) -> Colour:
        """A colour as it looks from far away."""
        return mixed(colour, self.horizon, self.veil(distance_m))

    def veil(self, distance_m: float) -> float:
        """How much of the horizon's colour lies over what is this far away, 0 to 1."""
        thick = self.haze * max(distance_m, 0.0) / 100
        return round(thick / (1 + thick), 6)


def light_of(sky: Sky, camera: Camera) -> Light:
    """The light in which a camera sees its street."""
    zenith, horizon, glow, bright, tint = _hour(sky.sun_elevation_deg)
    grey, cover, dimmed, direct, haze = _CLOUDED[sky.weather]
    daylight = max(0.0, min(1.0, (sky.sun_elevation_deg + 12) / 18))
    grey = mixed((24, 27, 38), grey, daylight)
    share = cover / 1000
    up = min(1.0, max(0.0, (sky.sun_elevation_deg + 0.5) / 7))
    return Light(
        sun=sun_vector(sky, camera),
        direct=round(direct / 1000 * up, 4),
        brightness=bright / 1000 * dimmed / 1000,
        tint=mixed(tint, (236, 240, 246) if daylight > 0.6 else tint, share),
        zenith=mixed(zenith, mixed(grey, (0, 0, 0), 0.12), share),
        horizon=mixed(horizon, mixed(grey, (255, 255, 255), 0.22 * daylight), share),
        glow=mixed(glow, grey, share),
        haze=haze / 1000,
        night=sky.sun_elevation_deg < -3,
    )


def sun_vector(sky: Sky, camera: Camera) -> Vector:
    """Where the sun stands, seen along the street: right, forward, up."""
    aside = math.radians(sky.sun_azimuth_deg - camera.heading_deg)
    up = math.radians(sky.sun_elevation_deg)
    level = round(math.cos(up), 9)
    return round(math.sin(aside), 9) * level, round(math.cos(aside), 9) * level, round(math.sin(up), 9)


def _hour(elevation_deg: float) -> tuple[Colour, Colour, Colour, int, Colour]:
    after = bisect_right([hour[0] for hour in _HOURS], elevation_deg)
    if after == 0 or after == len(_HOURS):
        _, zenith, horizon, glow, bright, tint = _HOURS[min(after, len(_HOURS) - 1)]
        return zenith, horizon, glow, bright, tint
    low, high = _HOURS[after - 1], _HOURS[after]
    share = round((elevation_deg - low[0]) / (high[0] - low[0]), 4)
    return (
        mixed(low[1], high[1], share), mixed(low[2], high[2], share), mixed(low[3], high[3], share),
        round(low[4] + (high[4] - low[4]) * share), mixed(low[5], high[5], share),
    )  # fmt: skip
