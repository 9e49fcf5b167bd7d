"""What each plant looks like: leaves by season, bare branches, needles, fronds."""

import random
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from geosleuth.world.model import Plant

from .camera import Point2, cosine, sine
from .canvas import Colour, mixed
from .plants_sprite import Pen

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
_SNOW: Tones = ((196, 206, 222), (228, 234, 242), (250, 251, 253))


def broadleaf(pen: Pen, season: str, chance: random.Random, *, snow: bool) -> None:
    """A street tree: round or oval, bare in winter, in blossom now and then in spring."""
    _leafy(
        pen, season, chance, snow=snow, bark=_BARK, crown=(0.62, 0.33 + chance.uniform(-0.04, 0.03), 0.36), density=1.0
    )


def birch(pen: Pen, season: str, chance: random.Random, *, snow: bool) -> None:
    """A slim tree with a white trunk and light leaves."""
    _leafy(pen, season, chance, snow=snow, bark=_PALE_BARK, crown=(0.6, 0.2, 0.38), density=0.7)
    for _ in range(9):
        y = chance.uniform(0.03, 0.24)
        pen.blob(chance.uniform(-0.008, 0.008), y, 0.009, 0.003, (60, 56, 52))


def conifer(pen: Pen, season: str, chance: random.Random, *, snow: bool) -> None:
    """A spruce: drooping tiers, green all year."""
    del season
    dark, plain, light = chance.choice(_NEEDLES)
    pen.limb((0, 0), (0, 0.2), (0.04, 0.03), _BARK[0])
    tiers = 11
    for tier in range(tiers):
        share = tier / (tiers - 1)
        y, reach = 0.1 + 0.78 * share, 0.27 * (1 - share) + 0.02
        drop = 0.09 + 0.05 * (1 - share)
        teeth = 7
        for tone, scale, lift in ((dark, 1.0, 0.0), (mixed(dark, plain, 0.7), 0.92, 0.018)):
            edge = [
                (reach * scale * (2 * tooth / teeth - 1) + chance.uniform(-0.012, 0.012),
                 y + lift - drop * (0.25 + 0.5 * abs(2 * tooth / teeth - 1)) - (0.022 if tooth % 2 else 0.0))
                for tooth in range(teeth + 1)
            ]  # fmt: skip
            pen.shape([(0, y + 0.11), *edge], tone)
        for _ in range(10):
            x = chance.uniform(-0.95, 0.25) * reach
            pen.blob(x, y - drop * (0.1 + 0.55 * abs(x) / reach), 0.018, 0.006, mixed(plain, light, chance.random()))
        if snow:
            for _ in range(9):
                x = chance.uniform(-0.9, 0.9) * reach
                pen.blob(x, y + 0.02 - drop * 0.7 * abs(x) / reach, 0.03, 0.010, chance.choice(_SNOW))


def palm(pen: Pen, season: str, chance: random.Random, *, snow: bool) -> None:
    """A palm: a ringed, bent trunk and a head of fronds."""
    lean = chance.uniform(-0.1, 0.1)
    spine = [(lean * (step / 10) * (step / 10), 0.78 * step / 10) for step in range(11)]
    for number, (here, there) in enumerate(pairwise(spine)):
        pen.limb(here, there, (0.046 - 0.0016 * number, 0.042 - 0.0016 * number), _BARK[1] if number % 2 else _BARK[2])
        pen.limb((here[0] + 0.006, here[1]), (there[0] + 0.006, there[1]), (0.016, 0.016), _BARK[0])
    dark, plain, light = chance.choice(LEAVES["dry" if season == "dry" else "summer"])
    head = spine[-1]
    angles = [-200 + 22 * number + chance.randrange(-8, 9) for number in range(17)]
    for number, angle in enumerate(sorted(angles, key=lambda turn: -abs((turn + 90) % 360 - 180))):
        tone = (dark, plain, mixed(plain, light, 0.6))[number * 3 // 17]
        _frond(pen, head, angle, chance.uniform(0.26, 0.34), tone)
    for _ in range(5):
        pen.blob(head[0] + chance.uniform(-0.03, 0.03), head[1] - 0.02, 0.016, 0.016, (116, 84, 44))
    if snow:
        pen.snow(0.008, _SNOW[2], _SNOW[1])


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
            pen.shape((here, there, tip), tone if way > 0 else mixed(tone, (20, 40, 24), 0.3))
        pen.limb(here, there, (0.006, 0.005), mixed(tone, (210, 200, 130), 0.25))


def cypress(pen: Pen, season: str, chance: random.Random, *, snow: bool) -> None:
    """A dark flame."""
    del season
    dark, plain, light = (26, 50, 36), (42, 72, 48), (78, 106, 66)
    pen.limb((0, 0), (0, 0.12), (0.03, 0.03), _BARK[0])
    source = np.random.Generator(np.random.PCG64(chance.getrandbits(64)))
    drawn = source.random((3, 260))
    y = 0.05 + 0.92 * drawn[0]
    reach = 0.105 * np.minimum(np.minimum((1.0 - y) * 2.3, 0.35 + y * 2.6), 1.0)
    aside = 2 * drawn[1] - 1
    bright = np.where(aside > -0.25, drawn[2], 1 + 0.8 * drawn[2])
    pen.leaves(aside * reach, y, np.full(260, 0.014), np.full(260, 0.034), _toned((dark, plain, light), bright))
    if snow:
        pen.snow(0.02, _SNOW[2], _SNOW[1])


def acacia(pen: Pen, season: str, chance: random.Random, *, snow: bool) -> None:
    """A flat, wide umbrella on forking stems."""
    tones = chance.choice(LEAVES["dry" if season in ("dry", "winter") else "wet"])
    tones = (
        mixed(tones[0], (88, 92, 52), 0.35),
        mixed(tones[1], (126, 130, 74), 0.35),
        mixed(tones[2], (160, 160, 96), 0.3),
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
    if snow:
        pen.snow(0.02, _SNOW[2], _SNOW[1])


def cactus(pen: Pen, season: str, chance: random.Random, *, snow: bool) -> None:
    """A tall column with arms."""
    del season
    tones = ((58, 86, 58), (84, 116, 74), (122, 150, 98))
    _column(pen, (0, 0), 0.98, 0.075, tones)
    for side in (-1, 1)[: 1 + chance.randrange(2)]:
        low, reach, tall = chance.uniform(0.32, 0.5), side * chance.uniform(0.16, 0.2), chance.uniform(0.22, 0.36)
        pen.limb((0, low), (reach, low + 0.02), (0.08, 0.09), tones[1])
        _column(pen, (reach, low), tall, 0.055, tones)
    if snow:
        pen.snow(0.02, _SNOW[2], _SNOW[1])


def _column(pen: Pen, foot: Point2, tall: float, half: float, tones: Tones) -> None:
    x, y = foot
    pen.limb((x, y), (x, y + tall - half), (half * 2, half * 2), tones[1])
    pen.blob(x, y + tall - half, half, half, tones[1], fine=True)
    for rib, tone in ((-0.62, tones[2]), (-0.3, tones[1]), (0.05, tones[0]), (0.4, tones[0]), (0.75, tones[0])):
        pen.limb((x + rib * half, y), (x + rib * half, y + tall - half * 0.8), (half * 0.22, half * 0.14), tone)


def bamboo(pen: Pen, season: str, chance: random.Random, *, snow: bool) -> None:
    """A thicket of canes."""
    tones = LEAVES["dry" if season == "dry" else "spring"][0]
    for _ in range(22):
        x, lean, tall = chance.uniform(-0.2, 0.2), chance.uniform(-0.12, 0.12), chance.uniform(0.7, 0.97)
        cane = mixed((96, 122, 52), (170, 168, 84), chance.random())
        for step in range(4):
            low, high = tall * step / 4, tall * (step + 1) / 4 - 0.004
            pen.limb((x + lean * low * low, low), (x + lean * high * high, high), (0.017, 0.015), cane)
        for _ in range(15):
            y = chance.uniform(0.35, 1.0) * tall
            across, drop = chance.uniform(-0.085, 0.085), chance.uniform(0.01, 0.06)
            root = x + lean * y * y
            pen.shape(((root, y), (root + across, y - drop), (root, y - 0.02)), chance.choice(tones))
    if snow:
        pen.snow(0.01, _SNOW[2], _SNOW[1])


def shrub(pen: Pen, season: str, chance: random.Random, *, snow: bool) -> None:
    """A low, round bush."""
    tones = chance.choice(LEAVES["dry" if season == "dry" else "summer" if season == "winter" else season])
    clusters = [
        (0.1 * number - 0.4 + chance.uniform(-0.05, 0.05), chance.uniform(0.26, 0.6), 0.3, 0.28) for number in range(9)
    ]
    _foliage(pen, clusters, tones, chance, 1.2, leaf=0.034)
    if snow:
        pen.snow(0.1, _SNOW[2], _SNOW[1])


def _leafy(
    pen: Pen, season: str, chance: random.Random, *, snow: bool, bark: Tones, crown: tuple[float, float, float],
    density: float,
) -> None:  # fmt: skip
    """A trunk with branches, and leaves unless it is winter; a crown is its middle's height and its two radii."""
    middle, wide, tall = crown
    bare = season == "winter"
    pen.limb((0, 0), (0, 0.34), (0.05 if bark is _BARK else 0.032, 0.034 if bark is _BARK else 0.024), bark[1])
    pen.limb((0.008, 0), (0.006, 0.34), (0.022, 0.014), bark[0])
    for _ in range(6 if bare else 4):
        angle = chance.randrange(52, 129)
        start, length = (0.0, chance.uniform(0.27, 0.4)), chance.uniform(0.15, 0.19) if bare else wide * 0.6
        _branch(pen, start, angle, length, 0.022, 5 if bare else 2, bark, chance)
    if bare:
        if snow:
            pen.snow(0.008, _SNOW[2], _SNOW[1])
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
    if snow:
        pen.snow(0.03, _SNOW[2], _SNOW[1])


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
    """Clusters of leaves, dark below and right, bright above and left; a cluster is its middle and its two radii."""
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
    pen.leaves(right, top, size, size * 0.8, _toned(tones, bright))


@cache
def _turns() -> NDArray[np.float64]:
    """Cosine and sine of every degree."""
    return np.array([(cosine(angle), sine(angle)) for angle in range(360)])


def _toned(tones: Tones, bright: NDArray[np.float64]) -> NDArray[np.int64]:
    """Colours from the dark tone (0) over the plain (1) to the light one (2)."""
    dark, plain, light = (np.array(tone, dtype=np.float64) for tone in tones)
    share = bright.ravel()[:, None]
    low = dark + (plain - dark) * np.minimum(share, 1)
    mixed_in: NDArray[np.int64] = (low + (light - plain) * np.maximum(share - 1, 0) + 0.5).astype(np.int64)
    return mixed_in


KINDS: dict[Plant, tuple[Callable[..., None], float]] = {
    "broadleaf": (broadleaf, 0.86), "birch": (birch, 0.62), "conifer": (conifer, 0.66), "palm": (palm, 0.98),
    "cypress": (cypress, 0.3), "acacia": (acacia, 1.16), "cactus": (cactus, 0.62), "bamboo": (bamboo, 0.8),
    "shrub": (shrub, 1.7),
}  # fmt: skip
"""How each plant is drawn, and how wide its cut-out is beside its height."""
