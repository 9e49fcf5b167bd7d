"""An answer as it is shown and written: its points with no more decimals than its radius deserves."""

from dataclasses import replace

from geosleuth.geo import rounded

from .model import Answer


def to_precision(answer: Answer) -> Answer:
    """Return the answer with its points rounded to what its radius deserves; candidates have no radius of their own."""
    point, radius_km = answer.point, answer.radius_km
    return replace(
        answer,
        point=None if point is None else rounded(point, radius_km),
        candidates=tuple(
            one if one.point is None else replace(one, point=rounded(one.point, radius_km)) for one in answer.candidates
        ),
    )
