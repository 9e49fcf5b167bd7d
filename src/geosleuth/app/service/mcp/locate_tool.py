"""The tool ``locate``: the command's own way, with what happens told turn by turn."""

import asyncio
import io
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from geosleuth.agent import Event, Said, ToolObserved
from geosleuth.agent.locate import EventBlanker, Finding
from geosleuth.answer.granularity import Granularity, coarsest
from geosleuth.app.report.steps import step_line
from geosleuth.atlas import OfflineAtlas
from geosleuth.errors import BadInput, GeosleuthError, UserError
from geosleuth.photo import OpenedPhoto
from geosleuth.pipeline.area import OR_FILE, names_file
from geosleuth.pipeline.check import check_claim, checked_lines
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.result import result_document
from geosleuth.pipeline.run import run_plan
from geosleuth.policies.detective import Detective
from geosleuth.policies.replay import ReplayPolicy
from geosleuth.tools import Output

if TYPE_CHECKING:
    from .own_tools import Tell

_RUNS_AT_ONCE = 2
_LAST_WORDS_S = 2.0


@dataclass(slots=True)
class Locating:
    """Runs that the clients of one server ask for, a few at once."""

    plan: Plan
    request: LocateRequest
    atlas: OfflineAtlas
    held: AsyncExitStack
    _at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_RUNS_AT_ONCE))
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _loaded: bool = False

    async def run(self, tell: "Tell", photos: Sequence[OpenedPhoto], **words: Any) -> Output:
        """Locate photos of one place.

        Raises:
            UserError: it can't be done as asked.
            GeosleuthError: the model failed.
        """
        plan = await asyncio.to_thread(self._plan, **words)
        async with self._at_once:
            await self._load()
            async with _Publisher(tell, plan.granularity) as telling:
                finding = await run_plan(
                    plan,
                    photos,
                    self.atlas,
                    similar=plan.similar_for(photos),
                    sinks=(telling.hear,),
                )
            checked = await check_claim(finding, plan, self.atlas)
        ended = finding.trajectory.ended
        if ended is not None and ended.reason == "service":
            told = ended.trouble if finding.granularity == "exact" else None
            raise GeosleuthError(told or "the model failed")
        data = result_document(finding, checked)
        text = await asyncio.to_thread(_card, finding)
        if checked is not None:
            text = "\n".join([*checked_lines(checked), "", text])
        return Output(text, data, sources=_sources(finding))

    def _plan(self, *, granularity: Granularity | None, within: str | None, **words: Any) -> Plan:
        """The server's own plan with a client's words in it: what is known of the photo, and nothing else.

        Raises:
            BadInput: a word must be mended.
        """
        if within is not None and names_file(within):
            raise BadInput("within is the name of a file; write a country, a region, S,W,N,E or LAT,LON,KM in degrees")
        # No finer than whoever started the server allows.
        told_as = coarsest((self.plan.granularity, granularity or "exact"))
        asked = replace(self.request, within=within, granularity=told_as, **words)
        try:
            plan = make_plan(asked, [])
        except UserError as error:
            raise BadInput(_as_argument(str(error))) from error
        own = isinstance(plan.policy, Detective | ReplayPolicy)
        base = self.plan
        return replace(
            plan,
            policy=plan.policy if own else base.policy,
            several=base.several,
            maps=base.maps,
            web=base.web,
            index=base.index,
            visual=base.visual,
        )

    async def _load(self) -> None:
        """Load the model, once, when it is first asked."""
        async with self._loading:
            if not self._loaded:
                await self.plan.load(self.held)
                self._loaded = True


class _Publisher:
    """Hears the events of a run and tells the client one line a turn, without ever keeping the run waiting."""

    def __init__(self, tell: "Tell", granularity: Granularity) -> None:
        """Tell nothing finer than allowed."""
        self._tell, self._blank = tell, EventBlanker(granularity)
        self._lines: asyncio.Queue[tuple[int, str] | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def hear(self, event: Event) -> None:
        """Take an event."""
        told = self._blank(event)
        if isinstance(told.body, Said):
            self._lines.put_nowait((told.body.turn, step_line(told) or f"turn {told.body.turn}"))

    async def __aenter__(self) -> "_Publisher":
        self._task = asyncio.create_task(self._forward())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._lines.put_nowait(None)
        if self._task is None:
            return
        try:
            if kind is None:
                await asyncio.wait({self._task}, timeout=_LAST_WORDS_S)
        finally:
            # A client that takes no words, or has left, is no reason for the run to fail.
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _forward(self) -> None:
        while (line := await self._lines.get()) is not None:
            await self._tell(*line)


def _as_argument(message: str) -> str:
    """A message about an option, for somebody who gave an argument and names no files."""
    message = message.replace(OR_FILE, "")
    for name in ("within", "taken", "drives-on", "check"):
        message = message.replace(f"--{name}", name.replace("-", "_"))
    return message


def _sources(finding: Finding) -> tuple[str, ...]:
    """Everything that was asked on the way, each once."""
    observed = (event.body.observation for event in finding.trajectory.events if isinstance(event.body, ToolObserved))
    return tuple(dict.fromkeys(source for seen in observed for source in seen.sources))


def _card(finding: Finding) -> str:
    from rich.console import Console

    from geosleuth.app.report import card

    console = Console(file=io.StringIO(), width=80, markup=False, emoji=False, highlight=False, no_color=True)
    with console.capture() as captured:
        console.print(card(finding, maps=False))
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip()
