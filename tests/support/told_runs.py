"""Real runs of the detective on text that was read beforehand, to be told, ruled out and gone on with."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PIL import Image

from geosleuth.agent import Sink, Trajectory, resume, run
from geosleuth.agent.events import Budget
from geosleuth.agent.locate import Finding
from geosleuth.agent.method import Method
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup
from geosleuth.atlas import Atlas
from geosleuth.models import Policy, Prompt
from geosleuth.models.detective import Detective
from geosleuth.models.feedback import Rejected, feedback_words
from geosleuth.photo import Album, Photo
from geosleuth.server.requests import with_rejected
from geosleuth.tools import Case, Tool, Toolset
from geosleuth.tools.calls import Output
from geosleuth.tools.declare import tool
from geosleuth.tools.toolset import all_tools

SIZE = (1200, 800)


@dataclass(slots=True)
class Sight:
    """A white picture in which some lines are read, each board's close together and the boards far apart.

    ``confidences`` are those of lines that are not read well.
    """

    atlas: Atlas
    boards: tuple[tuple[str, ...], ...]
    confidences: Mapping[str, float] = field(default_factory=dict)
    method: Method = field(default_factory=lambda: method("detective"))
    case: Case = field(init=False)
    toolset: Toolset = field(init=False)

    def __post_init__(self) -> None:
        album = Album()
        album.add(Photo(Image.new("RGB", SIZE, "white")))
        self.case = Case(album, self.atlas, self.method.box_scale)
        others = [one for one in self.method.toolset(all_tools()) if one.name not in ("read_text", "visual_prior")]
        self.toolset = Toolset([_read_beforehand(self.boards, self.confidences), *others])

    def run(
        self, policy: Policy | None = None, *, sinks: Sequence[Sink] = (), budget: Budget | None = None
    ) -> Trajectory:
        """Let somebody work on it, the detective where nobody is named."""
        return asyncio.run(
            run(
                self.case,
                AgentSetup(method=self.method, policy=policy or Detective(), toolset=self.toolset, budget=budget),
                sinks=sinks,
            )
        )

    def go_on(
        self,
        before: Trajectory,
        rejected: Rejected,
        policy: Policy | None = None,
        *,
        hint: str | None = None,
        sinks: Sequence[Sink] = (),
    ) -> Trajectory:
        """Go on from a run with what a person has ruled out."""
        chosen = policy or Detective(rejected=rejected)
        return asyncio.run(
            resume(
                with_rejected(before, rejected),
                Prompt(feedback_words(rejected, hint=hint)),
                case=self.case,
                setup=AgentSetup(method=self.method, policy=chosen, toolset=self.toolset),
                sinks=sinks,
            )
        )

    def finding(self, trajectory: Trajectory) -> Finding:
        """The finding of a run, with its pictures."""
        return Finding(trajectory, (), self.case.album)


def _read_beforehand(boards: Sequence[Sequence[str]], confidences: Mapping[str, float]) -> Tool:
    lines = [
        {
            "text": text,
            "script": "latin",
            "confidence": confidences.get(text, 0.95),
            "bbox_2d": box,
            "bbox_px": box,
            "engine": "rapidocr",
        }
        for number, board in enumerate(boards)
        for row, text in enumerate(board)
        for top in [40 + 300 * number + 42 * row]
        for box in [[60, top, 60 + 14 * len(text), top + 30]]
    ]

    @tool("read_text")
    async def read_text(case: Case, image: str = "") -> Output:
        """Read the text in an image.

        Args:
            image: its handle.
        """
        return Output(
            "read", {"image": image or "image-1", "scale": case.box_scale, "lines": lines}, sources=("photo",)
        )

    return read_text
