"""Learn from recorded answers whose truths are known, and measure it on images that were not learned from.

Truths are held here; what answers can't import it.
"""

from .fitting import FEWEST_IMAGES, Known, learn
from .replaying import (
    LEARNED,
    ORACLE,
    REPORTED_KM,
    SINGLE,
    SMILEGEO,
    SMILEGEO_ALL,
    VOTE,
    Replay,
    replay,
    smilegeo_lessons,
)

__all__ = [
    "FEWEST_IMAGES",
    "LEARNED",
    "ORACLE",
    "REPORTED_KM",
    "SINGLE",
    "SMILEGEO",
    "SMILEGEO_ALL",
    "VOTE",
    "Known",
    "Replay",
    "learn",
    "replay",
    "smilegeo_lessons",
]
