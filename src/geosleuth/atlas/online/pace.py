"""Not too fast: requests to one host keep their distance in time, whichever task or atlas sends them."""

import math
import threading
import time

_lock = threading.Lock()
_next_free: dict[str, float] = {}
_last_sent: dict[str, float] = {}


def reserve(host: str, spacing_s: float, longest_s: float) -> float | None:
    """Take the next free moment of a host; the seconds until then, or None where that is longer than bearable.

    The moments belong to the whole process, so that two atlases can't together ask twice as often. A moment that is
    taken and not used is lost.
    """
    with _lock:
        now = time.monotonic()
        moment = max(now, _next_free.get(host, 0.0))
        if moment - now > longest_s:
            return None
        _next_free[host] = moment + spacing_s
        return moment - now


def claim(host: str, spacing_s: float) -> float:
    """Take this very moment, once a reserved one has come; 0 on success, else the seconds that are still missing.

    A program that was busy wakes up late, and two requests whose moments have both passed would leave together.
    """
    with _lock:
        now = time.monotonic()
        missing_s = _last_sent.get(host, -math.inf) + spacing_s - now
        if missing_s > 0:
            return missing_s
        _last_sent[host] = now
        return 0.0


def postpone(host: str, wait_s: float) -> None:
    """Leave a host alone for a while, as it asked."""
    with _lock:
        _next_free[host] = max(_next_free.get(host, 0.0), time.monotonic() + wait_s)
