"""Data sets: photos with their true places, read from each set's own download."""

from .cards import CARDS
from .catalogue import cards, open_set
from .dataset import BoxKind, Card, DataSet, DatasetBox, DatasetPicture, Fault, FilePicture, Item, SetKind, Strict
from .subsets import Description, build_selection, describe, draw, fingerprint, subset

__all__ = [
    "CARDS",
    "BoxKind",
    "Card",
    "DataSet",
    "DatasetBox",
    "DatasetPicture",
    "Description",
    "Fault",
    "FilePicture",
    "Item",
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
