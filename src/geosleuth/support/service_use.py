"""Counts of services' requests, failures and replacements, taken inside a block."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from geosleuth.support.errors import ServiceFault, UserError

# A service that failed in a larger share of its calls is listed at the top of a report.
ALARMING_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class ServiceUse:
    """Requests to a service and their outcomes.

    ``failed`` of the ``asked`` calls got no answer from it: it failed, took too long, or was left alone because it had
    failed a moment ago. ``fallbacks`` of these were answered by something else, such as the offline atlas.
    """

    name: str
    asked: int = 0
    failed: int = 0
    fallbacks: int = 0

    @property
    def is_alarming(self) -> bool:
        """Return whether it failed too often for figures to be trusted."""
        return self.failed > ALARMING_SHARE * self.asked

    def __str__(self) -> str:
        if not self.failed:
            return f"{self.name}: {self.asked:,} asked, none failed"
        share = f"{100 * self.failed / self.asked:.2g} %"
        return f"{self.name}: {self.failed:,} of {self.asked:,} failed ({share}), {self.fallbacks:,} by a fallback"


def alarms(uses: Iterable[ServiceUse]) -> list[str]:
    """Return a line for each service that failed too often for figures to be trusted."""
    return [f"{use}; the answers may be worse than with a service that works" for use in uses if use.is_alarming]


def merge_uses(uses: Iterable[ServiceUse]) -> tuple[ServiceUse, ...]:
    """Return the sums for each service, by name."""
    sums: dict[str, ServiceUse] = {}
    for use in uses:
        known = sums.get(use.name, ServiceUse(use.name))
        sums[use.name] = ServiceUse(
            use.name, known.asked + use.asked, known.failed + use.failed, known.fallbacks + use.fallbacks
        )
    return tuple(sums[name] for name in sorted(sums))


_counting: ContextVar[list[ServiceUse] | None] = ContextVar("uses of services", default=None)


@contextmanager
def counting_services() -> Iterator[list[ServiceUse]]:
    """Collect what is counted within the block, in tasks and threads that begin there too; merge it afterwards."""
    uses: list[ServiceUse] = []
    token = _counting.set(uses)
    try:
        yield uses
    finally:
        _counting.reset(token)


def count_service(name: str, *, asked: int = 0, failed: int = 0, fallbacks: int = 0) -> None:
    """Count for a service, where anybody counts."""
    uses = _counting.get()
    if uses is not None:
        uses.append(ServiceUse(name, asked, failed, fallbacks))


@contextmanager
def asking_service(name: str) -> Iterator[None]:
    """Count the block as one call of a service, and as failed if it has a `ServiceFault` or is cut short.

    A refusal counts as nothing: the service was not asked what it does not offer.
    """
    try:
        yield
    except UserError:
        raise
    except ServiceFault as fault:
        fault.service = name
        count_service(name, asked=1, failed=1)
        raise
    except BaseException:
        count_service(name, asked=1, failed=1)
        raise
    count_service(name, asked=1)
