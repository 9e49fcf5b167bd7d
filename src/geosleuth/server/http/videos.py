"""``/api/cases/{case}/videos``: a video in, the places that it shows out."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field

from geosleuth.server.shapes import StrictView

from .responses import RequestRefused
from .schemas import REFUSALS, CaseId
from .state import State

router = APIRouter(prefix="/api/cases", tags=["cases"], responses=REFUSALS)

_FILE = {"schema": {"type": "string", "format": "binary"}}
_UPLOAD = {
    "requestBody": {
        "required": True,
        "description": "The file, as it is: MP4, MOV, MKV, WebM or AVI.",
        "content": {"application/octet-stream": _FILE, "video/*": _FILE},
    }
}


class FrameShown(StrictView):
    """A frame: the photo that it is now, its second, and the text that is read in it."""

    photo: int
    seconds: float
    reads: list[str]


class PlaceShown(StrictView):
    """A place: the stretches of time in which it is shown, its frames, and the run that locates it."""

    spans: list[Annotated[list[float], Field(min_length=2, max_length=2)]]
    frames: list[FrameShown]
    run: str | None


class VideoShown(StrictView):
    """Summary of a video; ``notes`` say what was left out."""

    name: str
    sha256: str
    seconds: float
    width: int
    height: int
    scenes: int
    notes: list[str]
    places: list[PlaceShown]


class VideoList(StrictView):
    """The videos of a case."""

    videos: list[VideoShown]


@router.post("/{case}/videos", status_code=201, openapi_extra=_UPLOAD)
async def add_video(
    case: CaseId,
    request: Request,
    name: Annotated[str, Query(max_length=255, description="What the file is called.")] = "",
) -> VideoList:
    """Add a video to an empty case: its telling frames become the case's photos. Start a run for each place."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/octet-stream" and not kind.startswith("video/"):
        raise RequestRefused(415, "media", "send the file itself, as application/octet-stream or video/…")
    return _build_video_list(await State.from_request(request).service.add_video(case, name, request.stream()))


@router.get("/{case}/videos")
async def videos(case: CaseId, request: Request) -> VideoList:
    """The videos of a case with their places; places that were located as one are one."""
    return _build_video_list(await State.from_request(request).service.videos(case))


def _build_video_list(found: list[dict[str, Any]]) -> VideoList:
    return VideoList.model_validate({"videos": found})
