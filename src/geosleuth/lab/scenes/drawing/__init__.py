"""Scenes as pictures: streets and panoramas, with the place of every clue in them."""

from .lettering import DESIGNS, HELD_OUT_DESIGNS, designs_for, drawable
from .picture import Drawing, draw_scene

__all__ = ["DESIGNS", "HELD_OUT_DESIGNS", "Drawing", "designs_for", "draw_scene", "drawable"]
