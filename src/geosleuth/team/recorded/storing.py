"""Learned trust as one JSON document, versioned. It holds counts and weights, and no image's truth."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from geosleuth.errors import BadInput
from geosleuth.geo import FloatArray

from .design import SHARED, column_reasons, scaling_from_json, scaling_to_json
from .panel import MOST_AGENTS
from .places import record_from_json, record_to_json
from .trust import WITHIN_KM, Trust

FORMAT = "geosleuth-trust/1"
_ARRAYS = ("weights", "exactness", "level", "slope")


def trust_to_json(trust: Trust) -> dict[str, Any]:
    """The stored form; ``trust_from_json`` gives back one that judges the same."""
    return {
        "format": FORMAT,
        "agents": list(trust.agents),
        "images": trust.images,
        "within_km": list(WITHIN_KM),
        "signs": list(SHARED),
        "ridge": trust.ridge,
        **{name: getattr(trust, name).tolist() for name in _ARRAYS},
        "scaling": scaling_to_json(trust.scaling),
        "record": record_to_json(trust.record),
    }


def trust_from_json(document: object) -> Trust:
    """Read the stored form.

    Raises:
        BadInput: it is of another format or version, or damaged.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, Mapping) else None
        raise BadInput(f"this model says format {found!r}; this version of geosleuth reads {FORMAT!r}")
    if document.get("within_km") != list(WITHIN_KM) or document.get("signs") != list(SHARED):
        raise BadInput("this model was learned with other figures; learn it again with --save")
    try:
        agents = tuple(str(agent) for agent in document["agents"])
        if not 2 <= len(agents) <= MOST_AGENTS or len(set(agents)) != len(agents):
            raise ValueError("its agents are not told apart")
        count, steps = len(agents), len(WITHIN_KM)
        shapes = ((len(column_reasons(count)), steps), (count,), (steps,), (steps,))
        arrays = [_array(document[name], shape) for name, shape in zip(_ARRAYS, shapes, strict=True)]
        weights, exactness, level, slope = arrays
        return Trust(
            agents, weights, float(document["ridge"]), exactness, level, slope,
            record_from_json(document["record"], count), scaling_from_json(document["scaling"], count),
            int(document["images"]),
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise BadInput(f"this model can't be read: {error}; learn it again with --save") from error


def _array(values: object, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"a table of {array.shape} figures, where {shape} belong")
    return array
