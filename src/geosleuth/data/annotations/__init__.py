"""People's own notes on photos, brought into the form of GeoAgent's records."""

from .importing import import_notes
from .normalising import ByModel, ByRules, Normaliser
from .reading import Note, read_notes

__all__ = ["ByModel", "ByRules", "Normaliser", "Note", "import_notes", "read_notes"]
