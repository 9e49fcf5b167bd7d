"""Findings of a batch under review, where the server was started for one. For the person at this machine only."""

from hmac import compare_digest
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as InPath
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from geosleuth.geo import LatLon
from geosleuth.report.digest import parse_account
from geosleuth.server.review import VERDICTS, Review, ReviewDecision, Verdict
from geosleuth.server.shapes import AreaKind, StrictView
from geosleuth.support.errors import BadInput

from .responses import REPORT_POLICY, RequestRefused
from .routes import SIDES_PX
from .schemas import LATITUDE, LONGITUDE, REFUSALS, Name, StrictBody, binary
from .setup import check_local
from .state import State

PhotoId = Annotated[str, InPath(pattern="^[0-9a-f]{16}$", examples=["0123456789abcdef"])]
Least = Annotated[float, Field(ge=0, le=1)]
MAX_IDS = 20_000
_ELSEWHERE = "findings are reviewed on the machine itself; run there: geosleuth review DIR"

router = APIRouter(prefix="/api/review", tags=["review"], responses=REFUSALS)


class NewReview(StrictBody):
    """The folder of a batch; ``key`` is in a file that only this machine's user can read, so it is they who ask."""

    key: Annotated[str, Field(max_length=100)]
    folder: Annotated[str, Field(max_length=4096)]
    photos: Annotated[list[Annotated[str, Field(max_length=4096)]], Field(max_length=1_000_000)] | None = None


class Selection(StrictBody):
    """All photos of a verdict that are found as probably as this."""

    verdict: Verdict | None = None
    least: Least | None = None


class NewDecision(StrictBody):
    """Decision about photos; a corrected place has a point, and names where there are any."""

    ids: Annotated[list[Annotated[str, Field(pattern="^[0-9a-f]{16}$")]], Field(max_length=MAX_IDS)] | None = None
    all: Selection | None = None
    verdict: Verdict
    lat: Annotated[float, LATITUDE] | None = None
    lon: Annotated[float, LONGITUDE] | None = None
    country: Name | None = None
    region: Name | None = None
    precise: Name | None = None

    def decision(self) -> ReviewDecision:
        """Return the same for the review."""
        point = None if self.lat is None or self.lon is None else LatLon(self.lat, self.lon)
        if self.verdict != "corrected":
            return ReviewDecision(self.verdict)
        return ReviewDecision(self.verdict, point, self.country or None, self.region or None, self.precise or None)


class PlaceQuestion(StrictBody):
    """A place in words, or a point to name."""

    query: Name = ""
    lat: Annotated[float, LATITUDE] | None = None
    lon: Annotated[float, LONGITUDE] | None = None


class NewFiles(StrictBody):
    """Files to write for confirmed places."""

    sidecars: bool
    copies: bool


class PlaceFound(StrictView):
    """A place that was meant, perhaps; ``kind`` says what it is, such as city or region."""

    lat: float
    lon: float
    words: str
    country: str | None
    region: str | None
    precise: str | None
    kind: str | None = None


class PlacesFound(StrictView):
    """Places, the likeliest first."""

    places: list[PlaceFound]


class ReviewedShown(StrictView):
    """A photo: what was found, and what a person decided; ``at`` is a corrected place.

    ``lead_minutes`` says how much later than it the nearest located photo was taken; earlier: negative.
    """

    id: str
    name: str
    copies: int
    status: str
    place: str
    lat: float | None
    lon: float | None
    radius_km: float | None
    probability: float | None
    area: AreaKind | None
    conflicts: bool
    lead_minutes: int | None
    verdict: Verdict
    at: PlaceFound | None


class ClaimShown(StrictView):
    """Claims of the file or a sidecar; not evidence."""

    source: Literal["file", "sidecar"]
    lat: float | None
    lon: float | None
    place: str | None
    estimated: bool
    trouble: str | None


class ReviewedWhole(ReviewedShown):
    """The same with why, and with what files claim."""

    explanation: str
    claims: list[ClaimShown]
    report: bool


class CountsShown(StrictView):
    """Number of photos by verdict."""

    open: int
    confirmed: int
    corrected: int
    rejected: int


class ReviewShown(StrictView):
    """A part of the batch; ``matching`` is how many there are of the kind that was asked for."""

    name: str
    total: int
    matching: int
    counts: CountsShown
    photos: list[ReviewedShown]


class FilesShown(StrictView):
    """Files that were written, skipped because others wrote them, or removed, and the errors."""

    sidecars: int
    copies: int
    kept: int
    removed: int
    left: list[str]
    troubles: list[str]


async def get_review(request: Request) -> Review:
    """Return the batch under review.

    Raises:
        Refused: there is none, or the request comes from another machine.
    """
    check_local(request, _ELSEWHERE)
    found = State.from_request(request).review
    if found is None:
        raise RequestRefused(404, "missing", "no batch is under review; start one with: geosleuth review DIR")
    return found


UnderReview = Annotated[Review, Depends(get_review)]


@router.post("/folder")
async def review_folder(asked: NewReview, request: Request) -> CountsShown:
    """Put another batch under review; ``geosleuth review DIR`` asks this of a server that is running."""
    state = State.from_request(request)
    check_local(request, _ELSEWHERE)
    if not compare_digest(asked.key.encode(), state.handover_key.encode()):
        raise RequestRefused(403, "local", _ELSEWHERE)
    state.review = found = await run_in_threadpool(_open_review, state.review, asked)
    return CountsShown(**found.counts())


@router.get("")
async def review_batch(
    batch: UnderReview,
    verdict: Annotated[Verdict | None, Query(description="Only photos of this verdict.")] = None,
    least: Annotated[float | None, Query(ge=0, le=1, description="Only findings as probable as this.")] = None,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 60,
) -> ReviewShown:
    """Photos of the batch, in its order."""
    return await run_in_threadpool(_build_review_part, batch, batch.ids(verdict, least), offset, limit)


@router.post("/decisions")
async def review_decide(asked: NewDecision, batch: UnderReview) -> CountsShown:
    """Decide of photos, by their ids or all of a kind; all of them or none are changed."""
    if (asked.ids is None) == (asked.all is None):
        raise BadInput("name photos by ids, or all of a kind")
    ids = asked.ids
    if ids is None and asked.all is not None:
        ids = batch.ids(asked.all.verdict, asked.all.least)
        if asked.verdict == "confirmed":
            ids = [item for item in ids if batch.photo(item).lat is not None]
    await run_in_threadpool(batch.decide, ids or [], asked.decision())
    return CountsShown(**batch.counts())


@router.post("/places")
async def review_places(asked: PlaceQuestion, request: Request, batch: UnderReview) -> PlacesFound:  # noqa: ARG001
    """Look a place up in the offline atlas by its name, or name a point."""
    return PlacesFound.model_validate(await State.from_request(request).service.places(asked.model_dump()))


@router.post("/files")
async def review_write(asked: NewFiles, batch: UnderReview) -> FilesShown:
    """Write sidecars or copies for confirmed and corrected places, and for nothing else."""
    done = await run_in_threadpool(batch.write, sidecars=asked.sidecars, copies=asked.copies)
    return FilesShown.model_validate(done)


@router.get("/{photo}")
async def get_reviewed_photo(photo: PhotoId, batch: UnderReview) -> ReviewedWhole:
    """A photo with why, and with what files claim."""
    return await run_in_threadpool(_build_reviewed_whole, batch, photo)


@router.get("/{photo}/picture", response_class=Response, responses=binary("image/jpeg", description="A JPEG."))
async def get_reviewed_picture(
    photo: PhotoId,
    request: Request,
    batch: UnderReview,
    size: Annotated[Literal["thumb", "view"], Query(description="How large.")] = "view",
) -> Response:
    """A photo's pixels, upright, without any of its metadata."""
    path = await run_in_threadpool(batch.path, photo)
    data = await State.from_request(request).service.picture_of_file(path, most_px=SIDES_PX[size])
    return Response(data, 200, {"Cache-Control": "private, max-age=3600"}, "image/jpeg")


@router.get("/{photo}/report", response_class=Response, responses=binary("text/html", description="The report."))
async def get_reviewed_report(photo: PhotoId, batch: UnderReview) -> Response:
    """The report of a finding."""
    found = await run_in_threadpool(batch.report, photo)
    if found is None:
        raise RequestRefused(404, "missing", "the report of this photo is not in the batch's folder")
    return Response(found, 200, {"Content-Security-Policy": REPORT_POLICY}, "text/html")


def _open_review(before: Review | None, asked: NewReview) -> Review:
    """Return the batch of a folder; the one that was under review stays so if it is the same, or if this one fails."""
    folder, photos = Path(asked.folder), None if asked.photos is None else [Path(photo) for photo in asked.photos]
    if before is not None and before.folder.resolve() == folder.resolve():
        if photos is None:
            return before
        before.close()
    found = Review.open(folder, photos)
    if before is not None:
        before.close()
    return found


def _build_review_part(batch: Review, ids: list[str], offset: int, limit: int) -> ReviewShown:
    counts = batch.counts()
    return ReviewShown(
        name=batch.folder.resolve().name,
        total=sum(counts.values()),
        matching=len(ids),
        counts=CountsShown(**{verdict: counts[verdict] for verdict in VERDICTS}),
        photos=[ReviewedShown(**_build_review_row(batch, item)) for item in ids[offset : offset + limit]],
    )


def _build_review_row(batch: Review, text: str) -> dict[str, Any]:
    found, decision = batch.photo(text), batch.decision(text)
    at = None
    if decision.point is not None:
        at = PlaceFound(
            lat=decision.point.lat, lon=decision.point.lon, words=decision.place,
            country=decision.country, region=decision.region, precise=decision.precise,
        )  # fmt: skip
    own = {
        "id": text,
        "name": Path(found.path).name,
        "copies": batch.copies(text),
        "verdict": decision.verdict,
        "at": at,
    }
    return {name: getattr(found, name) for name in ReviewedShown.model_fields if name not in own} | own


def _build_reviewed_whole(batch: Review, text: str) -> ReviewedWhole:
    document = batch.details(text)
    answer, photos = document.get("answer") or {}, document.get("photos") or [{}]
    return ReviewedWhole(
        **_build_review_row(batch, text),
        explanation="\n\n".join(filter(None, (_why(str(answer.get("explanation") or "")), batch.photo(text).lead))),
        claims=list(_claims(photos[0])),
        report=batch.report(text) is not None,
    )


def _why(explanation: str) -> str:
    """Return an explanation without its advice, which is for the command line; the page gives its own."""
    return explanation.replace(parse_account(explanation).would_help, "").strip()


def _claims(photo: dict[str, Any]) -> list[ClaimShown]:
    own = {"point": photo.get("claimed_point"), "estimated": photo.get("claim_estimated")}
    told = [("file", own)] if own["point"] else []
    told += [("sidecar", item) for item in photo.get("sidecar_claims") or ()]
    return [_claim(source, one) for source, one in told]


def _claim(source: str, entry: dict[str, Any]) -> ClaimShown:
    point = entry.get("point") or {}
    return ClaimShown(
        source="file" if source == "file" else "sidecar",
        lat=point.get("lat"),
        lon=point.get("lon"),
        place=entry.get("place"),
        estimated=bool(entry.get("estimated")),
        trouble=entry.get("trouble"),
    )
