"""Request and response schemas: the types that the OpenAPI document promises.

A run's events and results are in `geosleuth.server.finding_view`, made from the service's own shapes.
"""

from dataclasses import fields
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from fastapi import Path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from geosleuth.answer.granularity import Granularity
from geosleuth.evidence.guide import MAX_SIGHTINGS
from geosleuth.server import Feedback, RunRequest, RunState, shapes
from geosleuth.server.shapes import VIEW_CONFIG, StrictView
from geosleuth.support.errors import BadInput

from .responses import RequestRefused

LATITUDE, LONGITUDE = Field(ge=-90, le=90), Field(ge=-180, le=180)
Words = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(max_length=300)]
Address = Annotated[str, Field(max_length=500)]
Host = Annotated[str, Field(max_length=253)]
Noted = Annotated[str, Field(max_length=200)]
Seconds = Annotated[float, BeforeValidator(datetime.timestamp)]
"""Since 1970, of a time."""
_MOST = 2**31
_PLACES = 100_000

_TOLD: dict[str, Any] = {
    "started": shapes.StartedView,
    "resumed": shapes.ResumedView,
    "said": shapes.SaidView,
    "observed": shapes.ObservedView,
    "candidate": shapes.CandidateView,
    "clues": shapes.CluesView,
    "spent": shapes.SpentView,
    "answer": shapes.AnswerView,
    "ended": shapes.EndedView,
}
_WHY = {
    400: "The request is invalid; the message says what to change.",
    401: "The token is missing or wrong.",
    403: "The host does not match, or the request came from another site's page.",
    404: "Not found.",
    408: "The request's body stopped arriving.",
    409: "The current state does not allow it, or consent to send photos is missing.",
    413: "The body is too large.",
    415: "The media type is not that of a photo.",
    422: "The request does not match the schema.",
    429: "Too many requests, streams or runs.",
    503: "A service is unavailable at the moment.",
}
_ID = Path(pattern="^[0-9a-f]{16}$", examples=["0123456789abcdef"])
CaseId = Annotated[str, _ID]
RunId = Annotated[str, _ID]
PhotoNumber = Annotated[int, Path(ge=0, le=100_000)]


class StrictBody(BaseModel):
    """Request body that refuses unknown fields, so that a misspelt option is an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


class Geometry(StrictBody):
    """A drawn area: a GeoJSON Polygon or MultiPolygon, longitude before latitude."""

    type: Literal["Polygon", "MultiPolygon"]
    coordinates: list[Any]


class NewCase(StrictBody):
    """A case to begin."""

    title: Annotated[str, Field(max_length=200)] = ""
    notes: Annotated[str, Field(max_length=20_000)] = ""


class CaseChange(StrictBody):
    """Fields to change; the rest stays."""

    title: Annotated[str, Field(max_length=200)] | None = None
    notes: Annotated[str, Field(max_length=20_000)] | None = None


class RunFields(StrictBody):
    """Options of a run, named as those of ``geosleuth locate``; the settings fill in what is left out."""

    model: Name | None = None
    base_url: Address | None = None
    method: Annotated[str, Field(max_length=100)] | None = None
    parallel: Annotated[int, Field(ge=1, le=64)] = 1
    verifier: Name | None = None
    within: Name | None = None
    hint: Words | None = None
    taken: Annotated[str, Field(max_length=60)] | None = None
    drives_on: Literal["left", "right"] | None = None
    seen: Words | None = None
    granularity: Granularity | None = None
    turns: Annotated[int, Field(ge=1, le=_MOST)] | None = None
    calls: Annotated[int, Field(ge=0, le=_MOST)] | None = None
    tokens: Annotated[int, Field(ge=1, le=_MOST)] | None = None
    seconds: Annotated[float, Field(ge=0.1, le=_MOST)] | None = None
    usd: Annotated[float, Field(ge=0, le=_MOST)] | None = None
    force_answer: bool = False
    send_to: Annotated[list[Host], Field(max_length=32)] = []

    def request(self, area: Geometry | None = None) -> RunRequest:
        """Return the same for the service.

        Raises:
            BadInput: the area is no outline.
        """
        values = _values(self, RunRequest)
        values["send_to"] = tuple(self.send_to)
        values["granularity"] = self.granularity or "exact"
        return RunRequest(**values, **_read_area_fields(self.within, area))


class NewRun(RunFields):
    """Options of a run, with a drawn area where there is any."""

    area: Geometry | None = None


class NewRunOnPhotos(NewRun):
    """The same on some photos of the case; on all where none are named."""

    photos: Annotated[list[Annotated[int, Field(ge=1, le=_MOST)]], Field(min_length=1, max_length=1000)] | None = None


class OneCall(RunFields):
    """The same in an address, for a photo that is sent as the body; ``keep`` keeps the case afterwards."""

    # Everything in an address is text.
    model_config = ConfigDict(strict=False)

    name: Annotated[str, Field(max_length=255, description="What the file is called.")] = ""
    keep: bool = False


class PartOfPhoto(StrictBody):
    """A part of a photo: left, top, right, bottom in shares of it."""

    box: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=4, max_length=4)]

    @model_validator(mode="after")
    def _check_sides(self) -> "PartOfPhoto":
        left, top, right, bottom = self.box
        if left >= right or top >= bottom:
            raise RequestRefused(400, "input", "the box has no width or no height; send left, top, right, bottom")
        return self


class NewReading(PartOfPhoto):
    """Corrected text in part of a photo of a run, photos counted from 1; ``was`` is the earlier reading."""

    text: Annotated[str, Field(min_length=1, max_length=200)]
    photo: Annotated[int, Field(ge=1, le=1000)]
    was: Noted = ""


class NewFeedback(StrictBody):
    """Feedback on a run: what is wrong in it, and what else is known."""

    reject_clues: Annotated[list[Noted], Field(max_length=500)] = []
    reject_candidates: Annotated[list[Noted], Field(max_length=500)] = []
    reject_texts: Annotated[list[Noted], Field(max_length=500)] = []
    readings: Annotated[list[NewReading], Field(max_length=200)] = []
    hint: Words | None = None
    area: Geometry | None = None
    within: Name | None = None
    send_to: Annotated[list[Host], Field(max_length=32)] = []

    def feedback(self) -> Feedback:
        """Return the same for the service.

        Raises:
            BadInput: the area is no outline.
        """
        values = _values(self, Feedback)
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return Feedback(**values, **_read_area_fields(self.within, self.area))


class Claim(StrictBody):
    """A place to check a finding against."""

    lat: Annotated[float, LATITUDE]
    lon: Annotated[float, LONGITUDE]


class StandMark(Claim):
    """A feature of the map that the photo shows: its column, from 0 (left edge) to 1 (right edge), and its place."""

    column: Annotated[float, Field(ge=0, le=1)]


class NewStand(StrictBody):
    """Two or more features, and the horizontal field of view in degrees where it is known."""

    marks: Annotated[list[StandMark], Field(min_length=2, max_length=20)]
    fov_deg: Annotated[float, Field(ge=1, le=170)] | None = None


class NewShadow(StrictBody):
    """A shadow and when it was seen: its length by the object's height, or the sun's height; a bearing of either."""

    time: Annotated[str, Field(min_length=1, max_length=60)]
    time_end: Annotated[str, Field(max_length=60)] = ""
    ratio: Annotated[float, Field(ge=0, le=1000)] | None = None
    elevation_deg: Annotated[float, Field(ge=0, le=90)] | None = None
    direction_deg: Annotated[float, Field(ge=0, le=360)] | None = None
    azimuth_deg: Annotated[float, Field(ge=0, le=360)] | None = None


class NewShadows(StrictBody):
    """Shadows of one place, and the place where it is to be tested."""

    shadows: Annotated[list[NewShadow], Field(min_length=1, max_length=12)]
    place: Claim | None = None
    country: Name = ""
    tolerance_deg: Annotated[float, Field(ge=0.5, le=30)] = 2.0
    direction_tolerance_deg: Annotated[float, Field(ge=1, le=90)] = 10.0


class NewOutlines(StrictBody):
    """Names of candidates, however long a model made them: one that is no country is left out."""

    names: Annotated[list[Annotated[str, Field(max_length=20_000)]], Field(max_length=100)]


class NewSightings(StrictBody):
    """Sightings, in free words or as ATTRIBUTE=VALUE."""

    seen: Annotated[list[Words], Field(max_length=MAX_SIGHTINGS)] = []


class NewSettings(StrictBody):
    """The settings, whole: what is left out is set back to what it is at first."""

    model: Name | None = None
    base_url: Address | None = None
    offline: bool = True
    granularity: Granularity = "exact"
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    quota_mb: Annotated[int, Field(ge=1, le=10**9)] | None = None
    online_tiles: Address | None = None


class Wipe(StrictBody):
    """The words that keep a user from wiping by mistake."""

    confirm: Literal["delete all cases"]


class NewKey(StrictBody):
    """A key, and where it is kept."""

    key: Annotated[str, Field(min_length=1, max_length=4096, repr=False)]
    keep: Literal["memory", "keyring"] = "memory"


class SignIn(StrictBody):
    """The server's token."""

    token: Annotated[str, Field(min_length=1, max_length=4096, repr=False)]


def _values(asked: StrictBody, target: type[Any]) -> dict[str, Any]:
    """Return what the service has fields for, as it was given, less the area."""
    wanted = {field.name for field in fields(target)} - {"area", "within"}
    return {name: value for name, value in asked.model_dump().items() if name in wanted}


def _read_area_fields(within: str | None, area: Geometry | None) -> dict[str, Any]:
    if within is not None and area is not None:
        raise RequestRefused(400, "input", "give the area in words or as an outline, not both")
    drawn = None if area is None else area.model_dump()
    if drawn is not None:
        _check_rings(drawn)
    return {"within": (within or "").strip() or None, "area": drawn}


def _check_rings(drawn: dict[str, Any]) -> None:
    polygons = [drawn["coordinates"]] if drawn["type"] == "Polygon" else drawn["coordinates"]
    count = 0
    for polygon in polygons:
        if not isinstance(polygon, list) or not polygon:
            raise BadInput("the area is no outline; send rings of [longitude, latitude] pairs")
        for ring in polygon:
            if not isinstance(ring, list) or len(ring) < 4 or ring[0] != ring[-1] or not all(map(_is_place, ring)):
                raise BadInput("the area is no outline; send closed rings of [longitude, latitude] pairs")
            count += len(ring)
    if not polygons or count > _PLACES:
        raise BadInput(f"the area has no corner, or more than {_PLACES:,}")


def _is_place(pair: Any) -> bool:
    if not (isinstance(pair, list) and len(pair) in (2, 3)):
        return False
    if not all(isinstance(item, int | float) and not isinstance(item, bool) and abs(item) <= _MOST for item in pair):
        return False
    return bool(abs(pair[0]) <= 180 and abs(pair[1]) <= 90)


class OpenView(BaseModel):
    """At least what is named."""

    model_config = {**VIEW_CONFIG, "extra": "allow"}


class Trouble(StrictView):
    """Why a request was refused."""

    kind: str
    message: str
    hosts: list[str] | None = Field(default=None, exclude_if=lambda value: value is None)


class Failure(StrictView):
    """The one shape of every refusal."""

    error: Trouble


class Health(StrictView):
    """We live."""

    status: Literal["ok"]
    version: str


class GuideValue(StrictView):
    """A form that something in the field guide has."""

    value: str
    label: str


class GuideAttribute(StrictView):
    """Something that streets show, what a checklist asks about it, and its forms, the most widespread first."""

    attribute: str
    label: str
    question: str
    group: str
    values: list[GuideValue]


class GuideShown(StrictView):
    """The checklist of the field guide."""

    attributes: list[GuideAttribute]


class CountryOdds(StrictView):
    """A country and its odds; it lies around its largest city. Without a city it has no place on the map."""

    code: str
    name: str
    share: float
    lat: float | None
    lon: float | None
    radius_km: float | None


class SightingShown(StrictView):
    """What was understood, and its factor for the countries it moved most."""

    words: str
    label: str
    moved: dict[str, float]


class SightingsShown(StrictView):
    """The odds that follow from what was seen, the likeliest country first."""

    countries: list[CountryOdds]
    sightings: list[SightingShown]
    not_understood: list[str]


class OutlinesShown(StrictView):
    """GeoJSON geometries of the countries among some names; other names are left out."""

    outlines: dict[str, dict[str, Any]]


class PhotoShown(StrictView):
    """A photo of a case; the pictures themselves have addresses of their own.

    ``not_a_photo`` is what the picture looks like, "screenshot", "document" or "drawing"; null for a photograph.
    """

    number: int
    name: str
    bytes: int
    width: int
    height: int
    format: str
    kind: str
    sha256: str
    added: Seconds
    not_a_photo: str | None


class Summary(OpenView):
    """A run's answer in short."""

    place: str | None = None
    lat: float | None = None
    lon: float | None = None
    radius_km: float | None = None
    probability: float | None = None
    area: shapes.AreaKind | None = None


class ReadingShown(StrictView):
    """Corrected text in part of a photo; ``was`` is the earlier reading."""

    box: shapes.Box
    text: str
    photo: int
    was: str


class RejectedPlaceShown(StrictView):
    """A candidate that a person ruled out."""

    name: str
    lat: float | None
    lon: float | None
    radius_km: float | None
    country: str | None


class RejectedShown(BaseModel):
    """Rejections so far: clues by ids and words, lines that don't count, readings, and wrong places."""

    model_config = VIEW_CONFIG

    clues: list[str] = []
    texts: list[str] = []
    seen: list[str] = []
    readings: list[ReadingShown] = []
    places: list[RejectedPlaceShown] = []


class RunShown(StrictView):
    """A run; times are seconds since 1970."""

    id: str
    case: str
    parent: str | None
    state: RunState
    request: RunRequest
    granularity: Granularity
    photos: list[int]
    created: Seconds
    started: Seconds | None
    ended: Seconds | None
    answer: Summary | None
    trouble: str | None
    position: int | None
    rejected: RejectedShown


class CaseShown(StrictView):
    """A case; times are seconds since 1970."""

    id: str
    title: str
    notes: str
    created: Seconds
    changed: Seconds
    photos: list[PhotoShown]
    runs: list[RunShown]


class CaseList(StrictView):
    """Cases, newest first; ask again with ``before`` set to the last one's id for more."""

    cases: list[CaseShown]


class PointShown(OpenView):
    """A point on the earth."""

    lat: float
    lon: float


class CheckShown(OpenView):
    """Verdict of a finding on a claimed place."""

    claimed: PointShown
    verdict: Literal["for", "against", "undecided"]
    reason: str
    speaks_for: list[str] = []
    speaks_against: list[str] = []


class LimitsShown(StrictView):
    """Upload limits."""

    photo_bytes: int
    photo_pixels: int
    photos: int
    json_bytes: int
    title_characters: int
    notes_characters: int


class ModelShown(StrictView):
    """A model that could be asked as things stand, and where it is."""

    model: str
    base_url: str | None
    words: str


class AboutShown(StrictView):
    """Version, features and limits of this server.

    ``setup`` says whether no model was chosen yet, ``review`` whether a batch is under review.
    """

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
    setup: bool
    review: bool


class SettingsShown(StrictView):
    """Settings that hold for all runs, without keys."""

    model: str | None
    base_url: str | None
    offline: bool
    granularity: Granularity
    retention_days: int | None
    quota_mb: int | None
    online_tiles: str | None


class DiskShown(StrictView):
    """Disk space that all cases use, and the quota."""

    bytes: int
    quota_mb: int | None


class Wiped(StrictView):
    """Number of deleted cases."""

    cases: int


class KeyShown(StrictView):
    """Presence of a service's key and where it is kept; never the key itself."""

    service: str
    title: str
    set: bool
    keep: Literal["memory", "keyring", "environment"] | None


class KeyList(StrictView):
    """Every service that takes a key, and whether this system has a keyring."""

    keyring: bool
    keys: list[KeyShown]


@cache
def build_model(shape: Any) -> type[BaseModel]:
    """Return a model with the keys of a typed dictionary, and of those inside it."""
    named: dict[str, Any] = {
        name: (_convert_hint(hint), ...) for name, hint in get_type_hints(shape, include_extras=True).items()
    }
    return create_model(shape.__name__, __config__=VIEW_CONFIG, __doc__=shape.__doc__, **named)


def _convert_hint(hint: Any) -> Any:
    if is_typeddict(hint):
        return build_model(hint)
    if get_origin(hint) is list:
        return list[_convert_hint(get_args(hint)[0])]  # type: ignore[misc]
    if get_origin(hint) in (UnionType, Union):
        return Union[tuple(map(_convert_hint, get_args(hint)))]  # noqa: UP007 -- made while we run
    return hint


def event_schema(*more: str) -> dict[str, Any]:
    """Return what a stream is made of: for each kind of event what its data, a text of JSON, holds."""
    kinds = (*get_args(shapes.EventKind), *more)
    return {
        "type": "object",
        "required": ["id", "event", "data"],
        "properties": {"id": {"type": "string", "pattern": "^[0-9]+$"}, "event": {"type": "string", "enum": [*kinds]}},
        "oneOf": [{"properties": {"event": {"const": kind}, "data": _json_text(_TOLD.get(kind))}} for kind in kinds],
    }


def _json_text(shape: Any) -> dict[str, Any]:
    text = {"type": "string", "contentMediaType": "application/json"}
    if shape is None:
        return text
    whole = build_model(shape).model_json_schema(mode="serialization")
    return {**text, "contentSchema": _in_place(whole, whole.pop("$defs", {}))}


def _in_place(schema: Any, named: dict[str, Any]) -> Any:
    """Return a schema with what it refers to put in its place: references inside a text's schema lead nowhere."""
    if isinstance(schema, list):
        return [_in_place(item, named) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        return _in_place(named[reference.rpartition("/")[2]], named)
    return {key: _in_place(value, named) for key, value in schema.items()}


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": why} for status, why in _WHY.items()
}
EMPTY: dict[int | str, dict[str, Any]] = {**REFUSALS, 204: {"description": "Done."}}


def binary(*media_types: str, description: str) -> dict[int | str, dict[str, Any]]:
    """Return what a route promises that sends bytes."""
    content = {name: {"schema": {"type": "string", "format": "binary"}} for name in media_types}
    return {**REFUSALS, 200: {"description": description, "content": content}}
