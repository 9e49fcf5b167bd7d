"""Places where a picture may have been taken by its look alone, as another likelihood among the clues.

`VisualPrior` is what can be asked. `learn` makes one from photos whose places are known;
`GeoClipPrior` uses a model that others trained.
"""

from typing import TYPE_CHECKING

from geosleuth.support.lazy import export_names

from .visual_clue import HOW_TO_LEARN, MAX_NAMED_COUNTRIES, default_prior_path, load_prior, prior_at_hand, visual_clue
from .visual_prior import GRID, NEAR_KM, Best, Cell, Distribution, Reach, VisualPrior

if TYPE_CHECKING:
    from .geoclip import GeoClipPrior
    from .learned import FEWEST_PHOTOS, LearnedPrior, PriorComparison, PriorFigures, compare, learn

__getattr__ = export_names(
    __name__,
    {
        "geoclip": ("GeoClipPrior",),
        "learned": ("FEWEST_PHOTOS", "PriorComparison", "PriorFigures", "LearnedPrior", "compare", "learn"),
    },
)

__all__ = [
    "FEWEST_PHOTOS",
    "GRID",
    "HOW_TO_LEARN",
    "MAX_NAMED_COUNTRIES",
    "NEAR_KM",
    "Best",
    "Cell",
    "Distribution",
    "GeoClipPrior",
    "LearnedPrior",
    "PriorComparison",
    "PriorFigures",
    "Reach",
    "VisualPrior",
    "compare",
    "default_prior_path",
    "learn",
    "load_prior",
    "prior_at_hand",
    "visual_clue",
]
