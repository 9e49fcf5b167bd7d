"""The tool `visual_prior`: where a picture may have been taken, by its look alone."""

import asyncio
from typing import Any, TypedDict

from geosleuth.clues.prior import country_prior
from geosleuth.clues.visual import HOW_TO_LEARN, NAMED, Best, Distribution, visual_clue
from geosleuth.errors import BadInput
from geosleuth.names import country_name

from .declare import tool
from .framing import BOX_RENAMES, BoxNumbers, cut_of, view_of
from .model import Case, Output
from .results import PointData
from .viewer import Viewer
from .wording import numbered, one_line, percent, point_data

NO_PRIOR = (
    f"there is no visual prior: learn one from your own geotagged photos with '{HOW_TO_LEARN}', "
    "or name one with --prior FILE"
)
_SHOWN = 8
_LEAST_SHARE = 0.001


class _Cell(PointData):
    radius_km: float
    probability: float
    country: str | None


class _Look(TypedDict):
    image: str
    looks_like: list[Any]
    countries: dict[str, float]
    cells: list[_Cell]
    reliability: float
    familiarity: float | None
    says: str


@tool(
    "visual_prior",
    use="learn from the look of an image alone which countries it may be from, with probabilities",
    result=_Look,
    viewer=Viewer("asks where places look like {image}"),
    needs=("prior",),
    aliases=("visual_prior_tool", "look_of_place"),
    renames=BOX_RENAMES,
)
async def visual_prior(case: Case, image: str = "", bbox_2d: BoxNumbers | None = None) -> Output:
    """Tell from the look of an image alone which countries it may be from, with probabilities.

    Learned from photos whose places are known; it reads no text and knows no landmarks. Says how far this image is
    from those photos. A lead to be checked, not a proof.

    Args:
        image: handle of the image, such as image-1; the first photo if left out.
        bbox_2d: only this part of it: left, top, right, bottom on the image named.
    """
    prior = case.visual
    if prior is None:
        raise BadInput(NO_PRIOR)
    shown = await view_of(case, image)
    found = await asyncio.to_thread(prior.look, shown.image)
    # What the whole picture can't be trusted for, a part of it can't either: it may be in the collection itself.
    if bbox_2d is not None and found.reach.trust > 0:
        found = await asyncio.to_thread(prior.look, (await cut_of(case, shown.handle, bbox_2d)).image)
    part = shown.handle if bbox_2d is None else f"that part of {shown.handle}"
    return _output(shown.handle, part, found)


def _output(handle: str, part: str, found: Distribution) -> Output:
    clue, trust = visual_clue(found), found.reach.trust
    data: dict[str, Any] = {
        "image": handle,
        "looks_like": list(found.seen)[:NAMED],
        "countries": {code: share for code, share in clue.countries.items() if share >= _LEAST_SHARE},
        "cells": [
            {**point_data(spot.point), "radius_km": spot.radius_km, "probability": spot.weight, "country": spot.country}
            for spot in clue.spots
        ],
        "reliability": trust,
        "familiarity": found.reach.familiarity,
        "says": found.reach.says,
    }
    source = one_line(found.source)
    if trust <= 0:
        return Output(f"The look of {part} says nothing. {found.reach.says}", data, sources=(source,))
    flat = country_prior()
    shares = {code: trust * share + (1 - trust) * flat.get(code, 0.0) for code, share in clue.countries.items()}
    lines = [f"{country_name(code) or code} ({code}) {percent(share)}" for code, share in list(shares.items())[:_SHOWN]]
    title = f"By its look alone, {part} may be from these countries:"
    told = [numbered(title, lines), clue.says, *_where(found.best()), found.reach.says]
    return Output("\n".join(told), data, sources=(source,))


def _where(best: Best | None) -> list[str]:
    if best is None:
        return []
    around = f"{best.point.lat:.1f}, {best.point.lon:.1f}"
    return [
        f"For photos mixed as in the collection it is most likely around {around}: "
        f"{percent(best.probability)} within {best.radius_km:.0f} km."
    ]
