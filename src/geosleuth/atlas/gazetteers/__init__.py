"""Import and query gazetteers: named features from GeoNames dumps and Natural Earth files."""

from .geonames import import_geonames
from .natural_earth import files_in, import_natural_earth
from .queries import Gazetteers, is_category

__all__ = ["Gazetteers", "files_in", "import_geonames", "import_natural_earth", "is_category"]
