"""Data sets: photos with their true places, read from each set's own download."""

from .cards import CARDS
from .catalogue import cards, open_set
from .dataset import Box, BoxKind, Card, DataSet, Fault, FilePicture, Item, Picture, SetKind, Strict
from .subsets import Description, describe, draw, fingerprint, selection_of, subset

__all__ = [
    "CARDS",
    "Box",
    "BoxKind",
    "Card",
    "DataSet",
    "Description",
    "Fault",
    "FilePicture",
    "Item",
    "Picture",
    "SetKind",
    "Strict",
    "cards",
    "describe",
    "draw",
    "fingerprint",
    "open_set",
    "selection_of",
    "subset",
]
