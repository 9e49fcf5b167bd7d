"""Vector tiles and map styles for browsers, made from the offline atlas."""

from .mvt import MAX_ZOOM
from .tiles import LAYERS, Theme, Tiles

__all__ = ["LAYERS", "MAX_ZOOM", "Theme", "Tiles"]
