"""What requests may say: typed, bounded, and nothing besides."""

from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from geosleuth.answer.granularity import Granularity
from geosleuth.app.service import Feedback, RunRequest
from geosleuth.errors import BadInput

from .refusals import Refused

LATITUDE, LONGITUDE = Field(ge=-90, le=90), Field(ge=-180, le=180)
Words = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(max_length=300)]
Address = Annotated[str, Field(max_length=500)]
Host = Annotated[str, Field(max_length=253)]
Noted = Annotated[str, Field(max_length=200)]
_MOST = 2**31
_PLACES = 100_000


class Asked(BaseModel):
    """Whatever is not named is refused: a misspelt option must not pass for one that was left out."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


class Geometry(Asked):
    """A drawn area: a GeoJSON Polygon or MultiPolygon, longitude before latitude."""

    type: Literal["Polygon", "MultiPolygon"]
    coordinates: list[Any]


class NewCase(Asked):
    """A case to begin."""

    title: Annotated[str, Field(max_length=200)] = ""
    notes: Annotated[str, Field(max_length=20_000)] = ""


class CaseChange(Asked):
    """What is to change; the rest stays."""

    title: Annotated[str, Field(max_length=200)] | None = None
    notes: Annotated[str, Field(max_length=20_000)] | None = None


class NewRun(Asked):
    """What a run is to do; the words are those of ``geosleuth locate``. What is left out, the settings say."""

    model: Name | None = None
    base_url: Address | None = None
    method: Annotated[str, Field(max_length=100)] | None = None
    parallel: Annotated[int, Field(ge=1, le=64)] = 1
    verifier: Name | None = None
    within: Name | None = None
    area: Geometry | None = None
    hint: Words | None = None
    taken: Annotated[str, Field(max_length=60)] | None = None
    drives_on: Literal["left", "right"] | None = None
    granularity: Granularity | None = None
    turns: Annotated[int, Field(ge=1, le=_MOST)] | None = None
    calls: Annotated[int, Field(ge=0, le=_MOST)] | None = None
    tokens: Annotated[int, Field(ge=1, le=_MOST)] | None = None
    seconds: Annotated[float, Field(ge=0.1, le=_MOST)] | None = None
    usd: Annotated[float, Field(ge=0, le=_MOST)] | None = None
    force_answer: bool = False
    send_to: Annotated[list[Host], Field(max_length=32)] = []

    def request(self) -> RunRequest:
        """The same for the service.

        Raises:
            BadInput: the area is no outline.
        """
        told = _told(self, RunRequest)
        told["send_to"] = tuple(self.send_to)
        told["granularity"] = self.granularity or "exact"
        return RunRequest(**told, **_area(self.within, self.area))


class NewFeedback(Asked):
    """What a person says about a run: what is wrong in it, and what else they know."""

    reject_clues: Annotated[list[Noted], Field(max_length=500)] = []
    reject_candidates: Annotated[list[Noted], Field(max_length=500)] = []
    hint: Words | None = None
    area: Geometry | None = None
    within: Name | None = None
    send_to: Annotated[list[Host], Field(max_length=32)] = []

    def feedback(self) -> Feedback:
        """The same for the service.

        Raises:
            BadInput: the area is no outline.
        """
        told = _told(self, Feedback)
        told |= {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
        return Feedback(**told, **_area(self.within, self.area))


class Claim(Asked):
    """A place to check a finding against."""

    lat: Annotated[float, LATITUDE]
    lon: Annotated[float, LONGITUDE]


class NewSettings(Asked):
    """The settings, whole: what is left out is set back to what it is at first."""

    model: Name | None = None
    base_url: Address | None = None
    offline: bool = True
    granularity: Granularity = "exact"
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    online_tiles: Address | None = None


class NewKey(Asked):
    """A key, and where it is kept."""

    key: Annotated[str, Field(min_length=1, max_length=4096, repr=False)]
    keep: Literal["memory", "keyring"] = "memory"


class SignIn(Asked):
    """The server's token."""

    token: Annotated[str, Field(min_length=1, max_length=4096, repr=False)]


def _told(asked: Asked, target: type[Any]) -> dict[str, Any]:
    """What the service has fields for, as it was given, less the area."""
    wanted = {one.name for one in fields(target)} - {"area", "within"}
    return {name: value for name, value in asked.model_dump().items() if name in wanted}


def _area(within: str | None, area: Geometry | None) -> dict[str, Any]:
    if within is not None and area is not None:
        raise Refused(400, "input", "give the area in words or as an outline, not both")
    drawn = None if area is None else area.model_dump()
    if drawn is not None:
        _check_rings(drawn)
    return {"within": (within or "").strip() or None, "area": drawn}


def _check_rings(drawn: dict[str, Any]) -> None:
    """Complain about what is no outline before anything is built of it."""
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
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and abs(one) <= _MOST for one in pair):
        return False
    return bool(abs(pair[0]) <= 180 and abs(pair[1]) <= 90)
