"""Import and query gazetteers: named features from GeoNames dumps and Natural Earth files."""

from .geonames import import_geonames
from .natural_earth import import_natural_earth, list_files
from .queries import Gazetteers, is_category

__all__ = ["Gazetteers", "import_geonames", "import_natural_earth", "is_category", "list_files"]
