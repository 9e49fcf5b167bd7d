"""smileGeo: one answer agent of the swarm, and the words that reviewers, summaries and discussions are asked with.

Agents are anonymous to each other: nothing here says who wrote what, and ``names`` of agents are taken out of their
texts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from geosleuth.agent.events import Budget, Task
from geosleuth.agent.method import Context, Method
from geosleuth.answer import Address, Answer, parse_lenient
from geosleuth.names import country_code
from geosleuth.photo import BoxScale

from .papers import SMILEGEO
from .shared import EVIDENCE_ONLY, ask, paper_system, paragraphs, read_words

_ROLE = """\
You are asked where a photo was taken. You work alone and can't see what others think."""

_SEARCH_FIRST = """\
Search for pictures like it first, and reason with what comes back: pages and places of similar pictures are outside
knowledge to weigh, not the answer itself."""

_ANSWER = """\
Reply with one JSON object that has three parts, the location, how sure you are in percent, and a detailed explanation
of how the evidence leads there:
{"location": {"country": "...", "region": "...", "city": "..."}, "confidence": "0%", "explanation": "..."}
Leave out the parts of the location that you can't tell."""

_FORCED = """\
In this run, give your best guess in every case, with a confidence that is honest, and add "lat" and "lon" to the
location, in decimal degrees, south and west negative."""

_REMINDER = "That held no answer that could be read. Reply with one JSON object: location, confidence, explanation."

_LAST_CONFIDENCE = re.compile(r"\n?[^\n]*\bconfidence\b[^\n]*\Z", re.IGNORECASE)
_LOCATION = re.compile(r"[\"'*]*\blocation\b[\"'*]*\s*[:=]\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\n{}\"]+))", re.IGNORECASE)
_EXPLANATION = re.compile(r"\bexplanation\b[\s*]*[:=][\s*]*(.+)\Z", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Comment:
    """Review of an answer, with the reviewer's own confidence in it."""

    text: str
    probability: float | None = None


def _build_smilegeo_system(task: Task, tools: tuple[str, ...], *, box_scale: BoxScale) -> str:
    parts = _ROLE, _SEARCH_FIRST if "search_image" in tools else None, _ANSWER, _FORCED
    return paper_system(parts, task, tools, box_scale=box_scale)


def read_answer(text: str) -> Answer:
    """Location, confidence as a probability, explanation. A location in one line is read as on an envelope."""
    answer = read_words(text)
    if answer.located or answer.address or not (location := _LOCATION.search(text)):
        return answer
    why = _EXPLANATION.search(text)
    return replace(
        answer,
        address=_from_envelope(location[1] or location[2]),
        explanation=answer.explanation or (why[1].strip() if why else None),
    )


def _from_envelope(line: str) -> Address:
    """Of "Paris, France" the last part is the country, where it is one; all before it is the finest place."""
    parts = [part.strip(" .*") for part in line.split(",") if part.strip(" .*")]
    if parts and country_code(parts[-1]):
        return Address.create(country=parts[-1], precise=", ".join(parts[:-1]) or None)
    return Address.create(precise=", ".join(parts) or None)


def smilegeo(box_scale: BoxScale = "pixels") -> Method:
    """The first stage of smileGeo, one answer agent: section 3.2, appendix C."""
    return Method(
        name="smilegeo",
        summary="one answer agent of the swarm: location, confidence in percent, explanation; image search on request",
        paper=f"{SMILEGEO.paper}, section 3.2, stage 1, and appendix C",
        tools=(),
        # One reply to search in, one to answer in.
        budget=Budget(turns=2, calls=1),
        wire="native",
        context=Context("freshest", replies=SMILEGEO.replies_kept or 1),
        system=partial(_build_smilegeo_system, box_scale=box_scale),
        prompt=partial(ask, "Where was this photo taken?"),
        read_answer=read_answer,
        reminder=_REMINDER,
        box_scale=box_scale,
    )


def build_prompt_pieces(
    answer: Answer, comments: Sequence[Comment] = (), others: Sequence[Answer] = (), *, names: Iterable[str] = ()
) -> dict[str, str]:
    """Return what a team's questions quote: the answer in question, the comments on it, and the others' answers."""
    hidden = tuple(names)
    return {
        "answer": _format_answer(answer, hidden),
        "comments": "\n\n".join(
            f"Comment {number} ({_percent(comment.probability)}):\n{anonymous(comment.text, hidden)}"
            for number, comment in enumerate(comments, 1)
        ),
        "opinions": "\n\n".join(
            f"Opinion {number}:\n{_format_answer(other, hidden)}" for number, other in enumerate(others, 1)
        ),
    }


def review_prompt(answer: Answer, *, names: Iterable[str] = ()) -> str:
    """Ask a reviewer about another member's answer: it sees the photo with these words, and no name."""
    return paragraphs(
        "Somebody was shown this photo and asked where it was taken. This is the reply:",
        build_prompt_pieces(answer, names=names)["answer"],
        "Check it against what you see. Which of its evidence is really in the photo? Does it lead to this place, or "
        "to others as well? What was overlooked? Say plainly if you think that the place is another one, and which.",
        EVIDENCE_ONLY,
        "Write your comment, and on a last line of its own how sure you are of what you say:\nConfidence: 0%",
    )


def read_comment(text: str) -> Comment:
    """A reviewer's reply: the comment, and the confidence of its last line, which stays where it is the only one."""
    text = text.strip()
    last = text.rpartition("\n")[2]
    stated = parse_lenient(last).probability
    return Comment((_LAST_CONFIDENCE.sub("", text).strip() if stated is not None else "") or text, stated)


def summary_prompt(answer: Answer, comments: Sequence[Comment], *, names: Iterable[str] = ()) -> str:
    """Ask an answer agent to weigh the comments on its answer and to answer anew."""
    pieces = build_prompt_pieces(answer, comments, names=names)
    return paragraphs(
        "You said before where this photo was taken:",
        pieces["answer"],
        f"{_count(len(comments), 'reviewer')} looked at the photo and at your reply.",
        pieces["comments"],
        "Weigh the comments by their evidence, not by their number or tone: keep your answer where they do not bear, "
        "change it where they do, and set your confidence anew.",
        EVIDENCE_ONLY,
        _ANSWER,
    )


def discussion_prompt(own: Answer, others: Sequence[Answer], *, names: Iterable[str] = ()) -> str:
    """Ask an answer agent for its next turn, given the freshest reply of each of the others."""
    pieces = build_prompt_pieces(own, others=others, names=names)
    return paragraphs(
        "Several people are trying to agree on where this photo was taken. Your own last reply was:",
        pieces["answer"],
        "The newest replies of the others:" if others else "Nobody else has said anything yet.",
        pieces["opinions"],
        "If another opinion has the better evidence, take it over and write its location in the same words, so that "
        "agreement can be seen. If not, keep yours and say what speaks against the others.",
        EVIDENCE_ONLY,
        _ANSWER,
    )


def anonymous(text: str, names: Iterable[str]) -> str:
    """The text without the names of agents."""
    for name in sorted({name for name in names if name.strip()}, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "somebody", text, flags=re.IGNORECASE)
    return text


def _format_answer(answer: Answer, names: Iterable[str]) -> str:
    place = str(answer.address) or "not told"
    if answer.point:
        place += f" ({answer.point.lat:.4f}, {answer.point.lon:.4f})"
    lines = (
        f"Location: {place}",
        f"Confidence: {_percent(answer.probability)}",
        f"Explanation: {answer.explanation or 'none given'}",
    )
    return anonymous("\n".join(lines), names)


def _percent(probability: float | None) -> str:
    return "no confidence stated" if probability is None else f"{100 * probability:.0f}%"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number or 'No'} {noun}s"
