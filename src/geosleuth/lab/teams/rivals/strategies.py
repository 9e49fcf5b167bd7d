"""Other ways to combine the same members, by name: one member, a vote, a ranking, a debate, DyLAN.

Self-consistency: Wang et al., ICLR 2023. PHP: Zheng et al., 2023. Reflexion: Shinn et al., NeurIPS 2023.

LLM-Blender: Jiang et al., ACL 2023. LLM Debate: Du et al., ICML 2024.

In DyLAN, every node of a layer sees and rates all answers of the previous layer. The ratings, traced back from the
nodes that gave the final answer, measure each member's contribution; that needs no truth.
"""

import random
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import Literal, Protocol

from geosleuth.agent.methods import discussion_prompt
from geosleuth.agent.methods.shared import paragraphs
from geosleuth.answer import Answer
from geosleuth.atlas.placing import Placer
from geosleuth.support.errors import BadInput
from geosleuth.teams import AGREE_WITHIN_KM, Member, Outcome, Reply, Request, Turn, agree, location_of
from geosleuth.teams.swarm.swarm import NOTE, quoted_answer

from .questions import (
    Question,
    Talk,
    Vote,
    compare_prompt,
    evaluate_prompt,
    fuse_prompt,
    hint_prompt,
    layer_prompt,
    listed,
    rank_prompt,
    read_choice,
    read_ranking,
    read_ratings,
    read_verdict,
    reflect_prompt,
    retry_prompt,
    same_place,
    vote,
)

SAMPLES = 5
HINT_ROUNDS = 10
TRIALS = 3
LESSONS_KEPT = 3

FUSED = 3
DEBATE_ROUNDS = 2
Comparisons = Literal["all", "bubble"]
LAYERS = 3
KEPT = 2
_RANKED_FROM = 4
"""Smaller teams are not ranked: nobody would be left to drop."""


async def single_best(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,
    within_km: float = AGREE_WITHIN_KM,  # noqa: ARG001
    seconds_per_reply: float | None = None,
) -> Outcome:
    """Ask the member with the best record; the next one if it names no place."""
    talk = Talk(members, request, placer, seconds_per_reply)
    for number, member in enumerate(_from(members, lead)):
        reply = await talk.ask(Question(member), number)
        if reply.names_place:
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
    """Ask one member ``samples`` times independently; then vote."""
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
    """Ask one member again, with all its former answers as hints, until two in a row agree."""
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
            if not reply.names_place:
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
    """Let an actor try and an evaluator judge; after each failure the actor writes a lesson for its next trial.

    There is no truth here, so the evaluator is a model: the same member, in another conversation.
    """
    talk = Talk(members, request, placer, seconds_per_reply)
    for member in _from(members, lead):
        lessons: list[str] = []
        last: Reply | None = None
        for trial in range(trials):
            asked = retry_prompt(lessons) if lessons else None
            reply = await talk.ask(Question(member, words=asked, sample=trial), trial)
            if not reply.names_place:
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
    """Return the outcome where nobody named a place."""
    return Outcome(Answer(), "nobody named a place", talk.turns, None, talk.seconds)


def _from(members: Sequence[Member], lead: int) -> list[int]:
    """Return the members' indices, the leading one first: the others step in if it fails."""
    return [lead, *(place for place in range(len(members)) if place != lead)] if members else []


async def majority(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,  # noqa: ARG001
    within_km: float = AGREE_WITHIN_KM,
    seconds_per_reply: float | None = None,
) -> Outcome:
    """Ask every member once, independently; return the place that most agree on."""
    talk = Talk(members, request, placer, seconds_per_reply)
    replies = await talk.ask_all([Question(place) for place in range(len(members))])
    return await _elected(talk, replies, placer, within_km)


async def blender(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,
    within_km: float = AGREE_WITHIN_KM,  # noqa: ARG001
    seconds_per_reply: float | None = None,
    comparisons: Comparisons = "all",
    fused: int = FUSED,
) -> Outcome:
    """Let every member answer; compare pairs with a ranker; fuse the best into one answer.

    The published ranker and fuser are small trained models. Here the leading member does both. With ``comparisons``
    "all", every pair is compared in both orders, as published; "bubble" is the published shortcut, passes that each
    bring the best of the rest to the top.
    """
    talk = Talk(members, request, placer, seconds_per_reply)
    names = talk.hidden
    replies = await talk.ask_all([Question(place) for place in range(len(members))])
    placed = [index for index, reply in enumerate(replies) if reply.names_place]
    if not placed:
        return nothing(talk)

    async def preferred(pairs: Sequence[tuple[int, int]]) -> list[int | None]:
        asked = [
            Question(lead, "judge", compare_prompt(replies[one].answer, replies[other].answer, names))
            for one, other in pairs
        ]
        chosen = [read_choice(reply.text) for reply in await talk.ask_all(asked, 1)]
        return [None if number is None else pair[number - 1] for pair, number in zip(pairs, chosen, strict=True)]

    if comparisons == "all":
        both = [pair for one, other in combinations(placed, 2) for pair in ((one, other), (other, one))]
        wins = await preferred(both)
        order = sorted(placed, key=lambda index: (-wins.count(index), index))
    else:
        order = await _bubbled(placed, fused, preferred)
    top = order[:fused]
    final = await talk.ask(Question(lead, "summary", fuse_prompt([replies[i].answer for i in top], names)), 2)
    if final.names_place:
        return Outcome(final.answer, f"made of the best {len(top)} answers", talk.turns, talk.names[lead], talk.seconds)
    return Outcome(replies[top[0]].answer, "the best by comparison", talk.turns, talk.names[top[0]], talk.seconds)


async def debate(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,  # noqa: ARG001
    within_km: float = AGREE_WITHIN_KM,
    seconds_per_reply: float | None = None,
    rounds: int = DEBATE_ROUNDS,
) -> Outcome:
    """Let every member answer, then answer again in each round, given what the others said; then vote.

    ``rounds`` includes the first answers, as published. A member is shown the opinions of all earlier rounds.
    """
    talk = Talk(members, request, placer, seconds_per_reply)
    names = talk.hidden
    freshest = await talk.ask_all([Question(place) for place in range(len(members))])
    history: list[list[str]] = [[] for _ in members]
    for number in range(1, rounds):
        said = freshest
        questions = []
        for index in range(len(members)):
            others = [reply.answer for other, reply in enumerate(said) if other != index and reply.names_place]
            now = discussion_prompt(
                quoted_answer(said[index].answer, names), [quoted_answer(answer, names) for answer in others]
            )
            questions.append(Question(index, "discussion", paragraphs(NOTE, now, *history[index])))
            history[index].append(f"Said earlier, round {number}:\n\n{listed(others, names, 'Earlier opinion')}")
        replies = await talk.ask_all(questions, number)
        # A member that fails in this round keeps its previous answer.
        freshest = [new if new.names_place else old for new, old in zip(replies, said, strict=True)]
    return await _elected(talk, freshest, placer, within_km)


async def _bubbled(
    placed: Sequence[int],
    fused: int,
    preferred: Callable[[Sequence[tuple[int, int]]], Awaitable[list[int | None]]],
) -> list[int]:
    rest = list(placed)
    order: list[int] = []
    while rest and len(order) < fused:
        best = rest[-1]
        for other in reversed(rest[:-1]):
            (chosen,) = await preferred([(other, best)])
            best = best if chosen is None else chosen
        order.append(best)
        rest.remove(best)
    return order


async def _elected(talk: Talk, replies: Sequence[Reply], placer: Placer, within_km: float) -> Outcome:
    won = await vote(replies, placer, within_km)
    if won is None:
        return nothing(talk)
    said = f"{won.support} of {won.cast} agree"
    return Outcome(replies[won.winner].answer, said, talk.turns, talk.names[won.winner], talk.seconds)


async def dylan(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,
    within_km: float = AGREE_WITHIN_KM,
    seconds_per_reply: float | None = None,
    layers: int = LAYERS,
    kept: int = KEPT,
) -> Outcome:
    """Let all members answer, then again while seeing and rating all answers; from the third layer on only the best.

    It ends as soon as more than two thirds of a layer's nodes agree. The leading member ranks.
    """
    talk = Talk(members, request, placer, seconds_per_reply)
    order = random.Random(request.seed or 0)  # noqa: S311 - no secret depends on it
    active = list(range(len(members)))
    last: list[tuple[int, Reply]] = []
    for layer in range(layers):
        before = [reply.answer for _, reply in last]
        if layer >= 2 and len(members) >= _RANKED_FROM and len(before) > kept:
            judged = await talk.ask(Question(lead, "judge", rank_prompt(before, kept, talk.hidden)), layer)
            chosen = read_ranking(judged.text, len(before))[:kept]
            if chosen:
                active = [last[number - 1][0] for number in chosen]
        order.shuffle(active)
        words = layer_prompt(before, talk.hidden) if before else None
        asked = [Question(index, "discussion" if words else "answer", words) for index in active]
        said, won = await _until_agreed(talk, asked, layer, placer, within_km)
        placed = [pair for pair in said if pair[1].names_place]
        if won is not None and won.support > 2 * len(asked) // 3:
            winner = said[won.winner]
            decided = f"{won.support} of {len(asked)} agree in layer {layer + 1}"
            return Outcome(winner[1].answer, decided, talk.turns, talk.names[winner[0]], talk.seconds)
        if placed:
            last = placed
    won = await vote([reply for _, reply in last], placer, within_km)
    if won is None:
        return nothing(talk)
    winner = last[won.winner]
    decided = f"{won.support} of {won.cast} agree in the last layer"
    return Outcome(winner[1].answer, decided, talk.turns, talk.names[winner[0]], talk.seconds)


async def _until_agreed(
    talk: Talk, asked: Sequence[Question], layer: int, placer: Placer, within_km: float
) -> tuple[list[tuple[int, Reply]], Vote | None]:
    """Ask one after the other, and stop once more than two thirds agree.

    The number needed for that is asked at once.
    """
    needed = 2 * len(asked) // 3 + 1
    replies = await talk.ask_all(asked[:needed], layer)
    won = await vote(replies, placer, within_km)
    for question in asked[needed:]:
        if won is not None and won.support >= needed:
            break
        replies.append(await talk.ask(question, layer))
        won = await vote(replies, placer, within_km)
    return [(question.member, reply) for question, reply in zip(asked, replies, strict=False)], won


async def importance(outcome: Outcome, placer: Placer, within_km: float = AGREE_WITHIN_KM) -> dict[str, float]:
    """Return each member's contribution to an outcome of `dylan`: the sum over its nodes.

    The nodes of the last layer that gave the answer share 1; each node passes its share on to the previous layer, in
    proportion to its ratings.
    """
    by_layer: dict[int, list[Turn]] = {}
    for turn in outcome.turns:
        if turn.stage != "judge" and turn.reply.names_place:
            by_layer.setdefault(turn.round, []).append(turn)
    layers = [by_layer[number] for number in sorted(by_layer)]
    total: defaultdict[str, float] = defaultdict(float)
    if not layers:
        return dict(total)
    answer = await location_of(outcome.answer, placer)
    right = [agree(await location_of(turn.reply.answer, placer), answer, within_km) for turn in layers[-1]]
    weights = [float(is_right) / max(1, sum(right)) for is_right in right]
    for depth in range(len(layers) - 1, -1, -1):
        for turn, weight in zip(layers[depth], weights, strict=True):
            total[turn.member] += weight
        if depth:
            weights = _passed_back(layers[depth], weights, len(layers[depth - 1]))
    return dict(total)


def _passed_back(layer: Sequence[Turn], weights: Sequence[float], count: int) -> list[float]:
    passed = [0.0] * count
    for turn, weight in zip(layer, weights, strict=True):
        ratings = read_ratings(turn.reply.text, count) or (1.0,) * count
        for index, rating in enumerate(ratings):
            passed[index] += weight * rating / sum(ratings)
    return passed


async def best_team(
    outcomes: Iterable[Outcome], placer: Placer, size: int, within_km: float = AGREE_WITHIN_KM
) -> tuple[str, ...]:
    """Return the members that contributed most to some outcomes, best first: DyLAN's team optimisation."""
    total: defaultdict[str, float] = defaultdict(float)
    for outcome in outcomes:
        for name, share in (await importance(outcome, placer, within_km)).items():
            total[name] += share
    return tuple(name for name, _ in sorted(total.items(), key=lambda item: (-item[1], item[0]))[:size])


class Way(Protocol):
    """A method by which members come to an answer.

    ``lead`` is the index of the member that works alone, or ranks and fuses: the one with the best record, if known.
    """

    async def __call__(
        self,
        members: Sequence[Member],
        request: Request,
        *,
        placer: Placer,
        lead: int = 0,
        within_km: float = AGREE_WITHIN_KM,
        seconds_per_reply: float | None = None,
    ) -> Outcome:
        """Find an answer."""
        ...


@dataclass(frozen=True, slots=True)
class Rival:
    """A published method, and its source."""

    name: str
    title: str
    paper: str
    run: Way


_ALL = (
    Rival("single", "single best", "the member with the best record, alone", single_best),
    Rival("majority", "majority", "a plain vote", majority),
    Rival("self-consistency", "self-consistency", "Wang et al., arXiv 2203.11171", self_consistency),
    Rival("blender", "LLM-Blender", "Jiang et al., arXiv 2306.02561", blender),
    Rival(
        "blender-bubble",
        "LLM-Blender, bubble",
        "Jiang et al., arXiv 2306.02561, the short cut",
        partial(blender, comparisons="bubble"),
    ),
    Rival("php", "PHP", "Zheng et al., arXiv 2304.09797", progressive_hints),
    Rival("reflexion", "Reflexion", "Shinn et al., arXiv 2303.11366", reflexion),
    Rival("debate", "LLM Debate", "Du et al., arXiv 2305.14325", debate),
    Rival("dylan", "DyLAN", "Liu et al., arXiv 2310.02170", dylan),
)

RIVALS: Mapping[str, Rival] = MappingProxyType({rival.name: rival for rival in _ALL})


def rival(name: str) -> Rival:
    """Return the rival of that name.

    Raises:
        BadInput: the name is unknown; the message lists the known ones.
    """
    found = RIVALS.get(name.strip().casefold())
    if found is None:
        raise BadInput(f"unknown method of teamwork {name.strip()[:40]!r}; choose from swarm, {', '.join(RIVALS)}")
    return found
