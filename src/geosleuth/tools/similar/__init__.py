"""Pictures that look alike among the user's own: an index over geotagged folders, made and asked offline."""

from .index import NO_TROUBLE, ImageIndex, IndexSummary, Match, build_index
from .index_file import default_index_path

__all__ = [
    "NO_TROUBLE",
    "ImageIndex",
    "IndexSummary",
    "Match",
    "build_index",
    "default_index_path",
]
