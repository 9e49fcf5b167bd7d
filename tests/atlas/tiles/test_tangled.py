"""A map may hold a shape whose edges all cross each other; to repair one of 400 corners takes minutes to hours."""

import random
import time

import numpy as np
import shapely

from geosleuth.atlas.maps.layers import cut
from geosleuth.atlas.tiles.mvt import clip

CORNERS, MAX_CPU_S = 400, 5.0


def tangle(side: float) -> list[tuple[float, float]]:
    chance = random.Random(4)
    return [(chance.random() * side, chance.random() * side) for _ in range(CORNERS)]


def test_leaves_out_a_tangle_that_would_flood_a_tile() -> None:
    shape, left_out, begun = np.array([shapely.Polygon(tangle(4096))]), 0, time.process_time()
    for left in range(1000, 3000, 200):
        for top in range(1000, 3000, 200):
            (part,) = clip(shape, (left, top, left + 10, top + 10))
            left_out += part.is_empty
            cut(shape[0], left, top, left + 10, top + 10)
    assert left_out
    assert time.process_time() - begun < MAX_CPU_S
