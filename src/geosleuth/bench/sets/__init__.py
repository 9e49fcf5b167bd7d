"""Data sets: photos with their true places, read from what each set's own download gives."""

from .cards import CARDS
from .catalogue import cards, open_set
from .model import Box, BoxKind, Card, DataSet, Entry, Fault, FilePicture, Item, Picture, SetKind, Strict
from .staging import Description, Staged, describe, fingerprint, stage, subset

__all__ = [
    "CARDS",
    "Box",
    "BoxKind",
    "Card",
    "DataSet",
    "Description",
    "Entry",
    "Fault",
    "FilePicture",
    "Item",
    "Picture",
    "SetKind",
    "Staged",
    "Strict",
    "cards",
    "describe",
    "fingerprint",
    "open_set",
    "stage",
    "subset",
]
