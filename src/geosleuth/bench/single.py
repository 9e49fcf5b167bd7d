"""One answer at a time, scored as a file of them would be: for harnesses that bring their own lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from geosleuth.answer import Answer
from geosleuth.errors import BadInput
from geosleuth.geo import THRESHOLDS_KM, LatLon, geoscore
from geosleuth.score import LEVELS, Summary, Truth, summarise

from .records import Record
from .scored import score_records


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """How good one answer is. ``distance_km`` is None where it is unlocated; ``levels`` has the codes of `score`."""

    distance_km: float | None
    geoscore: float
    levels: Mapping[str, int]


def truth_to_dict(truth: Truth) -> dict[str, Any]:
    """A truth as records write it."""
    names = {"country": truth.country, "region": truth.region, "city": truth.city}
    return {"lat": truth.point.lat, "lon": truth.point.lon, **{name: one for name, one in names.items() if one}}


def score_answer(truth: Mapping[str, Any], answer: Answer) -> ScoredAnswer:
    """Hold one answer against the truth, given as `truth_to_dict` writes it.

    Raises:
        BadInput: that is no truth.
    """
    try:
        point = LatLon(float(truth["lat"]), float(truth["lon"]))
        record = Record(
            "one", Truth(point, truth.get("country"), truth.get("region"), truth.get("city")), answer=answer
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"a truth has lat and lon in degrees, and names as texts; this is none ({error})") from error
    scored = score_records([record], label="one", parser="lenient", distance="geodesic")
    km = float(scored.distance_km[0])
    points = 0.0 if isnan(km) else geoscore(km)
    return ScoredAnswer(None if isnan(km) else km, points, {name: int(scored.levels[name][0]) for name in LEVELS})


def summarise_answers(answers: Sequence[ScoredAnswer], thresholds_km: Sequence[float] = THRESHOLDS_KM) -> Summary:
    """The figures over answers that were scored one at a time."""
    km = np.asarray([np.nan if one.distance_km is None else one.distance_km for one in answers], dtype=np.float64)
    levels = {name: np.asarray([one.levels[name] for one in answers], dtype=np.int8) for name in LEVELS}
    return summarise(km, levels, thresholds_km)
