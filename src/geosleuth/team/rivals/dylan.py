"""DyLAN: members as nodes of a layered network that loses its weaker nodes on the way. Liu et al., COLM 2024.

Every node of a layer sees all answers of the layer before and rates them. The ratings, followed back from the nodes
that gave the final answer, say how much each member contributed; nobody needs a truth for that.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

from geosleuth.team import AGREE_WITHIN_KM, Member, Outcome, Placer, Reply, Request, Turn, agree

from .alone import nothing
from .asking import Question, Talk
from .prompts import layer_prompt, rank_prompt, read_ranking, read_ratings
from .voting import Vote, vote

LAYERS = 3
KEPT = 2
_RANKED_FROM = 4
"""Fewer members than this are not ranked: nobody would be left to drop."""


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
    """All members answer; all answer anew, seeing and rating all answers; from the third layer on only the best do.

    A layer ends, and everything with it, as soon as more than two thirds of its nodes agree. The leading member ranks.
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
        standing = [pair for pair in said if pair[1].stands]
        if won is not None and won.support > 2 * len(asked) // 3:
            winner = said[won.winner]
            decided = f"{won.support} of {len(asked)} agree in layer {layer + 1}"
            return Outcome(winner[1].answer, decided, talk.turns, talk.names[winner[0]], talk.seconds)
        if standing:
            last = standing
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

    So many must be asked in any case; they are asked at once.
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
    """How much each member contributed to an outcome of `dylan`: the sum over its nodes.

    The nodes of the last layer that gave the answer share 1; each node passes what it has on to the layer before, in
    the proportion of its ratings.
    """
    by_layer: dict[int, list[Turn]] = {}
    for turn in outcome.turns:
        if turn.stage != "judge" and turn.reply.stands:
            by_layer.setdefault(turn.round, []).append(turn)
    layers = [by_layer[number] for number in sorted(by_layer)]
    total: defaultdict[str, float] = defaultdict(float)
    if not layers:
        return dict(total)
    answer = await placer.extent(outcome.answer)
    right = [agree(await placer.extent(turn.reply.answer), answer, within_km) for turn in layers[-1]]
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
    """The members that contributed most to some outcomes, best first: DyLAN's team optimisation. No truth is used."""
    total: defaultdict[str, float] = defaultdict(float)
    for outcome in outcomes:
        for name, share in (await importance(outcome, placer, within_km)).items():
            total[name] += share
    return tuple(name for name, _ in sorted(total.items(), key=lambda item: (-item[1], item[0]))[:size])
