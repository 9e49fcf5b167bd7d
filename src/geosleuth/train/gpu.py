"""How busy the GPU is while it trains: asked now and then by a thread, summed up when somebody wants to know."""

import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from .metrics import GPU_MEMORY, GPU_UTILISATION

EVERY_S = 0.5
_GB = 1e9


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
        threading.Thread(target=self._work, name="gpu-watch", daemon=True).start()
        return self

    def stop(self) -> None:
        """Ask no more."""
        self._ended.set()

    def __call__(self) -> dict[str, float]:
        """The figures, by the names of `geosleuth.train.metrics`."""
        with self._lock:
            total, asked = self._sum, self._asked
            self._sum, self._asked = 0.0, 0
        found = {GPU_MEMORY: round(self._memory_bytes() / _GB, 3)}
        if asked:
            found[GPU_UTILISATION] = round(total / asked, 4)
        return found

    def _work(self) -> None:
        # Drivers that can't say raise errors of many kinds; a figure less is no reason to end a run.
        with suppress(Exception):
            ended = self._ended
            while not ended.wait(self._every_s):
                share = self._busy()
                with self._lock:
                    self._sum, self._asked = self._sum + share, self._asked + 1


def watch_gpu() -> GpuWatch | None:
    """A watch over this process's GPU, not yet started; None where torch sees no GPU."""
    torch: Any = import_module("torch")
    cuda = torch.cuda
    if not cuda.is_available():
        return None
    device = cuda.current_device()
    return GpuWatch(lambda: float(cuda.utilization(device)) / 100, lambda: int(cuda.max_memory_allocated(device)))
