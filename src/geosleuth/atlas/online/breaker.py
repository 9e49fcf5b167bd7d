"""A host that keeps failing is left alone for a while, then tried with one request."""

import time


class Breaker:
    """Closed: requests pass. Open, after failures in a row: none does. Half open, after a rest: one does."""

    def __init__(self, failures: int, rest_s: float) -> None:
        """Open after so many failures, for so long."""
        self._limit = failures
        self._rest_s = rest_s
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether the host is left alone, but for a probe."""
        return self._opened_at is not None

    @property
    def rest_left_s(self) -> float:
        """How long until the next request may pass; 0 where it may now."""
        if self._opened_at is None:
            return 0.0
        left = self._opened_at + self._rest_s - time.monotonic()
        return max(left, 0.1 if self._probing else 0.0)

    def enter(self) -> bool:
        """Whether a request may pass now; in the half-open state the one that passes is the probe."""
        if self._opened_at is None:
            return True
        if self.rest_left_s > 0:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        """The host answered: all is well again."""
        self._failures = 0
        self._opened_at = None
        self._probing = False

    def failed(self) -> None:
        """The host failed once more."""
        self._failures += 1
        if self._probing or self._failures >= self._limit:
            self._opened_at = time.monotonic()
        self._probing = False

    def abandoned(self) -> None:
        """The request was given up before the host could answer; another one may probe."""
        self._probing = False
