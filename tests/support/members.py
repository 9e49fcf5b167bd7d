"""Stand-ins for the members of a team: they say what a script says, and keep what they were asked."""

import asyncio
from collections.abc import Callable, Iterable

from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.teams import Reply, Request, reply_tokens

Line = Reply | Exception | Callable[[Request], Reply]


class ScriptedMember:
    """Says one line of its script a request, and ``then`` for ever after; an exception in the script is raised.

    Real members never raise; one that does is how a test shows that a team survives a fault of its own.
    """

    def __init__(
        self, name: str, script: Iterable[Line] = (), *, then: Line | None = None, seconds: float = 0.0
    ) -> None:
        self.name = name
        self.hosts: frozenset[str] = frozenset()
        self._script = list(script)
        self._then = then if then is not None else Reply(failure="the script is over")
        self._seconds = seconds
        self.asked: list[Request] = []
        self.closed = False

    async def reply(self, request: Request) -> Reply:
        line = self._script[len(self.asked)] if len(self.asked) < len(self._script) else self._then
        self.asked.append(request)
        await asyncio.sleep(self._seconds)
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, Reply) else line(request)

    async def aclose(self) -> None:
        self.closed = True


def place(
    lat: float, lon: float, *, confidence: float = 0.5, because: str = "the sign says so", country: str | None = None
) -> Reply:
    """A reply that names a point."""
    answer = Answer(LatLon(lat, lon), Address.create(country=country), probability=confidence, explanation=because)
    text = (
        f'{{"location": {{"lat": {lat}, "lon": {lon}}}, "confidence": "{confidence:.0%}", "explanation": "{because}"}}'
    )
    return Reply(text, answer, reply_tokens("", text))


def comment(text: str) -> Reply:
    """What a reviewer says."""
    return Reply(text, Answer(explanation=text), reply_tokens("", text))
