"""Finding names that were read from a photo: folded keys, an index of letter triples, and ranking that forgives."""

from .index import NameHit, NameIndex, add_names, create_tables, finish
from .keys import compact_key, exact_key, latin_key
from .similarity import similarity

__all__ = [
    "NameHit",
    "NameIndex",
    "add_names",
    "compact_key",
    "create_tables",
    "exact_key",
    "finish",
    "latin_key",
    "similarity",
]
