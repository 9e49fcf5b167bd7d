"""Inputs of a run, in parts: the agent, the question, the resources of tools, and the listeners."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from geosleuth.atlas import Atlas
from geosleuth.models import Policy, Sampling, Wire
from geosleuth.tools import ImageInfo, ImageSearch, TextReader, Toolset, WebSearch

from .events import Budget, Task
from .method import Method
from .trajectory import TrajectoryWriter
from .turns import Sink

if TYPE_CHECKING:
    from geosleuth.evidence.visual import VisualPrior


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSetup:
    """Policy, method and tools of a run.

    Attributes:
        method: how to go about it, see `geosleuth.agent.methods.method`.
        policy: who thinks; the caller that made it closes it.
        toolset: exactly the tools that are switched on, see `Method.toolset`.
        budget: in place of the method's own; None keeps it.
        sampling: in place of the method's own; None keeps it.
        wire: in place of the method's own; None keeps it.
        completes: fill in what the answer's form leaves out, see `geosleuth.agent.completion`.
    """

    method: Method
    policy: Policy
    toolset: Toolset
    budget: Budget | None = None
    sampling: Sampling | None = None
    wire: Wire | None = None
    completes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoQuestion:
    """Question about photos, beside the photos themselves.

    Attributes:
        hint: the user's words about the photo.
        area: where the place lies, as far as the user knows.
        force_answer: a best guess is wanted in any case.
        views: what is known about the pictures themselves, a line each.
    """

    hint: str | None = None
    area: str | None = None
    force_answer: bool = False
    views: tuple[str, ...] = ()

    def task(self, images: tuple[ImageInfo, ...]) -> Task:
        """Return the task of locating these pictures."""
        return Task(images, self.hint, self.area, self.force_answer, self.views)


# A question without hints: only the photos are known.
NO_HINTS = PhotoQuestion()


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that the tools of a run may query.

    Attributes:
        atlas: the world, offline or online.
        web: where web searches go; None is the atlas's own documents.
        similar: where similar pictures are looked for.
        visual: what the tool visual_prior asks.
        reader: what the tool read_text reads with, in place of the text reading that comes with the package.
    """

    atlas: Atlas
    web: WebSearch | None = None
    similar: ImageSearch | None = None
    visual: "VisualPrior | None" = None
    reader: TextReader | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """Listeners of a run: a file that stores it and gives it its id, and sinks of its events.

    The file is closed by the caller that opened it.
    """

    store: TrajectoryWriter | None = None
    sinks: tuple[Sink, ...] = ()


UNWATCHED = Watch()
