"""From opened photos to a finding, and what of a reply is read as the answer."""

import asyncio
import io
import json
from typing import TYPE_CHECKING, cast

import pytest
from PIL import Image

from geosleuth.agent.locate import Finding, locate, open_case
from geosleuth.agent.methods import METHODS, method
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.geo import LatLon
from geosleuth.models import Step
from geosleuth.photo import OpenedPhoto, open_photo
from geosleuth.support.errors import BadInput
from geosleuth.tools import Toolset
from scripted import ScriptedPolicy, answers, says

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas

LEVELS = {
    "ChainOfThought": {
        "CountryIdentification": {
            "Clues": ["blue enamel street signs"], "Reasoning": "Signs of this kind.", "Conclusion": "Monaco",
            "Uncertainty": "low",
        },
        "RegionalGuess": {"Clues": [], "Reasoning": "", "Conclusion": "La Condamine", "Uncertainty": "moderate"},
        "PreciseLocalization": {
            "Clues": ["the words RUE GRIMALDI"], "Reasoning": "It is written there.", "Conclusion": "Rue Grimaldi",
            "Uncertainty": "low",
        },
    }
}  # fmt: skip
FINAL = "<answer>Monaco; La Condamine; Rue Grimaldi</answer>"


def opened(point: LatLon | None = None) -> OpenedPhoto:
    stream = io.BytesIO()
    exif = Image.Exif()
    if point is not None:
        exif.get_ifd(0x8825).update({1: "N", 2: (point.lat, 0.0, 0.0), 3: "E", 4: (point.lon, 0.0, 0.0)})
    Image.new("RGB", (240, 160), (90, 120, 200)).save(stream, "JPEG", exif=exif)
    return open_photo(stream.getvalue())


def found(preset: str, step: Step, *photos: OpenedPhoto) -> Finding:
    return asyncio.run(
        locate(
            photos or [opened()],
            AgentSetup(method=method(preset), policy=ScriptedPolicy([step]), toolset=Toolset([])),
            Resources(cast("Atlas", None)),
        )
    )


def test_what_geoagents_models_think_is_part_of_their_answer() -> None:
    step = Step(FINAL, thinking=json.dumps(LEVELS))
    answer = found("geoagent", step).answer
    assert str(answer.address) == "Rue Grimaldi, La Condamine, Monaco"
    assert answer.address.country.clues == ("blue enamel street signs",)
    assert answer.address.precise.reasoning == "It is written there."
    assert answer.address.region.uncertainty == "moderate"


def test_thoughts_do_not_stand_above_what_is_said() -> None:
    muddled = "Perhaps Laos; Vientiane; That Luang at 17.97, 102.63? No: the sign is French."
    whole = json.dumps({**LEVELS, "FinalAnswer": "Monaco; La Condamine; Rue Grimaldi"})
    for text in (whole, FINAL):
        answer = found("geoagent", Step(text, thinking=muddled)).answer
        assert answer.address.country.conclusion == "Monaco"
        assert answer.point is None


@pytest.mark.parametrize("name", [name for name in METHODS if name != "geoagent"])
def test_no_other_method_takes_a_thought_for_an_answer(name: str) -> None:
    thought = '{"lat": 1.0, "lon": 2.0, "country": "Kenya", "location": "Kenya", "confidence": 50}'
    outcome = found(name, Step(thinking=thought))
    assert outcome.trajectory.answered is not None
    assert outcome.trajectory.answered.by == "nobody"
    assert not outcome.answer.located


@pytest.mark.parametrize(
    ("radius_km", "conflict"), [(None, False), (1.0, True), (50.0, False)], ids=["city", "narrow", "wide"]
)
def test_a_claim_is_held_against_the_radius_of_the_finding(radius_km: float | None, conflict: bool) -> None:
    near = LatLon(43.8, 7.5)  # 10 km away
    step = answers(43.7354, 7.4211, country="Monaco", radius_km=radius_km)
    outcome = found("default", step, opened(near), opened())
    assert outcome.conflicts == (conflict, None)
    assert outcome.claims[0].point == pytest.approx(near)


def test_a_finding_without_a_point_contradicts_nothing() -> None:
    outcome = found("default", says('{"explanation": "A wall."}'), opened(LatLon(43.8, 7.5)))
    assert outcome.conflicts == (None,)
    assert outcome.answer.explanation == "A wall."


def test_without_a_photo_there_is_no_case() -> None:
    case, views = open_case([], method("default"), Resources(cast("Atlas", None)))
    assert (case.album.handles, views) == ((), ())
    with pytest.raises(BadInput, match="no photo"):
        asyncio.run(
            locate(
                [],
                AgentSetup(method=method("default"), policy=ScriptedPolicy([]), toolset=Toolset([])),
                Resources(cast("Atlas", None)),
            )
        )
