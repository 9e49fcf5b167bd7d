"""The evidence chains of several tries as a verifier reads them: whole, or as the facts that were found.

Thoughts are left out, and what several tries saw stands there once, with the marks of all of them.

Every line that a try, a tool or a photo had a hand in begins with a bar: it is quoted, and can't pass for ours.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from geosleuth.agent import Said, ToolObserved, Trajectory
from geosleuth.agent.conversation import short
from geosleuth.agent.turns import spell_out_calls
from geosleuth.answer import Answer, render_brief
from geosleuth.names import fold
from geosleuth.tools import Observation, ToolCall
from geosleuth.tools.viewer import one_line, quote

_MARK = re.compile(
    r"(?<![A-Za-z0-9])(?:T|try\s*|trial\s*)(\d{1,3})\s*(?:\.|,?\s*observation\s*)(\d{1,4})(?![0-9])", re.IGNORECASE
)

FactKind = Literal["claimed", "against", "read", "found", "checked", "missing"]
"""What an answer rests on; what speaks against a place; text in the photo; places found; places and other things
looked at more closely; what was looked for in vain. The first are the last to be left out."""
_HITS = 3
_DOCUMENTS = 3
_LINE_CHARS = 240
_TEXT_CHARS = 300
_CLUE_CHARS = 200
_MIN_CONFIDENCE = 0.4
Chains = Literal["whole", "facts"]
# Default maximum number of tries that are shown whole.
MAX_WHOLE_TRIES = 4
BAR = "| "
_QUOTED_LINE_CHARS = 20_000
_EXPLANATION_CHARS = 400
_MIN_ROOM_TOKENS = 500
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
class Thought:
    """Thinking and words of a try before a call, or before its answer."""

    words: str


@dataclass(frozen=True, slots=True)
class Looked:
    """A call and what came of it."""

    call: ToolCall | None
    observation: Observation


@dataclass(frozen=True, slots=True)
class Concluded:
    """The answer, and the words that it was given in."""

    answer: Answer
    words: str


Content = Thought | Looked | Concluded


@dataclass(frozen=True, slots=True)
class ChainItem:
    """One piece of a try."""

    mark: str
    content: Content


def has_answer(trajectory: Trajectory) -> bool:
    """Return whether a try has an answer of its own, an honest "can't tell" included.

    What stands in for an answer after a model failed or a run broke is none.
    """
    said, ended = trajectory.answered, trajectory.ended
    return said is not None and said.by != "nobody" and (ended is None or ended.reason not in ("service", "error"))


def list_items(number: int, trajectory: Trajectory) -> tuple[ChainItem, ...]:
    """The pieces of a try in their order, counted from 1; the last is its answer, where it has one."""
    return tuple(
        ChainItem(f"T{number}.{count}", one) for count, one in enumerate(_contents(spell_out_calls(trajectory)), 1)
    )


def _contents(trajectory: Trajectory) -> Iterator[Content]:
    calls: dict[str, ToolCall] = {}
    last = ""
    for event in trajectory.events:
        match event.body:
            case Said(step=step):
                calls = {call.id: call for call in step.calls}
                last = "" if step.calls else step.text.strip()
                words = "\n".join(part.strip() for part in (step.thinking, step.text if step.calls else "") if part)
                if words.strip():
                    yield Thought(words.strip())
            case ToolObserved(observation=observation):
                yield Looked(calls.get(observation.call_id), observation)
            case _:
                pass
    if has_answer(trajectory):
        answer = trajectory.answer or Answer()
        yield Concluded(answer, last if trajectory.answered and trajectory.answered.by == "policy" else "")


def collect_marks(tries: Sequence[Trajectory]) -> frozenset[str]:
    """Every mark that may be named."""
    return frozenset(item.mark for number, one in enumerate(tries, 1) for item in list_items(number, one))


def extract_marks(text: str, known: frozenset[str]) -> tuple[str, ...]:
    """The pieces that a text names, each once, in its order; those that do not exist are left out.

    "T2.5", "[t2.5]" and "try 2, observation 5" are all read.
    """
    found = (f"T{int(match[1])}.{int(match[2])}" for match in _MARK.finditer(text))
    return tuple(dict.fromkeys(mark for mark in found if mark in known))


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact and the pieces it stands in."""

    kind: FactKind
    text: str
    marks: tuple[str, ...]

    @property
    def tries(self) -> int:
        """The number of tries that have it."""
        return len({mark.partition(".")[0] for mark in self.marks})


def collect_facts(tries: Sequence[Trajectory]) -> list[Fact]:
    """All facts, each once: by kind, and within a kind those of most tries first."""
    found: dict[tuple[FactKind, str], tuple[str, list[str]]] = {}
    for number, trajectory in enumerate(tries, 1):
        items = list_items(number, trajectory)
        for kind, text, mark in _of_one(items, trajectory):
            _, marks = found.setdefault((kind, fold(text)), (text, []))
            if mark not in marks:
                marks.append(mark)
    facts = [Fact(kind, text, tuple(marks)) for (kind, _), (text, marks) in found.items()]
    order = get_args(FactKind)
    return sorted(facts, key=lambda fact: (order.index(fact.kind), -fact.tries))


def _of_one(items: Sequence[ChainItem], trajectory: Trajectory) -> Iterator[tuple[FactKind, str, str]]:
    for item in items:
        if isinstance(item.content, Looked):
            for kind, text in _extract_facts(item.content):
                yield kind, text, item.mark
        elif isinstance(item.content, Concluded):
            for clue in _clues(item.content.answer):
                yield "claimed", one_line(clue, _CLUE_CHARS), item.mark
            for hypothesis in trajectory.pool:
                place = one_line(hypothesis.place, 80)
                for line in hypothesis.evidence_against:
                    yield "against", f"against {place}: {one_line(line, _CLUE_CHARS)}", item.mark


def _clues(answer: Answer) -> Iterator[str]:
    for level in (answer.address.precise, answer.address.region, answer.address.country):
        yield from level.clues


def _extract_facts(looked: Looked) -> Iterator[tuple[FactKind, str]]:
    seen = looked.observation
    data = seen.data if isinstance(seen.data, Mapping) else {}
    if seen.failure is not None or "hypothesis" in data:
        return
    asked = _format_call(looked)
    if isinstance(data.get("lines"), list):
        yield from (("read", text) for text in _extract_lines(data["lines"]))
    elif isinstance(data.get("results"), list):
        results = [item for item in data["results"] if isinstance(item, Mapping)]
        if not results:
            yield "missing", f"{asked}: nothing"
        else:
            most = _DOCUMENTS if "snippet" in results[0] else _HITS
            yield "found", f"{asked}: {'; '.join(_result(result) for result in results[:most])}"
    elif "address" in data and "places" in data:
        near = [str(item.get("name", "")) for item in data["places"][:_HITS] if isinstance(item, Mapping)]
        yield (
            "checked",
            one_line(f"{_format_point(data)} is {data['address'] or 'at sea'}; near: {', '.join(near)}", _LINE_CHARS),
        )
    elif seen.text.strip() and not (seen.images and not data):
        yield "checked", f"{asked}: {one_line(_body(seen), _TEXT_CHARS)}"


def _extract_lines(rows: Sequence[Any]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, Mapping) and float(row.get("confidence") or 0.0) >= _MIN_CONFIDENCE:
            yield quote(str(row.get("text", "")), _CLUE_CHARS)


def _format_call(looked: Looked) -> str:
    """The call on one line, its picture left out: which one it was means nothing without it."""
    arguments = looked.call.arguments if looked.call else {}
    if not isinstance(arguments, Mapping):
        return looked.observation.name
    values = ", ".join(
        f"{value:.5f}" if isinstance(value, float) else one_line(str(value), 80)
        for name, value in arguments.items()
        if name not in ("image", "bbox_2d") and value not in ("", None)
    )
    return f"{looked.observation.name}({values})"


def _result(mapping: Mapping[str, Any]) -> str:
    if "snippet" in mapping:
        return f"{quote(str(mapping.get('title', '')), 80)} {quote(str(mapping['snippet']), 160)}"
    if "says" in mapping:
        spots = [spot for spot in mapping.get("spots") or () if isinstance(spot, Mapping)]
        text = f"{quote(str(mapping.get('seen', '')), 80)}: {mapping['says']}"
        return one_line(", ".join(filter(None, (text, _format_point(spots[0]) if spots else ""))), _LINE_CHARS)
    names = (
        mapping.get("name")
        or mapping.get("title")
        or ", ".join(str(part.get("name")) for part in mapping.get("places") or ())
    )
    parts = [
        str(names),
        str(mapping.get("kind") or ""),
        str(mapping.get("address") or mapping.get("country") or ""),
        _format_point(mapping),
    ]
    match = mapping.get("match")
    parts.append(f"{match} match" if match in ("fuzzy", "alias") else "")
    return one_line(", ".join(part for part in parts if part), _LINE_CHARS)


def _format_point(data: Mapping[str, Any]) -> str:
    where = data.get("point") if isinstance(data.get("point"), Mapping) else data
    lat, lon = (where or {}).get("lat"), (where or {}).get("lon")
    return f"{lat:.4f}, {lon:.4f}" if isinstance(lat, int | float) and isinstance(lon, int | float) else ""


def _body(seen: Observation) -> str:
    return " / ".join(line for line in seen.text.splitlines() if not line.startswith("From: "))


@dataclass(frozen=True, slots=True)
class ShownChains:
    """Chains as text, in which form, and how long they are by a careful count."""

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


def build_chains(
    tries: Sequence[Trajectory],
    wanted: Chains | None,
    *,
    room_tokens: int,
    facts_tokens: int,
    longest_result: int | None,
) -> ShownChains:
    """Return the chains as they are wanted; by default whole for up to four tries if there is room, else facts.

    Args:
        tries: all of them, in their order; those that failed are named and not shown.
        wanted: as the user wants them.
        room_tokens: how long whole chains may be where the user did not ask for them.
        facts_tokens: how long facts may be.
        longest_result: how many characters of a result whole chains show, as the tries themselves saw it.
    """
    if wanted == "whole" or (wanted is None and len(tries) <= MAX_WHOLE_TRIES):
        whole = whole_chains(tries, longest_result=longest_result)
        if wanted == "whole" or whole.tokens <= room_tokens:
            return whole
    return fact_chains(tries, tokens=facts_tokens)


def whole_chains(tries: Sequence[Trajectory], *, longest_result: int | None = None) -> ShownChains:
    """Everything that each try thought, called, saw and answered, as it saw it."""
    parts = []
    for number, entry in enumerate(tries, 1):
        if not has_answer(entry):
            parts.append(_describe_failure(number, entry))
            continue
        pieces = "\n".join(_piece(item, longest_result) for item in list_items(number, entry))
        parts.append(f"Try {number}:\n{pieces}")
    return ShownChains("whole", "\n\n".join(parts))


def fact_chains(tries: Sequence[Trajectory], *, tokens: int) -> ShownChains:
    """Return the answer of each try, and the facts of all, each once, as many as there is room for.

    Where there is little room, what few tries saw goes first, and of the kinds what was looked for in vain.
    """
    answers = "\n\n".join(_answer_lines(number, one) for number, one in enumerate(tries, 1))
    facts = collect_facts(tries)
    room = max(_MIN_ROOM_TOKENS, tokens - careful_tokens(answers))
    kept = _that_fit(facts, room)
    parts = [answers]
    for kind, heading in _HEADINGS.items():
        lines = [_fact_line(fact) for fact in kept if fact.kind == kind]
        missing = sum(fact.kind == kind for fact in facts) - len(lines)
        if missing:
            lines.append(f"[… {missing} more left out …]")
        if lines:
            parts.append("\n".join([heading, *lines]))
    return ShownChains("facts", "\n\n".join(parts))


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
    if not has_answer(trajectory):
        return _describe_failure(number, trajectory)
    last = list_items(number, trajectory)[-1]
    answer = trajectory.answer or Answer()
    why = one_line(answer.explanation or "", _EXPLANATION_CHARS)
    lines = [f"{last.mark}: {_format_attempt_answer(answer)}", *([why] if why else [])]
    return "\n".join([f"Try {number} answered:", *(f"{BAR}{line}" for line in lines)])


def _format_attempt_answer(answer: Answer) -> str:
    where = "no point" if answer.point is None else f"{answer.point.lat:.5f}, {answer.point.lon:.5f}"
    sure = "" if answer.probability is None else f"; probability {answer.probability:.2f}"
    within = "" if answer.radius_km is None else f" within {answer.radius_km:g} km"
    return one_line(f"{str(answer.address) or 'no place named'}; {where}{sure}{within}", 400)


def _describe_failure(number: int, trajectory: Trajectory) -> str:
    reason = trajectory.ended.reason if trajectory.ended else "it broke off"
    return f"Try {number} came to no answer ({reason})."


def _piece(item: ChainItem, limit: int | None) -> str:
    match item.content:
        case Thought(words=words):
            text = f"{item.mark} thought:\n{words}"
        case Looked(call=call, observation=seen):
            text = short(seen, limit).text
            failed = " (failed)" if seen.failure else ""
            text = f"{item.mark} called {_call_words(call, seen.name)}{failed}:\n{text}"
        case Concluded(answer=answer, words=words):
            text = f"{item.mark} answered:\n{words or render_brief(answer)}"
    return bars(text)


def _call_words(call: ToolCall | None, name: str) -> str:
    if call is None:
        return name
    if isinstance(call.arguments, str):
        return f"{name} {one_line(call.arguments, _ARGUMENT_CHARS)}"
    values = ", ".join(f"{key}={one_line(str(value), _ARGUMENT_CHARS)}" for key, value in call.arguments.items())
    return f"{name}({values})"


def bars(text: str, clean: Callable[[str, int], str] = one_line) -> str:
    """A text of several lines, quoted: every line begins with a bar, and holds no control characters."""
    return "\n".join(f"{BAR}{clean(line, _QUOTED_LINE_CHARS)}" for line in text.splitlines())
