"""Trajectories for training: making, filtering, storing and exporting them."""

from .rows import About, Rejected, Sample
from .trajectory_store import Store, StoreWriter, write_store

__all__ = ["About", "Rejected", "Sample", "Store", "StoreWriter", "write_store"]
