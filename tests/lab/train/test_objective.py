"""Advantages of the best of k: against all choices, one by one, and against what they are to estimate."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.train.grpo import best_of_k_advantages, check_loss_mask, compute_scaled_advantages
from geosleuth.support.errors import BadInput, DataFault

REWARDS = st.sampled_from((0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0))


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[float], int]:
    rewards = draw(st.lists(REWARDS | st.floats(-2, 3), min_size=2, max_size=7))
    return rewards, draw(st.integers(1, len(rewards) - 1))


def best_mean(choices: list[tuple[float, ...]]) -> float:
    return sum(max(choice) for choice in choices) / len(choices)


@given(groups())
def test_advantages_are_those_of_all_choices_counted_out(drawn: tuple[list[float], int]) -> None:
    rewards, k = drawn
    sets = list(combinations(range(len(rewards)), k))
    counted = [
        k
        * (
            best_mean([tuple(rewards[j] for j in chosen) for chosen in sets if i in chosen])
            - best_mean([tuple(rewards[j] for j in chosen) for chosen in sets if i not in chosen])
        )
        for i in range(len(rewards))
    ]
    assert best_of_k_advantages([rewards], k)[0] == pytest.approx(counted, abs=1e-12)


def test_with_k_of_1_it_is_plain_grpo_but_for_the_constant_of_leaving_one_out() -> None:
    rewards = np.array([[0.0, 0.2, 0.9, 0.4], [1.0, 1.0, 0.0, 0.5]])
    plain = (rewards - rewards.mean(axis=1, keepdims=True)) / (rewards.std(axis=1, ddof=1, keepdims=True) + 1e-4)
    assert compute_scaled_advantages(rewards, 1) == pytest.approx(plain * 4 / 3)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_gradient_has_no_bias(k: int) -> None:
    """All groups of four that a policy over three replies can draw, weighed by how likely they are."""
    group, earned = 4, np.array([0.0, 0.3, 1.0])
    logits = np.array([0.4, -0.1, -0.9])
    chance = np.exp(logits) / np.exp(logits).sum()
    estimate, true = np.zeros(3), np.zeros(3)
    for drawn in np.ndindex(*(3,) * group):
        weight = chance[list(drawn)].prod()
        advantages = best_of_k_advantages([earned[list(drawn)]], k)[0]
        for reply, advantage in zip(drawn, advantages, strict=True):
            estimate += weight * advantage * (np.eye(3)[reply] - chance) / group
    for drawn in np.ndindex(*(3,) * k):
        weight, best = chance[list(drawn)].prod(), earned[list(drawn)].max()
        true += weight * best * sum(np.eye(3)[reply] - chance for reply in drawn)
    assert estimate == pytest.approx(true, abs=1e-12)


def test_equal_rewards_teach_nothing() -> None:
    assert compute_scaled_advantages([[0.4] * 8], 4) == pytest.approx(np.zeros((1, 8)), abs=1e-9)


@pytest.mark.parametrize(("k", "group"), [(0, 4), (4, 4), (5, 4)])
def test_a_k_without_an_estimate_is_refused(k: int, group: int) -> None:
    with pytest.raises(BadInput, match="1 <= k < group"):
        best_of_k_advantages([[0.0] * group], k)


def test_a_picture_that_carries_loss_is_found() -> None:
    ids, written = np.array([[5, 9, 9, 6]]), np.ones((1, 4), dtype=np.int64)
    masked = np.array([[1, 0, 0, 1]])
    check_loss_mask({"completion_ids": ids, "completion_mask": written, "tool_mask": masked}, frozenset({9}))
    with pytest.raises(DataFault, match="carry loss"):
        check_loss_mask({"completion_ids": ids, "completion_mask": written}, frozenset({9}))
