"""Plants in a street by kind and season: upright cut-outs, drawn once in daylight and set into the light of a scene."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from geosleuth.lab.scenes.scene import Plant

from .camera import Point2, View, cosine, on_grid, sine
from .canvas import Canvas, Colour, mix_colours
from .lots import dice
from .sky import Light

Pixels = NDArray[np.uint8]
Row = NDArray[np.float64]
_OCTAGON = tuple((cosine(angle), sine(angle)) for angle in range(0, 360, 45))
_CIRCLE = tuple((cosine(angle), sine(angle)) for angle in range(0, 360, 20))

# Leaves in shade, plain and in the sun, by season; one of several is drawn.
Tones = tuple[Colour, Colour, Colour]
_GREEN: Tones = ((44, 78, 40), (76, 116, 54), (124, 156, 78))
LEAVES: dict[str, tuple[Tones, ...]] = {
    "spring": (((70, 110, 48), (116, 156, 66), (168, 196, 96)), ((60, 102, 50), (104, 148, 68), (158, 190, 102))),
    "summer": (_GREEN, ((38, 72, 46), (66, 106, 60), (112, 146, 84)), ((58, 84, 36), (92, 122, 50), (142, 164, 76))),
    "autumn": (
        ((128, 62, 26), (184, 98, 38), (222, 150, 62)), ((146, 104, 30), (200, 152, 48), (232, 196, 88)),
        ((110, 40, 30), (160, 62, 40), (202, 104, 62)), ((92, 88, 36), (142, 128, 52), (188, 168, 80)),
    ),
    "winter": (_GREEN,),
    "wet": (((30, 74, 38), (56, 112, 52), (104, 154, 76)), ((36, 82, 40), (66, 122, 54), (116, 164, 80))),
    "dry": (((92, 94, 50), (130, 128, 70), (170, 164, 100)), ((84, 88, 48), (118, 122, 66), (160, 158, 96))),
}  # fmt: skip
_BLOSSOM: tuple[Tones, ...] = (
    ((196, 138, 152), (228, 178, 190), (250, 222, 228)), ((200, 196, 184), (230, 226, 216), (252, 250, 244)),
)  # fmt: skip
_NEEDLES: tuple[Tones, ...] = (
    ((28, 52, 42), (44, 76, 56), (78, 110, 76)), ((32, 58, 40), (52, 84, 52), (90, 120, 74)),
)  # fmt: skip
_BARK: Tones = ((72, 56, 44), (98, 80, 64), (132, 112, 92))
_PALE_BARK: Tones = ((168, 164, 156), (212, 208, 200), (238, 236, 230))
# Range of heights in metres of each plant in a street.
HEIGHTS_M: dict[Plant, tuple[float, float]] = {
    "broadleaf": (5.5, 10.0), "birch": (6.0, 11.0), "conifer": (6.0, 13.0), "palm": (5.0, 10.0), "cypress": (5.0, 9.5),
    "acacia": (4.5, 7.5), "cactus": (2.0, 4.5), "bamboo": (4.0, 7.0), "shrub": (0.8, 1.8), "none": (0.0, 0.0),
}  # fmt: skip
# The height of a crown's middle and its half width, as shares of the plant's height: what its shadow needs.
CROWNS: dict[Plant, tuple[float, float]] = {
    "broadleaf": (0.62, 0.33), "birch": (0.6, 0.2), "conifer": (0.4, 0.2), "palm": (0.78, 0.3), "cypress": (0.5, 0.1),
    "acacia": (0.82, 0.45), "cactus": (0.5, 0.1), "bamboo": (0.55, 0.25), "shrub": (0.5, 0.6), "none": (0.0, 0.0),
}  # fmt: skip
_VARIANTS = 4
_SIZES_PX = (320, 960)


class Pen:
    """Draws shapes of one cut-out: its width and height are shares of its height, y counts up from its foot.

    Colours are kept multiplied with their cover, so that cut-outs shrink and grow without dark fringes.
    """

    def __init__(self, height_px: int, width: float) -> None:
        self.height_px = height_px
        self.width_px = round(height_px * width)
        self.pixels: Pixels = np.zeros((height_px, self.width_px, 4), dtype=np.uint8)

    def shape(self, points: Sequence[Point2], fill: Colour) -> None:
        """Fill a shape, convex or not."""
        import cv2

        cv2.fillPoly(self.pixels, [self._scale_points(points)], (*fill, 255), cv2.LINE_AA, 4)

    def blob(self, x: float, y: float, wide: float, tall: float, fill: Colour, *, fine: bool = False) -> None:
        """Fill a round shape, given its middle and its two radii."""
        import cv2

        points = [(x + a * wide, y + b * tall) for a, b in (_CIRCLE if fine else _OCTAGON)]
        cv2.fillConvexPoly(self.pixels, self._scale_points(points), (*fill, 255), cv2.LINE_AA, 4)

    def leaves(self, x: Row, y: Row, wide: Row, tall: Row, tones: NDArray[np.int64]) -> None:
        """Fill many small round shapes, one after the other."""
        import cv2

        across, up = (np.array(part)[None, :] for part in zip(*_OCTAGON, strict=True))
        px = (x.reshape(-1, 1) + wide.reshape(-1, 1) * across) * (self.height_px * 16) + (self.width_px * 8 - 8)
        py = (1 - y.reshape(-1, 1) - tall.reshape(-1, 1) * up) * (self.height_px * 16) - 8
        shapes = np.floor(np.stack([px, py], axis=-1) + 0.5).astype(np.int32)
        for shape, (red, green, blue) in zip(shapes, tones.tolist(), strict=True):
            cv2.fillConvexPoly(self.pixels, shape, (red, green, blue, 255), cv2.LINE_AA, 4)

    def limb(self, start: Point2, end: Point2, thick: tuple[float, float], fill: Colour) -> None:
        """Draw a stem or branch, thicker at its start."""
        import cv2

        along, up = end[0] - start[0], end[1] - start[1]
        length = float(np.sqrt(along * along + up * up)) or 1.0
        x, y = -up / length / 2, along / length / 2
        first, last = thick
        points = (
            (start[0] + x * first, start[1] + y * first), (end[0] + x * last, end[1] + y * last),
            (end[0] - x * last, end[1] - y * last), (start[0] - x * first, start[1] - y * first),
        )  # fmt: skip
        cv2.fillConvexPoly(self.pixels, self._scale_points(points), (*fill, 255), cv2.LINE_AA, 4)

    def sprite(self) -> "Sprite":
        """Return what was drawn, in all sizes."""
        import cv2

        sizes = [self.pixels]
        while min(sizes[-1].shape[:2]) > 24:
            half = (sizes[-1].shape[1] // 2, sizes[-1].shape[0] // 2)
            sizes.append(np.asarray(cv2.resize(sizes[-1], half, interpolation=cv2.INTER_LINEAR_EXACT), dtype=np.uint8))
        return Sprite(tuple(sizes))

    def _scale_points(self, points: Sequence[Point2]) -> NDArray[np.int32]:
        tall, middle = self.height_px, self.width_px * 8
        placed = [(round(x * tall * 16) + middle - 8, round((1 - y) * tall * 16) - 8) for x, y in points]
        return np.array(placed, dtype=np.int32)


def sun_on_the_right(view: View, light: Light) -> bool:
    """Return whether the sun lights the right side of what a camera sees."""
    return light.sun[0] * cosine(view.yaw_deg) - light.sun[1] * sine(view.yaw_deg) > 0


@dataclass(frozen=True, slots=True)
class Sprite:
    """A cut-out in ever smaller sizes; red, green, blue (times cover) and cover. Its sun stands on the left."""

    sizes: tuple[Pixels, ...] = field(repr=False)

    def stand(
        self, canvas: Canvas, foot: tuple[float, float, float], height_m: float, light: Light
    ) -> tuple[int, int, int, int] | None:
        """Set it upright into a street; returns the box it fills, or None if none of it is seen."""
        at = canvas.view.project(foot)
        if at is None:
            return None
        depth = canvas.view.depth_m(foot)
        tall = on_grid(canvas.view.focal_px * height_m / depth)
        return self.lay(canvas.pixels, at, round(tall), light, depth, mirrored=sun_on_the_right(canvas.view, light))

    def lay(self, pixels: Pixels, foot: Point2, tall_px: int, light: Light, distance_m: float, *,
            mirrored: bool = False) -> tuple[int, int, int, int] | None:  # fmt: skip
        """Set it onto pixels, the middle of its lower edge at a point, and this tall."""
        import cv2

        source = next((size for size in reversed(self.sizes) if size.shape[0] >= tall_px), self.sizes[0])
        wide = max(1, round(tall_px * source.shape[1] / source.shape[0]))
        left, top = round(foot[0] - wide / 2), round(foot[1]) - tall_px
        box = max(left, 0), max(top, 0), min(left + wide, pixels.shape[1]), min(top + tall_px, pixels.shape[0])
        if tall_px < 2 or box[0] >= box[2] or box[1] >= box[3]:
            return None
        if mirrored:
            source = np.asarray(cv2.flip(source, 1), dtype=np.uint8)
        grown = cv2.resize(source, (wide, tall_px), interpolation=cv2.INTER_LINEAR_EXACT)
        cut = grown[box[1] - top : box[3] - top, box[0] - left : box[2] - left]
        part = pixels[box[1] : box[3], box[0] : box[2]]
        veil = light.veil(distance_m)
        white = light.shade((255, 255, 255))
        levels = np.arange(256)[None, :, None]
        table = levels * np.array([int(part * (1 - veil) * 256 / 255 + 0.5) for part in white]) >> 8
        cover = cv2.merge([cv2.extractChannel(cut, 3)] * 3)
        own = cv2.LUT(cv2.cvtColor(cut, cv2.COLOR_RGBA2RGB), table.astype(np.uint8))
        if veil > 0.02:
            air = levels * np.array([int(part * veil + 0.5) for part in light.horizon]) // 255
            own = cv2.add(own, cv2.LUT(cover, air.astype(np.uint8)))
        # A product of two bytes over 255, rounded, without a division.
        behind = np.multiply(part, 255 - cover, dtype=np.uint16)
        behind += np.uint16(128)
        behind += behind >> np.uint16(8)
        behind >>= np.uint16(8)
        part[:] = cv2.add(own, behind.astype(np.uint8))
        return box


def broadleaf(pen: Pen, season: str, chance: random.Random) -> None:
    """Draw a street tree: round or oval, bare in winter, in blossom now and then in spring."""
    _leafy(pen, season, chance, bark=_BARK, crown=(0.62, 0.33 + chance.uniform(-0.04, 0.03), 0.36), density=1.0)


def birch(pen: Pen, season: str, chance: random.Random) -> None:
    """Draw a slim tree with a white trunk and light leaves."""
    _leafy(pen, season, chance, bark=_PALE_BARK, crown=(0.6, 0.2, 0.38), density=0.7)
    for _ in range(9):
        y = chance.uniform(0.03, 0.24)
        pen.blob(chance.uniform(-0.008, 0.008), y, 0.009, 0.003, (60, 56, 52))


def conifer(pen: Pen, _season: str, chance: random.Random) -> None:
    """Draw a spruce: drooping tiers, green all year."""
    dark, plain, light = chance.choice(_NEEDLES)
    pen.limb((0, 0), (0, 0.2), (0.04, 0.03), _BARK[0])
    tiers = 11
    for tier in range(tiers):
        share = tier / (tiers - 1)
        y, reach = 0.1 + 0.78 * share, 0.27 * (1 - share) + 0.02
        drop = 0.09 + 0.05 * (1 - share)
        teeth = 7
        for tone, scale, lift in ((dark, 1.0, 0.0), (mix_colours(dark, plain, 0.7), 0.92, 0.018)):
            edge = [
                (reach * scale * (2 * tooth / teeth - 1) + chance.uniform(-0.012, 0.012),
                 y + lift - drop * (0.25 + 0.5 * abs(2 * tooth / teeth - 1)) - (0.022 if tooth % 2 else 0.0))
                for tooth in range(teeth + 1)
            ]  # fmt: skip
            pen.shape([(0, y + 0.11), *edge], tone)
        for _ in range(10):
            x = chance.uniform(-0.95, 0.25) * reach
            pen.blob(
                x, y - drop * (0.1 + 0.55 * abs(x) / reach), 0.018, 0.006, mix_colours(plain, light, chance.random())
            )


def palm(pen: Pen, season: str, chance: random.Random) -> None:
    """Draw a palm: a ringed, bent trunk and a head of fronds."""
    lean = chance.uniform(-0.1, 0.1)
    spine = [(lean * (step / 10) * (step / 10), 0.78 * step / 10) for step in range(11)]
    for number, (here, there) in enumerate(pairwise(spine)):
        pen.limb(here, there, (0.046 - 0.0016 * number, 0.042 - 0.0016 * number), _BARK[1] if number % 2 else _BARK[2])
        pen.limb((here[0] + 0.006, here[1]), (there[0] + 0.006, there[1]), (0.016, 0.016), _BARK[0])
    dark, plain, light = chance.choice(LEAVES["dry" if season == "dry" else "summer"])
    head = spine[-1]
    angles = [-200 + 22 * number + chance.randrange(-8, 9) for number in range(17)]
    for number, angle in enumerate(sorted(angles, key=lambda turn: -abs((turn + 90) % 360 - 180))):
        tone = (dark, plain, mix_colours(plain, light, 0.6))[number * 3 // 17]
        _frond(pen, head, angle, chance.uniform(0.26, 0.34), tone)
    for _ in range(5):
        pen.blob(head[0] + chance.uniform(-0.03, 0.03), head[1] - 0.02, 0.016, 0.016, (116, 84, 44))


def _frond(pen: Pen, head: Point2, angle: int, length: float, tone: Colour) -> None:
    across, up = cosine(angle), -sine(angle)
    ribs = []
    for step in range(9):
        share = step / 8
        ribs.append(
            (head[0] + across * length * share, head[1] + up * length * share - 0.26 * share * share * length * 1.5)
        )
    for step, (here, there) in enumerate(pairwise(ribs)):
        wide = 0.058 * (1 - step / 10)
        side = -1 if across < 0 else 1
        for way in (-1, 1):
            tip = (there[0] + side * 0.030, there[1] + way * wide * 0.55 - 0.03)
            pen.shape((here, there, tip), tone if way > 0 else mix_colours(tone, (20, 40, 24), 0.3))
        pen.limb(here, there, (0.006, 0.005), mix_colours(tone, (210, 200, 130), 0.25))


def cypress(pen: Pen, _season: str, chance: random.Random) -> None:
    """Draw a cypress: a dark flame."""
    dark, plain, light = (26, 50, 36), (42, 72, 48), (78, 106, 66)
    pen.limb((0, 0), (0, 0.12), (0.03, 0.03), _BARK[0])
    source = np.random.Generator(np.random.PCG64(chance.getrandbits(64)))
    drawn = source.random((3, 260))
    y = 0.05 + 0.92 * drawn[0]
    reach = 0.105 * np.minimum(np.minimum((1.0 - y) * 2.3, 0.35 + y * 2.6), 1.0)
    aside = 2 * drawn[1] - 1
    bright = np.where(aside > -0.25, drawn[2], 1 + 0.8 * drawn[2])
    pen.leaves(aside * reach, y, np.full(260, 0.014), np.full(260, 0.034), _blend_tones((dark, plain, light), bright))


def acacia(pen: Pen, season: str, chance: random.Random) -> None:
    """Draw an acacia: a flat, wide umbrella on forking stems."""
    tones = chance.choice(LEAVES["dry" if season in ("dry", "winter") else "wet"])
    tones = (
        mix_colours(tones[0], (88, 92, 52), 0.35),
        mix_colours(tones[1], (126, 130, 74), 0.35),
        mix_colours(tones[2], (160, 160, 96), 0.3),
    )
    fork = (chance.uniform(-0.03, 0.03), 0.3)
    pen.limb((0, 0), fork, (0.05, 0.038), _BARK[0])
    for x in (-0.34, -0.16, 0.02, 0.2, 0.36):
        pen.limb(fork, (x * 0.55, 0.58), (0.026, 0.016), _BARK[0])
        pen.limb((x * 0.55, 0.58), (x, 0.76), (0.016, 0.006), _BARK[0])
    clusters = []
    for x in (-0.4, -0.28, -0.15, -0.02, 0.1, 0.22, 0.34, 0.42):
        y = 0.8 + 0.1 * (1 - abs(x) / 0.45)
        clusters.append((x + chance.uniform(-0.03, 0.03), y + chance.uniform(-0.03, 0.02), 0.12, 0.055))
    _foliage(pen, clusters, tones, chance, 0.8)


def cactus(pen: Pen, _season: str, chance: random.Random) -> None:
    """Draw a cactus: a tall column with arms."""
    tones = ((58, 86, 58), (84, 116, 74), (122, 150, 98))
    _column(pen, (0, 0), 0.98, 0.075, tones)
    for side in (-1, 1)[: 1 + chance.randrange(2)]:
        low, reach, tall = chance.uniform(0.32, 0.5), side * chance.uniform(0.16, 0.2), chance.uniform(0.22, 0.36)
        pen.limb((0, low), (reach, low + 0.02), (0.08, 0.09), tones[1])
        _column(pen, (reach, low), tall, 0.055, tones)


def _column(pen: Pen, foot: Point2, tall: float, half: float, tones: Tones) -> None:
    x, y = foot
    pen.limb((x, y), (x, y + tall - half), (half * 2, half * 2), tones[1])
    pen.blob(x, y + tall - half, half, half, tones[1], fine=True)
    for rib, tone in ((-0.62, tones[2]), (-0.3, tones[1]), (0.05, tones[0]), (0.4, tones[0]), (0.75, tones[0])):
        pen.limb((x + rib * half, y), (x + rib * half, y + tall - half * 0.8), (half * 0.22, half * 0.14), tone)


def bamboo(pen: Pen, season: str, chance: random.Random) -> None:
    """Draw bamboo: a thicket of canes."""
    tones = LEAVES["dry" if season == "dry" else "spring"][0]
    for _ in range(22):
        x, lean, tall = chance.uniform(-0.2, 0.2), chance.uniform(-0.12, 0.12), chance.uniform(0.7, 0.97)
        cane = mix_colours((96, 122, 52), (170, 168, 84), chance.random())
        for step in range(4):
            low, high = tall * step / 4, tall * (step + 1) / 4 - 0.004
            pen.limb((x + lean * low * low, low), (x + lean * high * high, high), (0.017, 0.015), cane)
        for _ in range(15):
            y = chance.uniform(0.35, 1.0) * tall
            across, drop = chance.uniform(-0.085, 0.085), chance.uniform(0.01, 0.06)
            root = x + lean * y * y
            pen.shape(((root, y), (root + across, y - drop), (root, y - 0.02)), chance.choice(tones))


def shrub(pen: Pen, season: str, chance: random.Random) -> None:
    """Draw a low, round bush."""
    tones = chance.choice(LEAVES["dry" if season == "dry" else "summer" if season == "winter" else season])
    clusters = [
        (0.1 * number - 0.4 + chance.uniform(-0.05, 0.05), chance.uniform(0.26, 0.6), 0.3, 0.28) for number in range(9)
    ]
    _foliage(pen, clusters, tones, chance, 1.2, leaf=0.034)


def _leafy(
    pen: Pen, season: str, chance: random.Random, *, bark: Tones, crown: tuple[float, float, float],
    density: float,
) -> None:  # fmt: skip
    """Draw a trunk with branches, and leaves except in winter; a crown is its centre's height and two radii."""
    middle, wide, tall = crown
    bare = season == "winter"
    pen.limb((0, 0), (0, 0.34), (0.05 if bark is _BARK else 0.032, 0.034 if bark is _BARK else 0.024), bark[1])
    pen.limb((0.008, 0), (0.006, 0.34), (0.022, 0.014), bark[0])
    for _ in range(6 if bare else 4):
        angle = chance.randrange(52, 129)
        start, length = (0.0, chance.uniform(0.27, 0.4)), chance.uniform(0.15, 0.19) if bare else wide * 0.6
        _branch(pen, start, angle, length, 0.022, 5 if bare else 2, bark, chance)
    if bare:
        return
    tones = chance.choice(_BLOSSOM) if season == "spring" and chance.random() < 0.35 else chance.choice(LEAVES[season])
    clusters = [(0.0, middle, wide * 0.62, tall * 0.62)]
    for number in range(10):
        angle = number * 36 + chance.randrange(-12, 13)
        reach = chance.uniform(0.52, 0.68)
        size = chance.uniform(0.34, 0.44)
        clusters.append(
            (wide * reach * cosine(angle), middle + tall * reach * sine(angle), wide * size, tall * size * 0.86)
        )
    clusters.sort(key=lambda cluster: -cluster[1])
    _foliage(pen, clusters, tones, chance, density)


def _branch(
    pen: Pen, start: Point2, angle: float, length: float, thick: float, depth: int, bark: Tones, chance: random.Random
) -> None:
    end = (start[0] + cosine(angle) * length, start[1] + sine(angle) * length)
    pen.limb(start, end, (thick, thick * 0.62), bark[depth % 2] if depth > 2 else _BARK[depth % 2])
    if depth > 1:
        for turn in (-26, 22) if depth > 2 else (-20, 24):
            bent = angle + turn + chance.randrange(-9, 10)
            upright, shorter = bent + (90 - bent) * 0.12, length * chance.uniform(0.62, 0.78)
            _branch(pen, end, upright, shorter, thick * 0.6, depth - 1, bark, chance)


def _foliage(
    pen: Pen, clusters: list[tuple[float, float, float, float]], tones: Tones, chance: random.Random, density: float,
    *, leaf: float = 0.0125,
) -> None:  # fmt: skip
    """Draw leaf clusters, dark at lower right, bright at upper left; a cluster is a centre and two radii."""
    for cluster in clusters:
        pen.blob(cluster[0], cluster[1], cluster[2] * 0.86, cluster[3] * 0.86, tones[0], fine=True)
    count = round(72 * density)
    source = np.random.Generator(np.random.PCG64(chance.getrandbits(64)))
    # Rows are clusters: each is painted over those before it.
    x, y, wide, tall = (np.array(column)[:, None] for column in zip(*clusters, strict=True))
    drawn = source.random((3, len(clusters), count))
    reach = 1 - drawn[0] * drawn[0] * 0.9
    turn = _turns()[source.integers(0, 360, (len(clusters), count))]
    across, up = turn[..., 0] * reach, turn[..., 1] * reach
    right, top = x + across * wide, y + up * tall
    # The crown as a whole is a ball as each of its clusters is one.
    half, middle, high = np.abs(right).max(), (top.max() + top.min()) / 2, (top.max() - top.min()) / 2
    whole = (top - middle) / high - right / half
    towards = (up - across) * 0.34 + whole * 0.3 + drawn[1] * 0.5 - 0.25
    bright = np.where(towards > 0.25, 1 + np.minimum(towards, 1), np.maximum(towards + 0.75, 0))
    size = leaf * (0.7 + 0.65 * drawn[2])
    pen.leaves(right, top, size, size * 0.8, _blend_tones(tones, bright))


@cache
def _turns() -> NDArray[np.float64]:
    """Return the cosine and sine of every degree."""
    return np.array([(cosine(angle), sine(angle)) for angle in range(360)])


def _blend_tones(tones: Tones, bright: NDArray[np.float64]) -> NDArray[np.int64]:
    """Interpolate colours from the dark tone (0) over the plain (1) to the light one (2)."""
    dark, plain, light = (np.array(tone, dtype=np.float64) for tone in tones)
    share = bright.ravel()[:, None]
    low = dark + (plain - dark) * np.minimum(share, 1)
    mixed_in: NDArray[np.int64] = (low + (light - plain) * np.maximum(share - 1, 0) + 0.5).astype(np.int64)
    return mixed_in


# Drawing function of each plant, and the ratio of its cut-out's width to its height.
KINDS: dict[Plant, tuple[Callable[..., None], float]] = {
    "broadleaf": (broadleaf, 0.86), "birch": (birch, 0.62), "conifer": (conifer, 0.66), "palm": (palm, 0.98),
    "cypress": (cypress, 0.3), "acacia": (acacia, 1.16), "cactus": (cactus, 0.62), "bamboo": (bamboo, 0.8),
    "shrub": (shrub, 1.7),
}  # fmt: skip


def draw_plant(
    canvas: Canvas, at: tuple[float, float], plant: Plant, height_m: float, season: str, light: Light,
    chance: random.Random,
) -> tuple[int, int, int, int] | None:  # fmt: skip
    """Draw a plant that stands at a point of the street; returns the box it fills, or None if it isn't seen."""
    variant = chance.randrange(_VARIANTS)
    if plant == "none":
        return None
    foot = (at[0], at[1], 0.0)
    tall = canvas.view.pixels_per_metre(foot) * height_m
    small, large = (_SIZES_PX[0] // 2, _SIZES_PX[0]) if plant == "shrub" else _SIZES_PX
    size = small if tall <= 1.6 * small or canvas.view.width < 2000 else large
    return sprite(plant, season, variant, size).stand(canvas, foot, height_m, light)


def sprite(plant: Plant, season: str, variant: int, height_px: int) -> Sprite:
    """Return one of a few individuals of a kind."""
    kept = _large if height_px > _SIZES_PX[0] else _usual
    return kept(plant, season, variant, height_px)


def _draw_plant(plant: Plant, season: str, variant: int, height_px: int) -> Sprite:
    draw, width = KINDS[plant]
    pen = Pen(height_px, width)
    draw(pen, season, dice(f"plant {plant} {season} {variant}"))
    return pen.sprite()


# A usual one is half a megabyte, and a set of scenes needs nearly 200 of them; a large one is five.
_usual = lru_cache(maxsize=192)(_draw_plant)
_large = lru_cache(maxsize=16)(_draw_plant)
