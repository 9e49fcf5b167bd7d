"""Log of a training run: one JSON object per logged step, TensorBoard figures, and GPU use.

Names are TRL's own (``loss``, ``reward``, ``kl``, ``tools/call_frequency`` ...), so they are familiar;
those that TRL has no word for are named here.
"""

import json
import math
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

from geosleuth.photo.runtime import no_probing
from geosleuth.support.errors import BadInput, install_command, require
from geosleuth.support.files import write_bytes_atomically

from .run_folder import TrainingFolder

TOKENS_PER_SECOND = "tokens_per_second"
# Share of time in which the GPU was busy, from 0 to 1.
GPU_UTILISATION = "gpu_utilisation"
GPU_MEMORY = "gpu_memory_gb"
# Prefix of metrics for held-out scenes or photos, see `geosleuth.lab.train.evaluation.summary_figures`.
EVALUATION = "evaluation/"
_PART, _WITHIN = "reward_parts/", "accuracy/"
# What `Trainer.train` sums up at its end; it belongs to the whole run, not to its last step.
_SUMMARY = frozenset({"train_runtime", "train_loss", "train_samples_per_second", "train_steps_per_second"})
_PAGE_EVERY_S = 60.0

Line = dict[str, Any]
Figures = Callable[[], Mapping[str, float]]

EVERY_S = 0.5
_GB = 1e9


def part_name(part: str) -> str:
    """Return the name of one part of a reward, its mean over the replies of a step."""
    return f"{_PART}{part}"


def within_name(km: float) -> str:
    """Return the name of the share of replies whose point lies within a distance of the truth."""
    return f"{_WITHIN}{km:g}km"


def parse_part(name: str) -> str | None:
    """Return which part of a reward a name is about; see `part_name`."""
    return name.removeprefix(_PART) if name.startswith(_PART) else None


def parse_distance(name: str) -> float | None:
    """Return which distance in km a name is about; see `within_name`."""
    if not (name.startswith(_WITHIN) and name.endswith("km")):
        return None
    with suppress(ValueError):
        return float(name.removeprefix(_WITHIN).removesuffix("km"))
    return None


def read_metrics(path: Path) -> list[Line]:
    """Read the lines of a run in order of steps; lines of one step are merged.

    A last line that was cut by a sudden end is left out; a file that is not there has no lines.

    Raises:
        BadInput: it can't be read, or a line before the last is no line of figures.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    whole, _, _cut = data.rpartition(b"\n")
    by_step: dict[int, Line] = {}
    for number, text in enumerate(whole.split(b"\n") if whole else (), 1):
        line = _parse_line(text)
        if line is None:
            raise BadInput(f"{path}, line {number}: not a JSON object with a step; move the file away to continue")
        by_step.setdefault(line["step"], {}).update(line)
    return [by_step[step] for step in sorted(by_step)]


def drop_after(path: Path, step: int) -> list[Line]:
    """Take the lines past a step out of a file, and a line that was cut: they will be written again.

    Returns:
        The lines that stay.

    Raises:
        BadInput: see `read_metrics`, or the file can't be written.
    """
    lines = [line for line in read_metrics(path) if line["step"] <= step]
    if path.exists():
        write_bytes_atomically(path, b"".join(_encode_line(line) for line in lines))
    return lines


def _parse_line(text: bytes) -> Line | None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("step"), int) else None


def _encode_line(line: Line) -> bytes:
    return json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace") + b"\n"


class Recorder:
    """Writes a run's figures; knows nothing of trainers. One process of a run has one.

    Args:
        folder: of the run.
        stage: written into every line.
        tensorboard: write its event files too, where it is installed.
        figures: asked at every line for more, such as `GPU_UTILISATION`.
    """

    def __init__(
        self,
        folder: Path,
        stage: str,
        *,
        tensorboard: bool = True,
        figures: Figures | None = None,
    ) -> None:
        """Nothing is opened before `begin`."""
        self._folder, self._stage, self._wants_tensorboard = TrainingFolder(folder), stage, tensorboard
        self._figures = figures
        self._handle: int | None = None
        self._writer: Any = None
        self._before_s = self._began = 0.0
        self._last: tuple[float, float] | None = None

    @property
    def path(self) -> Path:
        """The file of figures."""
        return self._folder.metrics

    def begin(self, step: int) -> None:
        """Start, or resume from a checkpoint of so many steps: later lines are dropped, seconds continue.

        Raises:
            BadInput: the file can't be read or written.
        """
        self._folder.path.mkdir(parents=True, exist_ok=True)
        kept = drop_after(self.path, step)
        self._before_s = max((float(line.get("seconds", 0.0)) for line in kept), default=0.0)
        self._began, self._last = monotonic(), None
        self.end()
        self._handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        if self._wants_tensorboard:
            self._writer = self._open_writer(step)

    def write(self, step: int, figures: Mapping[str, Any]) -> Line:
        """Add a line; what is no finite number is left out of it."""
        now = monotonic()
        line: Line = {"step": step, "seconds": round(self._before_s + now - self._began, 3), "stage": self._stage}
        line |= {name: number for name, value in figures.items() if (number := _finite(value)) is not None}
        line |= self._speed(now, line)
        if self._figures is not None:
            line |= {name: number for name, value in self._figures().items() if (number := _finite(value)) is not None}
        if self._handle is None:
            raise RuntimeError("begin() was not called")
        os.write(self._handle, _encode_line(line))
        if self._writer is not None:
            for name, value in line.items():
                if name not in ("step", "stage"):
                    self._writer.add_scalar(name, value, step)
            self._writer.flush()
        return line

    def sync(self) -> None:
        """Make sure that what was written outlives a power cut."""
        if self._handle is not None:
            os.fsync(self._handle)

    def end(self) -> None:
        """Close what is open."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _speed(self, now: float, line: Line) -> Line:
        tokens = line.get("num_tokens")
        if tokens is None:
            return {}
        last, self._last = self._last, (now, float(tokens))
        if last is None or now <= last[0] or tokens < last[1]:
            return {}
        speed = (tokens - last[1]) / (now - last[0])
        return {TOKENS_PER_SECOND: round(speed, 2)}

    def _open_writer(self, step: int) -> Any:
        if missing_tensorboard() is not None:
            return None
        with no_probing():
            module: Any = import_module("torch.utils.tensorboard")
        # What a killed run had written past its checkpoint is hidden by purging from the next step on.
        return module.SummaryWriter(log_dir=str(self._folder.tensorboard), purge_step=step + 1 if step else None)


def missing_tensorboard() -> str | None:
    """Return one line that says how to get TensorBoard; None if it is installed."""
    try:
        found = find_spec("tensorboard") is not None
    except ValueError:
        found = False
    return (
        None
        if found
        else f"TensorBoard is not installed, so its files are not written; run: {install_command('train')}"
    )


def _finite(value: Any) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) else None


class _Hooks:
    """Callbacks of a trainer; a class of ``transformers`` becomes their base where it is installed."""

    def __init__(self, recorder: Recorder, page: Callable[[], object], watch: Any = None) -> None:
        self._recorder, self._page, self._watch = recorder, page, watch
        self._drawn_at = monotonic()

    def on_train_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            self._recorder.begin(state.global_step)
            if self._watch is not None:
                self._watch.start()

    def on_log(self, _args: Any, state: Any, _control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        if not state.is_world_process_zero or not logs or not _SUMMARY.isdisjoint(logs):
            return
        self._recorder.write(state.global_step, logs)
        if monotonic() - self._drawn_at > _PAGE_EVERY_S:
            self._draw()

    def on_save(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            self._recorder.sync()
            self._draw()

    def on_train_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            self._recorder.sync()
            self._recorder.end()
            if self._watch is not None:
                self._watch.stop()
            self._draw()

    def _draw(self) -> None:
        self._page()
        self._drawn_at = monotonic()


def metrics_callback(folder: Path, stage: str, *, tensorboard: bool = True) -> Any:
    """Return a ``transformers.TrainerCallback`` that keeps a run's figures and its page, from the first process alone.

    The page is redrawn at checkpoints, at the end, and about once a minute in between. A GPU that is there is watched;
    arguments are those of `Recorder`.

    Raises:
        MissingExtra: transformers is not installed.
    """
    from .run_page import write_page

    with no_probing():
        transformers: Any = require("transformers", extra="train")
        base: Any = transformers.TrainerCallback
        watch = watch_gpu()
    recorder = Recorder(folder, stage, tensorboard=tensorboard, figures=watch)
    return type("Metrics", (_Hooks, base), {})(recorder, lambda: write_page(folder), watch)


class GpuWatch:
    """Asks a device every half second; calling it gives the mean since the last call, and the most memory held.

    Args:
        busy: the share of the last moment in which the device was busy, 0 to 1.
        memory_bytes: the most memory that was held since the process began.
        every_s: how often it is asked.
    """

    def __init__(self, busy: Callable[[], float], memory_bytes: Callable[[], int], *, every_s: float = EVERY_S) -> None:
        """Nothing is asked before `start`."""
        self._busy, self._memory_bytes, self._every_s = busy, memory_bytes, every_s
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._sum, self._asked = 0.0, 0

    def start(self) -> "GpuWatch":
        """Begin to ask. The thread ends with the process, with `stop`, or when the device can't say."""
        self._ended = threading.Event()
        threading.Thread(target=self._sample_gpus, name="gpu-watch", daemon=True).start()
        return self

    def stop(self) -> None:
        """Ask no more."""
        self._ended.set()

    def __call__(self) -> dict[str, float]:
        """Return the figures by the names of `geosleuth.lab.train.training_log`."""
        with self._lock:
            total, asked = self._sum, self._asked
            self._sum, self._asked = 0.0, 0
        found = {GPU_MEMORY: round(self._memory_bytes() / _GB, 3)}
        if asked:
            found[GPU_UTILISATION] = round(total / asked, 4)
        return found

    def _sample_gpus(self) -> None:
        # Drivers that can't say raise errors of many kinds; a figure less is no reason to end a run.
        with suppress(Exception):
            ended = self._ended
            while not ended.wait(self._every_s):
                share = self._busy()
                with self._lock:
                    self._sum, self._asked = self._sum + share, self._asked + 1


def watch_gpu() -> GpuWatch | None:
    """Return a watch over this process's GPU, not yet started; None if torch sees no GPU."""
    torch: Any = import_module("torch")
    cuda = torch.cuda
    if not cuda.is_available():
        return None
    device = cuda.current_device()
    return GpuWatch(lambda: float(cuda.utilization(device)) / 100, lambda: int(cuda.max_memory_allocated(device)))
