"""The sky above a street and the light that it gives: sun, clouds, stars, haze, and what falls through the air."""

import math
import random
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from geosleuth.lab.scenes.scene import Camera, Sky

from .camera import Point2, View
from .canvas import Canvas, Colour, mix_colours

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

NOISE_PX = 512
Plane = NDArray[np.float32]
_SHOWN_SUN = {"clear": 1.0, "cloudy": 0.75}
# How much of the sky clouds cover (the least height of the noise that is cloud), and how dense they are.
_CLOUDS = {
    "clear": (168, 0.5), "cloudy": (124, 0.95), "overcast": (60, 0.55), "rain": (70, 0.6), "snow": (66, 0.35),
    "fog": (255, 0.0),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Light:
    """Light and air that everything in a picture shares.

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

    def shade(self, colour: Colour, facing: Vector = (0.0, 0.0, 1.0)) -> Colour:
        """Return a colour as it looks on a surface that faces this way."""
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

    def apply_haze(self, colour: Colour, distance_m: float) -> Colour:
        """Return a colour as it looks from far away."""
        return mix_colours(colour, self.horizon, self.veil(distance_m))

    def veil(self, distance_m: float) -> float:
        """Return how much of the horizon's colour lies over what is this far away, 0 to 1."""
        thick = self.haze * max(distance_m, 0.0) / 100
        return round(thick / (1 + thick), 6)


def compute_light(sky: Sky, camera: Camera) -> Light:
    """Return the light in which a camera sees its street."""
    zenith, horizon, glow, bright, tint = _hour(sky.sun_elevation_deg)
    grey, cover, dimmed, direct, haze = _CLOUDED[sky.weather]
    daylight = max(0.0, min(1.0, (sky.sun_elevation_deg + 12) / 18))
    grey = mix_colours((24, 27, 38), grey, daylight)
    share = cover / 1000
    up = min(1.0, max(0.0, (sky.sun_elevation_deg + 0.5) / 7))
    return Light(
        sun=sun_vector(sky, camera),
        direct=round(direct / 1000 * up, 4),
        brightness=bright / 1000 * dimmed / 1000,
        tint=mix_colours(tint, (236, 240, 246) if daylight > 0.6 else tint, share),
        zenith=mix_colours(zenith, mix_colours(grey, (0, 0, 0), 0.12), share),
        horizon=mix_colours(horizon, mix_colours(grey, (255, 255, 255), 0.22 * daylight), share),
        glow=mix_colours(glow, grey, share),
        haze=haze / 1000,
    )


def sun_vector(sky: Sky, camera: Camera) -> Vector:
    """Return where the sun stands, seen along the street: right, forward, up."""
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
        mix_colours(low[1], high[1], share), mix_colours(low[2], high[2], share), mix_colours(low[3], high[3], share),
        round(low[4] + (high[4] - low[4]) * share), mix_colours(low[5], high[5], share),
    )  # fmt: skip


@cache
def cloud_noise() -> NDArray[np.uint8]:
    """Return large billows with finer ones in them, 0 to 255."""
    return _noise(20, ((4, 10), (8, 9), (16, 6), (32, 4), (64, 2), (128, 1)))


@cache
def ground_noise() -> NDArray[np.uint8]:
    """Return patches and fine grain, 0 to 255."""
    return _noise(21, ((8, 5), (32, 4), (128, 5), (256, 5), (512, 4)))


def _noise(seed: int, octaves: tuple[tuple[int, int], ...]) -> NDArray[np.uint8]:
    """Return summed smooth noise; an octave is a number of cells and a weight."""
    source = np.random.Generator(np.random.PCG64(seed))
    total = np.zeros((NOISE_PX, NOISE_PX), dtype=np.int64)
    margin = 3
    for cells, weight in octaves:
        grid = source.integers(0, 256, (cells, cells), dtype=np.uint8)
        wrapped = Image.fromarray(np.pad(grid, margin, mode="wrap"))
        step = NOISE_PX // cells
        grown = wrapped.resize((wrapped.width * step, wrapped.height * step), Image.Resampling.BICUBIC)
        edge = margin * step
        total += np.asarray(grown.crop((edge, edge, edge + NOISE_PX, edge + NOISE_PX))).astype(np.int64) * weight
    low, high = int(total.min()), int(total.max())
    return ((total - low) * 255 // (high - low)).astype(np.uint8)


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
    def from_view(cls, view: View, heading_deg: float) -> "SkyWindow":
        """Return what a camera sees of the sky in a street that runs along this heading."""
        return cls((view.width, view.height), view.horizon_px, heading_deg + view.yaw_deg, view.field_deg)

    def compute_azimuth(self, x: float) -> float:
        """Return the direction of a column, in degrees from north to east."""
        aside = (x - self.size[0] / 2) / self.far_px
        return round(self.heading_deg + math.degrees(aside if self.round else math.atan(aside)), 6)

    def aside_deg(self, azimuth_deg: float) -> float:
        """Return how far right of the middle a direction is, between -180 and 180."""
        return round((azimuth_deg - self.heading_deg + 180) % 360 - 180, 6)

    def compute_x(self, azimuth_deg: float) -> float | None:
        """Return the column of a direction; None behind the camera."""
        aside = self.aside_deg(azimuth_deg)
        if self.round:
            return self.size[0] / 2 + math.radians(aside) * self.far_px
        return None if abs(aside) > 80 else round(self.size[0] / 2 + math.tan(math.radians(aside)) * self.far_px, 4)

    def compute_y(self, elevation_deg: float) -> float:
        """Return the row of a height above the horizon."""
        up = math.radians(elevation_deg)
        return round(self.horizon_y - (up if self.round else math.tan(up)) * self.far_px, 4)


def draw_sky(pixels: NDArray[np.uint8], window: SkyWindow, sky: Sky, light: Light, chance: random.Random) -> None:
    """Paint the sky onto a picture, from its upper edge down to a little below the horizon."""
    import cv2

    height = min(window.size[1], max(2, int(window.horizon_y) + 2))
    width = window.size[0]
    # A sky is soft: it is worked out small and grown.
    columns = 512 if window.round else 256
    rows = max(24, round(columns * height / width))
    azimuths = [window.compute_azimuth((at + 0.5) * width / columns) for at in range(columns)]
    up = _heights(window, (columns, rows), height)
    shown = _gradient(azimuths, up, sky, light)
    _clouds(shown, (azimuths, up), window, sky, light, chance)
    small = np.ascontiguousarray(np.clip(shown + 0.5, 0, 255).astype(np.uint8).transpose(1, 2, 0))
    cv2.resize(small, (width, height), dst=pixels[:height], interpolation=cv2.INTER_LINEAR_EXACT)
    _sun(pixels[:height], window, sky, light)


def _heights(window: SkyWindow, size: tuple[int, int], height: int) -> NDArray[np.int32]:
    """Return the elevation of each pixel of the small sky, in quarters of a degree."""
    columns, rows = size
    above = [(window.horizon_y - (at + 0.5) * height / rows) / window.far_px for at in range(rows)]
    if window.round:
        return np.broadcast_to(np.array([_quarters(math.degrees(up)) for up in above])[:, None], (rows, columns))
    aside = (np.arange(columns) + 0.5) / columns * window.size[0] - window.size[0] / 2
    away = np.sqrt(aside * aside + window.far_px * window.far_px) / window.far_px
    tangents = np.array(above)[:, None] / away[None, :]
    return _by_tangent()[np.clip(tangents * 256, 0, 2047).astype(np.int32)]


def _quarters(degrees: float) -> int:
    return max(0, min(4 * 90, round(round(degrees, 6) * 4)))


@cache
def _by_tangent() -> NDArray[np.int32]:
    return np.array([_quarters(math.degrees(math.atan((step + 0.5) / 256))) for step in range(2048)], dtype=np.int32)


def _gradient(azimuths: list[float], up: NDArray[np.int32], sky: Sky, light: Light) -> Plane:
    """Return the cloudless sky, graded from horizon to zenith, warmer and lighter around the sun."""
    high = np.arange(361, dtype=np.float32) / 4
    # A fifth of the way up the sky is half its zenith's blue.
    blue = (high / (high + 17))[up]
    apart = np.array([abs((at - sky.sun_azimuth_deg + 180) % 360 - 180) for at in azimuths], dtype=np.float32)
    above = high - max(sky.sun_elevation_deg, -2.0)
    square = (apart * apart)[None, :] + (above * above * 1.6)[up]
    strength = (0.25 + 0.75 * light.direct) * (0.3 if sky.weather in ("rain", "fog", "snow") else 1.0)
    wide = 806 * strength / (1300 + square)
    near = 63 * strength / (90 + square)
    glow = wide + near - wide * near
    # Far from the sun the sky is a little darker than the table has it, so that its side shows everywhere.
    dim = (1 - 0.16 * strength * apart / 180)[None, :]
    shown = np.empty((3, *up.shape), dtype=np.float32)
    for channel in range(3):
        low, top = light.horizon[channel], light.zenith[channel]
        plain = (low + (top - low) * blue) * dim
        shown[channel] = plain + (light.glow[channel] - plain) * glow
    return shown


def _clouds(
    shown: Plane, directions: tuple[list[float], NDArray[np.int32]], window: SkyWindow, sky: Sky, light: Light,
    chance: random.Random,
) -> None:  # fmt: skip
    """Draw clouds over a sky, smaller towards the horizon."""
    azimuths, up = directions
    least, dense = _CLOUDS[sky.weather]
    least += chance.randrange(-20, 13) if sky.weather in _SHOWN_SUN else 0
    shift_x, shift_y = chance.randrange(NOISE_PX), chance.randrange(NOISE_PX)
    if dense == 0:
        return
    noise = cloud_noise()
    # A layer of cloud seen from below: rows of it crowd towards the horizon.
    y = np.array([round(3000 / (quarter / 4 + 9) - 2.2 * quarter / 4) + shift_y for quarter in range(361)])
    # A panorama must meet itself: its clouds go around a whole number of textures.
    step = 2 * NOISE_PX / 360 if window.round else 3.2
    x = np.array([round(azimuth * step) + shift_x for azimuth in azimuths])[None, :]
    here = noise.ravel().take((y % NOISE_PX * NOISE_PX)[up] + x % NOISE_PX).astype(np.float32)
    # A cloud is lit where it is thinner on the sun's side.
    sunwards = 7 if window.aside_deg(sky.sun_azimuth_deg) > 0 else -7
    below = ((y + 5) % NOISE_PX * NOISE_PX)[up]
    beside = noise.ravel().take(below + (x + sunwards) % NOISE_PX).astype(np.float32)
    thick = np.clip((here - least) / (46 if sky.weather in _SHOWN_SUN else 150), 0, 1)
    cover = thick * (2 - thick) * np.clip((np.arange(361, dtype=np.float32) / 4 + 1) / 5, 0, dense)[up]
    bright, dark = _cloud_colours(sky, light)
    lit = np.clip(0.62 + (here - beside) / 60 - 0.35 * thick, 0, 1)
    for channel in range(3):
        cloud = dark[channel] + (bright[channel] - dark[channel]) * lit
        shown[channel] += (cloud - shown[channel]) * cover


def _cloud_colours(sky: Sky, light: Light) -> tuple[Colour, Colour]:
    if sky.weather not in _SHOWN_SUN:
        return mix_colours(light.horizon, light.zenith, 0.1), mix_colours(
            light.zenith, (70, 76, 88), 0.3 * light.brightness
        )
    low = max(0.0, min(1.0, (14 - sky.sun_elevation_deg) / 14))
    shaded = mix_colours(light.zenith, (190, 198, 212), 0.7)
    return mix_colours((255, 255, 255), light.glow, 0.7 * low), mix_colours(shaded, light.glow, 0.25 * low)


def _sun(pixels: NDArray[np.uint8], window: SkyWindow, sky: Sky, light: Light) -> None:
    """Draw the sun's disc, if it is in the picture."""
    x = window.compute_x(sky.sun_azimuth_deg)
    seen = _SHOWN_SUN.get(sky.weather, 0.0)
    if x is None or not seen or sky.sun_elevation_deg < -0.6:
        return
    y = window.compute_y(sky.sun_elevation_deg)
    radius = max(4, round(window.far_px * 0.016))
    if not (-9 * radius < x < window.size[0] + 9 * radius and y > -9 * radius):
        return
    size = 16 * radius
    mask = _halo().resize((size, size), Image.Resampling.BILINEAR).point([round(level * seen) for level in range(256)])
    corner = (round(x) - 8 * radius, round(y) - 8 * radius)
    lay(pixels, np.asarray(mask), corner, mix_colours(light.glow, (255, 255, 255), 0.65))


def lay(pixels: NDArray[np.uint8], mask: NDArray[np.uint8], corner: tuple[int, int], fill: Colour) -> None:
    """Lay a colour on through a mask that may reach out of the picture."""
    left, top = max(corner[0], 0), max(corner[1], 0)
    right, bottom = min(corner[0] + mask.shape[1], pixels.shape[1]), min(corner[1] + mask.shape[0], pixels.shape[0])
    if left >= right or top >= bottom:
        return
    weight = mask[top - corner[1] : bottom - corner[1], left - corner[0] : right - corner[0], None].astype(np.int32)
    part = pixels[top:bottom, left:right]
    under = part.astype(np.int32)
    part[:] = under + ((np.array(fill, np.int32) - under) * weight + 127) // 255


def shine(pixels: NDArray[np.uint8], middle: Point2, radius_px: float, fill: Colour, strength: float) -> None:
    """Draw a soft glow about a lamp."""
    size = max(4, min(2 * round(radius_px), 2 * pixels.shape[1]))
    mask = (
        _glow().resize((size, size), Image.Resampling.BILINEAR).point([round(level * strength) for level in range(256)])
    )
    lay(pixels, np.asarray(mask), (round(middle[0]) - size // 2, round(middle[1]) - size // 2), fill)


@cache
def _glow() -> Image.Image:
    """Return a disc of light that fades outwards."""
    steps = np.arange(64) - 31.5
    square = (steps * steps)[None, :] + (steps * steps)[:, None]
    fading = np.clip(1 - square / 992, 0, 1)
    return Image.fromarray((255 * fading * fading * 60 / (60 + square * 0.5)).astype(np.uint8))


@cache
def _halo() -> Image.Image:
    """Return a bright disc in a soft ring."""
    steps = np.arange(256) - 127.5
    square = (steps * steps)[None, :] + (steps * steps)[:, None]
    fading = np.clip(1 - square / 16256, 0, 1)
    soft = 150 * fading * fading * fading * 500 / (500 + square) + 60 * fading * fading
    disc = np.where(square < 270, 255, np.where(square < 420, 160, 0))
    return Image.fromarray(np.minimum(np.maximum(soft, disc), 255).astype(np.uint8))


def draw_weather(pixels: NDArray[np.uint8], sky: Sky, light: Light, chance: random.Random) -> None:
    """Draw rain or snow in the air over a finished picture; thin enough that any text stays legible."""
    if sky.weather == "rain":
        _rain(pixels, light, chance)
    if sky.weather == "snow":
        _snow(pixels, chance, light)


def draw_air(canvas: Canvas, sky: Sky, light: Light) -> None:
    """Let a road fade in fog, rain or snow, and shine when wet; after the road, before what stands on it."""
    view = canvas.view
    top, height = max(0, int(view.horizon_px)), view.height
    if light.haze < 0.1 or top >= height:
        return
    wet = 0.3 if sky.weather == "rain" else 0.0
    below = [max(0.5, row + 0.5 - view.horizon_px) for row in range(top, height)]
    veils = [light.veil(view.height_m * view.focal_px / down) for down in below]
    shares = [
        round(256 * min(0.94, veil + wet * 60 / (60 + down * 768 / height)))
        for veil, down in zip(veils, below, strict=True)
    ]
    # Rows whose share is next to nothing stay as they are.
    last = next((number for number, share in enumerate(shares) if share < 5), len(shares))
    part = canvas.pixels[top : top + last]
    share = np.array(shares[:last], dtype=np.uint16)[:, None]
    for channel in range(3):
        air = share * np.uint16(light.horizon[channel])
        part[..., channel] = (np.multiply(part[..., channel], 256 - share, dtype=np.uint16) + air) >> np.uint16(8)


def _rain(pixels: NDArray[np.uint8], light: Light, chance: random.Random) -> None:
    import cv2

    height, width = pixels.shape[:2]
    unit = width / 1024
    slant = chance.uniform(-0.25, 0.25)
    pale: Colour = mix_colours(light.horizon, (255, 255, 255), 0.3)
    layer = np.zeros((height, width), dtype=np.uint8)
    for _ in range(240):
        x, y = chance.randrange(width), chance.randrange(height)
        long = chance.uniform(14, 44) * unit
        end = (round((x + slant * long) * 16), round((y + long) * 16))
        cv2.line(layer, (x * 16, y * 16), end, 70, max(1, round(unit)), cv2.LINE_AA, 4)
    rows, columns = np.nonzero(layer)
    weight = layer[rows, columns].astype(np.int32)[:, None]
    under = pixels[rows, columns].astype(np.int32)
    pixels[rows, columns] = under + ((np.array(pale, dtype=np.int32) - under) * weight >> 8)


def _snow(pixels: NDArray[np.uint8], chance: random.Random, light: Light) -> None:
    import cv2

    height, width = pixels.shape[:2]
    unit = width / 1024
    white = mix_colours(light.shade((255, 255, 255)), (255, 255, 255), 0.4)
    for _ in range(420):
        # Most flakes are far: small and many.
        size = 0.6 + 2.0 * chance.random() * chance.random() * chance.random()
        x, y = chance.randrange(width * 16), chance.randrange(height * 16)
        cv2.circle(pixels, (x, y), round(size * unit * 16), white, -1, cv2.LINE_AA, 4)
