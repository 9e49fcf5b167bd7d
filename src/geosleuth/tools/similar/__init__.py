"""Pictures that look alike among the user's own: an index over geotagged folders, made and asked offline."""

from .index import (
    ESTIMATED_PLACE,
    NO_COORDINATES,
    NO_TROUBLE,
    ImageIndex,
    IndexSummary,
    Match,
    Sameness,
    Skipped,
    build_index,
)
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
