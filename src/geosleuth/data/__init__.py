"""Trajectories to learn from: made, filtered, kept and handed on."""

from .rows import About, Made, Rejected, Sample
from .store import Store, StoreWriter, write_store

__all__ = ["About", "Made", "Rejected", "Sample", "Store", "StoreWriter", "write_store"]
