"""Links from evidence to the line that was read, or to what a person has ruled out."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from geosleuth.answer import Address
from geosleuth.answer.answer import iterate_named_levels
from geosleuth.models.detective import KIND_WORDS
from geosleuth.names import fold

from .events import Answered, Body, Hypothesis, Noted, Resumed

_MIN_CHARS = 3
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|“[^”]*”|«[^»]*»|‘[^’]*’')
_PARTS = re.compile(r"(?<=[.;!?])\s+(?=\S)")
# Prefixes of the rule-based detective's lines of evidence.
_DETECTIVE_PREFIXES = tuple(
    f"{kind}{after}" for kind in (*KIND_WORDS.values(), "names that meet") for after in (":", " in ")
)

_JOINED = " + "


def is_about(evidence: str, text: str) -> bool:
    """Return whether evidence is about this line: it quotes all or part of it, or contains its words."""
    line = fold(text)
    if not line:
        return False
    for quoted in _quotes(evidence):
        words = fold(quoted)
        if words and (words == line or _within(words, line) or _within(line, words)):
            return True
    return len(line) > _MIN_CHARS and _within(line, fold(evidence))


def collect_rejected(bodies: Iterable[Body]) -> tuple[str, ...]:
    """Return the clues and texts that people have ruled out in the course of a run, each once."""
    return tuple(dict.fromkeys(text for body in bodies if isinstance(body, Resumed) for text in body.rejected))


def is_ruled_out(line: str, rejected: Collection[str]) -> bool:
    """Return whether a piece of evidence is, or speaks of, something that was ruled out.

    The detective weighs kinds of clues one by one, and leaves out itself what was ruled out: a text that is no sign of
    a language may still be the name of a street.
    """
    said, gone = fold(line), {fold(item) for item in rejected} - {""}
    return said in gone or (not line.startswith(_DETECTIVE_PREFIXES) and any(_within(item, said) for item in gone))


def _quotes_any(line: str, texts: Collection[str]) -> bool:
    wanted = {fold(text) for text in texts} - {""}
    return any(fold(quote) in wanted for quote in _quotes(line))


def without_evidence(hypothesis: Hypothesis, rejected: Collection[str], *, quoting: bool = False) -> Hypothesis:
    """Return a candidate without the evidence that rests on what was ruled out, or, if ``quoting``, quotes it.

    What the detective noted before something was ruled out quotes it; what it notes afterwards was weighed without.
    """
    speaks_for, against = (
        _drop_ruled_out(lines, rejected, quoting) for lines in (hypothesis.evidence_for, hypothesis.evidence_against)
    )
    return replace(hypothesis, evidence_for=speaks_for, evidence_against=against)


def without_rejected(body: Body, rejected: Collection[str]) -> Body:
    """Return an event without the evidence that rests on what was ruled out."""
    if not rejected:
        return body
    match body:
        case Noted(hypothesis=one):
            return Noted(without_evidence(one, rejected))
        case Answered(answer=answer):
            levels = {
                name: replace(one, clues=_drop_ruled_out(one.clues, rejected))
                for name, one in iterate_named_levels(answer.address)
            }
            candidates = tuple(
                replace(
                    candidate, evidence=" ".join(_drop_ruled_out(_PARTS.split(candidate.evidence), rejected)) or None
                )
                if candidate.evidence
                else candidate
                for candidate in answer.candidates
            )
            return replace(body, answer=replace(answer, address=Address(**levels), candidates=candidates))
    return body


def _drop_ruled_out(lines: Iterable[str], rejected: Collection[str], quoting: bool = False) -> tuple[str, ...]:  # noqa: FBT001, FBT002
    return tuple(
        line for line in lines if not (is_ruled_out(line, rejected) or (quoting and _quotes_any(line, rejected)))
    )


def _quotes(evidence: str) -> Iterator[str]:
    for found in _QUOTED.findall(evidence):
        words = found[1:-1]
        if found[0] == '"':
            with suppress(ValueError):
                words = str(json.loads(found))
        yield from words.split(_JOINED)


def _within(part: str, whole: str) -> bool:
    """Return whether a text occurs in another as whole words; in scripts without spaces as letters."""
    if not part.isascii():
        return len(part) > 1 and part in whole
    return len(part) >= _MIN_CHARS and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", whole) is not None
