"""What passes between a run and whoever works on its photos."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from geosleuth.agent import Spent
from geosleuth.agent.events import Answerer, EndReason
from geosleuth.answer import Answer
from geosleuth.bench.sets.model import Box

Outcome = Literal["answered", "failed", "interrupted"]
"""How a try ended: with an answer, which may be "can't tell" or wrong; with an error; or it was cut off.

An error says nothing about who answers: a model's server failed, or the photo can't be opened.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """One try at one photo.

    ``name`` is a random hash, and all that may be told to whoever answers. ``id`` is the data set's own: it serves to
    look a recording up, and for nothing else. ``content`` is the photo's file as it is; whoever opens it keeps the
    pixels alone. ``hide`` are boxes to be blanked before anybody looks.
    """

    name: str
    id: str
    number: int
    content: bytes = field(repr=False)
    hide: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempted:
    """What came of a try. It travels between machines, so it holds plain values only."""

    outcome: Outcome
    answer: Answer
    by: Answerer
    reason: EndReason
    spent: Spent
    trouble: str | None = None
    host: str | None = None


class Attempt(Protocol):
    """Makes one try. It keeps the trajectory in the file it is given, and files of its own beside it.

    It raises what the user must mend before it makes sense to go on (`UserError`), and nothing else: a model that
    fails and a photo that can't be opened are outcomes.
    """

    async def __call__(self, job: Job, keep_in: Path) -> Attempted:
        """Make it."""
        ...


class Making(Protocol):
    """Makes an `Attempt`, here or on another machine: it can be pickled, and is called once in each process."""

    async def __call__(self) -> "Ready":
        """Load all that tries need."""
        ...


class Ready(Protocol):
    """An attempt with everything it needs loaded; closed when the run ends."""

    @property
    def attempt(self) -> Attempt:
        """What makes the tries."""
        ...

    async def aclose(self) -> None:
        """Let go of models, connections and memory."""
        ...


class Worker(Protocol):
    """Where tries are made: in this process, or on a cluster. The try's files are in the run's folder when it returns.

    Raises:
        UserError: the run can't go on.
    """

    async def __call__(self, job: Job) -> Attempted:
        """Make one try."""
        ...
