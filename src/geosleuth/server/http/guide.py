"""The field guide's routes: the checklist, and the odds that follow from what the user sees."""

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool

from geosleuth.evidence.guide import checklist, field_guide, format_sighting, weigh_sightings
from geosleuth.names import country_name

from .schemas import (
    REFUSALS,
    CountryOdds,
    GuideAttribute,
    GuideShown,
    GuideValue,
    NewSightings,
    SightingShown,
    SightingsShown,
)

router = APIRouter(prefix="/api/guide", tags=["guide"], responses=REFUSALS)

_SHOWN = 12
_MIN_SHARE = 0.002


@router.get("")
async def checklist_shown() -> GuideShown:
    """Return the questions of the checklist."""
    found = await run_in_threadpool(checklist)
    return GuideShown(
        attributes=[
            GuideAttribute(
                attribute=one.name, label=one.label, question=one.question, group=one.group,
                values=[GuideValue(value=value.name, label=value.label) for value in values],
            )
            for one, values in found
        ]
    )  # fmt: skip


@router.post("/weigh")
async def weigh(asked: NewSightings) -> SightingsShown:
    """Weigh what the user sees."""
    return await run_in_threadpool(_weigh_and_show, asked.seen)


def _weigh_and_show(seen: list[str]) -> SightingsShown:
    weighed, guide = weigh_sightings(seen), field_guide()
    return SightingsShown(
        countries=[
            _odds(code, share) for code, share in list(weighed.countries.items())[:_SHOWN] if share >= _MIN_SHARE
        ],
        sightings=[
            SightingShown(
                words=one.words,
                label=format_sighting(guide, one),
                moved={country_name(move.place): move.factor for move in moves},
            )
            for one, moves in zip(weighed.sightings, weighed.moves, strict=True)
        ],
        not_understood=list(weighed.not_understood),
    )


def _odds(code: str, share: float) -> CountryOdds:
    from geosleuth.evidence.heartlands import heartland

    land = heartland(code)
    if land is None:
        return CountryOdds(code=code, name=country_name(code), share=share, lat=None, lon=None, radius_km=None)
    return CountryOdds(
        code=code, name=country_name(code), share=share,
        lat=land.point.lat, lon=land.point.lon, radius_km=land.radius_km,
    )  # fmt: skip
