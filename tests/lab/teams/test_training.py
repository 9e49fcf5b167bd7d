"""Training the trust network: a run that is stopped goes on."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from geosleuth.lab.teams.learning.rounds import TrainSettings
from geosleuth.lab.teams.learning.training import Examples, Interruption, Targets, TrainingStopped, train
from geosleuth.teams.network import Weights
from later import later

later("torch")

LONG = TrainSettings(
    embedding=12, fea=8, hidden=6, rate=1e-2, epochs=30, batch=7, averaged=5, patience=0, held_out=0.0,
    distance_weight=1.0, decay=0.0, folds=0,
)  # fmt: skip
EARLY = replace(LONG, averaged=0, patience=40, held_out=0.3, decay=1e-2)


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


def stopping_after(epochs: int) -> Iterator[bool]:
    yield from [False] * (epochs - 1)
    while True:
        yield True


@pytest.mark.parametrize("settings", [LONG, EARLY])
def test_a_run_that_is_stopped_ends_as_if_it_had_not_been(settings: TrainSettings, tmp_path: Path) -> None:
    examples, kept = lessons(), tmp_path / "team.db.training"
    whole = train(examples, settings)
    answers = stopping_after(12)
    with pytest.raises(TrainingStopped):
        train(examples, settings, interruption=Interruption(kept, lambda: next(answers)))
    assert kept.is_file()
    done: list[int] = []
    resumed = train(examples, settings, lambda epoch, _all: done.append(epoch), Interruption(kept))
    assert done[0] == 12
    assert apart(whole, resumed) < 1e-6
    assert not kept.exists()


def test_what_was_kept_of_other_lessons_is_not_taken(tmp_path: Path) -> None:
    kept, answers = tmp_path / "training", stopping_after(3)
    with pytest.raises(TrainingStopped):
        train(lessons(), LONG, interruption=Interruption(kept, lambda: next(answers)))
    done: list[int] = []
    train(lessons(21), LONG, lambda epoch, _all: done.append(epoch), Interruption(kept))
    assert done[0] == 0
    kept.write_bytes(b"no tensors")
    done.clear()
    train(lessons(), LONG, lambda epoch, _all: done.append(epoch), Interruption(kept))
    assert done[0] == 0
