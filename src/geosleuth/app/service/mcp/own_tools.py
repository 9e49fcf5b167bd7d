"""The tools that only the server has: ``open_photo`` and ``locate``."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from geosleuth.answer.granularity import Granularity
from geosleuth.tools import Output, tool

if TYPE_CHECKING:
    from .service import Service

Tell = Callable[[float, str], Awaitable[None]]
"""Tells the client how far a call is, in words."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What a tool of the server's own works with, in place of a case."""

    service: "Service"
    tell: Tell


@tool("open_photo", renames={"file": "path", "filename": "path", "photo": "path", "base64": "data", "image": "data"})
async def open_photo(visit: Visit, path: str = "", data: str = "") -> Output:
    """Open a photo and get a handle for it, which the other tools take as photo.

    Give path or data, one of the two. The picture is shown as image-1; a panorama is shown as several views. What the
    file's metadata claims is not read out.

    Args:
        path: where the file lies on the server's machine, in a folder that the server may read.
        data: the file itself in base64: JPEG, PNG, WebP, TIFF or HEIC.
    """
    return await visit.service.open(path, data)


@tool("locate", renames={"photo": "photos", "image": "photos", "images": "photos", "area": "within"})
async def locate(
    visit: Visit,
    photos: list[str],
    within: str = "",
    hint: str = "",
    taken: str = "",
    drives_on: Literal["left", "right"] | None = None,
    check: str = "",
    granularity: Granularity | None = None,
    force_answer: bool = False,  # noqa: FBT001, FBT002  (a tool's arguments come by name)
) -> Output:
    """Find out where photos were taken: place, coordinates, radius, probability, and the evidence for it.

    One long call: it reads text, looks names up and weighs clues, and tells after each turn what it does. The result is
    a lead with its uncertainty, not a verdict.

    Args:
        photos: handles from open_photo; several must show one place.
        within: where it must lie: a country, a region, "S,W,N,E" or "LAT,LON,KM" in degrees.
        hint: what else is known about the photo.
        taken: when it was taken, such as 2026-07-14T15:30+02:00.
        drives_on: the side of the road that traffic keeps to.
        check: a place that somebody claims, "LAT,LON": say what speaks for it and against it.
        granularity: tell nothing finer than this; the server may have a limit of its own.
        force_answer: give a best guess in any case, with its honest probability.
    """
    return await visit.service.locate(
        visit.tell,
        photos,
        within=within.strip() or None,
        hint=hint.strip() or None,
        taken=taken.strip() or None,
        drives_on=drives_on,
        check=check.strip() or None,
        granularity=granularity,
        force_answer=force_answer,
    )


OWN_TOOLS = (open_photo, locate)
