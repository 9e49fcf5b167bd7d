"""What all routers have in common: the refusals that they promise, and how ids look."""

from typing import Annotated, Any

from fastapi import Path

from .shown import Failure

_WHY = {
    400: "What was asked for can't be done; the message says what to mend.",
    401: "The token is missing or wrong.",
    403: "The host is not ours, or another site's page asks.",
    404: "There is no such thing.",
    408: "The request's body stopped coming.",
    409: "It can't be done as things stand, or nobody has agreed yet to what would leave this machine.",
    413: "What was sent is too large.",
    415: "What was sent is no photo by its media type.",
    422: "The request does not have the form that is asked for.",
    429: "Too many requests, streams or runs.",
    503: "Something that is asked is not there at the moment.",
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": why} for status, why in _WHY.items()
}
EMPTY: dict[int | str, dict[str, Any]] = {**REFUSALS, 204: {"description": "Done."}}

_ID = Path(pattern="^[0-9a-f]{16}$", examples=["0123456789abcdef"])
CaseId = Annotated[str, _ID]
RunId = Annotated[str, _ID]
PhotoNumber = Annotated[int, Path(ge=0, le=100_000)]


def binary(*media_types: str, description: str) -> dict[int | str, dict[str, Any]]:
    """What a route promises that sends bytes."""
    content = {name: {"schema": {"type": "string", "format": "binary"}} for name in media_types}
    return {**REFUSALS, 200: {"description": description, "content": content}}
