"""The trust network with torch: the same as with numpy, and a run that is stopped goes on."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from geosleuth.lab.teams.learning.rounds import PAPER, TrainSettings
from geosleuth.lab.teams.learning.torch_training import Interruption, TrainingStopped, torch_slopes
from geosleuth.lab.teams.learning.training import Examples, Targets, loss, slope, train
from geosleuth.support.errors import BadInput
from geosleuth.teams.network import Dimensions, Parameters, Weights, forward, fresh_parameters, predicted
from later import later

later("torch")

BY_NUMPY = TrainSettings(
    embedding=12, fea=8, hidden=6, rate=1e-2, epochs=30, batch=7, averaged=5, patience=0, held_out=0.0,
    distance_weight=1.0, decay=0.0, folds=0,
)  # fmt: skip
BY_TORCH = replace(BY_NUMPY, engine="torch")


def lessons(pictures: int = 20, members: int = 4, width: int = 30) -> Examples:
    """Pictures of as many kinds as there are members; each member is right about its own."""
    rng = np.random.default_rng(5)
    kind = rng.integers(0, members, pictures)
    features = rng.standard_normal((members, width))[kind] + 0.3 * rng.standard_normal((pictures, width))
    labels = np.full((pictures, members), 0.2)
    labels[np.arange(pictures), kind] = 0.9
    links = rng.random((pictures, members, members)) * (1 - np.eye(members))
    links /= links.sum(axis=2, keepdims=True)
    arrays = (one.astype(np.float32) for one in (labels, 1 - labels, links))
    return Examples(features.astype(np.float32), Targets(*arrays))


def apart(a: Weights, b: Weights) -> float:
    pairs = zip(a.parameters.arrays(), b.parameters.arrays(), strict=True)
    return max(float(np.abs(one - other).max()) for one, other in pairs)


def test_the_other_order_gives_the_same_loss_and_slopes() -> None:
    import torch

    rng = np.random.default_rng(3)
    size = Dimensions(members=5, embedding=7, fea=6, hidden=4)
    shapes = [one.shape for one in fresh_parameters(size, rng).arrays()]
    parameters = Parameters(*(0.5 * rng.standard_normal(shape) for shape in shapes))
    examples = lessons(9, 5, 7)
    wanted = examples.targets
    encoded = rng.standard_normal((9, 7))
    given = [torch.tensor(one, requires_grad=True) for one in parameters.arrays()]
    targets = tuple(torch.tensor(np.float64(one)) for one in (wanted.labels, wanted.distances, wanted.links))
    found = torch_slopes(torch, given, torch.tensor(encoded), targets, 0.7)
    found.backward()
    expected, slopes = slope(parameters, encoded, wanted, 0.7)
    assert found.item() == pytest.approx(expected, rel=1e-6)
    assert expected == pytest.approx(loss(forward(parameters, encoded), wanted, 0.7))
    for one, by_hand in zip(given, slopes, strict=True):
        assert one.grad is not None
        assert np.allclose(one.grad.numpy(), by_hand, atol=1e-7)


def test_torch_learns_what_numpy_learns() -> None:
    examples = lessons()
    by_numpy, by_torch = train(examples, BY_NUMPY), train(examples, BY_TORCH)
    assert apart(by_numpy, by_torch) < 1e-3
    assert predicted(by_torch, examples.features)[0] == pytest.approx(
        predicted(by_numpy, examples.features)[0], abs=2e-3
    )


def stopping_after(epochs: int) -> Iterator[bool]:
    yield from [False] * (epochs - 1)
    while True:
        yield True


def test_a_run_that_is_stopped_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    examples, kept = lessons(), tmp_path / "team.db.training"
    whole = train(examples, BY_TORCH)
    answers = stopping_after(12)
    with pytest.raises(TrainingStopped):
        train(examples, BY_TORCH, interruption=Interruption(kept, lambda: next(answers)))
    assert kept.is_file()
    done: list[int] = []
    resumed = train(examples, BY_TORCH, lambda epoch, _all: done.append(epoch), Interruption(kept))
    assert done[0] == 12
    assert apart(whole, resumed) < 1e-6
    assert not kept.exists()


def test_what_was_kept_of_other_lessons_is_not_taken(tmp_path: Path) -> None:
    kept, answers = tmp_path / "training", stopping_after(3)
    with pytest.raises(TrainingStopped):
        train(lessons(), BY_TORCH, interruption=Interruption(kept, lambda: next(answers)))
    done: list[int] = []
    train(lessons(21), BY_TORCH, lambda epoch, _all: done.append(epoch), Interruption(kept))
    assert done[0] == 0
    kept.write_bytes(b"no tensors")
    done.clear()
    train(lessons(), BY_TORCH, lambda epoch, _all: done.append(epoch), Interruption(kept))
    assert done[0] == 0


def test_the_papers_size_is_for_torch_which_holds_nothing_out() -> None:
    assert (PAPER.engine, PAPER.embedding, PAPER.epochs) == ("torch", 1024, 2500)
    with pytest.raises(BadInput, match="holds no pictures out"):
        replace(BY_TORCH, held_out=0.2)
