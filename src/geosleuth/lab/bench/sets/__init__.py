"""Data sets: photos with their true places, read from each set's own download."""

from .cards import CARDS
from .catalogue import cards, open_set
from .dataset import Box, BoxKind, Card, DataSet, Fault, FilePicture, Item, Picture, SetKind, Strict
from .subsets import Description, build_selection, describe, draw, fingerprint, subset

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
    "build_selection",
    "cards",
    "describe",
    "draw",
    "fingerprint",
    "open_set",
    "subset",
]
