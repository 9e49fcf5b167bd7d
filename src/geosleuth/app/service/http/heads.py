"""HEAD: whatever can be had by GET, its headers alone."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Heads:
    """Middleware that answers HEAD as GET, less the body; a stream of events has no end, and stays out."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before the routes."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let everything else through as it is."""
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"].endswith("/events"):
            await self._app(scope, receive, send)
            return

        async def bodiless(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, bodiless)
