"""The way to the finding, turn by turn: thoughts, calls, what came back, and what did not."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

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
from geosleuth.agent.display import is_withheld, sure_line
from geosleuth.answer.model import envelope, percent_words
from geosleuth.bench.page.markup import Html, clean, el, join, name
from geosleuth.tools import Observation, ToolCall

from .digest import FAILURES, Digest, found_nothing
from .pictures import Embedded

MOST_CHARS = 6000
_SHORT_CHARS = 220
_SHOWN_LINES = 4
_ARGUMENT_CHARS = 300
_BY = {"task": "The task", "loop": "Told by the loop", "person": "A person says"}
_ANSWERED_BY = {"policy": "Answer", "pool": "Answer, from the candidates noted", "nobody": "No answer"}


def chain_section(digest: Digest, embedded: Embedded) -> Html:
    """The whole chain."""
    steps = _steps(digest.trajectory, embedded)
    return el(
        "section",
        {"id": "chain", "aria-labelledby": "chain-h"},
        el("h2", {"id": "chain-h"}, "How it was found, step by step"),
        el("ol", {"class": "chain"}, *steps),
    )


def _steps(trajectory: Trajectory, embedded: Embedded) -> Iterator[Html]:
    calls: dict[str, ToolCall] = {}
    noted: dict[str, str] = {}
    for event in trajectory.events:
        match event.body:
            case Started():
                continue
            case Noted(hypothesis=hypothesis):
                told = _noted(hypothesis)
                if noted.get(hypothesis.id) != told:
                    noted[hypothesis.id] = told
                    yield el("li", {"class": "noted"}, el("p", None, told))
            case Said(step=step):
                calls.update((call.id, call) for call in step.calls)
                yield _said(event, event.body)
            case ToolObserved(observation=observation):
                yield _observed(observation, calls.get(observation.call_id), embedded)
            case _:
                other = _other(event)
                if other:
                    yield other


def _said(event: Event, body: Said) -> Html:
    step = body.step
    words = _shown(step.text)
    is_data = words.startswith("{") or "<answer>" in words
    parts: list[object] = [
        el("p", {"class": "when"}, el("b", None, f"Turn {body.turn}"), f" · {event.at_s:.1f} s"),
        _words(_shown(step.thinking), "thought"),
        el("p", {"class": "thought"}, "Answers.") if is_data and not step.calls else "",
        _folded("The reply as it was written", words) if is_data else _words(words, "said"),
    ]
    if step.finish in ("length", "filtered", "error"):
        why = {"length": "cut off at the length limit", "filtered": "held back by its provider", "error": "broken off"}
        parts.append(el("p", {"class": "failed"}, f"The reply was {why[step.finish]}."))
    return el("li", {"class": "turn"}, *parts)


def _observed(observation: Observation, call: ToolCall | None, embedded: Embedded) -> Html:
    failed, empty = observation.failure, found_nothing(observation)
    state = "bad" if failed else "empty" if empty else "good"
    lines = [line.strip() for line in _shown(observation.text).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("From: ")] if observation.sources else lines
    shown_lines = [clean(line, _SHORT_CHARS) for line in lines[:_SHOWN_LINES]]
    note = f" · failed: {FAILURES[failed]}" if failed else " · found nothing" if empty else ""
    shown = [drawing for image in observation.images if (drawing := embedded.cut(image)) is not None]
    return el(
        "li",
        {"class": f"outcome {state}"},
        el(
            "p",
            {"class": "call"},
            el("code", None, clean(observation.name, 60), el("span", {"class": "arguments"}, _arguments(call))),
            el("span", {"class": "when"}, f" {observation.seconds:.1f} s{note}"),
        ),
        *(el("p", {"dir": "auto", "class": "result"}, line) for line in shown_lines),
        el("div", {"class": "cuts"}, *shown) if shown else "",
        _folded("All that came back", observation.text) if shown_lines != lines else "",
        el("p", {"class": "sources"}, f"From: {clean('; '.join(observation.sources), 300)}")
        if observation.sources
        else "",
    )


def _shown(text: str) -> str:
    """A text without its margins; nothing where it was left out."""
    return "" if is_withheld(text) else text.strip()


def _arguments(call: ToolCall | None) -> str:
    if call is None or not call.arguments:
        return ""
    if isinstance(call.arguments, str):
        return f"({clean(call.arguments, _ARGUMENT_CHARS)})"
    return f"({clean(', '.join(f'{key}: {_value(value)}' for key, value in call.arguments.items()), _ARGUMENT_CHARS)})"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _other(event: Event) -> Html | None:
    match event.body:
        case Prompted(prompt=prompt, by=by):
            words = _shown(prompt.text)
            return el("li", {"class": "prompt"}, _folded(_BY[by], words)) if words else None
        case Answered(answer=answer, by=by):
            place = envelope(answer.address) or ("an unnamed place" if answer.point else "no place")
            return el(
                "li",
                {"class": "answer"},
                el("p", None, el("b", None, f"{_ANSWERED_BY[by]}: "), name(place, 120), _sentence(sure_line(answer))),
                _folded("In its own words", words) if (words := _shown(answer.explanation or "")) else "",
            )
        case Ended(reason=reason, trouble=trouble):
            if reason == "answered" and not trouble:
                return None
            words = f"Ended: {reason}. {clean(_shown(trouble or ''), 400)}"
            return el("li", {"class": "outcome bad"}, el("p", {"class": "failed"}, words))
        case Resumed(policy=policy):
            return el("li", {"class": "prompt"}, el("p", None, "Taken up again with ", name(policy, 80), "."))
        case _:
            return None


def _noted(hypothesis: Hypothesis) -> Html:
    odds = "" if hypothesis.confidence is None else f", {percent_words(hypothesis.confidence)}"
    fate = {"open": "Candidate", "dropped": "Ruled out", "answered": "Chosen"}[hypothesis.fate]
    return join([f"{fate}: ", name(hypothesis.place, 120), odds])


def _sentence(words: str) -> str:
    return f". {words}." if words else ""


def _words(text: str, kind: str) -> Html:
    if not text:
        return Html("")
    if len(text) <= 2 * _SHORT_CHARS:
        return el("p", {"class": kind, "dir": "auto"}, clean(text))
    return join([
        el("p", {"class": kind, "dir": "auto"}, clean(text, _SHORT_CHARS)),
        _folded("All of it", text),
    ])  # fmt: skip


def _folded(title: str, text: str) -> Html:
    return el("details", None, el("summary", None, title), el("pre", {"dir": "auto"}, clean(text, MOST_CHARS)))
