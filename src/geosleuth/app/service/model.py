"""What the service takes in and gives out: rows, requests, feedback, what readers are told, and why it refuses."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from geosleuth.answer.granularity import Granularity
from geosleuth.errors import BadInput, UserError
from geosleuth.photo import Limits

RunState = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
"""A run waits, is worked on, came to its end, broke, was called off, or its server ended while it was worked on."""

JPEG_QUALITY = 86
"""Of the pictures that pages are shown."""

ACTIVE: tuple[RunState, ...] = ("queued", "running")


class NotThere(BadInput):
    """There is no such case, photo, run or picture."""


class WrongState(BadInput):
    """It can't be done as things stand: a run is not over yet, or over already."""


class TooLarge(BadInput):
    """What was sent is larger than the service takes."""


class TooMany(BadInput):
    """The service holds or waits for as many as it takes; something must be finished or deleted first."""


class NeedsConsent(UserError):
    """Photos would leave this machine: nobody agreed to these hosts yet."""

    def __init__(self, hosts: Iterable[str], words: str) -> None:
        """Name the hosts, and say in one line what would go where."""
        self.hosts = tuple(sorted(hosts))
        self.words = words
        super().__init__(f"{words}; agree to it first")


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """What the service takes in at most.

    ``opening_bytes`` is the memory of the process that opens photos, as far as the system can limit it, and
    ``opening_s`` its time for one photo. ``asking_s`` is the time for a file, a picture or a check. ``run_bytes`` is
    the memory of each process that works on runs or reads them; None leaves it to `share_of_memory`, 0 sets no limit.
    ``uploads`` is how many photos come in at once.
    """

    photo: Limits = field(default_factory=Limits)
    photos_per_case: int = 24
    cases: int = 100_000
    waiting_runs: int = 500
    title_characters: int = 200
    notes_characters: int = 20_000
    opening_bytes: int = 6 * 1024**3
    opening_s: float = 60.0
    run_bytes: int | None = None
    uploads: int = 32
    asking_s: float = 120.0
    cancel_s: float = 0.5


def share_of_memory(workers: int) -> int:
    """Return how much memory a worker may have: three quarters of the machine's for all, and at least 6 GiB for each.

    A photo of 200 million pixels takes 4 GB while it is opened.
    """
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        there = 0
    return max(6 * 1024**3, there * 3 // 4 // max(1, workers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What holds for all runs until it is changed; keys are no part of it.

    Attributes:
        model: who thinks where a request names nobody; None is the detective.
        base_url: where that model is served.
        offline: nothing is asked over the network, not even this machine's own.
        granularity: no run tells, or keeps, anything finer.
        retention_days: cases that nobody changed for so long are deleted; None keeps them.
        online_tiles: a template of map tiles from the network, where somebody wants them.
    """

    model: str | None = None
    base_url: str | None = None
    offline: bool = True
    granularity: Granularity = "exact"
    retention_days: int | None = None
    online_tiles: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a run is to do; the words are those of ``geosleuth locate``.

    ``area`` is a GeoJSON geometry, as somebody drew it, that the place lies in; ``within`` says so in words instead.
    ``send_to`` names the hosts that photos may be sent to.
    """

    model: str | None = None
    base_url: str | None = None
    method: str | None = None
    parallel: int = 1
    verifier: str | None = None
    within: str | None = None
    area: Mapping[str, Any] | None = None
    hint: str | None = None
    taken: str | None = None
    drives_on: str | None = None
    granularity: Granularity = "exact"
    turns: int | None = None
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None
    force_answer: bool = False
    send_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a person says about a run: clues and candidates that are wrong, by their ids, and what else they know.

    ``send_to`` names further hosts that photos may be sent to.
    """

    reject_clues: tuple[str, ...] = ()
    reject_candidates: tuple[str, ...] = ()
    hint: str | None = None
    area: Mapping[str, Any] | None = None
    within: str | None = None
    send_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One thing that readers of a run are told; ids count from 0 in each run, ``at`` is the time since 1970."""

    id: int
    kind: str
    data: dict[str, Any] = field(hash=False)
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class PhotoRow:
    """A photo of a case: its number there, the name that its file had, and what was found when it was opened."""

    case: str
    number: int
    name: str
    bytes: int
    width: int
    height: int
    format: str
    kind: str
    sha256: str
    added: datetime


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run of a case.

    Attributes:
        parent: the run that it continues.
        granularity: how finely it tells and keeps places.
        photos: the numbers of the photos that it works on.
        answer: in short: place, lat, lon, radius_km, probability; None where there is none (yet).
        trouble: in one line, where something went wrong.
        position: how many runs are before it while it waits, itself counted: 1 is the next.
        rejected: what people rejected so far: ``clues`` and ``places``.
    """

    id: str
    case: str
    parent: str | None
    state: RunState
    request: RunRequest
    granularity: Granularity
    photos: tuple[int, ...]
    created: datetime
    started: datetime | None = None
    ended: datetime | None = None
    answer: dict[str, Any] | None = field(default=None, hash=False)
    trouble: str | None = None
    position: int | None = None
    rejected: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def active(self) -> bool:
        """Whether it waits or is worked on."""
        return self.state in ACTIVE


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case: photos of one place, and the runs that worked on them, oldest first."""

    id: str
    title: str
    notes: str
    created: datetime
    changed: datetime
    photos: tuple[PhotoRow, ...] = ()
    runs: tuple[RunRow, ...] = ()
