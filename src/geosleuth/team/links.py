"""How the links between members change when an answer turns out right or wrong: pure rules, no state.

Only the links from whoever answered to those who reviewed that answer change. How much depends on ``tt``, the number of
right answers in a row: of a right answer the row that it ends, of a wrong one the row that it breaks, and at least 1.

rule        right answer         wrong answer
default     (2 tt + 1) / (2 tt)  (2 tt - 1) / (2 tt)
printed     (tt + 1) / (2 tt)    (2 tt - 1) / (2 tt)

The printed rule of smileGeo leaves a link as it is after a first right answer and weakens it after every further one.
"""

from collections.abc import Iterable
from typing import Literal

LinkRule = Literal["default", "printed"]
Links = tuple[tuple[float, ...], ...]
"""Weights in the order of the members, from the row's member to the column's; a link to oneself is 0."""


def full_links(count: int) -> Links:
    """Everybody is linked to everybody else with weight 1."""
    return tuple(tuple(0.0 if i == j else 1.0 for j in range(count)) for i in range(count))


def next_streak(streak: int, *, right: bool) -> int:
    """How many right answers in a row there are after one more answer."""
    return streak + 1 if right else 0


def link_factor(streak: int, *, right: bool, rule: LinkRule = "default") -> float:
    """What a link is multiplied by; ``streak`` is how many right answers in a row came before this one."""
    tt = max(1, next_streak(streak, right=True) if right else streak)
    if not right:
        return (2 * tt - 1) / (2 * tt)
    return (tt + 1) / (2 * tt) if rule == "printed" else (2 * tt + 1) / (2 * tt)


def updated_links(
    links: Links, answerer: int, reviewers: Iterable[int], *, right: bool, streak: int, rule: LinkRule = "default"
) -> Links:
    """The links after an answer; those to members that did not review it stay as they are.

    Args:
        links: as they were.
        answerer: whose answer it was.
        reviewers: who was drawn to review it in this round.
        right: whether the answer was right.
        streak: how many right answers in a row the answerer had given before.
        rule: which rule, see the top of this module.
    """
    drawn = frozenset(reviewers) - {answerer}
    factor = link_factor(streak, right=right, rule=rule)
    row = tuple(weight * factor if j in drawn else weight for j, weight in enumerate(links[answerer]))
    return tuple(row if i == answerer else kept for i, kept in enumerate(links))
