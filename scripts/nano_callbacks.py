"""When a run of GRPO ends, and how its rate falls: callbacks of `scripts/train_nano.py` for transformers' trainers."""

import time
from pathlib import Path
from typing import Any


def stopping(base: Any, path: Path) -> Any:
    """A callback that ends a run after the step whose number a file comes to hold."""

    class Stopping(base):  # type: ignore[misc]
        def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> Any:
            if path.is_file() and state.global_step >= int(path.read_text()):
                control.should_training_stop = True
            return control

    return Stopping()


def fading(base: Any, rate: float, seconds: float) -> Any:
    """A callback that lets a constant rate fall to nothing from half of the time on: late steps then add little noise.

    Of how many steps a run will have only its time is known, so it can't be left to a schedule.
    """

    class Fading(base):  # type: ignore[misc]
        began: float | None = None

        def on_step_begin(self, _args: Any, _state: Any, control: Any, **given: Any) -> Any:
            self.began = self.began or time.monotonic()
            left = max(0.0, 1 - (time.monotonic() - self.began) / seconds)
            schedule = getattr(given["lr_scheduler"], "scheduler", given["lr_scheduler"])
            schedule.base_lrs = [min(1.0, 2 * left) * rate for _ in schedule.base_lrs]
            return control

    return Fading()
