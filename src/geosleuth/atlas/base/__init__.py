"""The base atlas: the world's places by name, built once on this machine from GeoNames' lists."""

from .build import BASE_FORMAT, base_path, build_base, ensure_base, open_base
from .geocode import BasePlaces

__all__ = ["BASE_FORMAT", "BasePlaces", "base_path", "build_base", "ensure_base", "open_base"]
