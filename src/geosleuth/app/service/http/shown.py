"""What answers hold: the types that the OpenAPI document promises.

What a run tells and comes to is in `views`, made from the service's own shapes.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from geosleuth.answer.granularity import Granularity
from geosleuth.app.service import CaseRow, PhotoRow, RunRow, RunState


class Shown(BaseModel):
    """Just what is named."""

    model_config = ConfigDict(extra="forbid")


class View(BaseModel):
    """At least what is named."""

    model_config = ConfigDict(extra="allow")


class Trouble(Shown):
    """Why a request was refused."""

    kind: str
    message: str
    hosts: list[str] | None = Field(default=None, exclude_if=lambda value: value is None)


class Failure(Shown):
    """The one shape of every refusal."""

    error: Trouble


class Health(Shown):
    """We live."""

    status: Literal["ok"]
    version: str


class PhotoShown(Shown):
    """A photo of a case; the pictures themselves have addresses of their own."""

    number: int
    name: str
    bytes: int
    width: int
    height: int
    format: str
    kind: str
    sha256: str
    added: float

    @classmethod
    def of(cls, row: PhotoRow) -> "PhotoShown":
        """As the service has it."""
        return cls(
            number=row.number, name=row.name, bytes=row.bytes, width=row.width, height=row.height,
            format=row.format, kind=row.kind, sha256=row.sha256, added=row.added.timestamp(),
        )  # fmt: skip


class Summary(View):
    """A run's answer in short."""

    place: str | None = None
    lat: float | None = None
    lon: float | None = None
    radius_km: float | None = None
    probability: float | None = None


class Wanted(View):
    """What a run was asked to do."""

    model: str | None = None
    within: str | None = None
    area: dict[str, Any] | None = None
    hint: str | None = None
    granularity: Granularity = "exact"


class RunShown(Shown):
    """A run; times are seconds since 1970."""

    id: str
    case: str
    parent: str | None
    state: RunState
    request: Wanted
    granularity: Granularity
    photos: list[int]
    created: float
    started: float | None
    ended: float | None
    answer: Summary | None
    trouble: str | None
    position: int | None
    rejected: dict[str, Any]

    @classmethod
    def of(cls, row: RunRow) -> "RunShown":
        """As the service has it."""
        return cls(
            id=row.id, case=row.case, parent=row.parent, state=row.state, request=_wanted(row),
            granularity=row.granularity, photos=list(row.photos), created=row.created.timestamp(),
            started=_seconds(row.started), ended=_seconds(row.ended),
            answer=None if row.answer is None else Summary.model_validate(row.answer),
            trouble=row.trouble, position=row.position, rejected=dict(row.rejected),
        )  # fmt: skip


class CaseShown(Shown):
    """A case; times are seconds since 1970."""

    id: str
    title: str
    notes: str
    created: float
    changed: float
    photos: list[PhotoShown]
    runs: list[RunShown]

    @classmethod
    def of(cls, row: CaseRow) -> "CaseShown":
        """As the service has it."""
        return cls(
            id=row.id, title=row.title, notes=row.notes,
            created=row.created.timestamp(), changed=row.changed.timestamp(),
            photos=[PhotoShown.of(one) for one in row.photos], runs=[RunShown.of(one) for one in row.runs],
        )  # fmt: skip


class CaseList(Shown):
    """Cases, newest first; ask again with ``before`` set to the last one's id for more."""

    cases: list[CaseShown]


class PointShown(View):
    """A point on the earth."""

    lat: float
    lon: float


class CheckShown(View):
    """What a finding says about a claimed place."""

    claimed: PointShown
    verdict: Literal["for", "against", "undecided"]
    reason: str
    speaks_for: list[str] = []
    speaks_against: list[str] = []


class LimitsShown(Shown):
    """What is taken in at most."""

    photo_bytes: int
    photo_pixels: int
    photos: int
    json_bytes: int
    title_characters: int
    notes_characters: int


class ModelShown(Shown):
    """A model that could be asked as things stand, and where it is."""

    model: str
    base_url: str | None
    words: str


class AboutShown(Shown):
    """What this server is, has and takes."""

    version: str
    offline: bool
    token: bool
    keyring: bool
    limits: LimitsShown
    models: list[ModelShown]
    methods: list[str]
    services: list[str]
    regions: list[str]
    granularities: list[Granularity]
    formats: list[str]


class SettingsShown(Shown):
    """What holds for all runs; keys are no part of it."""

    model: str | None
    base_url: str | None
    offline: bool
    granularity: Granularity
    retention_days: int | None
    online_tiles: str | None


class KeyShown(Shown):
    """Whether a service's key is there, and where it is kept; never the key."""

    service: str
    title: str
    set: bool
    keep: Literal["memory", "keyring", "environment"] | None


class KeyList(Shown):
    """Every service that takes a key, and whether this system has a keyring."""

    keyring: bool
    keys: list[KeyShown]


def _seconds(when: datetime | None) -> float | None:
    return None if when is None else when.timestamp()


def _wanted(row: RunRow) -> Wanted:
    from dataclasses import asdict

    return Wanted.model_validate({**asdict(row.request), "send_to": list(row.request.send_to)})
