"""The way to the finding, turn by turn: thoughts, tool calls in plain words, what came back, and what did not.

Text of calls and outcomes is foreign: it is shown in quotation marks. Where it was left out for the
sake of granularity, only what was done is said.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from geosleuth.agent import (
    Answered,
    Ended,
    Event,
    Hypothesis,
    Noted,
    Prompted,
    Resumed,
    Said,
    Started,
    ToolObserved,
    Trajectory,
)
from geosleuth.agent.display import is_withheld, sure_line, whole_country
from geosleuth.agent.locate import EventBlanker
from geosleuth.answer.answer import envelope, percent_words
from geosleuth.answer.granularity import GRANULARITIES, Granularity, build_withheld_note
from geosleuth.atlas.granular import wide_country
from geosleuth.geo import LatLon, choose_decimals, is_valid
from geosleuth.models import Step
from geosleuth.report.markup import Html, clean, el, join, name
from geosleuth.support.console import progress
from geosleuth.support.errors import BrokenPlugin
from geosleuth.support.text.safe import one_line as plain_line
from geosleuth.tools import Observation, Tool, ToolCall
from geosleuth.tools.toolset import all_tools
from geosleuth.tools.viewer import PART_ARGUMENT, Viewer, iterate_places, one_line, place_name, quote

from .digest import FAILURES, FindingDigest, is_empty_result

if TYPE_CHECKING:
    from .pictures import Embedded

MAX_CHARS = 6000
_SHORT_CHARS = 220
_SHOWN_LINES = 4
_ARGUMENT_CHARS = 300
# Digits of coordinates in steps: to some ten metres, or to a hundred where the finding is no finer.
_DECIMALS, _MIN_DECIMALS = 4, 3

_DEGREES = frozenset({"latitude", "longitude"})
_POINT = re.compile(r"(?<![\d.,-])(-?\d{1,2}\.\d{5,}), (-?\d{1,3}\.\d{5,})(?!\d)")
_BY = {"task": "The task", "loop": "Told by the loop", "person": "A person says"}
_ANSWERED_BY = {"policy": "Answer", "pool": "Answer, from the candidates noted", "nobody": "No answer"}

LINE_CHARS = 200
MAX_POINTS = 20
_NAME_CHARS = 60
_THIRD = 0.36
_UNKNOWN = Viewer()
_SHOWN_CHARACTERS = 160
# Replies in a form for machines; the finding shows what they say.
_FORMS = ("{", "[", "```", "<answer")
# A team's trajectory says first what a reply is for.
_TEAM_STEP = re.compile(r"\[([^\]\n]+)\]\n")
_LEFT_OUT = frozenset(build_withheld_note(level) for level in GRANULARITIES)


def chain_section(digest: FindingDigest, embedded: "Embedded", picked: Trajectory | None = None) -> Html:
    """Return the whole chain; of several tries that of the one that was picked, and then the verifier's."""
    own = el("ol", {"class": "chain"}, *_steps(digest.trajectory, embedded))
    if picked is not None:
        tried = el("ol", {"class": "chain"}, *_steps(picked, embedded))
        own = join((el("h3", None, "The try that was picked"), tried, el("h3", None, "The verifier"), own))
    return el(
        "section",
        {"id": "chain", "aria-labelledby": "chain-h"},
        el("h2", {"id": "chain-h"}, "How it was found, step by step"),
        own,
    )


def _steps(trajectory: Trajectory, embedded: "Embedded") -> Iterator[Html]:
    radius_km = None if trajectory.answer is None else trajectory.answer.radius_km
    decimals = _DECIMALS if radius_km is None else max(_MIN_DECIMALS, choose_decimals(radius_km))
    calls: dict[str, ToolCall] = {}
    noted: dict[str, str] = {}
    for event in trajectory.events:
        match event.body:
            case Started():
                continue
            case Noted(hypothesis=hypothesis):
                text = _render_hypothesis(hypothesis)
                if noted.get(hypothesis.id) != text:
                    noted[hypothesis.id] = text
                    yield el("li", {"class": "noted"}, el("p", None, text))
            case Said(step=step):
                calls.update((call.id, call) for call in step.calls)
                yield _render_reply(event, event.body)
            case ToolObserved(observation=observation):
                yield _render_observation(observation, calls.get(observation.call_id), embedded, decimals)
            case _:
                other = _other(event, whole_country(trajectory))
                if other:
                    yield other


def _render_reply(event: Event, body: Said) -> Html:
    step = body.step
    words = _strip_text(step.text)
    is_data = words.startswith("{") or "<answer>" in words
    parts: list[object] = [
        el("p", {"class": "when"}, el("b", None, f"Turn {body.turn}"), f" · {event.at_s:.1f} s"),
        _render_words(_strip_text(step.thinking), "thought"),
        el("p", {"class": "thought"}, "Answers.") if is_data and not step.calls else "",
        _render_details("The reply as it was written", words) if is_data else _render_words(words, "said"),
    ]
    if step.finish in ("length", "filtered", "error"):
        why = {"length": "cut off at the length limit", "filtered": "held back by its provider", "error": "broken off"}
        parts.append(el("p", {"class": "failed"}, f"The reply was {why[step.finish]}."))
    return el("li", {"class": "turn"}, *parts)


def _render_observation(observation: Observation, call: ToolCall | None, embedded: "Embedded", decimals: int) -> Html:
    failed, empty = observation.failure, is_empty_result(observation)
    state = "bad" if failed else "empty" if empty else "good"
    lines = [line.strip() for line in _strip_text(observation.text).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("From: ")] if observation.sources else lines
    lines = [round_points(line, decimals) for line in lines]
    shown_lines = [clean(line, _SHORT_CHARS) for line in lines[:_SHOWN_LINES]]
    note = f" · failed: {FAILURES[failed]}" if failed else " · found nothing" if empty else ""
    shown = [drawing for image in observation.images if (drawing := embedded.cut(image)) is not None]
    return el(
        "li",
        {"class": f"outcome {state}"},
        el(
            "p",
            {"class": "call"},
            el(
                "code",
                None,
                clean(observation.name, 60),
                el("span", {"class": "arguments"}, _arguments(call, decimals)),
            ),
            el("span", {"class": "when"}, f" {observation.seconds:.1f} s{note}"),
        ),
        *(el("p", {"dir": "auto", "class": "result"}, line) for line in shown_lines),
        el("div", {"class": "cuts"}, *shown) if shown else "",
        _render_details("All that came back", observation.text) if shown_lines != lines else "",
        el("p", {"class": "sources"}, f"From: {clean('; '.join(observation.sources), 300)}")
        if observation.sources
        else "",
    )


def _strip_text(text: str) -> str:
    """Return a text without its margins; nothing where it was left out."""
    return "" if is_withheld(text) else text.strip()


def round_points(text: str, decimals: int = _DECIMALS) -> str:
    """Return a text with the coordinates in it rounded: tools give them to the metre, which few findings deserve."""
    return _POINT.sub(lambda pair: f"{float(pair[1]):.{decimals}f}, {float(pair[2]):.{decimals}f}", text)


def _arguments(call: ToolCall | None, decimals: int) -> str:
    if call is None or not call.arguments:
        return ""
    if isinstance(call.arguments, str):
        return f"({clean(call.arguments, _ARGUMENT_CHARS)})"
    # The point of a country only stands for it.
    whole = wide_country(str(call.arguments.get("place", "")))
    words = (
        f"{key}: {_value(value, decimals if key in _DEGREES else None)}"
        for key, value in call.arguments.items()
        if not (whole and key in _DEGREES)
    )
    return f"({clean(', '.join(words), _ARGUMENT_CHARS)})"


def _value(value: Any, decimals: int | None = None) -> str:
    if isinstance(value, float) and decimals is not None:
        return f"{value:.{decimals}f}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _other(event: Event, country: str | None) -> Html | None:
    """Return a step that is no call; ``country`` is the one that the run comes to as a whole."""
    match event.body:
        case Prompted(prompt=prompt, by=by):
            words = _strip_text(prompt.text)
            return el("li", {"class": "prompt"}, _render_details(_BY[by], words)) if words else None
        case Answered(answer=answer, by=by):
            place = envelope(answer.address) or ("an unnamed place" if answer.point else "no place")
            return el(
                "li",
                {"class": "answer"},
                el(
                    "p",
                    None,
                    el("b", None, f"{_ANSWERED_BY[by]}: "),
                    name(place, 120),
                    _sentence(sure_line(answer, country)),
                ),
                _render_details("In its own words", words) if (words := _strip_text(answer.explanation or "")) else "",
            )
        case Ended(reason=reason, trouble=trouble):
            if reason == "answered" and not trouble:
                return None
            words = f"Ended: {reason}. {clean(_strip_text(trouble or ''), 400)}"
            return el("li", {"class": "outcome bad"}, el("p", {"class": "failed"}, words))
        case Resumed(policy=policy):
            return el("li", {"class": "prompt"}, el("p", None, "Taken up again with ", name(policy, 80), "."))
        case _:
            return None


def _render_hypothesis(hypothesis: Hypothesis) -> Html:
    odds = "" if hypothesis.confidence is None else f", {percent_words(hypothesis.confidence)}"
    fate = {"open": "Candidate", "dropped": "Ruled out", "answered": "Chosen"}[hypothesis.fate]
    return join([f"{fate}: ", name(hypothesis.place, 120), odds])


def _sentence(words: str) -> str:
    return f". {words}." if words else ""


def _render_words(text: str, kind: str) -> Html:
    if not text:
        return Html("")
    if len(text) <= 2 * _SHORT_CHARS:
        return el("p", {"class": kind, "dir": "auto"}, clean(text))
    return join([
        el("p", {"class": kind, "dir": "auto"}, clean(text, _SHORT_CHARS)),
        _render_details("All of it", text),
    ])  # fmt: skip


def _render_details(title: str, text: str) -> Html:
    return el("details", None, el("summary", None, title), el("pre", {"dir": "auto"}, clean(text, MAX_CHARS)))


def call_words(call: ToolCall, pictures: Mapping[str, str] | None = None, box: Sequence[float] | None = None) -> str:
    """Return what a call does, such as 'looks up "Rue Grimaldi" on the map'.

    Args:
        call: the call.
        pictures: what handles stand for, in words.
        box: the part of the photo that the call is about, in shares of it, if known.
    """
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
    shown = (pictures or {}).get(str(arguments.get("image")))
    arguments = {**arguments, "image": shown} if shown else arguments
    if box is not None:
        arguments = {**arguments, PART_ARGUMENT: part_words(box)}
    words = _viewer(call.name).call_words(arguments)
    return one_line(words or f"uses {quote(call.name, _NAME_CHARS)}", LINE_CHARS)


def outcome_words(observation: Observation) -> str:
    """Return what came of a call, such as 'found 3 places: "Rue Grimaldi", …'."""
    text = "" if is_withheld(observation.text) else observation.text
    if observation.failure is not None:
        first = next((line for line in map(str.strip, text.splitlines()) if line), "")
        silent = not first or observation.failure in ("unknown_tool", "repeated", "over_budget")
        why = FAILURES[observation.failure]
        return one_line(why if silent else f"{why}: {first}", LINE_CHARS)
    if is_empty_result(observation):
        return "found nothing"
    data = observation.data if isinstance(observation.data, Mapping) else {}
    words = _viewer(observation.name).result_words(data) if data else ""
    if not words:
        words = next((line for line in map(str.strip, text.splitlines()) if line), "done")
    return one_line(words, LINE_CHARS)


def points_found(observation: Observation) -> Iterator[tuple[str, LatLon]]:
    """Yield the places in an outcome, in its own order, each with its name."""
    data = observation.data if isinstance(observation.data, Mapping) else {}
    if observation.failure is not None:
        return
    count = 0
    for row in iterate_places(data):
        if count >= MAX_POINTS:
            return
        lat: Any = row.get("lat")
        lon: Any = row.get("lon")
        if is_valid(lat, lon):
            count += 1
            yield one_line(place_name(row), _NAME_CHARS), LatLon(float(lat), float(lon))


def part_words(box: Sequence[float]) -> str:
    """Return where a box lies in a photo, such as "at the top left"; its sides are in shares of the photo."""
    across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    side = "left" if across < _THIRD else "right" if across > 1 - _THIRD else ""
    height = "top" if down < _THIRD else "bottom" if down > 1 - _THIRD else ""
    return f"at the {height} {side}".replace("  ", " ").rstrip() if side or height else "in the middle"


def magnifies(name: str) -> bool:
    """Return whether a tool shows a part of the photo larger, by its picture on the page."""
    return _viewer(name).icon == "zoom"


def _viewer(name: str) -> Viewer:
    """Return how a tool is shown, by any of its names; a method may show it under another of them."""
    try:
        found: Tool | None = all_tools().get(name)
    except BrokenPlugin:  # a run of former days is shown all the same
        return _UNKNOWN
    return found.viewer if found else _UNKNOWN


@contextmanager
def telling(granularity: Granularity = "exact") -> Iterator[Callable[[Event], None]]:
    """Give a function to call with each event of a run; it reports nothing finer than allowed."""
    blank = EventBlanker(granularity)
    with progress("", measure="time") as bar:

        def report(event: Event) -> None:
            event = blank(event)
            if (line := step_line(event)) is not None:
                bar.say(line)
            if (doing := under_way(event)) is not None:
                bar.turn_to(doing)

        yield report


def step_line(event: Event) -> str | None:
    """Return one line about an event for a progress display; None if there is nothing to say."""
    match event.body:
        case Said(turn=turn, step=step):
            if team := _TEAM_STEP.match(step.text):
                return _short(f"turn {turn}: {step.model}: {team[1]}: {_hide_if_withheld(step.text[team.end() :])}")
            words = spoken(step) or _hide_if_withheld(step.thinking)
            if not step.calls and not words:
                words = "answers" if step.text.strip() else "says nothing"
            called = ", ".join(call.name for call in step.calls)
            return _short(f"turn {turn}: {words}" + (f"{' -> ' if words else ''}{called}" if called else ""))
        case ToolObserved(observation=seen):
            mark = f" ({seen.failure.replace('_', ' ')})" if seen.failure else ""
            words = round_points(_hide_if_withheld(seen.text))
            return _short(f"  {seen.name}{mark}" + (f": {words}" if words else ""))
        case Prompted(prompt=prompt, by="loop") if _hide_if_withheld(prompt.text):
            return _short(f"  prompt: {prompt.text}")
        case _:
            return None


def spoken(step: Step) -> str:
    """Return what a policy said to people; nothing where it is a form for machines, or was left out."""
    return "" if step.text.lstrip().startswith(_FORMS) else _hide_if_withheld(step.text)


def _hide_if_withheld(text: str) -> str:
    """Return a text, unless all that stands there is that it was left out."""
    return "" if text in _LEFT_OUT else text.strip()


def under_way(event: Event) -> str | None:
    """Return what begins with an event; None if it changes nothing, such as the outcome of one call of several."""
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
