"""Families of designs: the lettering, colours and layout of what is written, split as places are.

A family is a name, "shop_front-07": the board and a number. Drawing makes of the number what it likes, the same every
time. One family in four is seen in held-out scenes alone, and those see no other.
"""

import random
from collections.abc import Mapping

from ..model import Board, Split

HELD_OUT_EVERY = 4

FAMILIES: Mapping[Board, int] = {
    "shop_front": 24, "street_plate": 12, "house_number": 8, "bus_stop": 12, "notice": 16, "poster": 16,
    "billboard": 16, "bus": 12, "number_plate": 4, "town_sign": 8, "direction_sign": 8, "road_shield": 8, "banner": 12,
}  # fmt: skip
"""How many families each board has."""


def design_of(board: Board, split: Split, chance: random.Random) -> str:
    """A family of a board for a scene of a split."""
    numbers = [number for number in range(FAMILIES[board]) if _is_held_out(number) == (split == "held-out")]
    return f"{board}-{chance.choice(numbers):02}"


def family_number(design: str) -> int:
    """The number in a family's name."""
    return int(design.rpartition("-")[2])


def split_of_design(design: str) -> Split:
    """The one split in which a family is seen."""
    return "held-out" if _is_held_out(family_number(design)) else "train"


def _is_held_out(number: int) -> bool:
    return number % HELD_OUT_EVERY == HELD_OUT_EVERY - 1
