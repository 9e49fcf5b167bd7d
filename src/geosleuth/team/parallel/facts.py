"""The facts of several tries: what was read, found, checked, not found, and what speaks against what.

Thoughts are left out, and what several tries saw stands there once, with the marks of all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from geosleuth.agent import Trajectory
from geosleuth.answer import Answer
from geosleuth.names import fold
from geosleuth.tools import Observation
from geosleuth.tools.wording import one_line, quoted

from .items import Concluded, Item, Looked, items_of

FactKind = Literal["claimed", "against", "read", "found", "checked", "missing"]
"""What an answer rests on; what speaks against a place; text in the photo; places found; places and other things
looked at more closely; what was looked for in vain. The first are the last to be left out."""

_HITS = 3
_DOCUMENTS = 3
_LINE_CHARS = 240
_TEXT_CHARS = 300
_CLUE_CHARS = 200
_LEAST_CONFIDENCE = 0.4


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact and the pieces it stands in."""

    kind: FactKind
    text: str
    marks: tuple[str, ...]

    @property
    def tries(self) -> int:
        """How many tries have it."""
        return len({mark.partition(".")[0] for mark in self.marks})


def facts_of(tries: Sequence[Trajectory]) -> list[Fact]:
    """All facts, each once: by kind, and within a kind those of most tries first."""
    found: dict[tuple[FactKind, str], tuple[str, list[str]]] = {}
    for number, trajectory in enumerate(tries, 1):
        items = items_of(number, trajectory)
        for kind, text, mark in _of_one(items, trajectory):
            _, marks = found.setdefault((kind, fold(text)), (text, []))
            if mark not in marks:
                marks.append(mark)
    facts = [Fact(kind, text, tuple(marks)) for (kind, _), (text, marks) in found.items()]
    order = get_args(FactKind)
    return sorted(facts, key=lambda fact: (order.index(fact.kind), -fact.tries))


def _of_one(items: Sequence[Item], trajectory: Trajectory) -> Iterator[tuple[FactKind, str, str]]:
    for item in items:
        if isinstance(item.content, Looked):
            for kind, text in _observed(item.content):
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


def _observed(looked: Looked) -> Iterator[tuple[FactKind, str]]:
    seen = looked.observation
    data = seen.data if isinstance(seen.data, Mapping) else {}
    if seen.failure is not None or "hypothesis" in data:
        return
    asked = _asked(looked)
    if isinstance(data.get("lines"), list):
        yield from (("read", text) for text in _lines(data["lines"]))
    elif isinstance(data.get("results"), list):
        results = [one for one in data["results"] if isinstance(one, Mapping)]
        if not results:
            yield "missing", f"{asked}: nothing"
        else:
            most = _DOCUMENTS if "snippet" in results[0] else _HITS
            yield "found", f"{asked}: {'; '.join(_result(one) for one in results[:most])}"
    elif "address" in data and "places" in data:
        near = [str(one.get("name", "")) for one in data["places"][:_HITS] if isinstance(one, Mapping)]
        yield "checked", one_line(f"{_at(data)} is {data['address'] or 'at sea'}; near: {', '.join(near)}", _LINE_CHARS)
    elif seen.text.strip() and not (seen.images and not data):
        yield "checked", f"{asked}: {one_line(_body(seen), _TEXT_CHARS)}"


def _lines(rows: Sequence[Any]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, Mapping) and float(row.get("confidence") or 0.0) >= _LEAST_CONFIDENCE:
            yield quoted(str(row.get("text", "")), _CLUE_CHARS)


def _asked(looked: Looked) -> str:
    """The call on one line, its picture left out: which one it was tells nothing to who has not seen it."""
    arguments = looked.call.arguments if looked.call else {}
    if not isinstance(arguments, Mapping):
        return looked.observation.name
    told = ", ".join(
        f"{value:.5f}" if isinstance(value, float) else one_line(str(value), 80)
        for name, value in arguments.items()
        if name not in ("image", "bbox_2d") and value not in ("", None)
    )
    return f"{looked.observation.name}({told})"


def _result(one: Mapping[str, Any]) -> str:
    if "snippet" in one:
        return f"{quoted(str(one.get('title', '')), 80)} {quoted(str(one['snippet']), 160)}"
    if "says" in one:
        spots = [spot for spot in one.get("spots") or () if isinstance(spot, Mapping)]
        told = f"{quoted(str(one.get('seen', '')), 80)}: {one['says']}"
        return one_line(", ".join(filter(None, (told, _at(spots[0]) if spots else ""))), _LINE_CHARS)
    names = one.get("name") or one.get("title") or ", ".join(str(part.get("name")) for part in one.get("places") or ())
    parts = [str(names), str(one.get("kind") or ""), str(one.get("address") or one.get("country") or ""), _at(one)]
    match = one.get("match")
    parts.append(f"{match} match" if match in ("fuzzy", "alias") else "")
    return one_line(", ".join(part for part in parts if part), _LINE_CHARS)


def _at(data: Mapping[str, Any]) -> str:
    where = data.get("point") if isinstance(data.get("point"), Mapping) else data
    lat, lon = (where or {}).get("lat"), (where or {}).get("lon")
    return f"{lat:.4f}, {lon:.4f}" if isinstance(lat, int | float) and isinstance(lon, int | float) else ""


def _body(seen: Observation) -> str:
    return " / ".join(line for line in seen.text.splitlines() if not line.startswith("From: "))
