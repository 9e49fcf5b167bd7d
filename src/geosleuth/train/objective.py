"""What groups of replies are rewarded for, beyond each reply by itself: the best of k. And what must carry no loss.

Pure numpy; `geosleuth.train.grpo` hangs it into TRL.
"""

from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geosleuth.errors import BadInput, DataFault

_EPSILON = 1e-4  # as in TRL, so that both objectives treat groups of equal rewards alike

Array = NDArray[np.float64]


def check_k(k: int, group: int) -> None:
    """Refuse a k for which there is no estimate.

    Raises:
        BadInput: it is below 1, or leaves no k other replies to compare with.
    """
    if not 1 <= k < group:
        raise BadInput(f'the objective "pass@k" needs 1 <= k < group; k is {k} and the group has {group} replies')


def expected_best(rewards: ArrayLike, k: int) -> Array:
    """The mean, over all choices of k replies of a group, of the best reward among them.

    It is what best-of-k earns, estimated without bias from the whole group. For rewards of 0 and 1 it is the usual
    pass@k.

    Args:
        rewards: the last axis is the group.
        k: how many are drawn; at most the size of the group.
    """
    ordered = np.sort(np.asarray(rewards, dtype=np.float64), axis=-1)
    return np.asarray(ordered @ _chances(ordered.shape[-1], k), dtype=np.float64)


def best_of_k_advantages(rewards: ArrayLike, k: int) -> Array:
    """How much each reply adds to best-of-k: the unbiased gradient's weight of each reply, before any scaling.

    For reply i it is ``k * (W - O)``. W is the mean best reward over all sets of k replies that hold i, O that over all
    sets of k of the others. O does not depend on reply i, so it is a baseline that leaves the gradient of the expected
    best of k without bias. With k = 1 it is the reward less the mean of the other rewards.

    Args:
        rewards: a row a group, a column a reply.
        k: how many replies the best is taken of.

    Raises:
        BadInput: see `check_k`.
    """
    table = np.atleast_2d(np.asarray(rewards, dtype=np.float64))
    size = table.shape[1]
    check_k(k, size)
    columns = np.arange(size)
    others = np.sort(np.stack([table[:, columns != one] for one in columns], axis=1), axis=-1)
    # The best of a set that holds i is that of i and of k - 1 others.
    held = table[:, :, None]
    with_it = np.maximum(held, others) @ _chances(size - 1, k - 1) if k > 1 else table
    without_it = others @ _chances(size - 1, k)
    return np.asarray(k * (with_it - without_it), dtype=np.float64)


def scaled_advantages(rewards: ArrayLike, k: int) -> Array:
    """`best_of_k_advantages` over the spread of rewards in each group, as plain GRPO scales its own."""
    table = np.atleast_2d(np.asarray(rewards, dtype=np.float64))
    spread = table.std(axis=1, ddof=1, keepdims=True)
    return np.asarray(best_of_k_advantages(table, k) / (spread + _EPSILON), dtype=np.float64)


def _chances(size: int, k: int) -> Array:
    """How likely each of ``size`` values in rising order is the largest of k drawn without putting back."""
    return np.array([comb(below, k - 1) for below in range(size)], dtype=np.float64) / comb(size, k)


def check_loss_mask(batch: Any, image_tokens: frozenset[int]) -> None:
    """Make sure that no picture's token in the replies of a TRL batch carries loss: no model ever writes one.

    Raises:
        DataFault: one does; the mask is broken, and training would teach the model its tools' answers.
    """
    mask = batch["completion_mask"] * batch.get("tool_mask", 1)
    for token in image_tokens:
        if bool(((batch["completion_ids"] == token) * mask).any()):
            raise DataFault("tokens of a picture that a tool returned carry loss; the mask of this batch is broken")
