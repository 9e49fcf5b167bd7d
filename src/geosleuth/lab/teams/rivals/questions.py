"""How rivals ask members: prompts, replies that may fail without ending the run, and votes.

Members' statements are quoted as in the swarm: without names, and marked as data.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from geosleuth.agent.methods.shared import EVIDENCE_ONLY, paragraphs
from geosleuth.answer import Answer
from geosleuth.atlas.placing import Placer
from geosleuth.teams import AGREE_WITHIN_KM, Member, Reply, Request, Stage, Turn, agree, cluster, location_of
from geosleuth.teams.swarm import SwarmSettings
from geosleuth.teams.swarm.swarm import NOTE, Discussion, quoted, quoted_answer, together

# Far enough apart that no two members share a seed: each adds its index to its samples' seeds.
_SEEDS_APART = 10_007

_QUESTION = "Where was this photo taken?"
_AS_TOLD = """\
Reply with one JSON object: the location, how sure you are in percent, and how the evidence leads there.
{"location": {"country": "...", "region": "...", "city": "..."}, "confidence": "0%", "explanation": "..."}"""
_CHOICE = re.compile(r"\bchoice\b[\s*:=]*(\d+)", re.IGNORECASE)
_VERDICT = re.compile(r"\bverdict\b[\s*:=]*(right|wrong)", re.IGNORECASE)
_RATINGS = re.compile(r"\bratings?\b[\s*:=]*\[*((?:\d[\s,;/]*)+)", re.IGNORECASE)
_RANKING = re.compile(r"\branking\b[\s*:=]*\[*((?:\d+[\s,;>]*)+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question to one member, by its index in the team.

    ``sample`` distinguishes otherwise equal requests; ``about`` is whose answer it is about.
    """

    member: int
    stage: Stage = "answer"
    words: str | None = None
    sample: int = 0
    about: int | None = None


class Talk:
    """All questions and replies of one request, in order. Every reply goes through the swarm's own `Discussion`."""

    def __init__(
        self,
        members: Sequence[Member],
        request: Request,
        placer: Placer,
        seconds_per_reply: float | None = None,
    ) -> None:
        self.names = tuple(member.name for member in members)
        self._members, self._request, self._placer = members, request, placer
        self._settings = SwarmSettings(seconds_per_reply=seconds_per_reply, seconds=None)
        self._discussions: dict[int, Discussion] = {}
        self._began = time.monotonic()
        self._turns: list[Turn] = []
        self._batches = 0

    @property
    def hidden(self) -> tuple[str, ...]:
        """Return the names that no text may carry to another member."""
        return self._discussion(0).hidden

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Return the turns so far."""
        return tuple(self._turns)

    @property
    def seconds(self) -> float:
        """Return the seconds elapsed."""
        return time.monotonic() - self._began

    async def ask(self, question: Question, number: int = 0) -> Reply:
        """Ask one member, in the round of that number."""
        return (await self.ask_all([question], number))[0]

    async def ask_all(self, questions: Sequence[Question], number: int = 0) -> list[Reply]:
        """Ask several at once; replies are in the order of the questions."""
        replies = await together(
            self._discussion(one.sample).ask(one.member, one.stage, one.words, round=number, about=one.about)
            for one in questions
        )
        self._batches += 1
        self._turns += [
            Turn(
                self.names[one.member],
                one.stage,
                reply,
                number,
                None if one.about is None else self.names[one.about],
                self._batches,
            )
            for one, reply in zip(questions, replies, strict=True)
        ]
        return replies

    def _discussion(self, sample: int) -> Discussion:
        if sample not in self._discussions:
            seed = self._request.seed
            if sample:
                seed = (seed or 0) + sample * _SEEDS_APART
            request = replace(self._request, seed=seed)
            self._discussions[sample] = Discussion(self._members, request, self._settings, self._placer)
        return self._discussions[sample]


def _asking(*parts: str) -> str:
    return paragraphs(NOTE, *parts, EVIDENCE_ONLY)


def listed(answers: Sequence[Answer], names: Sequence[str] = (), noun: str = "Candidate") -> str:
    """Return answers as numbered quotations."""
    return "\n\n".join(f"{noun} {number}:\n{stated(answer, names)}" for number, answer in enumerate(answers, 1))


def stated(answer: Answer, names: Sequence[str] = ()) -> str:
    """Return one answer as a quotation: place, confidence, explanation."""
    shown = quoted_answer(answer, names)
    sure = "not stated" if answer.probability is None else f"{100 * answer.probability:.0f}%"
    return f"Location: {place_of(shown)}\nConfidence: {sure}\nExplanation: {shown.explanation or 'none given'}"


def place_of(answer: Answer) -> str:
    """Return the place in one line."""
    place = str(answer.address)
    if answer.point is None:
        return place or "not told"
    return f"{place} ({answer.point.lat:.4f}, {answer.point.lon:.4f})".strip()


def compare_prompt(one: Answer, other: Answer, names: Sequence[str] = ()) -> str:
    """Return the prompt that compares two answers."""
    return _asking(
        "Two people were asked where this photo was taken.",
        listed((one, other), names),
        "Whose place fits better what is to be seen? Give your reasons in a few words, and on a last line of its own "
        "the number:\nChoice: 1",
    )


def fuse_prompt(answers: Sequence[Answer], names: Sequence[str] = ()) -> str:
    """Return the prompt that fuses the best answers, best first."""
    return _asking(
        _QUESTION,
        "These are the best of several replies, the best first:",
        listed(answers, names),
        "Make one reply of them: keep what the photo bears out, drop what it does not.",
        _AS_TOLD,
    )


def hint_prompt(answers: Sequence[Answer]) -> str:
    """Return the prompt that repeats the question with former answers as hints."""
    hints = "; ".join(dict.fromkeys(place_of(quoted_answer(answer)) for answer in answers))
    return _asking(_QUESTION, f"Hint: the place is near to {hints}.", _AS_TOLD)


def evaluate_prompt(answer: Answer) -> str:
    """Return the prompt that asks whether an answer is acceptable."""
    return _asking(
        "Somebody was asked where this photo was taken and replied:",
        stated(answer),
        "Judge the reply by what is to be seen. Say what is wrong with it, if anything, and on a last line of its own "
        "whether the place is within 50 km of the true one as far as you can tell:\nVerdict: right or wrong",
    )


def reflect_prompt(answer: Answer, evaluation: str) -> str:
    """Return the prompt that asks for a lesson from a failed attempt."""
    return _asking(
        "You were asked where this photo was taken and replied:",
        stated(answer),
        "An examiner did not let the reply stand:",
        quoted(evaluation),
        "In a few sentences, for yourself: what misled you, which other places come into question, and what would you "
        "look at in another attempt?",
        "Confidence: 0%",
    )


def retry_prompt(lessons: Sequence[str]) -> str:
    """Return the prompt that repeats the question with the lessons of former attempts."""
    return _asking(
        _QUESTION,
        "You have tried before, and noted this:",
        "\n\n".join(f"Note {number}:\n{quoted(lesson)}" for number, lesson in enumerate(lessons, 1)),
        _AS_TOLD,
    )


def layer_prompt(answers: Sequence[Answer], names: Sequence[str] = ()) -> str:
    """Return the prompt for an answer based on the previous layer, with a rating of each of its answers."""
    return _asking(
        _QUESTION,
        "Others have answered already:",
        listed(answers, names),
        "Think about each of them, and then give your own answer.",
        _AS_TOLD,
        f"After it, on a last line of its own, rate each of the {len(answers)} candidates from 1 to 5, in their "
        "order:\nRatings: 3, 1, 5",
    )


def rank_prompt(answers: Sequence[Answer], keep: int, names: Sequence[str] = ()) -> str:
    """Return the prompt that asks for the best of several answers."""
    return _asking(
        "Several people were asked where this photo was taken.",
        listed(answers, names),
        f"Which {keep} are best borne out by the photo? On a last line of its own, their numbers, the best first:\n"
        "Ranking: 2, 1",
    )


def read_choice(text: str, count: int = 2) -> int | None:
    """Parse the number that was chosen, from 1; None if there is none."""
    found = [int(number) for number in _CHOICE.findall(text)]
    return found[-1] if found and 1 <= found[-1] <= count else None


def read_verdict(text: str) -> bool | None:
    """Parse whether the answer is accepted; None if that is not said."""
    found = _VERDICT.findall(text)
    return found[-1].lower() == "right" if found else None


def read_ratings(text: str, count: int) -> tuple[float, ...] | None:
    """Parse ratings of 1 to 5, one per candidate; None if any is missing."""
    found = _RATINGS.findall(text)
    numbers = [int(number) for number in re.findall(r"\d", found[-1])] if found else []
    return tuple(float(min(5, max(1, number))) for number in numbers) if len(numbers) == count else None


def read_ranking(text: str, count: int) -> tuple[int, ...]:
    """Parse a ranking: numbers from 1, each once, the best first."""
    found = _RANKING.findall(text)
    numbers = [int(number) for number in re.findall(r"\d+", found[-1])] if found else []
    return tuple(dict.fromkeys(number for number in numbers if 1 <= number <= count))


@dataclass(frozen=True, slots=True)
class Vote:
    """The index of the winning reply, and how many of the replies that name a place agree with it."""

    winner: int
    support: int
    cast: int


async def vote(replies: Sequence[Reply], placer: Placer, within_km: float = AGREE_WITHIN_KM) -> Vote | None:
    """Return the reply with most agreement; ties go to the more confident supporters, then to the earlier reply.

    A region agrees with each of its towns, so a wide answer can win; then its most supported town is returned.
    None if no reply names a place.
    """
    locations = [await location_of(reply.answer, placer) if reply.names_place else None for reply in replies]
    circles = cluster(locations, within_km)
    sure = [reply.answer.probability or 0.0 for reply in replies]
    placed = [index for index, circle in enumerate(circles) if circle]
    if not placed:
        return None

    def strength(index: int) -> tuple[int, float, float, int]:
        circle = circles[index]
        return len(circle), sum(sure[other] for other in circle), sure[index], -index

    winner = max(placed, key=strength)
    if not replies[winner].answer.located:
        exact = [index for index in circles[winner] if replies[index].answer.located]
        winner = max(exact, key=strength, default=winner)
    return Vote(winner, len(circles[winner]), len(placed))


async def same_place(one: Reply, other: Reply, placer: Placer, within_km: float = AGREE_WITHIN_KM) -> bool:
    """Return whether two replies mean the same place."""
    return agree(await location_of(one.answer, placer), await location_of(other.answer, placer), within_km)
