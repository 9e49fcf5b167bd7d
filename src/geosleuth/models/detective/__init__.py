"""The detective: an answer with no model at all, from text, tables and maps on this machine."""

from .answering import build_answer
from .candidates import RankedPlace, rivals
from .evidence import KIND_WORDS, evidence_line
from .policy import TOOLS, Detective
from .reasoning import Reasoning
from .ruled_out import clue_id
from .stated import DrivingSide, StatedFacts

__all__ = [
    "KIND_WORDS",
    "TOOLS",
    "Detective",
    "DrivingSide",
    "RankedPlace",
    "Reasoning",
    "StatedFacts",
    "build_answer",
    "clue_id",
    "evidence_line",
    "rivals",
]
