"""Trajectories to learn from: made, filtered, kept and handed on."""

from .model import About, Made, Rejected, Sample
from .reading import Store
from .store import StoreWriter, write_store

__all__ = ["About", "Made", "Rejected", "Sample", "Store", "StoreWriter", "write_store"]
