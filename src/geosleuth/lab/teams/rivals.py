"""Other ways to combine the same members, for comparison with the swarm.

Each follows its published call structure: who is asked, when, and what it sees. The prompts are ours, and members'
statements are quoted as in the swarm: without names, and marked as data. All count tokens by the team's own rule, and
none ends because a member fails.

Self-consistency: Wang et al., arXiv 2203.11171. LLM-Blender: Jiang et al., 2306.02561. PHP: Zheng et al., 2304.09797.
Reflexion: Shinn et al., 2303.11366. LLM Debate: Du et al., 2305.14325. DyLAN: Liu et al., 2310.02170.
"""

import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from geosleuth.agent.methods import discussion_prompt
from geosleuth.agent.methods.shared import EVIDENCE_ONLY, paragraphs
from geosleuth.answer import Answer
from geosleuth.atlas.placing import Placer
from geosleuth.teams import (
    AGREE_WITHIN_KM,
    Member,
    Reply,
    Request,
    Stage,
    TeamOutcome,
    Turn,
    agree,
    cluster,
    find_location,
)
from geosleuth.teams.swarm import SwarmSettings
from geosleuth.teams.swarm.swarm import NOTE, Discussion, quote_answer, quote_text, together

SAMPLES = 5
HINT_ROUNDS = 10
TRIALS = 3
LESSONS_KEPT = 3
FUSED = 3
LAYERS = 3
KEPT = 2
# Smaller teams are not ranked: none would be left to drop.
_RANKED_FROM = 4
# Far enough apart that no two members share a seed: each adds its index to its samples' seeds.
_SEEDS_APART = 10_007

_QUESTION = "Where was this photo taken?"
_AS_TOLD = """\
Reply with one JSON object: the location, how sure you are in percent, and how the evidence leads there.
{"location": {"country": "...", "region": "...", "city": "..."}, "confidence": "0%", "explanation": "..."}"""
_VERDICT = re.compile(r"\bverdict\b[\s*:=]*(right|wrong)", re.IGNORECASE)
_CHOICE = re.compile(r"\bchoice\b[\s*:=]*(\d+)", re.IGNORECASE)
_RANKING = re.compile(r"\branking\b[\s*:=]*\[*((?:\d+[\s,;>]*)+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RivalQuestion:
    """A question to one member, by its index in the team.

    ``sample`` distinguishes otherwise equal requests; ``about`` is whose answer it is about.
    """

    member: int
    stage: Stage = "answer"
    words: str | None = None
    sample: int = 0
    about: int | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    """The index of the winning reply, and how many of the replies that name a place agree with it."""

    winner: int
    support: int
    cast: int


class RivalTalk:
    """All questions and replies of one request, in order. Every reply goes through the swarm's own `Discussion`.

    ``lead`` is the member that works alone, or ranks and fuses: the one with the best record, if known.
    """

    def __init__(
        self,
        members: Sequence[Member],
        request: Request,
        placer: Placer,
        *,
        lead: int = 0,
        within_km: float = AGREE_WITHIN_KM,
        seconds_per_reply: float | None = None,
    ) -> None:
        self.everybody = range(len(members))
        self.lead = lead
        self.seed = request.seed or 0
        self._members, self._request, self._placer, self._within_km = members, request, placer, within_km
        self._settings = SwarmSettings(seconds_per_reply=seconds_per_reply, seconds=None)
        self._discussions: dict[int, Discussion] = {}
        self._began = time.monotonic()
        self._turns: list[Turn] = []
        self._batches = 0

    @property
    def leads(self) -> list[int]:
        """Return all members, the leading one first: the others step in if it fails."""
        return sorted(self.everybody, key=lambda member: member != self.lead)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Return the names that no text may carry to another member."""
        return self._discussion(0).hidden

    async def ask(self, question: RivalQuestion, number: int = 0) -> Reply:
        """Ask one member, in the round of that number."""
        return (await self.ask_all([question], number))[0]

    async def ask_all(self, questions: Sequence[RivalQuestion], number: int = 0) -> list[Reply]:
        """Ask several at once; replies are in the order of the questions."""
        replies = await together(
            self._discussion(question.sample).ask(
                question.member, question.stage, question.words, round=number, about=question.about
            )
            for question in questions
        )
        self._batches += 1
        names = [member.name for member in self._members]
        for item, reply in zip(questions, replies, strict=True):
            about = None if item.about is None else names[item.about]
            self._turns.append(Turn(names[item.member], item.stage, reply, number, about, self._batches))
        return replies

    def outcome(self, answer: Answer, decided: str, member: int | None) -> TeamOutcome:
        """Return how it ended: with the answer of a member, or of none."""
        voice = None if member is None else self._members[member].name
        return TeamOutcome(answer, decided, tuple(self._turns), voice, time.monotonic() - self._began)

    def nothing(self) -> TeamOutcome:
        """Return the outcome where no member named a place."""
        return self.outcome(Answer(), "nobody named a place", None)

    async def vote(self, replies: Sequence[Reply]) -> Vote | None:
        """Return the reply with most agreement; ties go to the more confident supporters, then to the earlier reply.

        A region agrees with each of its towns, so a wide answer can win; then its most supported town is returned.
        None if no reply names a place.
        """
        locations = [await find_location(item.answer, self._placer) if item.names_place else None for item in replies]
        circles = cluster(locations, self._within_km)
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

    async def elect(self, voices: Sequence[tuple[int, Reply]], where: str = "") -> TeamOutcome:
        """Return the place that most of these members' replies agree on."""
        won = await self.vote([reply for _, reply in voices])
        if won is None:
            return self.nothing()
        member, reply = voices[won.winner]
        return self.outcome(reply.answer, f"{won.support} of {won.cast} agree{where}", member)

    async def same_place(self, item: Reply, other: Reply) -> bool:
        """Return whether two replies mean the same place."""
        places = [await find_location(reply.answer, self._placer) for reply in (item, other)]
        return agree(places[0], places[1], self._within_km)

    def _discussion(self, sample: int) -> Discussion:
        if sample not in self._discussions:
            seed = self.seed + sample * _SEEDS_APART if sample else self._request.seed
            request = replace(self._request, seed=seed)
            self._discussions[sample] = Discussion(self._members, request, self._settings, self._placer)
        return self._discussions[sample]


async def single(talk: RivalTalk) -> TeamOutcome:
    """Ask the member with the best record; the next one if it names no place."""
    for number, member in enumerate(talk.leads):
        reply = await talk.ask(RivalQuestion(member), number)
        if reply.names_place:
            return talk.outcome(reply.answer, "the best by record", member)
    return talk.nothing()


async def majority(talk: RivalTalk) -> TeamOutcome:
    """Ask every member once, independently; return the place that most agree on."""
    replies = await talk.ask_all([RivalQuestion(member) for member in talk.everybody])
    return await talk.elect(list(enumerate(replies)))


async def self_consistency(talk: RivalTalk) -> TeamOutcome:
    """Ask one member several times, independently; then vote."""
    for number, member in enumerate(talk.leads):
        replies = await talk.ask_all([RivalQuestion(member, sample=sample) for sample in range(SAMPLES)], number)
        won = await talk.vote(replies)
        if won is not None:
            return talk.outcome(replies[won.winner].answer, f"{won.support} of {won.cast} samples agree", member)
    return talk.nothing()


async def blender(talk: RivalTalk) -> TeamOutcome:
    """Let every member answer; compare all pairs in both orders with a ranker; fuse the best into one answer.

    The published ranker and fuser are small trained models. Here the leading member does both.
    """
    replies = await talk.ask_all([RivalQuestion(member) for member in talk.everybody])
    placed = [index for index, reply in enumerate(replies) if reply.names_place]
    if not placed:
        return talk.nothing()
    pairs = list(permutations(placed, 2))
    judged = await talk.ask_all(
        [
            RivalQuestion(talk.lead, "judge", compare_prompt([replies[index].answer for index in pair], talk.hidden))
            for pair in pairs
        ],
        1,
    )
    chosen = zip(pairs, (read_choice(reply.text) for reply in judged), strict=True)
    wins = [pair[number - 1] for pair, number in chosen if number is not None]
    top = sorted(placed, key=lambda index: (-wins.count(index), index))[:FUSED]
    fused = fuse_prompt([replies[index].answer for index in top], talk.hidden)
    final = await talk.ask(RivalQuestion(talk.lead, "summary", fused), 2)
    if final.names_place:
        return talk.outcome(final.answer, f"made of the best {len(top)} answers", talk.lead)
    return talk.outcome(replies[top[0]].answer, "the best by comparison", top[0])


async def progressive_hints(talk: RivalTalk) -> TeamOutcome:
    """Ask one member again, with all its former answers as hints, until two in a row agree."""
    for member in talk.leads:
        said: list[Reply] = []
        for number in range(HINT_ROUNDS):
            hint = RivalQuestion(member, "discussion", hint_prompt([item.answer for item in said]), sample=number)
            reply = await talk.ask(hint if said else RivalQuestion(member), number)
            if not reply.names_place:
                break
            said.append(reply)
            if len(said) > 1 and await talk.same_place(said[-2], said[-1]):
                return talk.outcome(reply.answer, "two in a row agree", member)
        if said:
            return talk.outcome(said[-1].answer, "the last of its answers", member)
    return talk.nothing()


async def reflexion(talk: RivalTalk) -> TeamOutcome:
    """Let an actor try and an evaluator judge; after each failure the actor writes a lesson for its next trial.

    There is no truth here, so the evaluator is a model: the same member, in another conversation.
    """
    for member in talk.leads:
        lessons: list[str] = []
        last: Reply | None = None
        for trial in range(TRIALS):
            words = retry_prompt(lessons) if lessons else None
            reply = await talk.ask(RivalQuestion(member, words=words, sample=trial), trial)
            if not reply.names_place:
                break
            last = reply
            judged = await talk.ask(RivalQuestion(member, "judge", evaluate_prompt(reply.answer), about=member), trial)
            if read_verdict(judged.text) is not False:
                why = "the evaluator let it stand" if judged.failure is None else "the evaluator failed"
                return talk.outcome(reply.answer, why, member)
            if trial + 1 < TRIALS:
                reflected = RivalQuestion(member, "review", reflect_prompt(reply.answer, judged.text), about=member)
                lesson = await talk.ask(reflected, trial)
                lessons = [*lessons, *([lesson.text] if lesson.text else [])][-LESSONS_KEPT:]
        if last is not None:
            return talk.outcome(last.answer, "the last trial", member)
    return talk.nothing()


async def debate(talk: RivalTalk) -> TeamOutcome:
    """Let every member answer, then once more, given what the others said; then vote. Two rounds, as published."""
    names = talk.hidden
    said = await talk.ask_all([RivalQuestion(member) for member in talk.everybody])
    shown = [quote_answer(reply.answer, names) for reply in said]
    questions = []
    for member in talk.everybody:
        others = [shown[other] for other, reply in enumerate(said) if other != member and reply.names_place]
        words = paragraphs(NOTE, discussion_prompt(shown[member], others))
        questions.append(RivalQuestion(member, "discussion", words))
    replies = await talk.ask_all(questions, 1)
    # A member that fails now keeps its first answer.
    last = [new if new.names_place else old for new, old in zip(replies, said, strict=True)]
    return await talk.elect(list(enumerate(last)))


async def dylan(talk: RivalTalk) -> TeamOutcome:
    """Let all members answer, then again while seeing and rating all answers; from the third layer on only the best.

    It ends as soon as more than two thirds of a layer's nodes agree. The leading member ranks.
    """
    order = random.Random(talk.seed)  # noqa: S311 - no secret depends on it
    active = list(talk.everybody)
    last: list[tuple[int, Reply]] = []
    for layer in range(LAYERS):
        before = [reply.answer for _, reply in last]
        if layer >= 2 and len(talk.everybody) >= _RANKED_FROM and len(before) > KEPT:
            judged = await talk.ask(RivalQuestion(talk.lead, "judge", rank_prompt(before, talk.hidden)), layer)
            chosen = read_ranking(judged.text, len(before))[:KEPT]
            active = [last[number - 1][0] for number in chosen] or active
        order.shuffle(active)
        words = layer_prompt(before, talk.hidden) if before else None
        asked = [RivalQuestion(member, "discussion" if words else "answer", words) for member in active]
        # As many as must agree are asked at once, the others one after the other until enough do.
        needed = 2 * len(asked) // 3 + 1
        replies = await talk.ask_all(asked[:needed], layer)
        won = await talk.vote(replies)
        while len(replies) < len(asked) and (won is None or won.support < needed):
            replies.append(await talk.ask(asked[len(replies)], layer))
            won = await talk.vote(replies)
        if won is not None and won.support >= needed:
            decided = f"{won.support} of {len(asked)} agree in layer {layer + 1}"
            return talk.outcome(replies[won.winner].answer, decided, active[won.winner])
        said = zip(active, replies, strict=False)
        last = [(member, reply) for member, reply in said if reply.names_place] or last
    return await talk.elect(last, " in the last layer")


RIVALS: Mapping[str, Callable[[RivalTalk], Awaitable[TeamOutcome]]] = {
    "single": single,
    "majority": majority,
    "self-consistency": self_consistency,
    "blender": blender,
    "php": progressive_hints,
    "reflexion": reflexion,
    "debate": debate,
    "dylan": dylan,
}


def _asking(*parts: str) -> str:
    return paragraphs(NOTE, *parts, EVIDENCE_ONLY)


def format_answers(answers: Sequence[Answer], names: Sequence[str] = ()) -> str:
    """Return answers as numbered quotations."""
    return "\n\n".join(
        f"Candidate {number}:\n{format_answer(answer, names)}" for number, answer in enumerate(answers, 1)
    )


def format_answer(answer: Answer, names: Sequence[str] = ()) -> str:
    """Return one answer as a quotation: place, confidence, explanation."""
    shown = quote_answer(answer, names)
    sure = "not stated" if answer.probability is None else f"{100 * answer.probability:.0f}%"
    return f"Location: {format_place_line(shown)}\nConfidence: {sure}\nExplanation: {shown.explanation or 'none given'}"


def format_place_line(answer: Answer) -> str:
    """Return the place in one line."""
    place = str(answer.address)
    if answer.point is None:
        return place or "not told"
    return f"{place} ({answer.point.lat:.4f}, {answer.point.lon:.4f})".strip()


def compare_prompt(answers: Sequence[Answer], names: Sequence[str] = ()) -> str:
    """Return the prompt that compares two answers."""
    return _asking(
        "Two people were asked where this photo was taken.",
        format_answers(answers, names),
        "Whose place fits better what is to be seen? Give your reasons in a few words, and on a last line of its own "
        "the number:\nChoice: 1",
    )


def fuse_prompt(answers: Sequence[Answer], names: Sequence[str] = ()) -> str:
    """Return the prompt that fuses the best answers, best first."""
    return _asking(
        _QUESTION,
        "These are the best of several replies, the best first:",
        format_answers(answers, names),
        "Make one reply of them: keep what the photo bears out, drop what it does not.",
        _AS_TOLD,
    )


def hint_prompt(answers: Sequence[Answer]) -> str:
    """Return the prompt that repeats the question with former answers as hints."""
    hints = "; ".join(dict.fromkeys(format_place_line(quote_answer(answer)) for answer in answers))
    return _asking(_QUESTION, f"Hint: the place is near to {hints}.", _AS_TOLD)


def evaluate_prompt(answer: Answer) -> str:
    """Return the prompt that asks whether an answer is acceptable."""
    return _asking(
        "Somebody was asked where this photo was taken and replied:",
        format_answer(answer),
        "Judge the reply by what is to be seen. Say what is wrong with it, if anything, and on a last line of its own "
        "whether the place is within 50 km of the true one as far as you can tell:\nVerdict: right or wrong",
    )


def reflect_prompt(answer: Answer, evaluation: str) -> str:
    """Return the prompt that asks for a lesson from a failed attempt."""
    return _asking(
        "You were asked where this photo was taken and replied:",
        format_answer(answer),
        "An examiner did not let the reply stand:",
        quote_text(evaluation),
        "In a few sentences, for yourself: what misled you, which other places come into question, and what would you "
        "look at in another attempt?",
        "Confidence: 0%",
    )


def retry_prompt(lessons: Sequence[str]) -> str:
    """Return the prompt that repeats the question with the lessons of former attempts."""
    return _asking(
        _QUESTION,
        "You have tried before, and noted this:",
        "\n\n".join(f"Note {number}:\n{quote_text(lesson)}" for number, lesson in enumerate(lessons, 1)),
        _AS_TOLD,
    )


def layer_prompt(answers: Sequence[Answer], names: Sequence[str] = ()) -> str:
    """Return the prompt for an answer based on the previous layer, with a rating of each of its answers."""
    return _asking(
        _QUESTION,
        "Others have answered already:",
        format_answers(answers, names),
        "Think about each of them, and then give your own answer.",
        _AS_TOLD,
        f"After it, on a last line of its own, rate each of the {len(answers)} candidates from 1 to 5, in their "
        "order:\nRatings: 3, 1, 5",
    )


def rank_prompt(answers: Sequence[Answer], names: Sequence[str] = ()) -> str:
    """Return the prompt that asks for the best of several answers."""
    return _asking(
        "Several people were asked where this photo was taken.",
        format_answers(answers, names),
        f"Which {KEPT} are best borne out by the photo? On a last line of its own, their numbers, the best first:\n"
        "Ranking: 2, 1",
    )


def read_choice(text: str) -> int | None:
    """Parse which of two was chosen, 1 or 2; None if that is not said."""
    found = _CHOICE.findall(text)
    return int(found[-1]) if found and found[-1] in ("1", "2") else None


def read_verdict(text: str) -> bool | None:
    """Parse whether the answer is accepted; None if that is not said."""
    found = _VERDICT.findall(text)
    return found[-1].lower() == "right" if found else None


def read_ranking(text: str, count: int) -> tuple[int, ...]:
    """Parse a ranking: numbers from 1, each once, the best first."""
    found = _RANKING.findall(text)
    numbers = [int(number) for number in re.findall(r"\d+", found[-1])] if found else []
    return tuple(dict.fromkeys(number for number in numbers if 1 <= number <= count))
