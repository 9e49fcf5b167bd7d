"""Tool calls and what came of them in plain words, on one line: for pages and for progress bars.

Whatever a call or an outcome holds is somebody else's text: it stands in quotation marks. Where it was left out for the
sake of granularity, only what was done is said.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from geosleuth.agent.display import is_withheld
from geosleuth.app.report.digest import FAILURES, found_nothing
from geosleuth.errors import BrokenPlugin
from geosleuth.geo import LatLon, is_valid
from geosleuth.tools import Observation, Tool, ToolCall
from geosleuth.tools.catalogue import all_tools
from geosleuth.tools.viewer import PART, Viewer, place_name, places_in
from geosleuth.tools.wording import one_line, quoted

LINE_CHARS = 200
MOST_POINTS = 20
_NAME_CHARS = 60
_THIRD = 0.36
_UNKNOWN = Viewer()


def call_words(call: ToolCall, pictures: Mapping[str, str] | None = None, box: Sequence[float] | None = None) -> str:
    """What a call does, such as 'looks up "Rue Grimaldi" on the map'.

    Args:
        call: the call.
        pictures: what handles stand for, in words.
        box: the part of the photo that the call is about, in shares of it, where somebody knows.
    """
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
    shown = (pictures or {}).get(str(arguments.get("image")))
    arguments = {**arguments, "image": shown} if shown else arguments
    if box is not None:
        arguments = {**arguments, PART: part_words(box)}
    words = _viewer(call.name).call_words(arguments)
    return one_line(words or f"uses {quoted(call.name, _NAME_CHARS)}", LINE_CHARS)


def outcome_words(observation: Observation) -> str:
    """What came of a call, such as 'found 3 places: "Rue Grimaldi", …'."""
    text = "" if is_withheld(observation.text) else observation.text
    if observation.failure is not None:
        first = next((line for line in map(str.strip, text.splitlines()) if line), "")
        silent = not first or observation.failure in ("unknown_tool", "repeated", "over_budget")
        why = FAILURES[observation.failure]
        return one_line(why if silent else f"{why}: {first}", LINE_CHARS)
    if found_nothing(observation):
        return "found nothing"
    data = observation.data if isinstance(observation.data, Mapping) else {}
    words = _viewer(observation.name).result_words(data) if data else ""
    if not words:
        words = next((line for line in map(str.strip, text.splitlines()) if line), "done")
    return one_line(words, LINE_CHARS)


def points_found(observation: Observation) -> Iterator[tuple[str, LatLon]]:
    """The places in an outcome, in its own order, each with its name."""
    data = observation.data if isinstance(observation.data, Mapping) else {}
    if observation.failure is not None:
        return
    count = 0
    for row in places_in(data):
        if count >= MOST_POINTS:
            return
        lat: Any = row.get("lat")
        lon: Any = row.get("lon")
        if is_valid(lat, lon):
            count += 1
            yield one_line(place_name(row), _NAME_CHARS), LatLon(float(lat), float(lon))


def part_words(box: Sequence[float]) -> str:
    """Where a box lies in a photo, such as "at the top left"; its sides are in shares of the photo."""
    across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    side = "left" if across < _THIRD else "right" if across > 1 - _THIRD else ""
    height = "top" if down < _THIRD else "bottom" if down > 1 - _THIRD else ""
    return f"at the {height} {side}".replace("  ", " ").rstrip() if side or height else "in the middle"


def magnifies(name: str) -> bool:
    """Whether a tool shows a part of the photo larger, by its picture on the page."""
    return _viewer(name).icon == "zoom"


def _viewer(name: str) -> Viewer:
    """How a tool is shown, by any of its names; a method may show it under another of them."""
    try:
        found: Tool | None = all_tools().get(name)
    except BrokenPlugin:  # a run of former days is shown all the same
        return _UNKNOWN
    return found.viewer if found else _UNKNOWN
