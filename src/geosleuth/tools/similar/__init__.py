"""Pictures that look alike among the user's own: an index over geotagged folders, made and asked offline."""

from .building import ESTIMATED_PLACE, NO_COORDINATES, NO_TROUBLE, IndexSummary, Skipped, build_index
from .index import ImageIndex, Match, Sameness
from .store import default_index_path

__all__ = [
    "ESTIMATED_PLACE",
    "NO_COORDINATES",
    "NO_TROUBLE",
    "ImageIndex",
    "IndexSummary",
    "Match",
    "Sameness",
    "Skipped",
    "build_index",
    "default_index_path",
]
