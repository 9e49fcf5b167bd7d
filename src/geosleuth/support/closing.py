"""Closing what holds connections, at the end of an ``async with`` block."""

from typing import Self


class AsyncClosing:
    """Makes what has an ``aclose`` an async context manager."""

    async def aclose(self) -> None:
        """Close every connection."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
