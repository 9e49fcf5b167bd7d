"""A set of tools that a run may use, and the one place where calls are carried out."""

import asyncio
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from geosleuth.atlas.redaction import redacted
from geosleuth.errors import BadInput, ServiceFault, UserError
from geosleuth.photo import Photo, View

from .declare import Tool
from .kinds import writable
from .model import Case, FailureKind, ImageInfo, Observation, Output, ToolCall
from .needs import Need

_NAME_SHOWN = 60
CALL_SECONDS = 60.0


class Toolset:
    """Tools by name, in order. Tools are found by their aliases too."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        """Collect the tools.

        Raises:
            ValueError: two tools answer to the same name.
        """
        self._tools: dict[str, Tool] = {}
        self._by_any_name: dict[str, Tool] = {}
        for one in tools:
            self._tools[one.name] = one
            for name in (one.name, *one.aliases):
                if name in self._by_any_name:
                    raise ValueError(f"two tools answer to {name!r}")
                self._by_any_name[name] = one

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' own names, in order."""
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        """The tool of that name or alias."""
        return self._by_any_name.get(name)

    def select(self, wanted: Iterable[str | Tool]) -> "Toolset":
        """Only these tools, by name or alias, in this set's order; a tool that is given itself comes after them.

        Raises:
            BadInput: there is no such tool, or two of them answer to the same name.
        """
        chosen: dict[str, Tool] = {}
        for one in wanted:
            found = self.get(one.strip()) if isinstance(one, str) else one
            if found is None:
                raise BadInput(f"there is no tool {str(one).strip()[:_NAME_SHOWN]!r}; there are: {self._have()}")
            chosen[found.name] = found
        own = [one for one in self if chosen.get(one.name) is one]
        try:
            return Toolset([*own, *(one for one in chosen.values() if self._tools.get(one.name) is not one)])
        except ValueError as error:
            raise BadInput(f"{error}; give one of them another name, or leave it out") from error

    def _have(self) -> str:
        """The names of the tools there are, for messages."""
        return ", ".join(self.names)

    def usable(self, have: Collection[Need]) -> "Toolset":
        """Only the tools that can answer in a run that has this."""
        return Toolset(one for one in self if not one.lacks(have))

    async def run(
        self, calls: Sequence[ToolCall], case: Case, *, seconds: float = CALL_SECONDS
    ) -> tuple[Observation, ...]:
        """Carry out independent calls at once; one observation for each, in order. A bad call is an observation too.

        Images get their handles in the order of the calls, whichever was done first. An exception that tools don't
        raise on purpose is a bug: it comes out as it is, once the other calls have been stopped.
        """
        tasks = [asyncio.create_task(self._attempt(call, case, seconds)) for call in calls]
        try:
            done = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return tuple(
            _observation(call, name, outcome, took, case)
            for call, (name, outcome, took) in zip(calls, done, strict=True)
        )

    async def _attempt(self, call: ToolCall, case: Case, seconds: float) -> tuple[str, "Output | _Failure", float]:
        started = time.perf_counter()
        found = self.get(call.name)
        name = found.name if found else writable(call.name[:_NAME_SHOWN])
        outcome = await _call(found, call, case, seconds) if found else self._unknown(call)
        return name, outcome, time.perf_counter() - started

    def _unknown(self, call: ToolCall) -> "_Failure":
        have = f"there are: {', '.join(self.names)}" if self._tools else "there are none"
        return _Failure("unknown_tool", f"there is no tool {call.name[:_NAME_SHOWN]!r}; {have}")


@dataclass(frozen=True, slots=True)
class _Failure:
    kind: FailureKind
    text: str


async def _call(found: Tool, call: ToolCall, case: Case, seconds: float) -> Output | _Failure:
    try:
        arguments, unknown = found.read(call.arguments)
    except BadInput as error:
        return _Failure("bad_arguments", str(error))
    try:
        async with asyncio.timeout(seconds) as limit:
            output = await found(case, **arguments)
    except TimeoutError:
        if not limit.expired():
            raise
        return _Failure("timeout", f"{found.name} took longer than {seconds:g} s")
    except ServiceFault as error:
        return _Failure("service", str(error))
    except UserError as error:
        return _Failure("refused", str(error))
    if not unknown:
        return output
    ignored = f"(not arguments of {found.name}, ignored: {', '.join(unknown)})"
    return replace(output, text=f"{output.text}\n{ignored}")


def _observation(call: ToolCall, name: str, outcome: Output | _Failure, seconds: float, case: Case) -> Observation:
    if isinstance(outcome, _Failure):
        return Observation(call.id, name, redacted(outcome.text), failure=outcome.kind, seconds=seconds)
    images = tuple(image_info(case, _register(case, image)) for image in outcome.images)
    text, data, sources = redacted(outcome.text), redacted(outcome.data), redacted(outcome.sources)
    return Observation(call.id, name, text, data, images, sources, seconds=seconds)


def _register(case: Case, image: View | Photo) -> View:
    return case.album.add(image) if isinstance(image, Photo) else case.album.keep(image)


def image_info(case: Case, view: View) -> ImageInfo:
    """What a trajectory records of a view."""
    return ImageInfo(view.handle, view.size, case.album.number_of(view), view.box_in_original)
