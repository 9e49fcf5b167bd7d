"""Data sets: photos with their true places, read from what each set's own download gives."""

from .cards import CARDS
from .describing import Description, describe
from .faults import Entry, Fault, Strict
from .model import Box, BoxKind, Card, DataSet, FilePicture, Item, Picture, SetKind
from .opening import cards, open_set
from .selecting import fingerprint, subset
from .staging import Staged, stage

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
