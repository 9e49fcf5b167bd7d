"""Tool calls and what came of them in plain words, on one line: for pages and for progress bars.

Whatever a call or an outcome holds is somebody else's text: it stands in quotation marks. Where it was left out for the
sake of granularity, only what was done is said.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from geosleuth.agent import Event, Prompted, Said, Started, ToolObserved
from geosleuth.agent.capping import EventBlanker
from geosleuth.agent.display import is_withheld
from geosleuth.answer.granularity import GRANULARITIES, Granularity, withheld
from geosleuth.app.console import progress
from geosleuth.app.report.digest import FAILURES, found_nothing
from geosleuth.errors import BrokenPlugin
from geosleuth.geo import LatLon, is_valid
from geosleuth.policies import Step
from geosleuth.text import one_line as plain_line
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


_SHOWN_CHARACTERS = 160
# Replies in a form for machines; the finding shows what they say.
_FORMS = ("{", "[", "```", "<answer")
# A team's trajectory says first what a reply is for.
_TEAM_STEP = re.compile(r"\[([^\]\n]+)\]\n")
_LEFT_OUT = frozenset(withheld(level) for level in GRANULARITIES)


@contextmanager
def telling(granularity: Granularity = "exact") -> Iterator[Callable[[Event], None]]:
    """Gives what to call with each event of one run; nothing finer than allowed is said."""
    blank = EventBlanker(granularity)
    with progress("", measure="time") as bar:

        def tell(event: Event) -> None:
            told = blank(event)
            if (line := step_line(told)) is not None:
                bar.say(line)
            if (doing := under_way(told)) is not None:
                bar.turn_to(doing)

        yield tell


def step_line(event: Event) -> str | None:
    """One line about an event for somebody who waits; None where there is nothing to tell."""
    match event.body:
        case Said(turn=turn, step=step):
            if team := _TEAM_STEP.match(step.text):
                return _short(f"turn {turn}: {step.model}: {team[1]}: {_told(step.text[team.end() :])}")
            words = spoken(step) or _told(step.thinking)
            if not step.calls and not words:
                words = "answers" if step.text.strip() else "says nothing"
            called = ", ".join(call.name for call in step.calls)
            return _short(f"turn {turn}: {words}" + (f"{' -> ' if words else ''}{called}" if called else ""))
        case ToolObserved(observation=seen):
            mark = f" ({seen.failure.replace('_', ' ')})" if seen.failure else ""
            words = _told(seen.text)
            return _short(f"  {seen.name}{mark}" + (f": {words}" if words else ""))
        case Prompted(prompt=prompt, by="loop") if _told(prompt.text):
            return _short(f"  told: {prompt.text}")
        case _:
            return None


def spoken(step: Step) -> str:
    """What a policy said to people; nothing where it is a form for machines, or was left out."""
    return "" if step.text.lstrip().startswith(_FORMS) else _told(step.text)


def _told(text: str) -> str:
    """A text, unless all that stands there is that it was left out."""
    return "" if text in _LEFT_OUT else text.strip()


def under_way(event: Event) -> str | None:
    """What begins with an event; None where it changes nothing, such as the outcome of one call of several."""
    match event.body:
        case Started(policy=policy):
            return f"{_short(policy)} looks at the photo"
        case Said(step=step) if step.calls:
            return _short("; ".join(dict.fromkeys(map(call_words, step.calls))))
        case ToolObserved() | Prompted(by="loop" | "person"):
            return "thinking"
        case _:
            return None


def _short(text: str) -> str:
    line = plain_line(" ".join(text.rstrip().split("\n")))
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
