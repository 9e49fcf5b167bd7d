"""What the learned trust is compared with: a plain vote, and smileGeo's election. Neither can hold a truth."""

from collections.abc import Sequence

import numpy as np

from geosleuth.team.agreement import AGREE_WITHIN_KM

from .design import TOGETHER_KM
from .panel import IntArray, Panel


def plain_vote(panel: Panel, order: Sequence[int]) -> IntArray:
    """The agent with most others within 25 km; of equals the first in ``order``; -1 where nobody gave a point."""
    support = (panel.apart_km <= TOGETHER_KM).sum(axis=2) + panel.answered
    first = np.empty(len(order))
    first[np.asarray(order)] = np.arange(len(order))[::-1]
    chosen = (support * (len(order) + 1) + np.where(panel.answered, first, 0)).argmax(axis=1)
    return np.where(panel.answered.any(axis=1), chosen, -1).astype(np.int64)


def elected_answers(panel: Panel, order: Sequence[int], elected: int = 2) -> IntArray:
    """SmileGeo on answers that no talk can change: the elected agree within 50 km, or the first of them is believed.

    An elected agent without a point is replaced by the next in ``order``. The most agreed answer among those elected
    wins, the first elected of equals; -1 where nobody gave a point.
    """
    chosen = np.full(len(panel), -1, dtype=np.int64)
    for row in range(len(panel)):
        speaking = [who for who in order if panel.answered[row, who]][:elected]
        if speaking:
            near = panel.apart_km[row][np.ix_(speaking, speaking)] <= AGREE_WITHIN_KM
            chosen[row] = speaking[int(near.sum(axis=1).argmax())]
    return chosen
