"""The base atlas: places of the whole world by name, built once on each machine from packaged GeoNames tables."""

from .build import BASE_FORMAT, base_path, build_base, ensure_base, open_base
from .geocode import BasePlaces

__all__ = ["BASE_FORMAT", "BasePlaces", "base_path", "build_base", "ensure_base", "open_base"]
