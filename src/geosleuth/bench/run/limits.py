"""What a whole run may use, and whether one more photo fits into it."""

from dataclasses import dataclass
from typing import Literal

from geosleuth.agent import Spent

LimitName = Literal["tokens", "usd", "seconds", "photos"]

_ENOUGH_TO_JUDGE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What a run may use at most, from its first photo on, however often it is continued; None is no limit.

    ``tokens`` counts input and output, ``usd`` money, ``seconds`` the time in which photos were worked on, ``photos``
    how many are finished. ``tokens_per_photo`` and ``usd_per_photo`` are what one photo may use at most, where its own
    budget says so: until a few photos have shown what one uses, so much is set aside for each.
    """

    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    photos: int | None = None
    tokens_per_photo: int | None = None
    usd_per_photo: float | None = None


@dataclass(frozen=True, slots=True)
class SoFar:
    """Where a run stands when one more photo wants to begin.

    ``tries`` have ended and spent ``spent``; ``under_way`` have begun; ``seconds`` is the time on the run's clock.
    ``finished`` and ``first_tries_under_way`` count photos, without those that are tried again.
    """

    spent: Spent
    tries: int
    under_way: int
    seconds: float
    finished: int
    first_tries_under_way: int


def in_the_way(limits: RunLimits, so_far: SoFar, *, again: bool = False) -> LimitName | None:
    """Which limit one more photo might pass; None where it may begin.

    What is under way is taken to use what tries used on average so far. Where nothing is known of that, neither from
    tries nor from a photo's own budget, the first photo goes alone.
    """
    usage = so_far.spent.usage
    tokens = usage.input_tokens + usage.output_tokens
    if limits.tokens is not None and not _fits(limits.tokens, tokens, limits.tokens_per_photo, so_far):
        return "tokens"
    if limits.usd is not None and (
        usage.cost_usd is None or not _fits(limits.usd, usage.cost_usd, limits.usd_per_photo, so_far)
    ):
        return "usd"
    if limits.seconds is not None:
        usual = so_far.spent.seconds / so_far.tries if so_far.tries else 0.0
        if so_far.seconds >= limits.seconds or so_far.seconds + usual > limits.seconds:
            return "seconds"
    if limits.photos is not None and not again and so_far.finished + so_far.first_tries_under_way >= limits.photos:
        return "photos"
    return None


def _fits(limit: float, used: float, cap: float | None, so_far: SoFar) -> bool:
    if used >= limit:
        return False
    if so_far.tries >= _ENOUGH_TO_JUDGE or (cap is None and so_far.tries):
        each = used / so_far.tries
    elif cap is not None:
        each = cap
    else:
        return so_far.under_way == 0
    return used + each * (so_far.under_way + 1) <= limit


def limit_words(limits: RunLimits, name: LimitName, spent: Spent) -> str:
    """How a limit and what was used of it are told."""
    usage = spent.usage
    match name:
        case "tokens":
            return f"{limits.tokens:,} tokens ({usage.input_tokens + usage.output_tokens:,} used)"
        case "usd" if usage.cost_usd is None:
            return f"{limits.usd:g} USD can't be kept: the price of this model is not known"
        case "usd":
            return f"{limits.usd:g} USD ({usage.cost_usd:.4f} used)"
        case "seconds":
            return f"{limits.seconds:g} seconds"
        case "photos":
            return f"{limits.photos:,} photos"
