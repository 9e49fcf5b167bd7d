"""Scenes as pictures: streets, panoramas and tiles from above, with the place of every clue in them."""

from .designs import DESIGNS, HELD_OUT_DESIGNS, designs_for
from .drawing import Drawing, draw_scene
from .lettering import drawable

__all__ = ["DESIGNS", "HELD_OUT_DESIGNS", "Drawing", "designs_for", "draw_scene", "drawable"]
