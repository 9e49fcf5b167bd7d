"""Layout of a street: its width, its houses on both sides, and the shops among them."""

import random
from dataclasses import dataclass, field
from typing import Literal

from geosleuth.lab.scenes.scene import Layout, SceneLook
from geosleuth.lab.scenes.scene import Wall as WallKind

from .camera import Wall
from .canvas import Colour, colour, mix_colours

Use = Literal["shop", "house", "shed"]
Side = Literal[-1, 1]


@dataclass(frozen=True, slots=True)
class Measures:
    """A layout in metres: half a road, a pavement, from there to the houses, lots and the gaps between them."""

    road_half: float
    pavement: float
    setback: float
    lots: tuple[float, float]
    gaps: tuple[float, float]
    shops: float
    filled: float


MEASURES: dict[Layout, Measures] = {
    "high_street": Measures(3.4, 2.6, 0.0, (6.5, 11.0), (0.0, 0.0), 0.75, 1.0),
    "suburb": Measures(3.0, 1.6, 3.6, (8.0, 12.0), (2.5, 6.0), 0.12, 1.0),
    "market": Measures(2.6, 3.0, 0.0, (4.5, 7.5), (0.0, 0.6), 0.9, 1.0),
    "square": Measures(4.6, 4.2, 1.0, (8.0, 13.0), (0.0, 1.5), 0.6, 1.0),
    "country_road": Measures(3.1, 0.0, 5.0, (8.0, 11.0), (14.0, 45.0), 0.25, 0.8),
    "industrial": Measures(3.8, 1.8, 4.5, (14.0, 24.0), (4.0, 9.0), 0.4, 1.0),
}


@dataclass(frozen=True, slots=True)
class Lot:
    """A house: from ``start`` to ``end`` along the street, its front ``front`` metres from the middle of the road."""

    side: Side
    start: float
    end: float
    front: float
    storeys: int
    ground_floor: float
    use: Use
    wall: WallKind
    paint: Colour
    seed: int
    face: Wall = field(init=False, repr=False, compare=False)
    """Its front, seen from the street."""

    def __post_init__(self) -> None:
        if self.side > 0:
            face = Wall((self.front, self.end, 0.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0))
        else:
            face = Wall((-self.front, self.start, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
        object.__setattr__(self, "face", face)

    @property
    def width(self) -> float:
        """Length of the front."""
        return self.end - self.start

    @property
    def height(self) -> float:
        """Height of the wall, without the roof."""
        return self.ground_floor + (self.storeys - 1) * 3.0 + (0.4 if self.storeys > 1 else 0.0)

    @property
    def middle(self) -> float:
        """Position of the middle along the street."""
        return (self.start + self.end) / 2


def build_lots(
    look: SceneLook, main_side: Side, main_at: float, chance: random.Random, reach: tuple[float, float], shops: int = 1
) -> tuple[Lot, ...]:
    """Return the houses of a street. One stands with its middle at ``main_at`` on the main side.

    It is a shop where there are any ``shops`` to be seen, and its neighbours are shops where there are more.
    """
    sizes = MEASURES[look.layout]
    made: list[Lot] = []
    for side in (main_side, -main_side):
        sided: Side = 1 if side > 0 else -1
        main = sided == main_side
        wide = _between(chance, sizes.lots)
        start = (main_at if main else main_at + _between(chance, (-6.0, 6.0))) - wide / 2
        made.append(_lot(look, sizes, sided, start, wide, chance, shop=main and shops > 0))
        gap = (0.0, min(sizes.gaps[1], 1.5)) if shops > 1 else sizes.gaps
        y = start + wide + _between(chance, gap)
        number = 0
        while y < reach[1]:
            wide = _between(chance, sizes.lots)
            needed = number < shops - 1
            if needed or chance.random() < sizes.filled:
                made.append(_lot(look, sizes, sided, y, wide, chance, shop=needed))
            y += wide + _between(chance, gap if needed else sizes.gaps)
            number += 1
        y = start - _between(chance, gap)
        number = 0
        while y > reach[0]:
            wide = _between(chance, sizes.lots)
            if chance.random() < sizes.filled:
                made.append(_lot(look, sizes, sided, y - wide, wide, chance, shop=number == 0 and shops > 1))
            y -= wide + _between(chance, sizes.gaps)
            number += 1
    return tuple(made)


def _lot(
    look: SceneLook,
    sizes: Measures,
    side: Side,
    start: float,
    wide: float,
    chance: random.Random,
    *,
    shop: bool = False,
) -> Lot:
    shed = look.layout == "industrial"
    is_shop = shop or chance.random() < sizes.shops
    low, high = max(1, min(look.storeys)), max(1, *look.storeys)
    storeys = 1 if shed else chance.randint(low, high)
    paint = mix_colours(colour(chance.choice(look.wall_colours)), (255, 255, 255), chance.randrange(0, 16) / 100)
    floor = 5.5 if shed else 4.1 if is_shop else 3.1
    front = sizes.road_half + sizes.pavement + (min(sizes.setback, 2.0) if is_shop else sizes.setback)
    use: Use = "shop" if is_shop else "shed" if shed else "house"
    walls = ("metal", "concrete") if shed and not is_shop else look.walls
    wall: WallKind = chance.choice(walls)
    return Lot(side, start, start + wide, front, storeys, floor, use, wall, paint, chance.randrange(2**31))


def _between(chance: random.Random, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return low + (high - low) * chance.randrange(1001) / 1000


def dice(seed: str | int) -> random.Random:
    """Return random numbers for drawing, the same for a seed on every machine."""
    return random.Random(seed)  # noqa: S311 - no secret depends on it
