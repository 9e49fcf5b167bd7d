"""Plain JSON for pages and programs: the exact keys of every view.

Every key is always there; what is not known is null, and lists may be empty. Boxes are left, top, right, bottom in
shares of the photo's first view. All texts are plain: what was read in photos is data.
"""

from typing import Annotated, Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from geosleuth.agent import EndReason, Fate
from geosleuth.answer.granularity import Granularity
from geosleuth.tools.resection import CameraPosition
from geosleuth.tools.shadows import ShadowsFound

EventKind = Literal[
    "state", "started", "resumed", "said", "observed", "candidate", "clues", "spent", "member", "answer", "ended"
]
# Responses contain every key.
VIEW_CONFIG = ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True, from_attributes=True)

Box = Annotated[list[float], Field(min_length=4, max_length=4)]
_Sides = TypedDict("_Sides", {"for": list[str], "against": list[str]})
AreaKind = Literal["country", "circle"]


class StrictView(BaseModel):
    """Just what is named."""

    model_config = VIEW_CONFIG


class BudgetView(TypedDict):
    """Limits of a run; null is no limit."""

    turns: int
    calls: int | None
    tokens: int | None
    seconds: float | None
    usd: float | None


class SpentView(TypedDict):
    """Usage of a run since it began, and its budget since it began or was last resumed."""

    turns: int
    calls: int
    failed_calls: int
    tokens: int
    seconds: float
    usd: float | None
    of: BudgetView


class FirstView(TypedDict):
    """The first view of a photo; ``photo`` counts from 1."""

    handle: str
    photo: int
    width: int
    height: int


class StartedView(TypedDict):
    """The beginning."""

    policy: str
    method: str
    tools: list[str]
    budget: BudgetView
    photos: list[FirstView]
    hint: str | None
    area: str | None


class ResumedView(TypedDict):
    """A person went on; ``words`` is what they said."""

    policy: str
    tools: list[str]
    budget: BudgetView
    words: str


class CallView(TypedDict):
    """A tool call; ``words`` say it for people, on one line."""

    id: str
    tool: str
    words: str


class SaidView(TypedDict):
    """A step of the policy."""

    turn: int
    thought: str
    text: str
    calls: list[CallView]


class PictureView(TypedDict):
    """A picture that a tool made; ``box`` is the part of the photo it shows, null for a map."""

    handle: str
    photo: int
    box: Box | None
    width: int
    height: int


class LineView(TypedDict):
    """A line of text that was read."""

    text: str
    photo: int
    box: Box
    confidence: float


class PointView(TypedDict):
    """A place that a tool found."""

    name: str
    lat: float
    lon: float


class ObservedView(TypedDict):
    """The outcome of a call."""

    turn: int
    call: str
    tool: str
    ok: bool
    words: str
    picture: PictureView | None
    lines: list[LineView]
    points: list[PointView]
    seconds: float


class PlaceView(_Sides):
    """A place that it could be; what speaks for it and against it stands in ``for`` and ``against``, a line each."""

    id: str
    name: str
    lat: float | None
    lon: float | None
    radius_km: float | None
    probability: float | None


class CandidateView(PlaceView):
    """A candidate of the pool as it now stands."""

    fate: Fate


class SupportView(TypedDict):
    """Support of a clue for (above 0) or against (below 0) a candidate, in natural log odds.

    Null where a model says that it speaks for it, and not how much.
    """

    name: str
    country: str | None
    lat: float | None
    lon: float | None
    log_ratio: float | None


class ClueView(TypedDict):
    """Something seen and what it says; ``id`` is the same in every run."""

    id: str
    kind: str
    kind_words: str
    seen: str
    says: str
    photo: int | None
    box: Box | None
    reliability: float | None
    supports: list[SupportView]
    caution: str | None
    rejected: bool


class CluesView(TypedDict):
    """All clues as they now stand."""

    clues: list[ClueView]


class AddressView(TypedDict):
    """The names of a place."""

    country: str | None
    region: str | None
    precise: str | None


class LevelView(TypedDict):
    """Statement of a model on a level of its answer; empty where it gives none."""

    level: Literal["country", "region", "precise"]
    name: str | None
    reasoning: str
    uncertainty: str


class RivalView(PlaceView):
    """A candidate of an answer, by the letter that maps and tables know it by; the answer itself is among them."""

    letter: str
    is_answer: bool


class MapView(TypedDict):
    """A map that this machine lacks and that would help; its size where that was asked before."""

    place: str
    size_bytes: int | None


class AnswerView(TypedDict):
    """The answer. ``conflicts`` says for each photo whether its file claims another place, null where it can't.

    ``why`` is what a model says beyond its evidence, ``levels`` what it says of country, region and place.
    ``area`` is ``country`` where the finding is a whole country, ``circle`` where no more than a country or region is
    named, and null where the point counts. ``outline`` is a GeoJSON geometry of a whole country, else null; ``map``
    what `/api/maps` could fetch.
    """

    place: str
    located: bool
    address: AddressView
    lat: float | None
    lon: float | None
    radius_km: float | None
    probability: float | None
    sure: str
    why: str
    levels: list[LevelView]
    explanation: str
    evidence: list[str]
    candidates: list[RivalView]
    against: str
    hangs_on: str
    would_help: str
    verdict: str
    conflicts: list[bool | None]
    area: AreaKind | None
    outline: dict[str, Any] | None
    map: MapView | None


class EndedView(TypedDict):
    """The end of a run, or of what a person went on with."""

    reason: EndReason
    trouble: str | None


class ClaimView(TypedDict):
    """Metadata claims of a photo's file; none of it was used as evidence.

    ``not_a_photo`` is what the picture looks like, "screenshot", "document" or "drawing"; null for a photograph.
    """

    photo: int
    lat: float | None
    lon: float | None
    conflict: bool | None
    estimated: bool
    distance_km: float | None
    taken_at: str | None
    heading_deg: float | None
    camera: str | None
    software: str | None
    format: str
    width: int
    height: int
    bytes: int
    sha256: str
    not_a_photo: str | None
    notes: list[str]


class TextView(TypedDict):
    """A line of text of a photo; ``number`` is its place in the evidence, null where none speaks of it."""

    text: str
    photo: int
    box: Box
    confidence: float
    number: int | None


class VoiceView(TypedDict):
    """Answer of a member or attempt; ``won`` where the final answer is as near as counts."""

    name: str
    place: str
    lat: float | None
    lon: float | None
    probability: float | None
    answered: bool
    failed: str
    won: bool


class TeamView(TypedDict):
    """Answers of several members or attempts, as a summary line and each by itself."""

    words: str
    voices: list[VoiceView]


class VersionsView(TypedDict):
    """Versions of geosleuth that made the run, and that describe it."""

    run: str
    told_by: str


class ResultView(TypedDict):
    """All of a finding."""

    answer: AnswerView
    answered_by: Literal["policy", "pool", "nobody"]
    ended: EndedView | None
    clues: list[ClueView]
    claims: list[ClaimView]
    spent: SpentView
    model: str
    method: str
    tools: list[str]
    hint: str | None
    area: str | None
    granularity: Granularity
    pool: list[CandidateView]
    team: TeamView | None
    text: list[TextView]
    versions: VersionsView
    trajectory: str


class ReadLineView(TypedDict):
    """A line of text in a part of a photo that the user asked about."""

    text: str
    box: Box
    confidence: float


class ReadView(TypedDict):
    """Text read in part of a photo."""

    lines: list[ReadLineView]


class StandView(TypedDict):
    """Position of a camera, in sentences and as data."""

    words: list[str]
    found: CameraPosition


class ShadowsView(TypedDict):
    """Conclusions from shadows, in sentences and as data."""

    words: list[str]
    found: ShadowsFound


class OddsView(TypedDict):
    """A candidate's odds in two runs; null where the run does not name it."""

    name: str
    lat: float | None
    lon: float | None
    left: float | None
    right: float | None


class SpentPair(TypedDict):
    """Usage of two runs."""

    left: SpentView
    right: SpentView


class ModelPair(TypedDict):
    """Models of two runs."""

    left: str
    right: str


class CompareView(TypedDict):
    """Differences of two runs. ``same`` where both mean the same place, null where either has none.

    ``distance_km`` is null also where one is a whole country, which has no point.
    """

    left: AnswerView
    right: AnswerView
    words: str
    same: bool | None
    distance_km: float | None
    only_left: list[ClueView]
    only_right: list[ClueView]
    candidates: list[OddsView]
    spent: SpentPair
    models: ModelPair
