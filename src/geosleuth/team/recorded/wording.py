"""What a reply shows beside its place: how long it is, how it hedges, what it names, how exact its numbers are.

Only outward signs are read. Nothing in a reply is followed, and a reply without words gives zeros.
"""

import re
from math import log1p, sqrt

import numpy as np

from geosleuth.answer import Answer
from geosleuth.geo import FloatArray

WORD_SIGNS = ("length", "hedges", "evidence", "quotes", "scripts", "decimals", "confidence")
"""The columns of ``word_signs``, in order."""

MOST_CHARACTERS = 20_000
"""Of a longer reply the end is read, where answers stand."""

_MOST_DECIMALS = 7
_EAST_ASIAN = 0x2FFF
_HEDGES = re.compile(
    r"\b(?:may|might|maybe|perhaps|possibly|probably|likely|guess\w*|uncertain\w*|unsure|could|cannot|can't|unable|hard"
    r"|difficult|appears?|seems?|approximat\w*|estimat\w*|assum\w*|insufficient|generic|lack\w*|without|typical\w*"
    r"|plausible|suggest\w*|common\w*|no (?:clear|unique|specific|visible))\b|可能|大概|推测|猜测",
    re.IGNORECASE,
)
_EVIDENCE = re.compile(
    r"\b(?:sign\w*|reads?|reading|text|logo|plate|number|landmark|iconic|distinctive|named?|street|station|tower|bridge"
    r"|museum|hotel|park|temple|church|university|phone|website|address|matches|identif\w*|recogni[sz]\w*|known|unique\w*"
    r"|famous)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“\"「『‘]([^“”\"「」『』\n]{2,60})[”\"」』’]")
_OBJECT = re.compile(r"\{[^{}]*\}")


def spoken(text: str) -> str:
    """The words of a reply without the JSON object that holds the answer."""
    return _OBJECT.sub(" ", text[-MOST_CHARACTERS:])


def word_signs(text: str, answer: Answer) -> FloatArray:
    """One figure for each of ``WORD_SIGNS``."""
    words = spoken(text)
    scale = sqrt(max(1, len(words.split())))
    point = answer.point
    return np.array(
        [
            log1p(len(words)),
            len(_HEDGES.findall(words)) / scale,
            len(_EVIDENCE.findall(words)) / scale,
            log1p(len(_QUOTED.findall(words))),
            log1p(sum(ord(character) > _EAST_ASIAN for character in words)),
            0.0 if point is None else float(max(_decimals(point.lat), _decimals(point.lon))),
            0.5 if answer.probability is None else answer.probability,
        ]
    )


def _decimals(degrees: float) -> int:
    return len(f"{degrees:.{_MOST_DECIMALS}f}".rstrip("0").partition(".")[2])
