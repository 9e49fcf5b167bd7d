"""Cases and their photos."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from geosleuth.app.service.intake import THUMB_PX, VIEW_PX

from .asked import CaseChange, NewCase
from .refusals import Refused
from .routing import EMPTY, REFUSALS, CaseId, PhotoNumber, binary
from .shown import CaseList, CaseShown, PhotoShown
from .state import State

router = APIRouter(prefix="/api/cases", tags=["cases"], responses=REFUSALS)

SIDES_PX = {"thumb": THUMB_PX, "view": VIEW_PX}
"""The longer side of a photo as it is shown."""

_UPLOAD = {
    "requestBody": {
        "required": True,
        "description": "The file, as it is.",
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "image/*": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@router.post("", status_code=201)
async def new_case(asked: NewCase, request: Request) -> CaseShown:
    """Begin a case: photos of one place, and the runs that work on them."""
    return CaseShown.of(await State.of(request).service.new_case(asked.title, asked.notes))


@router.get("")
async def list_cases(
    request: Request,
    query: Annotated[str, Query(max_length=200, description="Words of titles, notes and places.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{16}$", description="Only cases before this one.")] = None,
) -> CaseList:
    """Cases on this machine, newest first."""
    rows = await State.of(request).service.cases(query=query, limit=limit, before=before)
    return CaseList(cases=[CaseShown.of(row) for row in rows])


@router.get("/{case}")
async def one_case(case: CaseId, request: Request) -> CaseShown:
    """A case with its photos and runs."""
    return CaseShown.of(await State.of(request).service.case(case))


@router.patch("/{case}")
async def change_case(case: CaseId, asked: CaseChange, request: Request) -> CaseShown:
    """Change a case's title or notes."""
    return CaseShown.of(await State.of(request).service.change_case(case, title=asked.title, notes=asked.notes))


@router.delete("/{case}", status_code=204, responses=EMPTY)
async def delete_case(case: CaseId, request: Request) -> None:
    """Delete a case with all that belongs to it; runs that work on it are called off."""
    state = State.of(request)
    runs = (await state.service.case(case)).runs
    await state.service.delete_case(case)
    for run in runs:
        state.writer.forget(run.id)


@router.post("/{case}/photos", status_code=201, openapi_extra=_UPLOAD)
async def add_photo(
    case: CaseId,
    request: Request,
    name: Annotated[str, Query(max_length=255, description="What the file is called.")] = "",
) -> PhotoShown:
    """Add a photo: JPEG, PNG, WebP, TIFF or HEIC, as the request's body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/octet-stream" and not kind.startswith("image/"):
        raise Refused(415, "media", "send the file itself, as application/octet-stream or image/…")
    return PhotoShown.of(await State.of(request).service.add_photo(case, name, request.stream()))


@router.get("/{case}/photos/{number}", response_class=Response, responses=binary("image/jpeg", description="A JPEG."))
async def photo(
    case: CaseId,
    number: PhotoNumber,
    request: Request,
    size: Annotated[Literal["thumb", "view"], Query(description="How large.")] = "view",
) -> Response:
    """A photo's pixels, upright, without any of its metadata."""
    data = await State.of(request).service.photo_jpeg(case, number, most_px=SIDES_PX[size])
    return Response(data, media_type="image/jpeg")


@router.delete("/{case}/photos/{number}", status_code=204, responses=EMPTY)
async def delete_photo(case: CaseId, number: PhotoNumber, request: Request) -> None:
    """Delete a photo."""
    await State.of(request).service.delete_photo(case, number)
