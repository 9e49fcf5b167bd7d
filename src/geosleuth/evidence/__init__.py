"""Likelihoods of places from text and pixels: each clue is weighed against the others."""

from .atlas_questions import Lookup, lookups
from .clue import Clue, ClueKind, CluePlace, TextSeen
from .clue_reliability import RELIABILITY, Reliability, ReliabilityTable
from .clues_in_text import text_clues
from .country_prior import country_prior
from .distances import DistanceUnit, TownDistance, distances
from .naming import LookupKind

__all__ = [
    "RELIABILITY",
    "Clue",
    "ClueKind",
    "CluePlace",
    "DistanceUnit",
    "Lookup",
    "LookupKind",
    "Reliability",
    "ReliabilityTable",
    "TextSeen",
    "TownDistance",
    "country_prior",
    "distances",
    "lookups",
    "text_clues",
]
