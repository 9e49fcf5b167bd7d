"""One server, held in a task of its own, so that whatever becomes of it nobody else falls with it."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from geosleuth.atlas.redaction import redacted
from geosleuth.errors import ServiceFault, require
from geosleuth.tools.wording import one_line

from .config import Lender

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

OPEN_SECONDS = 30.0
"""How long a server may take to start and to say what it has."""

CALL_SECONDS = 45.0
_CLOSE_SECONDS = 8.0
_PAGES = 20
_TOOLS = 500
_LAST_WORDS = 200


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as its server describes it."""

    name: str
    description: str | None
    input_schema: Mapping[str, Any]


class Connection:
    """A server that is asked.

    Attributes:
        lender: which one.
        offered: its tools, once it is open.
        trouble: why it can't be asked; None where it can.
    """

    def __init__(self, lender: Lender) -> None:
        """Nothing is started before `open`."""
        self.lender = lender
        self.offered: tuple[Offered, ...] = ()
        self.trouble: str | None = None
        self._client: Client | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        # Held for as long as the server may repeat them.
        self._keys = lender.keys()

    async def open(self) -> None:
        """Start or reach the server and ask what it has; where that fails, ``trouble`` says why.

        Raises:
            MissingExtra: the SDK is not installed.
        """
        require("mcp", extra="serve")
        opened = asyncio.Event()
        self._keeper = asyncio.create_task(self._keep(opened))
        waiting = asyncio.create_task(opened.wait())
        try:
            await asyncio.wait({self._keeper, waiting}, timeout=OPEN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if not opened.is_set() and self.trouble is None:
            self.trouble = f"it said nothing for {OPEN_SECONDS:g} s"
            self._keeper.cancel()

    async def call(self, name: str, arguments: dict[str, Any]) -> "CallToolResult":
        """Ask for one call.

        Raises:
            ServiceFault: the server can't be asked, took too long, or answered nonsense.
        """
        if self._client is None:
            raise self._fault(self.trouble or "it is gone")
        asking = asyncio.create_task(self._client.session.call_tool(name, arguments))
        ends = {asking, self._keeper} if self._keeper else {asking}
        try:
            done, _ = await asyncio.wait(ends, timeout=CALL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise self._fault(f"it took longer than {CALL_SECONDS:g} s", retryable=True)
            if asking not in done:
                raise self._fault(self.trouble or "it is gone")
            return asking.result()
        except ServiceFault:
            raise
        except Exception as error:
            raise self._fault(_words(error)) from error
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def close(self) -> None:
        """Let go of it; a program that was started is ended."""
        self._leave.set()
        if self._keeper is None:
            return
        done, _ = await asyncio.wait({self._keeper}, timeout=_CLOSE_SECONDS)
        if not done:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)

    async def _keep(self, opened: asyncio.Event) -> None:
        """Hold the server until somebody wants it closed or it fails."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            try:
                async with AsyncExitStack() as held:
                    client = await held.enter_async_context(_client(self.lender, said))
                    self.offered = await _listed(client)
                    self._client = client
                    opened.set()
                    await self._leave.wait()
            except Exception as error:  # noqa: BLE001  (told by whoever asks the server next)
                self.trouble = redacted(_last_line(said) or _words(error))
            finally:
                self._client = None

    def _fault(self, trouble: str, *, retryable: bool = False) -> ServiceFault:
        return ServiceFault(f"the MCP server {self.lender.name}", trouble, retryable=retryable)


@asynccontextmanager
async def _client(lender: Lender, said: IO[str]) -> "AsyncIterator[Client]":
    """A client of the official SDK; a program's own talk goes to ``said``."""
    import httpx2
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as held:
        if lender.url is None:
            program = StdioServerParameters(
                command=lender.command or "", args=list(lender.args), env=dict(lender.env), cwd=lender.folder
            )
            transport: Any = stdio_client(program, errlog=said)  # type: ignore[arg-type]
        else:
            limits = httpx2.Timeout(OPEN_SECONDS, read=CALL_SECONDS)
            http = await held.enter_async_context(httpx2.AsyncClient(headers=dict(lender.headers), timeout=limits))
            transport = streamable_http_client(lender.url, http_client=http)
        yield await held.enter_async_context(Client(transport))


async def _listed(client: "Client") -> tuple[Offered, ...]:
    found: list[Offered] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += [Offered(one.name, one.description, one.input_schema) for one in page.tools]
        cursor = page.next_cursor
        if cursor is None or len(found) >= _TOOLS:
            break
    return tuple(found[:_TOOLS])


def _words(error: BaseException) -> str:
    """The innermost of what went wrong, on one line."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return one_line(f"{error}" or type(error).__name__, _LAST_WORDS)


def _last_line(said: IO[str]) -> str | None:
    """What a program said last, which mostly is why it ended."""
    with suppress(OSError, ValueError):
        said.seek(0)
        lines = [line for line in said.read(100_000).splitlines() if line.strip()]
        return one_line(lines[-1], _LAST_WORDS) if lines else None
    return None
