"""Masks: a run in which a part of every photo is hidden, to see what answers hang on."""

from .blanking import ALL_TEXT, blank
from .boxes import boxes_for, masking_job_of
from .clues import clue_boxes
from .text import text_boxes

__all__ = ["ALL_TEXT", "blank", "boxes_for", "clue_boxes", "masking_job_of", "text_boxes"]
