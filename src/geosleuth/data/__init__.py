"""Trajectories to learn from: made, filtered, kept and handed on."""

from .rows import About, Rejected, Sample
from .trajectory_store import Store, StoreWriter, write_store

__all__ = ["About", "Rejected", "Sample", "Store", "StoreWriter", "write_store"]
