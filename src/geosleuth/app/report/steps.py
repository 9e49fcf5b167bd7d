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
from geosleuth.bench.plain import one_line as plain_line
from geosleuth.geo import LatLon, is_valid
from geosleuth.names import fold
from geosleuth.policies import Step
from geosleuth.tools import Observation, ToolCall
from geosleuth.tools.catalogue import all_tools
from geosleuth.tools.wording import at, one_line, percent, quoted

LINE_CHARS = 200
MOST_POINTS = 20
_NAME_CHARS = 60
_SHOWN = 3
_THIRD = 0.36
_PART = "the part in words"
_Arguments = Mapping[str, Any]


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
        arguments = {**arguments, _PART: part_words(box)}
    words = _CALLS.get(own_name(call.name))
    return one_line(words(arguments) if words else f"uses {quoted(call.name, _NAME_CHARS)}", LINE_CHARS)


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
    words = _OUTCOMES.get(own_name(observation.name), _found)(data) if data else ""
    if not words:
        words = next((line for line in map(str.strip, text.splitlines()) if line), "done")
    return one_line(words, LINE_CHARS)


def points_found(observation: Observation) -> Iterator[tuple[str, LatLon]]:
    """The places in an outcome, in its own order, each with its name."""
    data = observation.data if isinstance(observation.data, Mapping) else {}
    if observation.failure is not None:
        return
    count = 0
    for row in _places(data):
        if count >= MOST_POINTS:
            return
        lat: Any = row.get("lat")
        lon: Any = row.get("lon")
        if is_valid(lat, lon):
            count += 1
            yield one_line(_name(row), _NAME_CHARS), LatLon(float(lat), float(lon))


def part_words(box: Sequence[float]) -> str:
    """Where a box lies in a photo, such as "at the top left"; its sides are in shares of the photo."""
    across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    side = "left" if across < _THIRD else "right" if across > 1 - _THIRD else ""
    height = "top" if down < _THIRD else "bottom" if down > 1 - _THIRD else ""
    return f"at the {height} {side}".replace("  ", " ").rstrip() if side or height else "in the middle"


def own_name(name: str) -> str:
    """A tool by our own name; a method may show it under another, and a user's own tool has none of ours."""
    tool = all_tools().get(name)
    return tool.name if tool else name


def _places(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "address" in data and is_valid(data.get("lat"), data.get("lon")):
        yield data
        return
    for key in ("results", "fixes"):
        rows = data.get(key)
        if isinstance(rows, list):
            for row in (one for one in rows if isinstance(one, Mapping)):
                spots = row.get("spots")
                yield from (one for one in spots if isinstance(one, Mapping)) if isinstance(spots, list) else (row,)


def _name(row: Mapping[str, Any]) -> str:
    inside = row.get("places")
    if isinstance(inside, list) and not row.get("name") and not row.get("address"):
        return " + ".join(str(one.get("name")) for one in inside if isinstance(one, Mapping))
    return str(row.get("name") or row.get("place") or row.get("address") or row.get("title") or "")


def _text(arguments: _Arguments, *names: str) -> str:
    value = next((value for name in names if isinstance(value := arguments.get(name), str) and value.strip()), "")
    return quoted(value, _NAME_CHARS) if value else ""


def _several(arguments: _Arguments, name: str) -> str:
    values = arguments.get(name)
    listed = [quoted(str(value), _NAME_CHARS) for value in values] if isinstance(values, list | tuple) else []
    return f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else "".join(listed)


def _image(arguments: _Arguments) -> str:
    image = arguments["image"] if isinstance(arguments.get("image"), str) else "the photo"
    if _PART in arguments:
        return f"the part of {image} {arguments[_PART]}"
    return f"a part of {image}" if arguments.get("bbox_2d") else image


def _point(arguments: _Arguments) -> str:
    lat: Any = arguments.get("latitude")
    lon: Any = arguments.get("longitude")
    return f" at {at(LatLon(float(lat), float(lon)))}" if is_valid(lat, lon) else ""


def _looks_up(what: str, *names: str) -> Callable[[_Arguments], str]:
    def words(arguments: _Arguments) -> str:
        country = arguments.get("country")
        there = f" in {one_line(country, 40)}" if isinstance(country, str) and country else ""
        return f"{what} {_text(arguments, *names)}".rstrip() + f" on the map{there}"

    return words


def _notes(arguments: _Arguments) -> str:
    confidence = arguments.get("confidence")
    odds = f", {percent(confidence)}" if isinstance(confidence, int | float) and 0 <= confidence <= 1 else ""
    return f"notes the candidate {_text(arguments, 'place')}".rstrip() + odds


_CALLS: Mapping[str, Callable[[_Arguments], str]] = {
    "image_zoom_in_tool": lambda given: f"magnifies {_image({**given, 'bbox_2d': True})}",
    "read_text": lambda given: f"reads the text in {_image(given)}",
    "search_image": lambda given: f"looks for pictures like {_image(given)}",
    "visual_prior": lambda given: f"asks where places look like {_image(given)}",
    "search_web": lambda given: f"searches for {_text(given, 'query')}".rstrip(),
    "maps_geocode": _looks_up("looks up", "address"),
    "poi_keyword_search": _looks_up("looks for", "keyword"),
    "poi_input_tips": _looks_up("looks for names that begin with", "text"),
    "poi_detail_query": _looks_up("reads up on", "poi_id"),
    "reverse_geocode": lambda given: f"looks what lies{_point(given)}" if _point(given) else "looks what lies there",
    "nearby": lambda given: f"looks what is around{_point(given)}".replace(" around at ", " around "),
    "find_colocated": lambda given: f"looks where {_several(given, 'features') or 'these things'} stand together",
    "find_crossing": lambda given: (
        f"looks where {_text(given, 'first') or 'one street'} and {_text(given, 'second') or 'another'} meet"
    ),
    "static_map_query": lambda given: f"looks at a map of {_text(given, 'centre') or 'a place'}",
    "satellite_map_query": lambda given: f"looks at {_text(given, 'centre') or 'a place'} from above",
    "country_facts": lambda given: f"reads up on the country {_text(given, 'country', 'name')}".rstrip(),
    "brand_lookup": lambda given: f"looks up the brand {_text(given, 'brand', 'name', 'text')}".rstrip(),
    "text_clues": lambda given: f"asks what {_text(given, 'text') or 'a sign'} tells",
    "sun_position": lambda given: f"works out where the sun stands{_point(given)}",
    "range_fix": lambda given: f"works out where the distances to {_several(given, 'towns') or 'the towns'} meet",
    "note_hypothesis": _notes,
}


def _read(data: Mapping[str, Any]) -> str:
    rows = data.get("lines")
    texts = [str(row.get("text")) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return _counted(texts, "line", "lines", "read")


def _found(data: Mapping[str, Any]) -> str:
    names = [name for row in _places(data) if (name := _name(row))]
    return _counted(names, "place", "places", "found")


def _counted(names: list[str], one: str, several: str, did: str) -> str:
    if not names:
        return ""
    shown = ", ".join(quoted(name, _NAME_CHARS) for name in names[:_SHOWN])
    return f"{did} {len(names)} {one if len(names) == 1 else several}: {shown}{', …' if len(names) > _SHOWN else ''}"


def _tells(data: Mapping[str, Any]) -> str:
    rows = data.get("results")
    said = [str(row.get("says")) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return f"that tells: {'; '.join(said[:_SHOWN])}" if said else ""


def _here(data: Mapping[str, Any]) -> str:
    named: list[str] = []
    for part in (data.get("address"), data.get("region"), data.get("country_name")):
        if part and not any(fold(str(part)) in fold(other) for other in named):
            named.append(str(part))
    return f"that is {quoted(', '.join(named), LINE_CHARS)}" if named else "that is on no map"


def _noted(data: Mapping[str, Any]) -> str:
    given = data.get("hypothesis")
    return f"noted {_text(given, 'place')}" if isinstance(given, Mapping) else ""


_OUTCOMES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "read_text": _read,
    "reverse_geocode": _here,
    "text_clues": _tells,
    "note_hypothesis": _noted,
    "image_zoom_in_tool": lambda _: "magnified it",
}


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
