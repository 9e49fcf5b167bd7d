"""What text and pixels suggest about a place: each clue a likelihood over places, weighed against each other."""

from .distances import DistanceUnit, TownDistance, distances
from .lookups import Lookup, lookups
from .model import Clue, ClueKind, Spot, TextSeen
from .naming import LookupKind
from .prior import country_prior
from .reading import text_clues
from .reliability import RELIABILITY, Reliability, ReliabilityTable

__all__ = [
    "RELIABILITY",
    "Clue",
    "ClueKind",
    "DistanceUnit",
    "Lookup",
    "LookupKind",
    "Reliability",
    "ReliabilityTable",
    "Spot",
    "TextSeen",
    "TownDistance",
    "country_prior",
    "distances",
    "lookups",
    "text_clues",
]
