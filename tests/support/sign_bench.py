"""The detective on texts of signs: the real loop, tools and atlas; only the reading is done beforehand."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from PIL import Image

from geosleuth.agent.loop import run
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup
from geosleuth.agent.trajectory import Trajectory
from geosleuth.answer import Answer
from geosleuth.atlas import Atlas
from geosleuth.geo import distance_km
from geosleuth.models.detective import Detective
from geosleuth.names import country_code, fold
from geosleuth.photo import Album, Photo
from geosleuth.tools import Case, Tool, Toolset
from geosleuth.tools.calls import Output
from geosleuth.tools.declare import tool
from geosleuth.tools.toolset import all_tools
from sign_texts import SignText

FAR = 10.0
"""A sign stands outside of a town that it says is so many kilometres or miles away."""

SURE = 0.5
"""From this probability on an answer is confident: more likely right than not, by its own word."""


@dataclass(frozen=True, slots=True)
class SignOutcome:
    """What the detective made of a sign."""

    sign: SignText
    trajectory: Trajectory

    @property
    def answer(self) -> Answer:
        """The answer."""
        assert self.trajectory.answer is not None
        return self.trajectory.answer

    @property
    def country(self) -> str | None:
        """The ISO code of the country it names."""
        named = self.answer.address.country.conclusion
        return country_code(named) if named else None

    @property
    def off_km(self) -> float:
        """How far off the point is; infinite without one."""
        if self.answer.point is None or self.sign.point is None:
            return float("inf")
        return distance_km(self.answer.point, self.sign.point)

    @property
    def sure(self) -> bool:
        """Whether it claims to be right rather than wrong."""
        return self.answer.located and (self.answer.probability or 0.0) >= SURE

    @property
    def fault(self) -> str | None:
        """What a careful person would object to; None where nothing."""
        if not self.sign.countries:
            return "a confident answer to nothing" if self.sure else None
        if self.country is None:
            return "can't tell"
        if self.country not in self.sign.countries:
            return "another country"
        if self.sign.point is not None and self.off_km > self.sign.reach_km:
            return "another town"
        return "in a town that it is far from" if self._in_named_town() else None

    def _in_named_town(self) -> bool:
        """Whether the answer is one of the towns that the sign gives a distance to."""
        place = fold((self.answer.address.precise.conclusion or "").partition(",")[0])
        named = {fold(town) for town, away in self.sign.distances if away >= FAR}
        return self.sign.kind == "distance" and place in named

    def told(self) -> str:
        """The outcome on one line."""
        odds = self.answer.probability
        words = f"{self.country or '-'} {self.answer.address.precise.conclusion or ''} " + (
            f"p {odds:.2f} r {self.answer.radius_km:.0f} km" if odds is not None and self.answer.radius_km else ""
        )
        off = "" if self.sign.point is None or self.answer.point is None else f" off {self.off_km:.0f} km"
        return f"{self.fault or 'right':<18} {self.sign.kind:<8} {self.sign.name} -> {words}{off}"


def read_beforehand(sign: SignText) -> Tool:
    """The tool that reads, with nothing left to read but what stands on the sign."""
    lines = [
        {
            "text": line.text,
            "script": line.script,
            "confidence": line.confidence,
            "bbox_2d": [round(side) for side in line.box],
            "bbox_px": [round(side) for side in line.box],
            "engine": "rapidocr",
        }
        for line in sign.seen()
    ]

    @tool("read_text")
    async def read_text(case: Case, image: str = "") -> Output:
        """Read the text in an image.

        Args:
            image: its handle.
        """
        data = {"image": image or "image-1", "scale": case.box_scale, "lines": lines}
        return Output("read", data, sources=("photo",))

    return read_text


async def work_on(sign: SignText, atlas: Atlas, policy: Detective | None = None) -> SignOutcome:
    """Let the detective work on one sign."""
    album = Album()
    album.add(Photo(Image.new("RGB", (1200, 800), "white")))
    case = Case(album, atlas, "pixels")
    chosen = method("detective", box_scale="pixels")
    tools = [one for one in chosen.toolset(all_tools()) if one.name not in ("read_text", "visual_prior")]
    toolset = Toolset([read_beforehand(sign), *tools])
    trajectory = await run(case, AgentSetup(method=chosen, policy=policy or Detective(), toolset=toolset))
    return SignOutcome(sign, trajectory)


def work_on_all(signs: Iterable[SignText], atlas: Atlas) -> list[SignOutcome]:
    """One after another."""

    async def all_of_them() -> list[SignOutcome]:
        return [await work_on(sign, atlas) for sign in signs]

    return asyncio.run(all_of_them())
