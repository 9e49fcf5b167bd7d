"""How much a request may bring, checked while it comes in, and how long it may dawdle."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .refusals import Refused, refuse

JSON_BYTES = 1_000_000
PIECE_S = 30.0
"""How long the next piece of a body may take to come, and a small body as a whole."""

PASSING_BYTES, PASSING_S = 4 * 1024**2, 10.0
"""How much of a body that is too large is let go by before the answer, or twice the cap, and for how long."""


class Bodies:
    """Middleware that stops bodies which are too large or too slow, before anybody keeps them in memory."""

    def __init__(self, app: ASGIApp, *, most_bytes: Callable[[str], int], piece_s: float = PIECE_S) -> None:
        """Guard an app; ``most_bytes`` gives the cap of a path."""
        self._app, self._most_bytes, self._piece_s = app, most_bytes, piece_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through with a watch on its body, or refuse it by the length that it announces."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cap = self._most_bytes(scope["path"])
        announced = Headers(scope=scope).get("content-length", "")
        # A number of more digits than any cap has is not even read.
        if announced.isdigit() and (len(announced) > 15 or int(announced) > cap):
            await _let_pass(receive, cap)
            await refuse(too_large(cap), scope, receive, send)
            return
        came, whole = 0, False
        clock = asyncio.get_running_loop().time
        until = clock() + self._piece_s

        async def watched() -> Message:
            nonlocal came, whole, until
            if whole:
                return await receive()
            if cap > JSON_BYTES:
                until = clock() + self._piece_s
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError as error:
                raise Refused(408, "slow", "the request's body stopped coming; send it again") from error
            if message["type"] == "http.request":
                came += len(message.get("body", b""))
                whole = not message.get("more_body", False)
                if came > cap:
                    if not whole:
                        await _let_pass(receive, cap)
                    raise too_large(cap)
            return message

        await self._app(scope, watched, send)


async def _let_pass(receive: Receive, cap: int) -> None:
    """Let some more of a body go by unread: a client that still sends when we hang up never sees our answer."""
    passed, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(PASSING_S):
            while more and passed < max(PASSING_BYTES, 2 * cap):
                message = await receive()
                passed += len(message.get("body", b""))
                more = message["type"] == "http.request" and message.get("more_body", False)


def too_large(cap: int) -> Refused:
    """The refusal of a body over a cap."""
    shown = f"{cap / 1024**2:.0f} MiB" if cap >= 1024**2 else f"{cap // 1000} kB"
    # Closed, since the rest of the body would have to be read before the next request.
    return Refused(413, "size", f"that is too large; at most {shown} are taken", headers={"Connection": "close"})
