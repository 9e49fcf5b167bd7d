"""How the rate of a run of GRPO falls: a callback of `examples/nano/train_nano.py` for transformers' trainers."""

import time
from typing import Any


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
