"""Data sets: photos with their true places, read from what each set's own download gives."""

from .model import Box, BoxKind, Card, DataSet, FilePicture, Item, Picture

__all__ = ["Box", "BoxKind", "Card", "DataSet", "FilePicture", "Item", "Picture"]
