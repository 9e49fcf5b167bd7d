"""Inputs and outputs of the service: rows, requests, feedback, texts, and refusals."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, Literal

from geosleuth.answer.formats import FORMATS, Format
from geosleuth.answer.granularity import Granularity
from geosleuth.photo import PhotoLimits
from geosleuth.photo.video_limits import VideoLimits
from geosleuth.support.errors import BadInput, UserError
from geosleuth.support.processes import machine_memory

RunState = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
"""A run waits, is worked on, came to its end, broke, was called off, or its server ended while it was worked on."""

# JPEG quality of the pictures shown on pages.
JPEG_QUALITY = 86

ACTIVE: tuple[RunState, ...] = ("queued", "running")

_SEARCHED_CHARACTERS = 100_000
_NAME_CHARACTERS = 120
_TURNS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNNAMED = "photo"
_EXPORT_CHARACTERS = 80
_NO_LETTERS = re.compile(r"[^\w-]+")
PAGE = "html"
TRAJECTORY = "jsonl"
BY_ENDING: Mapping[str, Format] = {item.ending.removeprefix("."): item for item in FORMATS.values()}
PACKAGE = "zip"
# All output files: a report, files for other programs, the trajectory and an evidence package.
FILES: tuple[str, ...] = (PAGE, *BY_ENDING, TRAJECTORY, PACKAGE)


class NotThere(BadInput):
    """There is no such case, photo, run or picture."""


class WrongState(BadInput):
    """It can't be done as things stand: a run is not over yet, or over already."""


class TooLarge(BadInput):
    """Input larger than the service takes."""


class TooMany(BadInput):
    """The service holds or waits for as many as it takes; something must be finished or deleted first."""


class NeedsConsent(UserError):
    """Photos would leave this machine for hosts without consent."""

    def __init__(self, hosts: Iterable[str], words: str) -> None:
        """Name the hosts, and say in one line what would go where."""
        self.hosts = tuple(sorted(hosts))
        self.words = words
        super().__init__(f"{words}; agree to it first")


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """The largest inputs of the service.

    ``opening_bytes`` is the memory of the process that opens photos, as far as the system can limit it, and
    ``opening_s`` its time for one photo. ``asking_s`` is the time for a file, a picture or a check. ``run_bytes`` is
    the memory of each process that works on runs or reads them; None leaves it to `share_of_memory`, 0 sets no limit.
    ``uploads`` is how many photos come in at once. ``video`` is what a video may cost.
    """

    photo: PhotoLimits = field(default_factory=PhotoLimits)
    video: VideoLimits = field(default_factory=VideoLimits)
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
    return max(6 * 1024**3, machine_memory() * 3 // 4 // max(1, workers))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Settings for all runs; keys are stored elsewhere.

    Attributes:
        model: the default model; None is the detective.
        base_url: where that model is served.
        offline: nothing is asked over the network, not even this machine's own.
        granularity: no run shows, or stores, anything finer.
        retention_days: cases unchanged for this long are deleted; None keeps them.
        quota_mb: megabytes that all cases may take on the disk; None for as many as it holds.
        online_tiles: a URL template of map tiles from the network; None for none.
    """

    model: str | None = None
    base_url: str | None = None
    offline: bool = True
    granularity: Granularity = "exact"
    retention_days: int | None = None
    quota_mb: int | None = None
    online_tiles: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Options of a run, named as those of ``geosleuth locate``.

    ``area`` is a GeoJSON geometry, that the place lies in; ``within`` says so in words instead.
    ``send_to`` names the hosts that photos may be sent to; ``profile`` a set-up, see `geosleuth.pipeline.profiles`.
    """

    profile: str | None = None
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
    seen: str | None = None
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
    """Feedback of a person: wrong clues and candidates, by their ids, and what else is known.

    ``reject_texts`` are lines, as they were read, that are not about the place; ``readings`` say what stands in a part
    of a photo, as `geosleuth.models.feedback.Reading` has it. ``send_to`` names further hosts that photos may be
    sent to.
    """

    reject_clues: tuple[str, ...] = ()
    reject_candidates: tuple[str, ...] = ()
    reject_texts: tuple[str, ...] = ()
    readings: tuple[Mapping[str, Any], ...] = ()
    hint: str | None = None
    area: Mapping[str, Any] | None = None
    within: str | None = None
    send_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a run for its readers; ids count from 0 in each run, ``at`` is a Unix time."""

    id: int
    kind: str
    data: dict[str, Any] = field(hash=False)
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class PhotoRow:
    """A photo of a case: its number there, the name that its file had, and what was found when it was opened.

    ``not_a_photo`` is what a picture looks like that is no photograph: "screenshot", "document" or "drawing".
    """

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
    not_a_photo: str | None = None


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run of a case.

    Attributes:
        parent: the run that it continues.
        granularity: how finely it shows and stores places.
        photos: the numbers of the photos that it works on.
        answer: in short: place, lat, lon, radius_km, probability; None if there is none (yet).
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
        """Return whether the run is queued or running."""
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


def when(seconds: float | None) -> datetime | None:
    """Return a stored time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def moment(seconds: float) -> datetime:
    """Return a stored time that is always there."""
    return datetime.fromtimestamp(seconds, UTC)


def readable(text: str) -> str:
    """Return a text that can be stored, without half surrogate pairs."""
    return text.encode("utf-8", "replace").decode()


def build_search_text(*texts: str) -> str:
    """Return what searches look at, in one line and one case."""
    return " ".join(readable(" ".join(texts)).casefold().split())[:_SEARCHED_CHARACTERS]


def request_to_dict(request: RunRequest) -> dict[str, Any]:
    """Return a request as plain JSON."""
    return {**asdict(request), "send_to": list(request.send_to)}


def request_from_dict(plain: Mapping[str, Any]) -> RunRequest:
    """Return a stored request."""
    return RunRequest(**{**plain, "send_to": tuple(plain["send_to"])})


def case_row(row: Sequence[Any], photos: Sequence[PhotoRow], runs: Sequence[RunRow]) -> CaseRow:
    """Return a case."""
    case_id, title, notes, created, changed = row
    return CaseRow(case_id, title, notes, moment(created), moment(changed), tuple(photos), tuple(runs))


def photo_row(row: Sequence[Any]) -> PhotoRow:
    """Return a photo."""
    case, number, name, size, width, height, form, kind, sha256, added, nature = row
    return PhotoRow(case, number, name, size, width, height, form, kind, sha256, moment(added), nature)


def run_row(row: Sequence[Any]) -> RunRow:
    """Return a run from its row."""
    run_id, case, parent, state, request, rejected, photos, granularity, created, started, ended, answer, trouble = row
    return RunRow(
        id=run_id,
        case=case,
        parent=parent,
        state=state,
        request=request_from_dict(json.loads(request)),
        granularity=granularity,
        photos=tuple(json.loads(photos)),
        created=moment(created),
        started=when(started),
        ended=when(ended),
        answer=None if answer is None else json.loads(answer),
        trouble=trouble,
        rejected=json.loads(rejected),
    )


def event_row(row: Sequence[Any]) -> StreamEvent:
    """Return an event from its row."""
    told_id, kind, data, at = row
    return StreamEvent(told_id, kind, json.loads(data), at)


def text(words: str, most: int, what: str) -> str:
    """Return a text of several lines.

    Raises:
        BadInput: it is too long.
    """
    # A nul ends a text too early.
    clean = readable(words).replace("\0", "")
    if len(clean) > most:
        raise BadInput(f"the {what} has more than {most:,} characters; shorten it")
    return clean


def line(words: str, most: int, what: str) -> str:
    """Return a text of one line.

    Raises:
        BadInput: it is too long.
    """
    return " ".join(_strip_controls(text(words, most, what)).split())


def file_name(words: str) -> str:
    """Return what a photo's file was called, without folders and without what no name should hold."""
    last = PurePosixPath(text(words[:4000], 4000, "name").replace("\\", "/")).name
    clean = " ".join(_strip_controls(last).split())
    return clean[-_NAME_CHARACTERS:] or _UNNAMED


def export_name(*names: str) -> str:
    """Return a file name, without suffix, for any system, from the first name with letters or digits."""
    safe = (_NO_LETTERS.sub("-", unicodedata.normalize("NFC", name))[:_EXPORT_CHARACTERS].strip("-_") for name in names)
    return next(filter(None, safe), _UNNAMED)


def _strip_controls(words: str) -> str:
    unwanted = (word for word in words if word in _TURNS or unicodedata.category(word) in ("Cc", "Zl", "Zp"))
    return words.translate(dict.fromkeys(map(ord, unwanted), " "))
