"""Updates of trust between members: the weights of links after a reviewed answer.

Only links from the member who answered to those who reviewed it change. The factor depends on ``tt``, the streak of
right answers: for a right answer including it, for a wrong one the streak that it breaks, and at least 1.

rule        right answer         wrong answer
default     (2 tt + 1) / (2 tt)  (2 tt - 1) / (2 tt)
printed     (tt + 1) / (2 tt)    (2 tt - 1) / (2 tt)
released    (2 tt - 1) / (2 tt), and 1 / (2 tt) is added after a right answer; tt counts wrong answers in a row, too

SmileGeo's printed rule leaves a link unchanged after a first right answer and weakens it after every further one.
"""

from collections.abc import Iterable
from typing import Literal

LinkRule = Literal["default", "printed", "released"]
Links = tuple[tuple[float, ...], ...]
"""Weights in the members' order, from the row's member to the column's; a link to oneself is 0."""
# Threshold at or below which smileGeo's released code cuts a link (config.py, link-threshold).
MIN_RELEASED_LINK = 0.001


def full_links(count: int, rule: LinkRule = "default") -> Links:
    """Return the links that a rule begins with: all of weight 1, or of one half with the released rule."""
    weight = 0.5 if rule == "released" else 1.0
    return tuple(tuple(0.0 if i == j else weight for j in range(count)) for i in range(count))


def next_streak(streak: int, *, right: bool) -> int:
    """Return the streak after one more answer: so many right ones in a row, or, below zero, so many wrong ones."""
    return max(streak, 0) + 1 if right else min(streak, 0) - 1


def link_factor(streak: int, *, right: bool, rule: LinkRule = "default") -> float:
    """Return the factor of a link; ``streak`` is that of `next_streak` before this answer.

    The released rule also adds 1 / 2tt after a right answer, see `update_links`; its tt counts answers of either kind.
    """
    if rule == "released":
        tt = abs(next_streak(streak, right=right))
        return (2 * tt - 1) / (2 * tt)
    tt = max(1, next_streak(streak, right=True) if right else streak)
    if not right:
        return (2 * tt - 1) / (2 * tt)
    return (tt + 1) / (2 * tt) if rule == "printed" else (2 * tt + 1) / (2 * tt)


def update_links(
    links: Links, answerer: int, reviewers: Iterable[int], *, right: bool, streak: int, rule: LinkRule = "default"
) -> Links:
    """Return the links after an answer; links to members that did not review it stay the same.

    Args:
        links: the links before.
        answerer: the member who answered.
        reviewers: the members who reviewed it in this round.
        right: whether the answer was right.
        streak: how many answers of one kind in a row the answerer gave before, see `next_streak`.
        rule: "default" is ours, "printed" the paper's formula, "released" that of its code: links stay between 0 and
            1, each further answer of one kind moves them less, and one that falls to 0.001 is cut. There one counter
            serves all links; here each member has its own.
    """
    drawn = frozenset(reviewers) - {answerer}
    factor = link_factor(streak, right=right, rule=rule)
    added = 1.0 - factor if right and rule == "released" else 0.0

    def update_weight(weight: float) -> float:
        after = weight * factor + added
        return 0.0 if rule == "released" and after <= MIN_RELEASED_LINK else after

    row = tuple(update_weight(weight) if j in drawn else weight for j, weight in enumerate(links[answerer]))
    return tuple(row if i == answerer else kept for i, kept in enumerate(links))
