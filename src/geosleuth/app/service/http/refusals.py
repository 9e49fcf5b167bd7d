"""Every answer that is a refusal, in one shape: ``{"error": {"kind", "message", "hosts"?}}``, one line for people."""

import json
from collections.abc import Iterable, Mapping

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from geosleuth.text import one_line

LONGEST = 600
"""Characters of a message, at most."""


class Refused(HTTPException):
    """A request that is not carried out, and why.

    It is an HTTPException, so that it passes through whoever reads a request's body.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Say what is wrong in one line, and for programs by a word."""
        super().__init__(status, message, dict(headers) if headers else None)
        self.kind = kind

    def response(self) -> JSONResponse:
        """The answer."""
        return refusal(self.status_code, self.kind, str(self.detail), headers=self.headers)


class Missing(Refused):
    """There is no such thing."""

    def __init__(self, what: str) -> None:
        """Name the kind of thing."""
        super().__init__(404, "missing", f"there is no such {what}; it may have been deleted")


def refusal(
    status: int,
    kind: str,
    message: str,
    hosts: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A refusal as an answer."""
    told = one_line(message)
    error: dict[str, object] = {
        "kind": kind,
        "message": told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…",
    }
    if listed := sorted(hosts):
        error["hosts"] = listed
    return _Plain({"error": error}, status, dict(headers) if headers else None)


async def refuse(refused: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a refusal from a place where no route has been found yet."""
    await refused.response()(scope, receive, send)


class _Plain(JSONResponse):
    """JSON in plain ASCII: whatever a message repeats, half a surrogate pair too, can be sent."""

    def render(self, content: object) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
