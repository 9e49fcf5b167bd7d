"""The evidence chains of several tries as a verifier reads them: whole, or as the facts that were observed.

Every line that a try, a tool or a photo had a hand in begins with a bar: it is quoted, and can't pass for ours.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from geosleuth.agent import Trajectory
from geosleuth.agent.conversation import CHARACTERS_PER_TOKEN, cut
from geosleuth.answer import Answer, render_brief
from geosleuth.tools import ToolCall
from geosleuth.tools.wording import one_line

from .facts import Fact, FactKind, facts_of
from .items import Concluded, Item, Looked, Thought, answered, items_of

Chains = Literal["whole", "facts"]

WHOLE_UP_TO = 4
"""So many tries are shown whole, unless somebody says otherwise."""

BAR = "| "
_QUOTED_LINE_CHARS = 20_000
_EXPLANATION_CHARS = 400
_LEAST_ROOM_TOKENS = 500
_ARGUMENT_CHARS = 200

_HEADINGS: Mapping[FactKind, str] = {
    "claimed": "What the answers rest on, in the tries' own words:",
    "against": "What speaks against places, in the tries' own words:",
    "read": "Text read in the photo:",
    "found": "Places and pages found:",
    "checked": "Looked at more closely:",
    "missing": "Looked for and not found:",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """Chains as text, how they were told, and how long they are by a careful count."""

    kind: Chains
    text: str

    @property
    def tokens(self) -> int:
        """See `careful_tokens`."""
        return careful_tokens(self.text)


def careful_tokens(text: str) -> int:
    """At most how many tokens a text takes, by today's models: every digit one, every letter beyond ASCII one.

    The loop's own estimate is right for English prose; coordinates and other scripts take more.
    """
    digits = sum(letter.isdigit() for letter in text)
    beyond = sum(ord(letter) > 127 and not letter.isdigit() for letter in text)
    return digits + beyond + math.ceil((len(text) - digits - beyond) / 3)


def chains_for(
    tries: Sequence[Trajectory],
    wanted: Chains | None,
    *,
    room_tokens: int,
    facts_tokens: int,
    result_tokens: int | None,
) -> Shown:
    """The chains as they are wanted; where nobody said, whole for up to four tries if there is room, else facts.

    Args:
        tries: all of them, in their order; those that failed are named and not shown.
        wanted: as the user wants them.
        room_tokens: how long whole chains may be where nobody asked for them.
        facts_tokens: how long facts may be.
        result_tokens: how much of a result whole chains show, as the tries themselves saw it.
    """
    if wanted == "whole" or (wanted is None and len(tries) <= WHOLE_UP_TO):
        whole = whole_chains(tries, result_tokens=result_tokens)
        if wanted == "whole" or whole.tokens <= room_tokens:
            return whole
    return fact_chains(tries, tokens=facts_tokens)


def whole_chains(tries: Sequence[Trajectory], *, result_tokens: int | None = None) -> Shown:
    """Everything that each try thought, called, saw and answered, as it saw it."""
    limit = None if result_tokens is None else result_tokens * CHARACTERS_PER_TOKEN
    parts = []
    for number, one in enumerate(tries, 1):
        if not answered(one):
            parts.append(_failed(number, one))
            continue
        pieces = "\n".join(_piece(item, limit) for item in items_of(number, one))
        parts.append(f"Try {number}:\n{pieces}")
    return Shown("whole", "\n\n".join(parts))


def fact_chains(tries: Sequence[Trajectory], *, tokens: int) -> Shown:
    """What each try answered, and the facts of all of them, each once; as many as there is room for.

    Where there is little room, what few tries saw goes first, and of the kinds what was looked for in vain.
    """
    answers = "\n\n".join(_answer_lines(number, one) for number, one in enumerate(tries, 1))
    facts = facts_of(tries)
    room = max(_LEAST_ROOM_TOKENS, tokens - careful_tokens(answers))
    kept = _that_fit(facts, room)
    parts = [answers]
    for kind, heading in _HEADINGS.items():
        lines = [_fact_line(fact) for fact in kept if fact.kind == kind]
        missing = sum(fact.kind == kind for fact in facts) - len(lines)
        if missing:
            lines.append(f"[… {missing} more left out …]")
        if lines:
            parts.append("\n".join([heading, *lines]))
    return Shown("facts", "\n\n".join(parts))


def _that_fit(facts: Sequence[Fact], room: int) -> list[Fact]:
    """The facts that most tries share, and then some of every kind, as far as the room goes; in their old order."""
    room -= sum(careful_tokens(heading) + 15 for heading in _HEADINGS.values())
    waiting: dict[FactKind, list[Fact]] = {kind: [fact for fact in facts if fact.kind == kind] for kind in _HEADINGS}
    kept: set[int] = set()
    while any(waiting.values()):
        for kind in _HEADINGS:
            if not waiting[kind]:
                continue
            fact = waiting[kind].pop(0)
            cost = careful_tokens(_fact_line(fact)) + 1
            if cost <= room:
                kept.add(id(fact))
                room -= cost
    return [fact for fact in facts if id(fact) in kept]


def _fact_line(fact: Fact) -> str:
    return f"{BAR}{' '.join(fact.marks[:8])}: {fact.text}"


def _answer_lines(number: int, trajectory: Trajectory) -> str:
    if not answered(trajectory):
        return _failed(number, trajectory)
    last = items_of(number, trajectory)[-1]
    answer = trajectory.answer or Answer()
    why = one_line(answer.explanation or "", _EXPLANATION_CHARS)
    lines = [f"{last.mark}: {_stated(answer)}", *([why] if why else [])]
    return "\n".join([f"Try {number} answered:", *(f"{BAR}{line}" for line in lines)])


def _stated(answer: Answer) -> str:
    where = "no point" if answer.point is None else f"{answer.point.lat:.5f}, {answer.point.lon:.5f}"
    sure = "" if answer.probability is None else f"; probability {answer.probability:.2f}"
    within = "" if answer.radius_km is None else f" within {answer.radius_km:g} km"
    return one_line(f"{str(answer.address) or 'no place named'}; {where}{sure}{within}", 400)


def _failed(number: int, trajectory: Trajectory) -> str:
    reason = trajectory.ended.reason if trajectory.ended else "it broke off"
    return f"Try {number} came to no answer ({reason})."


def _piece(item: Item, limit: int | None) -> str:
    match item.content:
        case Thought(words=words):
            told = f"{item.mark} thought:\n{words}"
        case Looked(call=call, observation=seen):
            text = seen.text if limit is None else cut(seen.text, limit)
            failed = " (failed)" if seen.failure else ""
            told = f"{item.mark} called {_call_words(call, seen.name)}{failed}:\n{text}"
        case Concluded(answer=answer, words=words):
            told = f"{item.mark} answered:\n{words or render_brief(answer)}"
    return bars(told)


def _call_words(call: ToolCall | None, name: str) -> str:
    if call is None:
        return name
    if isinstance(call.arguments, str):
        return f"{name} {one_line(call.arguments, _ARGUMENT_CHARS)}"
    told = ", ".join(f"{key}={one_line(str(value), _ARGUMENT_CHARS)}" for key, value in call.arguments.items())
    return f"{name}({told})"


def bars(text: str, clean: Callable[[str, int], str] = one_line) -> str:
    """A text of several lines, quoted: every line begins with a bar, and holds no control characters."""
    return "\n".join(f"{BAR}{clean(line, _QUOTED_LINE_CHARS)}" for line in text.splitlines())
