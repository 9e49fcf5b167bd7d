"""Learning from shards: on the assistant's words alone, past a gradient that is no number, and in slices."""

from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from later import later
from nano import trainer
from nano.shards import Encoded, ShardWriter, encode_chat
from nano.trainer import Study, fresh_batches, study
from nano_models import TOOLS, chat, noise, tiny_nano_folder, tiny_nano_processor

torch = later("torch")
later("trl")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

TOWNS = ("Nice", "Tromsø", "Ulaanbaatar", "Oaxaca de Juárez", "Ναύπλιο", "ひまわり", "Paris", "Bo")


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two kinds of chats, with and without a picture."""
    folder = tmp_path_factory.mktemp("pool")
    with ShardWriter(folder, "levels", "w", samples=4) as shards:
        for number, town in enumerate(TOWNS):
            shards.add(encode_chat(tiny_nano_processor(), chat(noise(64, 64, number), city=town), None))
    with ShardWriter(folder, "format", "w") as shards:
        for town in TOWNS:
            shards.add(encode_chat(tiny_nano_processor(), chat(city=town), TOOLS))
    return folder


def model() -> Any:
    """The tiny model, as it is before it has learned anything."""
    torch.set_num_threads(1)
    transformers: Any = import_module("transformers")
    return transformers.Qwen3VLForConditionalGeneration.from_pretrained(tiny_nano_folder())


def how(**changes: Any) -> Study:
    usual: dict[str, Any] = {"weights": {"levels": 1.0, "format": 1.0}, "steps": 2, "learning_rate": 1e-2}
    return Study(**usual | {"tokens": 512, "loaders": 0} | changes)


def weights(of: Any) -> dict[str, Any]:
    return {name: one.detach().clone() for name, one in of.named_parameters()}


def test_the_loss_is_that_of_the_assistants_words(tmp_path: Path) -> None:
    sample = encode_chat(tiny_nano_processor(), chat(noise(64, 64)), TOOLS)
    with ShardWriter(tmp_path / "pool", "levels", "w") as shards:
        shards.add(sample)
    student = model()
    inputs: Any = tiny_nano_processor().apply_chat_template(
        chat(noise(64, 64)), tools=TOOLS, tokenize=True, return_dict=True, return_tensors="pt"
    )
    with torch.no_grad():
        chances = student(**inputs).logits[0, :-1].log_softmax(-1)
    own = -chances.gather(1, inputs["input_ids"][0, 1:, None])[:, 0].numpy()
    wanted, whole = own[sample.mask[1:]].mean(), own.mean()
    assert abs(wanted - whole) > 0.001
    found = study(student, tiny_nano_processor(), tmp_path / "pool", how(steps=3), tmp_path / "run", log_steps=1)
    # The rate rises from nothing: the first step moves no weight yet.
    first, _, last = (line["loss"] for line in found["history"])
    assert first == pytest.approx(wanted, abs=2e-4)
    assert last < first
    assert (found["steps"], found["skipped"]) == (3, 0)
    assert found["tokens"] >= 3 * len(sample)


@pytest.mark.parametrize(
    ("enough", "steps"), [(0.0, 3), *(pytest.param(one, 5, marks=pytest.mark.slow) for one in (1.01, None))]
)
def test_a_run_ends_when_three_lines_in_a_row_are_good_enough(
    pool: Path, tmp_path: Path, enough: float | None, steps: int
) -> None:
    found = study(model(), tiny_nano_processor(), pool, how(steps=5, enough=enough), tmp_path, log_steps=1)
    assert found["steps"] == steps


def test_good_lines_count_only_in_a_row() -> None:
    content = trainer._content(object, 0.95)
    stopped = []
    for right in (0.97, 0.96, 0.9, 0.97, 0.97, 0.95, 0.2):
        control = SimpleNamespace(should_training_stop=False)
        stopped.append(content.on_log(None, None, control, {"mean_token_accuracy": right}).should_training_stop)
    assert stopped == [False, False, False, False, False, True, False]


@pytest.mark.slow
def test_a_gradient_that_is_no_number_is_passed_over(pool: Path, tmp_path: Path) -> None:
    student = model()
    before = weights(student)
    spoiled: list[Any] = []

    def spoil(gradient: Any) -> Any:
        if spoiled:
            return gradient
        spoiled.append(gradient)
        return gradient * float("nan")

    next(student.model.language_model.layers.parameters()).register_hook(spoil)
    found = study(student, tiny_nano_processor(), pool, how(steps=3), tmp_path, log_steps=1)
    assert (found["steps"], found["skipped"]) == (3, 1)
    after = weights(student)
    assert all(bool(torch.isfinite(one).all()) for one in after.values())
    assert any(not torch.equal(one, before[name]) for name, one in after.items())


@pytest.mark.slow
def test_slices_end_with_the_weights_of_a_run_that_never_stopped(pool: Path, tmp_path: Path) -> None:
    whole, sliced = model(), model()
    study(whole, tiny_nano_processor(), pool, how(steps=4), tmp_path / "whole")
    steps = []
    for seconds in (0.0, 0.0, None):
        # Every slice is a process of its own, which has nothing but the folder.
        sliced = model()
        told = study(sliced, tiny_nano_processor(), pool, how(steps=4, seconds=seconds), tmp_path / "sliced")
        steps.append(told["steps"])
    assert steps == [1, 2, 4]
    expected = weights(whole)
    assert all(torch.equal(one, expected[name]) for name, one in weights(sliced).items())


def numbers(samples: Sequence[Encoded]) -> list[bytes]:
    return [sample.input_ids.tobytes() for sample in samples]


@pytest.mark.parametrize("loaders", [1, 3])
@pytest.mark.parametrize("start", [0, 1, 5, 13])
def test_loaders_go_on_where_they_were(pool: Path, loaders: int, start: int) -> None:
    """Trainers ask the loaders in turn, and after a restart the first one first."""

    def in_turn(start: int, count: int) -> list[list[bytes]]:
        each = [
            fresh_batches(pool, how(), numbers, start=start, loader=loader, loaders=loaders)
            for loader in range(loaders)
        ]
        return [next(each[step % loaders]) for step in range(count)]

    assert in_turn(start, 6) == in_turn(0, start + 6)[start:]


def test_draws_keep_to_kinds_limits_and_tokens(pool: Path) -> None:
    drawn = list(islice(fresh_batches(pool, how(weights={"levels": 1.0}, limit={"levels": 2}), list), 40))
    there = {sample.input_ids.tobytes() for batch in drawn for sample in batch}
    first = [encode_chat(tiny_nano_processor(), chat(noise(64, 64), city=town), None) for town in TOWNS[:2]]
    assert there == {sample.input_ids.tobytes() for sample in first}
    assert all(len(batch) * 64 * -(-max(map(len, batch)) // 64) <= 512 or len(batch) == 1 for batch in drawn)
    other = list(islice(fresh_batches(pool, how(weights={"levels": 1.0}, seed=1), list), 1))
    assert not np.array_equal(numbers(other[0])[:3], numbers(drawn[0])[:3])


def test_a_pool_that_is_still_empty_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = encode_chat(tiny_nano_processor(), chat(), None)

    def write(_seconds: float) -> None:
        with ShardWriter(tmp_path, "levels", "w") as shards:
            shards.add(sample)

    monkeypatch.setattr("nano.trainer.sleep", write)
    assert numbers(next(fresh_batches(tmp_path, how(), list)))[0] == sample.input_ids.tobytes()


@pytest.mark.slow
def test_processes_that_load_make_the_same_batches(pool: Path, tmp_path: Path) -> None:
    whole, sliced = model(), model()
    study(whole, tiny_nano_processor(), pool, how(steps=4, loaders=2), tmp_path / "whole")
    for seconds in (0.0, None):
        sliced = model()
        study(sliced, tiny_nano_processor(), pool, how(steps=4, loaders=2, seconds=seconds), tmp_path / "sliced")
    expected = weights(whole)
    assert all(torch.equal(one, expected[name]) for name, one in weights(sliced).items())
