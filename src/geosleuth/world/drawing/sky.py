"""The sky above a street: colours by the sun's height, a glow where it stands, clouds, and stars at night."""

import math
import random
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from geosleuth.world.model import Sky

from .camera import Point2
from .canvas import Colour, mixed
from .sky_light import Light
from .sky_noise import NOISE_PX, cloud_noise
from .sky_window import SkyWindow

Plane = NDArray[np.float32]
_SHOWN_SUN = {"clear": 1.0, "cloudy": 0.75}
# How much of the sky clouds cover (the least height of the noise that is cloud), and how dense they are.
_CLOUDS = {
    "clear": (168, 0.5), "cloudy": (124, 0.95), "overcast": (60, 0.55), "rain": (70, 0.6), "snow": (66, 0.35),
    "fog": (255, 0.0),
}  # fmt: skip


def draw_sky(pixels: NDArray[np.uint8], window: SkyWindow, sky: Sky, light: Light, chance: random.Random) -> None:
    """Paint the sky onto a picture, from its upper edge down to a little below the horizon."""
    import cv2

    height = min(window.size[1], max(2, int(window.horizon_y) + 2))
    width = window.size[0]
    # A sky is soft: it is worked out small and grown.
    columns = 512 if window.round else 256
    rows = max(24, round(columns * height / width))
    azimuths = [window.azimuth_at((at + 0.5) * width / columns) for at in range(columns)]
    up = _heights(window, (columns, rows), height)
    shown = _gradient(azimuths, up, sky, light)
    cover = _clouds(shown, (azimuths, up), window, sky, light, chance)
    small = np.ascontiguousarray(np.clip(shown + 0.5, 0, 255).astype(np.uint8).transpose(1, 2, 0))
    cv2.resize(small, (width, height), dst=pixels[:height], interpolation=cv2.INTER_LINEAR_EXACT)
    if light.night and sky.weather in _SHOWN_SUN:
        _stars(pixels[:height], cover, light, chance)
    _sun(pixels[:height], window, sky, light)


def _heights(window: SkyWindow, size: tuple[int, int], height: int) -> NDArray[np.int32]:
    """How high above the horizon each pixel of the small sky looks, in quarters of a degree."""
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
    """The cloudless sky: from the horizon's colour to the zenith's, warmer and lighter about the sun."""
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
    # Far from the sun the sky is a little darker than the table has it, so that its side can be told anywhere.
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
) -> NDArray[np.bool_]:  # fmt: skip
    """Lay clouds over a sky, smaller towards the horizon; returns where there are any."""
    azimuths, up = directions
    least, dense = _CLOUDS[sky.weather]
    least += chance.randrange(-20, 13) if sky.weather in _SHOWN_SUN else 0
    shift_x, shift_y = chance.randrange(NOISE_PX), chance.randrange(NOISE_PX)
    if dense == 0:
        return np.zeros(up.shape, dtype=bool)
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
    covered: NDArray[np.bool_] = cover > 0.25
    return covered


def _cloud_colours(sky: Sky, light: Light) -> tuple[Colour, Colour]:
    """The lit and the shaded side of a cloud."""
    if sky.weather not in _SHOWN_SUN:
        return mixed(light.horizon, light.zenith, 0.1), mixed(light.zenith, (70, 76, 88), 0.3 * light.brightness)
    if light.night:
        return mixed(light.zenith, (120, 128, 160), 0.35), mixed(light.zenith, (60, 64, 92), 0.5)
    low = max(0.0, min(1.0, (14 - sky.sun_elevation_deg) / 14))
    shaded = mixed(light.zenith, (190, 198, 212), 0.7)
    return mixed((255, 255, 255), light.glow, 0.7 * low), mixed(shaded, light.glow, 0.25 * low)


def _stars(pixels: NDArray[np.uint8], cover: NDArray[np.bool_], light: Light, chance: random.Random) -> None:
    height, width = pixels.shape[:2]
    dot = max(1, width // 1024)
    for _ in range(90):
        x, y = chance.randrange(width), chance.randrange(height)
        bright = chance.uniform(0.25, 0.9) * (1 - y / height)
        if not cover[y * cover.shape[0] // height, x * cover.shape[1] // width]:
            pixels[y : y + dot, x : x + dot] = mixed(light.zenith, (235, 238, 255), bright)


def _sun(pixels: NDArray[np.uint8], window: SkyWindow, sky: Sky, light: Light) -> None:
    """The sun's own disc, where the picture reaches it."""
    x = window.x_of(sky.sun_azimuth_deg)
    seen = _SHOWN_SUN.get(sky.weather, 0.0)
    if x is None or not seen or sky.sun_elevation_deg < -0.6:
        return
    y = window.y_of(sky.sun_elevation_deg)
    radius = max(4, round(window.far_px * 0.016))
    if not (-9 * radius < x < window.size[0] + 9 * radius and y > -9 * radius):
        return
    size = 16 * radius
    mask = _halo().resize((size, size), Image.Resampling.BILINEAR).point([round(level * seen) for level in range(256)])
    corner = (round(x) - 8 * radius, round(y) - 8 * radius)
    lay(pixels, np.asarray(mask), corner, mixed(light.glow, (255, 255, 255), 0.65))


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
    """A soft glow about a lamp."""
    size = max(4, min(2 * round(radius_px), 2 * pixels.shape[1]))
    mask = (
        _glow().resize((size, size), Image.Resampling.BILINEAR).point([round(level * strength) for level in range(256)])
    )
    lay(pixels, np.asarray(mask), (round(middle[0]) - size // 2, round(middle[1]) - size // 2), fill)


@cache
def _glow() -> Image.Image:
    """Light that fades outwards."""
    steps = np.arange(64) - 31.5
    square = (steps * steps)[None, :] + (steps * steps)[:, None]
    fading = np.clip(1 - square / 992, 0, 1)
    return Image.fromarray((255 * fading * fading * 60 / (60 + square * 0.5)).astype(np.uint8))


@cache
def _halo() -> Image.Image:
    """A bright disc in a soft ring of light."""
    steps = np.arange(256) - 127.5
    square = (steps * steps)[None, :] + (steps * steps)[:, None]
    fading = np.clip(1 - square / 16256, 0, 1)
    soft = 150 * fading * fading * fading * 500 / (500 + square) + 60 * fading * fading
    disc = np.where(square < 270, 255, np.where(square < 420, 160, 0))
    return Image.fromarray(np.minimum(np.maximum(soft, disc), 255).astype(np.uint8))
