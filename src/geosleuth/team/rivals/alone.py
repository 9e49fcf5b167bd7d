"""Ways that ask one member only: the best one once, several times, with its former answers as hints, after reflecting.

Self-consistency: Wang et al., ICLR 2023. PHP: Zheng et al., 2023. Reflexion: Shinn et al., NeurIPS 2023.
"""

from collections.abc import Sequence

from geosleuth.answer import Answer
from geosleuth.team import AGREE_WITHIN_KM, Member, Outcome, Placer, Reply, Request

from .asking import Question, Talk
from .prompts import evaluate_prompt, hint_prompt, read_verdict, reflect_prompt, retry_prompt
from .voting import same_place, vote

SAMPLES = 5
HINT_ROUNDS = 10
TRIALS = 3
LESSONS_KEPT = 3


async def single_best(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,
    within_km: float = AGREE_WITHIN_KM,  # noqa: ARG001
    seconds_per_reply: float | None = None,
) -> Outcome:
    """One call: the member with the best record answers; the next one does where it has nothing to say."""
    talk = Talk(members, request, placer, seconds_per_reply)
    for number, member in enumerate(_from(members, lead)):
        reply = await talk.ask(Question(member), number)
        if reply.stands:
            return Outcome(reply.answer, "the best by record", talk.turns, talk.names[member], talk.seconds)
    return nothing(talk)


async def self_consistency(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,
    within_km: float = AGREE_WITHIN_KM,
    seconds_per_reply: float | None = None,
    samples: int = SAMPLES,
) -> Outcome:
    """``samples`` calls of one member at once, none of which sees another; then a vote."""
    talk = Talk(members, request, placer, seconds_per_reply)
    for number, member in enumerate(_from(members, lead)):
        replies = await talk.ask_all([Question(member, sample=sample) for sample in range(samples)], number)
        won = await vote(replies, placer, within_km)
        if won is not None:
            said = f"{won.support} of {won.cast} samples agree"
            return Outcome(replies[won.winner].answer, said, talk.turns, talk.names[member], talk.seconds)
    return nothing(talk)


async def progressive_hints(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,
    within_km: float = AGREE_WITHIN_KM,
    seconds_per_reply: float | None = None,
    rounds: int = HINT_ROUNDS,
) -> Outcome:
    """One member is asked again, with all its former answers as hints, until two in a row agree."""
    talk = Talk(members, request, placer, seconds_per_reply)
    for member in _from(members, lead):
        said: list[Reply] = []
        for number in range(rounds):
            question = (
                Question(member)
                if not said
                else Question(member, "discussion", hint_prompt([reply.answer for reply in said]), sample=number)
            )
            reply = await talk.ask(question, number)
            if not reply.stands:
                break
            said.append(reply)
            if len(said) > 1 and await same_place(said[-2], said[-1], placer, within_km):
                return Outcome(reply.answer, "two in a row agree", talk.turns, talk.names[member], talk.seconds)
        if said:
            return Outcome(said[-1].answer, "the last of its answers", talk.turns, talk.names[member], talk.seconds)
    return nothing(talk)


async def reflexion(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,
    within_km: float = AGREE_WITHIN_KM,  # noqa: ARG001
    seconds_per_reply: float | None = None,
    trials: int = TRIALS,
    lessons_kept: int = LESSONS_KEPT,
) -> Outcome:
    """An actor tries, an evaluator judges, and after each failure the actor notes a lesson for its next trial.

    The truth is not to be had here, so that the evaluator is a model: the same member, in another conversation.
    """
    talk = Talk(members, request, placer, seconds_per_reply)
    for member in _from(members, lead):
        lessons: list[str] = []
        last: Reply | None = None
        for trial in range(trials):
            asked = retry_prompt(lessons) if lessons else None
            reply = await talk.ask(Question(member, words=asked, sample=trial), trial)
            if not reply.stands:
                break
            last = reply
            judged = await talk.ask(Question(member, "judge", evaluate_prompt(reply.answer), about=member), trial)
            if read_verdict(judged.text) is not False:
                said = "the evaluator let it stand" if judged.failure is None else "the evaluator failed"
                return Outcome(reply.answer, said, talk.turns, talk.names[member], talk.seconds)
            if trial + 1 < trials:
                lesson = await talk.ask(
                    Question(member, "review", reflect_prompt(reply.answer, judged.text), about=member), trial
                )
                lessons = [*lessons, *([lesson.text] if lesson.text else [])][-lessons_kept:]
        if last is not None:
            return Outcome(last.answer, "the last trial", talk.turns, talk.names[member], talk.seconds)
    return nothing(talk)


def nothing(talk: Talk) -> Outcome:
    """What is left where nobody named a place."""
    return Outcome(Answer(), "nobody named a place", talk.turns, None, talk.seconds)


def _from(members: Sequence[Member], lead: int) -> list[int]:
    """The members' places, the leading one first: the others step in where it fails."""
    return [lead, *(place for place in range(len(members)) if place != lead)] if members else []
