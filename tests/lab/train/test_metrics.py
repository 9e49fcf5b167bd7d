"""Figures of a run: one line a step, also after it was killed."""

import json
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.training_log import (
    GPU_MEMORY,
    GPU_UTILISATION,
    TOKENS_PER_SECOND,
    GpuWatch,
    Recorder,
    metrics_callback,
    read_metrics,
)


def recorder(folder: Path, **options: Any) -> Recorder:
    return Recorder(folder, "grpo", **{"tensorboard": False, **options})


def steps(path: Path) -> list[int]:
    return [json.loads(line)["step"] for line in path.read_text().splitlines()]


def test_a_line_holds_what_is_a_number(tmp_path: Path) -> None:
    writing = recorder(tmp_path, figures=lambda: {GPU_UTILISATION: 0.97})
    writing.begin(0)
    writing.write(1, {"loss": 0.5, "kl": float("nan"), "reward": None, "words": "x", "tools/call_frequency": 2})
    writing.end()
    (line,) = [json.loads(text) for text in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert line.pop("seconds") >= 0
    assert line == {"step": 1, "stage": "grpo", "loss": 0.5, "tools/call_frequency": 2, GPU_UTILISATION: 0.97}


def test_speed_comes_from_tokens_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 102.0, 107.0, 108.0])
    # The name in that module alone: threads of other tests go on asking the real clock.
    monkeypatch.setattr("geosleuth.lab.train.training_log.monotonic", lambda: next(clock))
    writing = recorder(tmp_path)
    writing.begin(0)
    first, second, third = (
        writing.write(step, {"num_tokens": tokens}) for step, tokens in ((1, 50), (2, 550), (3, 20))
    )
    writing.end()
    assert TOKENS_PER_SECOND not in first
    assert (second[TOKENS_PER_SECOND], second["seconds"]) == (100.0, 7.0)
    # A count that begins anew, as after a resume, is no speed.
    assert TOKENS_PER_SECOND not in third


def test_a_killed_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    killed = recorder(tmp_path)
    killed.begin(0)
    for step in range(1, 8):
        killed.write(step, {"loss": 1.0})
    killed.end()
    path = tmp_path / "metrics.jsonl"
    with path.open("ab") as stream:
        stream.write(b'{"step": 8, "seco')
    before_s = read_metrics(path)[4]["seconds"]
    again = recorder(tmp_path)
    again.begin(5)
    for step in range(6, 10):
        again.write(step, {"loss": 2.0})
    again.end()
    assert steps(path) == list(range(1, 10))
    lines = read_metrics(path)
    assert [line["loss"] for line in lines] == [1.0] * 5 + [2.0] * 4
    assert lines[5]["seconds"] >= before_s


def test_the_watch_means_what_it_saw(tmp_path: Path) -> None:
    shares = iter([0.5, 1.0, 0.75])
    seen = threading.Event()

    def busy() -> float:
        try:
            return next(shares)
        except StopIteration:
            seen.set()
            raise RuntimeError("the driver can't say") from None

    watch = GpuWatch(busy, lambda: 3_000_000_000, every_s=0.001).start()
    assert seen.wait(10)
    writing = recorder(tmp_path, figures=watch)
    writing.begin(0)
    first, second = (writing.write(step, {}) for step in (1, 2))
    writing.end()
    assert (first[GPU_UTILISATION], first[GPU_MEMORY]) == (0.75, 3.0)
    # Nobody could say anything since: a figure that is not known is left out.
    assert GPU_UTILISATION not in second


def trained(folder: Path, *, until: int, resume: bool, callback: Any) -> None:
    """Some steps of a real trainer on one weight."""
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")

    class One(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))

        def forward(self, x: Any, labels: Any) -> dict[str, Any]:
            return {"loss": ((self.weight * x - labels) ** 2).mean()}

    rows = [{"x": float(i), "labels": 0.0} for i in range(16)]
    args = transformers.TrainingArguments(
        output_dir=str(folder / "checkpoints"), max_steps=until, per_device_train_batch_size=2, logging_steps=1,
        save_steps=2, report_to=[], use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    transformers.Trainer(model=One(), args=args, train_dataset=rows, callbacks=[callback]).train(
        resume_from_checkpoint=resume
    )


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")
def test_a_trainer_tells_the_recorder(tmp_path: Path) -> None:
    pytest.importorskip(
        "transformers", reason="transformers is not installed; it is part of the developers' environment"
    )
    trained(tmp_path, until=4, resume=False, callback=metrics_callback(tmp_path, "sft", tensorboard=False))
    path = tmp_path / "metrics.jsonl"
    assert steps(path) == [1, 2, 3, 4]
    with path.open("a") as stream:
        stream.write('{"step": 5, "loss": 99}\n')
    trained(tmp_path, until=6, resume=True, callback=metrics_callback(tmp_path, "sft", tensorboard=False))
    lines = read_metrics(path)
    assert steps(path) == [1, 2, 3, 4, 5, 6]
    assert {line["stage"] for line in lines} == {"sft"}
    assert all(line["loss"] != 99 and line["grad_norm"] >= 0 for line in lines)
    assert "6 steps" in (tmp_path / "run.html").read_text(encoding="utf-8")


class Watch:
    """A GPU that is always half busy; knows whether it is asked."""

    asked = False

    def start(self) -> None:
        self.asked = True

    def stop(self) -> None:
        self.asked = False

    def __call__(self) -> dict[str, float]:
        assert self.asked
        return {GPU_UTILISATION: 0.5}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")
def test_the_gpu_is_watched_while_it_trains_and_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(
        "transformers", reason="transformers is not installed; it is part of the developers' environment"
    )
    watch = Watch()
    monkeypatch.setattr("geosleuth.lab.train.training_log.watch_gpu", lambda: watch)
    callback = metrics_callback(tmp_path, "sft", tensorboard=False)
    assert not watch.asked
    trained(tmp_path, until=2, resume=False, callback=callback)
    assert not watch.asked
    assert [line[GPU_UTILISATION] for line in read_metrics(tmp_path / "metrics.jsonl")] == [0.5, 0.5]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_reads_what_was_written(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed; it is part of the developers' environment")
    for begun, loss in ((0, 1.0), (2, 2.0)):
        writing = recorder(tmp_path, tensorboard=True)
        writing.begin(begun)
        for step in range(begun + 1, begun + 4):
            writing.write(step, {"loss": loss})
        writing.end()
    events: Any = import_module("tensorboard.backend.event_processing.event_accumulator")
    read = events.EventAccumulator(str(tmp_path / "tensorboard"))
    read.Reload()
    assert [(one.step, one.value) for one in read.Scalars("loss")] == [(1, 1.0), (2, 1.0), (3, 2.0), (4, 2.0), (5, 2.0)]
