"""Vector tiles and map styles for the browser, made from the offline atlas."""

from .mvt import MAX_ZOOM
from .tiles import LAYERS, TileMaker

__all__ = ["LAYERS", "MAX_ZOOM", "TileMaker"]
