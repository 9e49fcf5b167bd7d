"""Charts as JSON files, for results that are to become pictures in documents.

{"kind": "lines", "title": "…", "x": {"title": "steps"}, "y": {"title": "within 25 km", "percent": true},
 "lines": [{"name": "GRPO", "points": [{"x": 0, "y": 0.41, "low": 0.38, "high": 0.44}, …]}]}
{"kind": "bars", "title": "…", "y": {"percent": true},
 "groups": [{"name": "25 km", "bars": [{"name": "base", "y": 0.2, "low": 0.18, "high": 0.22}, …]}]}
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geosleuth.errors import BadInput

from .curves import Axis, Bar, BarChart, Chart, Group, Line, LineChart, Point

_MOST_BYTES = 16 * 1024 * 1024
# Past this, an axis from end to end would have no length that a float can hold.
_MOST = 1e300


def read_chart(path: Path) -> Chart:
    """A chart from a JSON file.

    Raises:
        BadInput: it can't be read, or is no chart; the message says what is wrong.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise BadInput(f"{path}: is larger than {_MOST_BYTES // 2**20} MiB; give a smaller one")
        return chart_of(json.loads(data), str(path))
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: is not JSON: {error}") from error


def chart_of(document: Any, source: str = "the chart") -> Chart:
    """A chart from what such a file holds.

    Raises:
        BadInput: it is no chart; the message begins with ``source``.
    """
    try:
        if not isinstance(document, Mapping):
            raise BadInput(f"a chart is a mapping with kind and title, not {str(document)[:60]!r}")
        kind = document.get("kind")
        if kind not in ("lines", "bars"):
            raise BadInput(f"kind is lines or bars, not {str(kind)[:40]!r}")
        title = _one(document, "title", str)
        y = _axis(document.get("y", {}), "y")
        if kind == "lines":
            lines = tuple(_line(one) for one in _some(document, "lines"))
            return LineChart(title, _axis(document.get("x", {}), "x"), y, lines)
        return BarChart(title, y, tuple(_group(one) for one in _some(document, "groups")))
    except BadInput as error:
        raise BadInput(f"{source}: {error}") from error


def _one(values: Any, name: str, kind: type) -> Any:
    if not isinstance(values, Mapping):
        raise BadInput(f"{name} is missing where something else stands: {str(values)[:60]!r}")
    if not isinstance(values.get(name), kind):
        raise BadInput(f"{name} is missing, or not what it must be: {str(values.get(name))[:60]!r}")
    return values[name]


def _some(values: Any, name: str) -> list[Any]:
    found: list[Any] = _one(values, name, list)
    if not found:
        raise BadInput(f"{name} is empty; a chart needs at least one of them")
    return found


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MOST:
        raise BadInput(f"{name} is no number: {str(value)[:60]!r}")
    return float(value)


def _interval(values: Mapping[str, Any]) -> tuple[float, float] | tuple[None, None]:
    if values.get("low") is None and values.get("high") is None:
        return None, None
    return _number(values, "low"), _number(values, "high")


def _axis(values: Any, name: str) -> Axis:
    if not isinstance(values, Mapping):
        raise BadInput(f"{name} is no mapping with title, percent, logarithmic: {str(values)[:60]!r}")
    return Axis(
        str(values.get("title", "")),
        percent=values.get("percent") is True,
        logarithmic=values.get("logarithmic") is True,
    )


def _line(values: Any) -> Line:
    points = _some(values, "points")
    if not all(isinstance(one, Mapping) for one in points):
        raise BadInput("points is no list of mappings with x and y")
    made = [Point(_number(one, "x"), _number(one, "y"), *_interval(one)) for one in points]
    return Line(_one(values, "name", str), tuple(sorted(made, key=lambda one: one.x)))


def _group(values: Any) -> Group:
    bars = _some(values, "bars")
    if not all(isinstance(one, Mapping) for one in bars):
        raise BadInput("bars is no list of mappings with name and y")
    made = tuple(Bar(_one(one, "name", str), _number(one, "y"), *_interval(one)) for one in bars)
    return Group(_one(values, "name", str), made)
