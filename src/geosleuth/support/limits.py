"""Handling of failing or busy hosts: a breaker, growing waits between tries, and the final message."""

import random
import time

from geosleuth.support.errors import Offline, ServiceFault


class TryLater(ServiceFault):
    """The host is overloaded or limits the rate, and asks to come back in ``wait_s`` seconds."""

    def __init__(self, host: str, trouble: str, wait_s: float) -> None:
        super().__init__(host, trouble, retryable=True)
        self.wait_s = wait_s


class Breaker:
    """A circuit breaker for one host.

    Closed, all requests pass. After too many failures in a row it opens, and none passes. After a rest it is half open:
    one request passes as a probe, and its outcome closes or reopens the breaker.
    """

    def __init__(self, failures: int, rest_s: float) -> None:
        """Open after ``failures`` in a row, for ``rest_s``."""
        self._limit = failures
        self._rest_s = rest_s
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Return whether no request passes but a probe."""
        return self._opened_at is not None

    @property
    def rest_left_s(self) -> float:
        """Seconds until the next request may pass; 0 if it may now."""
        if self._opened_at is None:
            return 0.0
        left = self._opened_at + self._rest_s - time.monotonic()
        return max(left, 0.1 if self._probing else 0.0)

    def enter(self) -> bool:
        """Return whether a request may pass now; if half open, it becomes the probe."""
        if self._opened_at is None:
            return True
        if self.rest_left_s > 0:
            return False
        self._probing = True
        return True

    def record_success(self) -> None:
        """Close: the host answered."""
        self._failures = 0
        self._opened_at = None
        self._probing = False

    def failed(self) -> None:
        """Count a failure, and open after the last allowed one or a failed probe."""
        self._failures += 1
        if self._probing or self._failures >= self._limit:
            self._opened_at = time.monotonic()
        self._probing = False

    def release_probe(self) -> None:
        """Let another request probe: this one was cancelled before the host answered."""
        self._probing = False


def backoff_s(failures: int, first_s: float, max_s: float) -> float:
    """Return the wait after so many failures: it doubles each time, with random jitter so that clients spread out."""
    longest_s = min(max_s, first_s * 2.0 ** (failures - 1))
    return random.uniform(longest_s / 2, longest_s)  # noqa: S311  (keeps no secret)


def after_tries(fault: ServiceFault, tries: int) -> ServiceFault:
    """Return the last fault with the number of tries in its message."""
    if tries == 1:
        return fault
    trouble = f"{fault.trouble} (tried {tries} times)"
    if isinstance(fault, Offline):
        return Offline(fault.host, trouble)
    return ServiceFault(fault.host, trouble, retryable=fault.retryable)
