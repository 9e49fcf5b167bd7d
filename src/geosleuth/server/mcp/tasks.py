"""Calls as tasks: the extension of MCP 2026-07-28 by which a client fetches a long call's result later (SEP-2663).

The SDK passes a result of type "task" through and knows no more of it: mcp 2.3 keeps no tasks.
"""

import asyncio
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from geosleuth.support.errors import require

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server import Server, ServerRequestContext
    from mcp.types import CallToolResult, GetTaskRequestParams

    from .own_tools import Notify

EXTENSION = "io.modelcontextprotocol/tasks"
KEPT = 64
_KEPT_FOR = timedelta(hours=1)
_POLL_MS = 1000


def accepts_tasks(context: "ServerRequestContext[Any]") -> bool:
    """Return whether this request says that its client understands tasks; older protocols can't carry them."""
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    declared = context.session.client_capabilities
    extensions = declared.extensions if declared else None
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in (extensions or {})


@dataclass(slots=True)
class _Task:
    id: str
    created: datetime
    updated: datetime
    message: str | None = None
    work: "asyncio.Task[CallToolResult] | None" = None

    @property
    def status(self) -> str:
        if self.work is None or not self.work.done():
            return "working"
        if self.work.cancelled():
            return "cancelled"
        # What is wrong with a call is said in its result, which makes it a completed one.
        return "failed" if self.work.exception() else "completed"

    async def notify(self, _progress: float, message: str) -> None:
        self.message, self.updated = message, datetime.now(UTC)


@dataclass(slots=True)
class Tasks:
    """The calls that run, and for an hour those that ended; any client that has a task's id may ask for it."""

    _kept: OrderedDict[str, _Task] = field(default_factory=OrderedDict)

    def begin(self, call: "Callable[[Notify], Awaitable[CallToolResult]]") -> dict[str, Any] | None:
        """Start a call and return its handle; None where as many run as are kept."""
        self._drop_ended(len(self._kept) - KEPT + 1)
        if len(self._kept) >= KEPT:
            return None
        now = datetime.now(UTC)
        task = _Task(f"task-{secrets.token_hex(16)}", now, now)

        async def carry_out() -> "CallToolResult":
            try:
                return await call(task.notify)
            finally:
                task.updated = datetime.now(UTC)

        task.work = asyncio.create_task(carry_out())
        self._kept[task.id] = task
        return _build_task_document(task, "task")

    def state(self, number: str) -> dict[str, Any] | None:
        """Return how a task stands, with its result once it is completed; None if there is no such task."""
        self._drop_ended(0)
        task = self._kept.get(number)
        return None if task is None else _build_task_document(task, "complete")

    def cancel(self, number: str) -> None:
        """Call a task off."""
        if (work := self._kept[number].work) is not None:
            work.cancel()

    async def aclose(self) -> None:
        """Call off what still runs."""
        works = [task.work for task in self._kept.values() if task.work is not None]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    def _drop_ended(self, over: int) -> None:
        """Drop what ended and is too old, and at least ``over`` of those that ended, if there are so many."""
        ended = [task for task in self._kept.values() if task.status != "working"]
        for place, task in enumerate(ended):
            if place < over or datetime.now(UTC) - task.created > _KEPT_FOR:
                del self._kept[task.id]


def serve_tasks(server: "Server[Any]", tasks: Tasks) -> None:
    """Let a server say that it knows tasks, and answer what clients ask about them."""
    types = require("mcp.types", extra="serve")
    error = require("mcp.shared.exceptions", extra="serve").MCPError

    async def answer(context: "ServerRequestContext[Any]", asked: "GetTaskRequestParams") -> dict[str, Any]:
        if not accepts_tasks(context):
            missing: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            words = f"a request about a task must declare {EXTENSION} among the client's extensions"
            raise error(code=types.MISSING_REQUIRED_CLIENT_CAPABILITY, message=words, data=missing)
        state = tasks.state(asked.task_id)
        if state is None:
            raise error(
                code=types.INVALID_PARAMS, message="there is no such task, or it is too old; call the tool again"
            )
        if context.method == "tasks/cancel":
            tasks.cancel(asked.task_id)
        # An update answers a task's questions, and ours ask none.
        return state if context.method == "tasks/get" else {}

    server.extensions[EXTENSION] = {}
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        server.add_request_handler(method, types.GetTaskRequestParams, answer)


def _build_task_document(task: _Task, kind: str) -> dict[str, Any]:
    told = {
        "resultType": kind,
        "taskId": task.id,
        "status": task.status,
        "createdAt": task.created.isoformat(),
        "lastUpdatedAt": task.updated.isoformat(),
        "ttlMs": int(_KEPT_FOR.total_seconds() * 1000),
        "pollIntervalMs": _POLL_MS,
    }
    if task.message is not None:
        told["statusMessage"] = task.message
    if task.work is not None and task.status == "completed":
        told["result"] = task.work.result().model_dump(by_alias=True, mode="json", exclude_none=True)
    if task.status == "failed":
        told["error"] = {"code": -32603, "message": "the call broke off; the server's log says why"}
    return told
