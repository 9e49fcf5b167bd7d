"""The policy `fixed`: answers with the same point for every photo; ``--model geosleuth-moon:fixed:43.7,7.4``."""

from dataclasses import dataclass

from geosleuth.models import Conversation, Step
from geosleuth.support.errors import BadInput


@dataclass(frozen=True)
class Fixed:
    """Never looks."""

    lat: float
    lon: float
    name: str = "geosleuth-moon:fixed"
    hosts: frozenset[str] = frozenset()

    async def step(self, conversation: Conversation) -> Step:  # noqa: ARG002  # it never looks
        """Return the answer at once."""
        return Step(f'{{"lat": {self.lat}, "lon": {self.lon}}}')

    async def aclose(self) -> None:
        """Nothing is held."""


def make_fixed(argument: str) -> Fixed:
    """Return the policy for what follows its name."""
    try:
        lat, lon = map(float, argument.split(","))
    except ValueError as error:
        raise BadInput("write geosleuth-moon:fixed:LAT,LON") from error
    return Fixed(lat, lon)
