"""What is said on stderr while a run goes on: a line a step, and at a terminal who is at work and for how long."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from geosleuth.agent import Event, Prompted, Said, Started, ToolObserved
from geosleuth.agent.capping import EventBlanker
from geosleuth.answer.granularity import GRANULARITIES, Granularity, withheld
from geosleuth.app.console import progress
from geosleuth.app.tool_words import call_words
from geosleuth.bench.plain import one_line
from geosleuth.policies import Step

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
    line = one_line(" ".join(text.rstrip().split("\n")))
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
