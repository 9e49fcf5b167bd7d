"""The offline world: places, borders, features, facts, documents and maps, and online twins behind one protocol."""

from .offline import OfflineAtlas, gazetteers_dir, regions_dir
from .protocol import Atlas, Colocation, Document, Hit, Marker, MatchKind, NotOffered, Picture, Place, Reverse

__all__ = [
    "Atlas",
    "Colocation",
    "Document",
    "Hit",
    "Marker",
    "MatchKind",
    "NotOffered",
    "OfflineAtlas",
    "Picture",
    "Place",
    "Reverse",
    "gazetteers_dir",
    "regions_dir",
]
