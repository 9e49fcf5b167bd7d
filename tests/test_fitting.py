"""Logistic regression: the weights are where the loss is lowest, and stay where they are allowed."""

import numpy as np
import pytest

from geosleuth.geo import FloatArray
from geosleuth.support.fitting import Adam, logistic, multinomial, probabilities

RNG = np.random.default_rng(4)
ROWS: FloatArray = np.c_[np.ones(400), RNG.standard_normal((400, 3))]
TRUE = np.array([0.5, 2.0, -1.0, 0.0])
RIGHT: FloatArray = (RNG.random(400) < probabilities(ROWS @ TRUE)).astype(np.float64)


def slope_at(weights: FloatArray, ridge: float, centre: FloatArray) -> FloatArray:
    slope: FloatArray = ROWS.T @ (RIGHT - probabilities(ROWS @ weights)) - ridge * (weights - centre)
    return slope


@pytest.mark.parametrize("centre", [np.zeros(4), np.array([0.0, 1.0, 1.0, 1.0])])
@pytest.mark.parametrize("curved_rows", [None, 50])
def test_the_loss_is_level_at_the_weights(centre: FloatArray, curved_rows: int | None) -> None:
    found = logistic(ROWS, RIGHT, 2.0, centre=centre, curved_rows=curved_rows)
    np.testing.assert_allclose(slope_at(found, 2.0, centre), 0, atol=1e-4)
    np.testing.assert_allclose(found, TRUE, atol=0.6)


def test_weights_stay_where_they_are_allowed() -> None:
    least = np.array([-np.inf, 0.0, 0.0, 0.0])
    found = logistic(ROWS, RIGHT, 1.0, least=least)
    assert found[2] == 0
    slope = slope_at(found, 1.0, np.zeros(4))
    assert slope[2] < 0
    np.testing.assert_allclose(slope[[0, 1]], 0, atol=1e-4)


def test_without_rows_weights_are_their_centre() -> None:
    centre = np.array([0.0, 1.0])
    np.testing.assert_array_equal(logistic(np.zeros((0, 2)), np.zeros(0), 1.0, centre=centre), centre)


def test_where_all_are_right_the_ridge_holds_the_weights() -> None:
    assert np.isfinite(logistic(ROWS, np.ones(400), 1.0)).all()


def test_several_classes_are_told_apart() -> None:
    label = RNG.integers(0, 3, 300)
    rows = (np.eye(3)[label] + 0.1 * RNG.standard_normal((300, 3))).astype(np.float32)
    weights, offsets = multinomial(rows, label, 3, strength=0.001, steps=50)
    assert ((rows @ weights + offsets).argmax(axis=1) == label).mean() > 0.99


def test_adam_walks_as_torch_does() -> None:
    torch = pytest.importorskip("torch", reason="torch checks Adam; install the dev extra")
    ours = np.array([1.0, -2.0, 3.0])
    theirs = torch.tensor(ours.copy(), requires_grad=True)
    adam, walker = Adam(0.1), torch.optim.AdamW([theirs], lr=1e-2, weight_decay=0.1)
    for _ in range(5):
        walker.zero_grad()
        (theirs**4).sum().backward()
        adam.walk([ours], [4 * ours**3], 1e-2)
        walker.step()
        np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-6, atol=1e-8)
