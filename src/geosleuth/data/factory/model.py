"""What makers of trajectories give, and who they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from geosleuth.agent.locating import Finding
from geosleuth.data.rejection import Verdict
from geosleuth.score import Truth

Kind = Literal["spotagent", "geovista", "geoagent", "imported"]
"""Which synthesis: the word that stores know it by."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of one try: the run with its album, what is thought of it, and what else is to be known.

    ``photo`` is the picture's file as it was looked at. ``truth`` is None where nobody knows the place.
    """

    finding: Finding = field(repr=False)
    photo: bytes = field(repr=False)
    scene: str
    split: str
    verdict: Verdict
    truth: Truth | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


class Maker(Protocol):
    """Makes one trajectory from what it is given, see `geosleuth.data.factory.packing`."""

    async def __call__(self, content: bytes) -> Worked:
        """Make it.

        Raises:
            UserError: something must be mended before it makes sense to go on.
        """
        ...

    async def aclose(self) -> None:
        """Let go of models and connections."""
        ...
