"""Scenes as pictures: streets and panoramas, with the place of every clue in them."""

from .lettering import DESIGNS, HELD_OUT_DESIGNS, drawable, list_designs
from .picture import Drawing, draw_scene

__all__ = ["DESIGNS", "HELD_OUT_DESIGNS", "Drawing", "draw_scene", "drawable", "list_designs"]
